//! Figure 3: how much memory the whole command takes, as a multiple of the matrix.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde_json::json;
use zip::ZipArchive;

use crate::report::{Goal, Section, Table, digits};
use crate::{Context, Outcome};

pub const TITLE: &str = "Peak memory of the command";

const PROBLEM: &str = "news20_rebuilt";
const PASSES: &str = "30";
const AT_MOST: f64 = 3.0;

pub fn measure(context: &Context) -> Outcome<Section> {
    let path = context.data()?.join(format!("{PROBLEM}.npz"));
    let stored = stored_bytes(&path)? as f64;
    let account = context.nonneg()?.solve(&path, &["--method", "si-nnls", "--max-passes", PASSES], &context.scratch)?;
    let peak = account.peak_memory_bytes.ok_or("nonneg does not know its peak memory on this system")? as f64;

    let mut section = Section::new(json!({
        "problem": PROBLEM,
        "peak_memory_bytes": peak,
        "stored_csc_bytes": stored,
        "status": account.status,
        "passes": account.passes,
    }));
    section.note(format!(
        "`nonneg solve {PROBLEM}.npz --method si-nnls --max-passes {PASSES}`. Counted as the matrix: the arrays `data` (f64), \
         `indices` (i32) and `indptr` (i32) as the file stores them, unpacked."
    ));
    let mut table = Table::new(["problem", "peak, MB", "matrix, MB", "peak / matrix"]);
    table.row([PROBLEM.into(), digits(peak / 1e6, 3), digits(stored / 1e6, 3), digits(peak / stored, 3)]);
    section.table(table);
    let goal = Goal::at_most(format!("{PROBLEM}: peak memory / CSC arrays"), peak / stored, AT_MOST, "×");
    section.goal(goal.limit(Some("1 × for the arrays themselves".into())));
    Ok(section)
}

/// Bytes of the three CSC arrays, unpacked, from the directory of the archive (with some 128 bytes of header each).
fn stored_bytes(path: &Path) -> Outcome<u64> {
    let complain = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let file = File::open(path).map_err(|error| complain(&error))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| complain(&error))?;
    let mut bytes = 0;
    for name in ["data.npy", "indices.npy", "indptr.npy"] {
        bytes += archive.by_name(name).map_err(|error| complain(&format!("{name}: {error}")))?.size();
    }
    Ok(bytes)
}
