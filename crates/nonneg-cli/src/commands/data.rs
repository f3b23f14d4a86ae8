//! `nonneg data`: the data sets of the paper, from where they are published.

use std::fs;
use std::path::Path;

use nonneg_io::Shape;

use crate::args::{DataArgs, DataCommand, FetchArgs};
use crate::console::{self, grouped};
use crate::digest;
use crate::failure::Failure;
use crate::fetch::{self, Downloader};
use crate::interrupt;
use crate::progress::Progress;

/// A published data set, bzip2-compressed LIBSVM text.
#[derive(Debug, Clone)]
pub struct Dataset {
    pub name: &'static str,
    /// Without the `.bz2`.
    pub file: &'static str,
    pub url: &'static str,
    pub rows: usize,
    pub cols: usize,
    pub entries: usize,
    pub about: &'static str,
}

pub static DATASETS: [Dataset; 3] = [
    Dataset {
        name: "real-sim",
        file: "real-sim",
        url: "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/real-sim.bz2",
        rows: 72309,
        cols: 20958,
        entries: 3709083,
        about: "Usenet posts on real and on simulated cars and planes; labels ±1",
    },
    Dataset {
        name: "news20",
        file: "news20.binary",
        url: "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/news20.binary.bz2",
        rows: 19996,
        cols: 1355191,
        entries: 9097916,
        about: "20 Newsgroups posts in two groups; labels ±1",
    },
    Dataset {
        name: "E2006",
        file: "E2006.train",
        url: "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/regression/E2006.train.bz2",
        rows: 16087,
        cols: 150360,
        entries: 19971015,
        about: "annual reports of companies; labels: log volatility of their shares",
    },
];

pub fn run(args: &DataArgs) -> Result<u8, Failure> {
    match &args.command {
        DataCommand::List => list(),
        DataCommand::Fetch(args) => fetch(args),
    }
}

fn list() -> Result<u8, Failure> {
    let mut text = String::new();
    for set in &DATASETS {
        let size = describe(set.rows, set.cols, set.entries);
        text.push_str(&format!("{:<9} {size}\n{:9} {}\n{:9} {}\n", set.name, "", set.about, "", set.url));
    }
    console::print(&text)?;
    Ok(crate::DONE)
}

fn fetch(args: &FetchArgs) -> Result<u8, Failure> {
    super::use_threads(&args.common)?;
    let set = args.name;
    let place = Place::of(set, &args.output);
    let (quiet, part) = (args.common.quiet, place.part.clone());
    interrupt::leave_with(move || {
        if !quiet {
            console::end_line();
            console::print_error(&format!("interrupted{}\n", fetch::how_to_go_on(Path::new(&part))));
        }
    });
    let url = args.url.as_deref().unwrap_or(set.url);
    let progress = Progress::new(quiet, false);
    let done = obtain(set, &place, url, args.sha256.as_deref(), &Downloader::new(), &progress)?;
    if !quiet {
        console::print(&done)?;
    }
    Ok(crate::DONE)
}

/// Where a data set goes.
struct Place {
    name: String,
    file: String,
    part: String,
    record: String,
}

impl Place {
    fn of(set: &Dataset, folder: &str) -> Self {
        let name = format!("{}.bz2", set.file);
        let file = Path::new(folder).join(&name).display().to_string();
        Self { part: format!("{file}.part"), record: format!("{file}.sha256"), name, file }
    }
}

/// Downloads and checks a data set, or checks the one that is there. `demanded`: the SHA-256 it must have. Returns what
/// there is to say.
fn obtain(
    set: &Dataset,
    place: &Place,
    url: &str,
    demanded: Option<&str>,
    downloader: &Downloader,
    progress: &Progress,
) -> Result<String, Failure> {
    let recorded = digest::recorded(&place.record)?;
    let expected = match (demanded, &recorded) {
        (Some(digest), _) => Some(Expected { digest, source: "--sha256".into() }),
        (None, Some(digest)) => Some(Expected { digest, source: format!("{}, from an earlier download,", place.record) }),
        (None, None) => None,
    };
    let file = &place.file;
    if Path::new(file).exists() {
        let digest = check_digest(file, expected.as_ref(), progress)
            .map_err(|failure| failure.and("the file is left as it is: remove it to download it again"))?;
        if expected.is_none() {
            check_contents(set, place, file, progress)?;
        }
        write_record(place, &digest, recorded.as_deref())?;
        let how = if expected.is_some() { "digest matches" } else { "size matches, digest recorded" };
        return Ok(format!("{file} is there already, {how}\nsha256 {digest}\n"));
    }

    progress.bytes("downloading", &place.name, |report| downloader.download(url, Path::new(&place.part), report))?;
    let checked = check_digest(&place.part, expected.as_ref(), progress)
        .and_then(|digest| check_contents(set, place, &place.part, progress).map(|()| digest));
    let digest = checked.map_err(|failure| {
        // Going on from it would only lead here again.
        match fs::remove_file(&place.part) {
            Ok(()) => failure.and(&format!("what came from {url} is removed")),
            Err(error) => failure.and(&format!("it could not be removed: {error}")),
        }
    })?;
    fs::rename(&place.part, file).map_err(|error| Failure::new(format!("{file}: cannot write: {error}")))?;
    write_record(place, &digest, recorded.as_deref())?;
    let size = fs::metadata(file).map_or(0, |about| about.len() as usize);
    let shape = describe(set.rows, set.cols, set.entries);
    Ok(format!("{file}: {shape}, {}\nsha256 {digest}\n", console::bytes(size)))
}

/// A digest, and who wants it.
struct Expected<'a> {
    digest: &'a str,
    source: String,
}

fn check_digest(path: &str, expected: Option<&Expected>, progress: &Progress) -> Result<String, Failure> {
    let digest = progress.bytes("checking", path, |report| digest::of_file(path, report))?;
    match expected {
        Some(expected) if digest != expected.digest => {
            let Expected { digest: wanted, source } = expected;
            Err(Failure::new(format!("{path}: SHA-256 is {digest}, {source} says {wanted}")))
        }
        _ => Ok(digest),
    }
}

/// Checks that the bzip2 data are whole and that the text is the data set: one pass does both.
fn check_contents(set: &Dataset, place: &Place, path: &str, progress: &Progress) -> Result<(), Failure> {
    let shape = progress.bytes("checking", path, |report| nonneg_io::scan_libsvm(path, &place.name, Some(report)))?;
    check_shape(set, path, &shape)
}

fn check_shape(set: &Dataset, path: &str, shape: &Shape) -> Result<(), Failure> {
    let found = (shape.rows, shape.cols, shape.nnz.unwrap_or(0));
    if found == (set.rows, set.cols, set.entries) {
        return Ok(());
    }
    let (found, expected) = (describe(found.0, found.1, found.2), describe(set.rows, set.cols, set.entries));
    Err(Failure::new(format!("{path}: is not {} as published: holds {found}, expected {expected}", set.name)))
}

fn write_record(place: &Place, digest: &str, recorded: Option<&str>) -> Result<(), Failure> {
    if recorded == Some(digest) {
        return Ok(());
    }
    Ok(nonneg_io::write_bytes(&place.record, digest::record(digest, &place.name).as_bytes())?)
}

fn describe(rows: usize, cols: usize, entries: usize) -> String {
    format!("{} × {}, {} entries", grouped(rows), grouped(cols), grouped(entries))
}

#[cfg(test)]
mod tests;
