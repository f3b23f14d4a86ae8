//! `nonneg generate`.

use nonneg_cli::generate::Sizes;

use crate::args::GenerateArgs;
use crate::console;
use crate::failure::Failure;
use crate::outputs::{self, Contents, Output};
use crate::progress::Progress;

pub fn run(args: &GenerateArgs) -> Result<u8, Failure> {
    super::use_threads(&args.common)?;
    let beside = outputs::rhs_beside(&args.output);
    let mut outputs = vec![Output { option: "--output", path: &args.output, contents: Contents::Problem }];
    outputs.extend(beside.iter().map(|path| Output { option: "b", path, contents: Contents::Vector }));
    outputs::check(&outputs, &[])?;
    let mut progress = Progress::new(args.common.quiet, false);
    progress.stage("making the problem");
    let sizes = Sizes { rows: args.rows, cols: args.cols, density: args.density };
    let made = args.kind.generate(&sizes, args.seed).map_err(Failure::new)?;
    progress.stage("writing it");
    let written = outputs::write_problem(&args.output, made.matrix.view(), Some(&made.rhs))?;
    progress.finish();
    if !args.common.quiet && args.output != "-" {
        let (kind, path, seed) = (args.kind.name(), &args.output, args.seed);
        console::print(&format!("{path}: {kind}, {written}, seed {seed}\n"))?;
    }
    Ok(crate::DONE)
}
