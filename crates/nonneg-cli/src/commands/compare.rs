//! `nonneg compare`, and what it shares with `reproduce`: writing a comparison down.

use std::path::Path;

use crate::args::CompareArgs;
use crate::console;
use crate::experiment::analysis::Standing;
use crate::experiment::claims::Claim;
use crate::experiment::contestant::Contestant;
use crate::experiment::curve::{self, Subject};
use crate::experiment::grid::{self, Rules, Title};
use crate::experiment::html::Page;
use crate::experiment::store::Store;
use crate::experiment::{pictures, summary};
use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::interrupt::Interrupt;
use crate::plot::Format;
use crate::progress::{GridProgress, Progress};

pub fn run(args: &CompareArgs) -> Result<u8, Failure> {
    let interrupt = Interrupt::install();
    super::use_threads(&args.common)?;
    let reading = Progress::new(args.common.quiet, false);
    let inputs = Inputs::read(&args.a, args.b.as_deref(), &args.problem, args.x0.as_deref(), &reading)?;
    let contestants: Vec<Contestant> = args.methods.iter().map(|&method| Contestant::plain(method)).collect();
    if let Some(method) = args.methods.iter().enumerate().find(|(k, method)| args.methods[..*k].contains(method)) {
        return Err(Failure::new(format!("--methods names {} twice", method.1.name())));
    }
    let bounded = inputs.problem().upper.is_finite();
    if let Some(refused) = contestants.iter().find(|contestant| bounded && !contestant.method.takes_upper_bounds()) {
        return Err(Failure::new(format!("--methods: {} does not take upper bounds", refused.method.name())));
    }
    let rules = Rules { budget: args.budget, tolerance: args.tol, seed: args.seed, threads: rayon::current_num_threads() };
    let output = Path::new(&args.output);
    let store = Store::open(output, args.fresh)?;
    let name = Path::new(&args.a).file_name().map_or(args.a.clone(), |name| name.to_string_lossy().into_owned());
    let title = Title { name: name.clone(), origin: name.clone(), role: None };
    let mut progress = GridProgress::new(args.common.quiet, args.verbose, contestants.len(), rules.budget);
    let flag = interrupt.begin_solving();
    let Some(subject) = grid::run(title, &inputs, &contestants, &rules, &store, &flag, &mut progress)? else {
        return interrupted(&mut progress, &args.output);
    };
    progress.finish();
    let introduction =
        "Several methods on one problem: natural residual and objective gap against passes over A and against time.";
    write(output, &format!("Methods compared on {name}"), introduction, &[subject], |_| Vec::new(), &rules, args.common.quiet)
}

/// What is finished is kept.
pub fn interrupted(progress: &mut GridProgress, output: &str) -> Result<u8, Failure> {
    progress.finish();
    let done = progress.done();
    console::print_error(&format!("interrupted: {done} finished curves are kept in {output}; run again to go on\n"));
    Ok(crate::INTERRUPTED)
}

/// Pictures, tables and the report, into a folder that exists.
pub fn write(
    output: &Path,
    title: &str,
    introduction: &str,
    subjects: &[Subject],
    claims: impl Fn(&[Standing]) -> Vec<Claim>,
    rules: &Rules,
    quiet: bool,
) -> Result<u8, Failure> {
    let standings: Vec<Standing> = subjects.iter().map(Standing::new).collect();
    let claims = claims(&standings);
    let put = |name: &str, bytes: &[u8]| -> Result<(), Failure> {
        Ok(nonneg_io::write_bytes(&output.join(name).to_string_lossy(), bytes)?)
    };
    put("curves.csv", curve::to_csv(subjects).as_bytes())?;
    put("summary.json", &summary::to_json(&standings, &claims, rules)?)?;
    for picture in pictures::panels(&standings) {
        for (format, ending) in [(Format::Svg, "svg"), (Format::Png, "png")] {
            put(&format!("{}.{ending}", picture.name), &picture.render(format)?)?;
        }
    }
    for (format, ending) in [(Format::Svg, "svg"), (Format::Png, "png")] {
        put(&format!("figure.{ending}"), &pictures::figure(&standings, format)?)?;
    }
    let pictures: Vec<String> = standings.iter().map(pictures::inline).collect::<Result<_, _>>()?;
    let page = Page { title, introduction, standings: &standings, claims: &claims, rules, pictures: &pictures };
    put("report.html", page.to_html().as_bytes())?;
    if !quiet {
        let table = summary::table(&standings, &claims);
        console::print(&format!("{table}\nwritten    {}\n", output.join("report.html").display()))?;
    }
    Ok(crate::DONE)
}
