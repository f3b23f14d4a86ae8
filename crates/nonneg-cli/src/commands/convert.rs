//! `nonneg convert`.

use crate::args::ConvertArgs;
use crate::console;
use crate::failure::Failure;
use crate::inputs;
use crate::outputs::{self, Contents, Output};
use crate::progress::Progress;

pub fn run(args: &ConvertArgs) -> Result<u8, Failure> {
    super::use_threads(&args.common)?;
    let output = Output { option: "OUT", path: &args.output, contents: Contents::Problem };
    outputs::check(&[output], &[&args.input])?;
    let progress = Progress::new(args.common.quiet, false);
    if !args.transpose
        && let Some((rows, cols)) = nonneg_io::convert_in_parts(&args.input, &args.output)?
    {
        if !args.common.quiet {
            let (rows, cols) = (console::grouped(rows), console::grouped(cols));
            console::print(&format!("{}: {rows} × {cols}, dense\n", args.output))?;
        }
        return Ok(crate::DONE);
    }
    let problem = inputs::read_matrix(&args.input, args.transpose, &progress)?;
    let written = outputs::write_problem(&args.output, problem.matrix.view(), problem.rhs.as_deref())?;
    if !args.common.quiet && args.output != "-" {
        console::print(&format!("{}: {written}\n", args.output))?;
    }
    Ok(crate::DONE)
}
