//! A made-up data set on a server on this machine.

use std::io::Write;

use super::*;
use crate::fetch::tests::hasty;
use crate::fetch::tests::server::{Server, cut, ranged};

static MADE_UP: Dataset =
    Dataset { name: "made-up", file: "real-sim", url: "", rows: 200, cols: 7, entries: 400, about: "for tests" };

/// 200 rows; an entry in column 7 and one elsewhere in each.
fn text() -> String {
    (0..200).map(|row| format!("{} {}:0.5 7:{row}\n", if row % 3 == 0 { "+1" } else { "-1" }, 1 + row % 6)).collect()
}

fn compress(text: &str) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(vec![], bzip2::Compression::best());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

struct Fixture {
    folder: tempfile::TempDir,
    place: Place,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::of(&MADE_UP, folder.path().join("data").to_str().unwrap());
        Self { folder, place }
    }

    fn obtain(&self, url: &str, demanded: Option<&str>) -> Result<String, String> {
        obtain(&MADE_UP, &self.place, url, demanded, &hasty(), &Progress::new(true, false)).map_err(|failure| failure.to_string())
    }

    fn files(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.folder.path().join("data")) else { return vec![] };
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn serve(contents: Vec<u8>) -> Server {
    Server::start(move |_, asked| ranged(&contents, asked))
}

#[test]
fn first_download_is_recorded_and_the_second_verifies() {
    let fixture = Fixture::new();
    let contents = compress(&text());
    let server = serve(contents.clone());
    let said = fixture.obtain(&server.url, None).unwrap();
    assert!(said.contains("200 × 7, 400 entries"), "{said}");
    assert_eq!(fixture.files(), ["real-sim.bz2", "real-sim.bz2.sha256"]);
    assert_eq!(fs::read(&fixture.place.file).unwrap(), contents);
    let digest = digest::of_file(&fixture.place.file, &|_, _| {}).unwrap();
    assert_eq!(fs::read_to_string(&fixture.place.record).unwrap(), format!("{digest}  real-sim.bz2\n"));
    assert!(said.contains(&digest), "{said}");

    for demanded in [None, Some(digest.as_str())] {
        let said = fixture.obtain(&server.url, demanded).unwrap();
        assert!(said.contains("is there already, digest matches"), "{said}");
    }
    assert_eq!(server.asked().len(), 1, "nothing was downloaded again");

    // A file without a record is looked at as a whole.
    fs::remove_file(&fixture.place.record).unwrap();
    assert!(fixture.obtain(&server.url, None).unwrap().contains("digest recorded"));
    assert_eq!(digest::recorded(&fixture.place.record).unwrap().unwrap(), digest);

    // One that has changed is left to its owner.
    fs::write(&fixture.place.file, "changed").unwrap();
    let message = fixture.obtain(&server.url, None).unwrap_err();
    assert!(message.contains("real-sim.bz2: SHA-256 is") && message.contains(&digest), "{message}");
    assert!(message.contains(".sha256") && message.contains("remove it"), "{message}");
    assert_eq!(fs::read(&fixture.place.file).unwrap(), b"changed");
    fs::remove_file(&fixture.place.record).unwrap();
    assert!(fixture.obtain(&server.url, None).unwrap_err().contains("expected bzip2 data"));
}

#[test]
fn a_cut_connection_does_no_harm() {
    let fixture = Fixture::new();
    let contents = compress(&text());
    let served = contents.clone();
    let server = Server::start(move |number, asked| {
        let answer = ranged(&served, asked);
        if number == 0 { cut(answer, served.len() / 2) } else { answer }
    });
    fixture.obtain(&server.url, None).unwrap();
    assert_eq!(fs::read(&fixture.place.file).unwrap(), contents);
    assert_eq!(server.asked(), [None, Some(contents.len() - contents.len() / 2)]);
}

#[test]
fn wrong_digests_are_refused_and_removed() {
    let fixture = Fixture::new();
    let server = serve(compress(&text()));
    let wrong = "0".repeat(64);
    let message = fixture.obtain(&server.url, Some(&wrong)).unwrap_err();
    assert!(message.contains("SHA-256 is") && message.contains(&wrong) && message.contains("--sha256"), "{message}");
    assert!(message.contains("removed"), "{message}");
    assert!(fixture.files().is_empty());

    // The record of an earlier download counts even where its file is gone.
    fs::write(&fixture.place.record, digest::record(&wrong, "real-sim.bz2")).unwrap();
    let message = fixture.obtain(&server.url, None).unwrap_err();
    assert!(message.contains("from an earlier download"), "{message}");
    assert_eq!(fixture.files(), ["real-sim.bz2.sha256"]);
}

#[test]
fn damaged_or_other_contents_are_refused_and_removed() {
    let whole = compress(&text());
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for (contents, reason) in [
        (whole[..whole.len() - 3].to_vec(), "the file is cut off"),
        (flipped, "damaged"),
        (b"<html>no such file</html>".to_vec(), "expected bzip2 data"),
        (compress("<html>"), "line 1"),
        (compress("1 1:2\n"), "is not made-up as published: holds 1 × 1, 1 entries, expected 200 × 7, 400 entries"),
        (compress(&(text() + "1 8:1\n")), "holds 201 × 8, 401 entries"),
    ] {
        let fixture = Fixture::new();
        let server = serve(contents);
        let message = fixture.obtain(&server.url, None).unwrap_err();
        assert!(message.contains(reason) && message.contains(&server.url), "{reason}: {message}");
        assert_eq!(message.lines().count(), 1);
        assert!(fixture.files().is_empty(), "{reason}");
    }
}

#[test]
fn published_shapes_are_compared() {
    let set = &DATASETS[0];
    let shape = |rows, cols, nnz| Shape { rows, cols, nnz: Some(nnz), dtype: "real".into(), kind: "csr" };
    check_shape(set, "a", &shape(72309, 20958, 3709083)).unwrap();
    for (rows, cols, nnz) in [(72308, 20958, 3709083), (72309, 20957, 3709083), (72309, 20958, 3709082)] {
        let message = check_shape(set, "a", &shape(rows, cols, nnz)).unwrap_err().to_string();
        assert!(message.contains("expected 72,309 × 20,958, 3,709,083 entries"), "{message}");
    }
}
