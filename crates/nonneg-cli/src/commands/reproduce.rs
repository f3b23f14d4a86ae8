//! `nonneg reproduce`.

use std::path::Path;

use crate::args::ReproduceArgs;
use crate::experiment::claims;
use crate::experiment::contestant::Contestant;
use crate::experiment::curve::Subject;
use crate::experiment::grid::{self, Rules, Title};
use crate::experiment::output;
use crate::experiment::source::{Quick, Source};
use crate::experiment::store::Store;
use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::interrupt::Interrupt;
use crate::progress::GridProgress;

/// A method may stop at this proved gap.
const TOLERANCE: f64 = 1e-9;

pub fn run(args: &ReproduceArgs) -> Result<u8, Failure> {
    let interrupt = Interrupt::install();
    super::use_threads(&args.grid.common)?;
    let sources = Source::of_the_paper(&args.data, Quick(args.quick))?;
    let contestants = Contestant::of_the_paper();
    let seconds = if args.quick { 4 } else { 60 };
    let rules = Rules {
        budget: args.budget.unwrap_or(std::time::Duration::from_secs(seconds)),
        tolerance: TOLERANCE,
        seed: args.grid.seed,
        threads: rayon::current_num_threads(),
    };
    let folder = Path::new(&args.output);
    let mut store = None;
    let mut progress =
        GridProgress::new(args.grid.common.quiet, args.grid.verbose, sources.len() * contestants.len(), rules.budget);
    let mut subjects: Vec<Subject> = Vec::new();
    for source in &sources {
        let title = Title { name: source.name(), origin: source.origin(), role: source.role() };
        let problem = progress.preparing(&title.name, |counter| source.load(args.grid.seed, Some(counter)))?;
        let inputs = Inputs::gather(problem, &title.name, None, &Default::default(), None)?;
        // Not before there is something to keep: a first problem that cannot be read leaves no folder behind.
        let store = match &mut store {
            Some(store) => store,
            none => none.insert(Store::open(folder, args.grid.fresh)?),
        };
        let flag = interrupt.begin_solving();
        match grid::run(title, &inputs, &contestants, &rules, store, &flag, &mut progress)? {
            Some(subject) => subjects.push(subject),
            None => return output::interrupted(&mut progress, &args.output),
        }
    }
    progress.finish();
    let introduction = "Figure 2 of “A Fast Scale-Invariant Algorithm for Non-negative Least Squares with Non-negative Data”, \
                        run again: natural residual and objective gap against passes over the data and against time, for the \
                        paper's methods and some that it leaves out.";
    output::write(folder, "The paper's experiments", introduction, &subjects, claims::check, &rules, args.grid.common.quiet)
}
