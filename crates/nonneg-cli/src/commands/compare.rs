//! `nonneg compare`.

use std::path::Path;

use crate::args::CompareArgs;
use crate::experiment::contestant::Contestant;
use crate::experiment::grid::{self, Rules, Title};
use crate::experiment::output;
use crate::experiment::store::Store;
use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::interrupt::Interrupt;
use crate::progress::{GridProgress, Progress};

pub fn run(args: &CompareArgs) -> Result<u8, Failure> {
    let interrupt = Interrupt::install();
    super::use_threads(&args.grid.common)?;
    let reading = Progress::new(args.grid.common.quiet, false);
    let inputs = Inputs::read(&args.a, args.b.as_deref(), &args.problem, args.x0.as_deref(), &reading)?;
    let contestants: Vec<Contestant> = args.methods.iter().map(|&method| Contestant::plain(method)).collect();
    if let Some(method) = args.methods.iter().enumerate().find(|(k, method)| args.methods[..*k].contains(method)) {
        return Err(Failure::new(format!("--methods names {} twice", method.1.name())));
    }
    let bounded = inputs.problem().upper.is_finite();
    if let Some(refused) = contestants.iter().find(|contestant| bounded && !contestant.method.takes_upper_bounds()) {
        return Err(Failure::new(format!("--methods: {} does not take upper bounds", refused.method.name())));
    }
    let rules = Rules { budget: args.budget, tolerance: args.tol, seed: args.grid.seed, threads: rayon::current_num_threads() };
    let folder = Path::new(&args.output);
    let store = Store::open(folder, args.grid.fresh)?;
    let name = Path::new(&args.a).file_name().map_or(args.a.clone(), |name| name.to_string_lossy().into_owned());
    let title = Title { name: name.clone(), origin: name.clone(), role: None };
    let mut progress = GridProgress::new(args.grid.common.quiet, args.grid.verbose, contestants.len(), rules.budget);
    let flag = interrupt.begin_solving();
    let Some(subject) = grid::run(title, &inputs, &contestants, &rules, &store, &flag, &mut progress)? else {
        return output::interrupted(&mut progress, &args.output);
    };
    progress.finish();
    let introduction =
        "Several methods on one problem: natural residual and objective gap against passes over A and against time.";
    output::write(
        folder,
        &format!("Methods compared on {name}"),
        introduction,
        &[subject],
        |_| Vec::new(),
        &rules,
        args.grid.common.quiet,
    )
}
