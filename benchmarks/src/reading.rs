//! Figure 4: how fast text is read on one thread.
//!
//! Documents by words with tf-idf values, once with all the digits that a double needs and once with seven, as the
//! public LIBSVM files have them. The files lie in the page cache: it is the parser that is timed, not the disk.

use std::hint::black_box;
use std::path::Path;

use nonneg::{AnyMatrix, CscMatrix};
use nonneg_cli::generate::{Kind, Sizes};
use serde::Serialize;
use serde_json::json;

use crate::report::{Goal, Section, Table, digits};
use crate::timing::{median, range, seconds};
use crate::{Context, Outcome};

pub const TITLE: &str = "Reading text (one thread)";

const FULL_BYTES: f64 = 100e6;
const QUICK_BYTES: f64 = 20e6;
const RUNS: usize = 5;
const AT_LEAST: f64 = 200.0;

const WORDS: usize = 40_000;
const WORDS_PER_DOCUMENT: f64 = 80.0;
const SEED: u64 = 3;
const SHORT_DIGITS: usize = 7;

/// A kind of file, and about how many bytes an entry takes in it.
struct Form {
    name: &'static str,
    ending: &'static str,
    short: bool,
    bytes_per_entry: f64,
}

const FORMS: [Form; 4] = [
    Form { name: "LIBSVM, all digits", ending: "svm", short: false, bytes_per_entry: 25.0 },
    Form { name: "LIBSVM, 7 digits", ending: "svm", short: true, bytes_per_entry: 15.3 },
    Form { name: "Matrix Market, all digits", ending: "mtx", short: false, bytes_per_entry: 31.0 },
    Form { name: "Matrix Market, 7 digits", ending: "mtx", short: true, bytes_per_entry: 21.3 },
];

#[derive(Debug, Serialize)]
struct Speed {
    file: &'static str,
    megabytes: f64,
    nonzeros: usize,
    /// MB/s.
    slowest: f64,
    median: f64,
    fastest: f64,
    /// MB/s of copying the file's bytes into memory, nothing parsed.
    plain: f64,
}

pub fn measure(context: &Context) -> Outcome<Section> {
    let bytes = if context.quick { QUICK_BYTES } else { FULL_BYTES };
    let speeds = FORMS.iter().map(|form| speed(form, bytes, &context.scratch)).collect::<Outcome<Vec<Speed>>>()?;
    let mut section = Section::new(json!({ "runs": RUNS, "files": &speeds }));
    section.note(format!(
        "Generated tf-idf files, read into columns {RUNS} times after one run to warm up; 1 MB is 10⁶ bytes. \
         The yardstick copies the file from the page cache and parses nothing."
    ));
    let mut table = Table::new(["file", "MB", "nonzeros", "MB/s: slowest", "median", "fastest", "copy only, MB/s"]);
    for speed in &speeds {
        table.row([
            speed.file.into(),
            digits(speed.megabytes, 3),
            speed.nonzeros.to_string(),
            digits(speed.slowest, 3),
            digits(speed.median, 3),
            digits(speed.fastest, 3),
            digits(speed.plain, 3),
        ]);
        let goal = Goal::at_least(format!("{}, {:.0} MB", speed.file, speed.megabytes), speed.median, AT_LEAST, "MB/s");
        section.goal(goal.limit(Some(format!("copy only: {} MB/s", digits(speed.plain, 3)))));
    }
    section.table(table);
    Ok(section)
}

fn speed(form: &Form, bytes: f64, scratch: &Path) -> Outcome<Speed> {
    let path = scratch.join(format!("reading.{}", form.ending));
    write(form, bytes, &path)?;
    let name = path.display().to_string();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let (mut times, mut nonzeros, mut copies) = (Vec::new(), 0, Vec::new());
    let megabytes = std::fs::metadata(&path)?.len() as f64 / 1e6;
    let mut buffer = Vec::new();
    for run in 0..=RUNS {
        let mut outcome = None;
        let time = seconds(|| outcome = Some(pool.install(|| nonneg_io::read_problem(&name, None))));
        nonzeros = outcome.transpose()?.map_or(0, |problem| problem.matrix.view().nnz());
        let copy = seconds(|| buffer = read_into(std::mem::take(&mut buffer), &path));
        black_box(&buffer);
        if run > 0 {
            times.push(megabytes / time);
            copies.push(megabytes / copy);
        }
    }
    std::fs::remove_file(&path)?;
    let (slowest, fastest) = range(&times);
    Ok(Speed { file: form.name, megabytes, nonzeros, slowest, median: median(&times), fastest, plain: median(&copies) })
}

/// The file's bytes in a buffer that is used again, so that no new pages are counted; empty if it cannot be read.
fn read_into(mut buffer: Vec<u8>, path: &Path) -> Vec<u8> {
    use std::io::Read;
    buffer.clear();
    if let Ok(mut file) = std::fs::File::open(path) {
        let _ = file.read_to_end(&mut buffer);
    }
    buffer
}

fn write(form: &Form, bytes: f64, path: &Path) -> Outcome<()> {
    let documents = (bytes / form.bytes_per_entry / WORDS_PER_DOCUMENT) as usize;
    let sizes = Sizes { rows: Some(documents), cols: Some(WORDS), density: Some(WORDS_PER_DOCUMENT / WORDS as f64) };
    let mut made = Kind::Text.generate(&sizes, SEED)?;
    if form.short {
        made.matrix = shortened(made.matrix)?;
    }
    nonneg_io::write_problem(&path.display().to_string(), made.matrix.view(), Some(&made.rhs))?;
    Ok(())
}

/// Every value rounded to a few decimal digits.
fn shortened(matrix: AnyMatrix) -> Outcome<AnyMatrix> {
    let AnyMatrix::CscF64(matrix) = matrix else { return Err("expected the text generator to make CSC of f64".into()) };
    let view = matrix.view();
    let (col_ptr, row_idx, values) = view.parts();
    let round = |value: &f64| format!("{value:.*e}", SHORT_DIGITS - 1).parse::<f64>();
    let values = values.iter().map(round).collect::<Result<Vec<f64>, _>>()?;
    Ok(CscMatrix::new(view.rows(), view.cols(), col_ptr.to_vec(), row_idx.to_vec(), values)?.into())
}
