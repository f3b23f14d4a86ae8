//! Figure 1: what an epoch of lazy SI-NNLS+ costs beside one of cyclic coordinate descent and beside one Aᵀy.

use std::hint::black_box;
use std::path::Path;

use nonneg::LeastSquares;
use nonneg::matrix::Columns;
use nonneg::presolve::Reduced;
use serde::Serialize;
use serde_json::json;

use crate::engines::{self, Descent, LazyRun, WARM_UP};
use crate::report::{Goal, Section, Table, digits};
use crate::timing::{median, memory_limit, range, seconds};
use crate::{Context, Outcome};

pub const TITLE: &str = "Cost of an epoch (one thread)";

const PROBLEMS: [&str; 2] = ["debpkg_tfidf", "mnist"];
/// Rounds of one epoch each, in turn, so that all three meet the same noise.
const ROUNDS: usize = 41;
const AT_MOST_DESCENT: f64 = 4.0;
const AT_MOST_PRODUCT: f64 = 8.0;

/// One problem's times: medians over the rounds.
#[derive(Debug, Serialize)]
struct Race {
    problem: String,
    rows: usize,
    kept_columns: usize,
    kept_nonzeros: u64,
    lazy: Pace,
    descent: Pace,
    product: Pace,
    /// Columns whose x changed in the last round.
    lazy_moved: usize,
    descent_moved: usize,
    /// Nanoseconds per nonzero at the memory's bandwidth; none where the arrays may live in a cache.
    limit_ns_per_nonzero: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Pace {
    milliseconds: f64,
    fastest: f64,
    slowest: f64,
    ns_per_nonzero: f64,
}

impl Pace {
    /// From the seconds of each round and the nonzeros that it went over.
    fn new(rounds: &[(f64, u64)]) -> Self {
        let times: Vec<f64> = rounds.iter().map(|(seconds, _)| 1e3 * seconds).collect();
        let paces: Vec<f64> = rounds.iter().map(|&(seconds, nonzeros)| 1e9 * seconds / nonzeros as f64).collect();
        let (fastest, slowest) = range(&times);
        Self { milliseconds: median(&times), fastest, slowest, ns_per_nonzero: median(&paces) }
    }
}

pub fn measure(context: &Context) -> Outcome<Section> {
    let data = context.data()?;
    let races = PROBLEMS.map(|name| race_on_file(data, name, context.bandwidth())).into_iter().collect::<Outcome<Vec<Race>>>()?;
    let mut section = Section::new(json!({ "warm_up_epochs": WARM_UP, "rounds": ROUNDS, "problems": &races }));
    section.note(format!(
        "Medians of {ROUNDS} interleaved rounds after {WARM_UP} epochs of each method. An epoch is one step per kept column. \
         The memory limit counts the matrix once; a matrix below 64 MB may live in the cache and has none."
    ));
    let mut table = Table::new([
        "problem",
        "nonzeros kept",
        "loop",
        "ms (fastest – slowest)",
        "ns/nonzero",
        "columns moved",
        "memory limit, ns/nonzero",
    ]);
    for race in &races {
        let kept = race.kept_columns;
        let moved = |count: usize| format!("{count} of {kept}");
        for (name, pace, moved) in [
            ("lazy SI-NNLS+", &race.lazy, moved(race.lazy_moved)),
            ("coordinate descent", &race.descent, moved(race.descent_moved)),
            ("Aᵀy", &race.product, String::new()),
        ] {
            table.row([
                race.problem.clone(),
                race.kept_nonzeros.to_string(),
                name.into(),
                format!("{} ({} – {})", digits(pace.milliseconds, 3), digits(pace.fastest, 3), digits(pace.slowest, 3)),
                digits(pace.ns_per_nonzero, 3),
                moved,
                race.limit_ns_per_nonzero.map_or("–".into(), |limit| digits(limit, 3)),
            ]);
        }
        let limit = race.limit_ns_per_nonzero.map(|limit| {
            let product = digits(race.product.ns_per_nonzero / limit, 2);
            format!("Aᵀy itself takes {product} × the memory's time")
        });
        for (other, name, most) in
            [(&race.descent, "coordinate descent", AT_MOST_DESCENT), (&race.product, "Aᵀy", AT_MOST_PRODUCT)]
        {
            let ratio = race.lazy.milliseconds / other.milliseconds;
            let goal = Goal::at_most(format!("{}: lazy epoch / {name}", race.problem), ratio, most, "×");
            section.goal(goal.limit(limit.clone()));
        }
    }
    section.table(table);
    Ok(section)
}

fn race_on_file(data: &Path, name: &str, bandwidth: f64) -> Outcome<Race> {
    let path = data.join(format!("{name}.npz"));
    let problem = nonneg_io::read_problem(&path.display().to_string(), None)?;
    let rhs = problem.rhs.ok_or_else(|| format!("{}: expected a right-hand side `b` in the file", path.display()))?;
    let statement = LeastSquares::new(&problem.matrix, &rhs);
    nonneg::with_columns!(problem.matrix.view(), |matrix| {
        let bytes = problem.matrix.view().bytes() as f64 / problem.matrix.view().nnz() as f64;
        race(name, matrix, &statement, bytes, bandwidth)
    })
}

/// `bytes` per nonzero of the matrix.
fn race<M: Columns>(name: &str, matrix: &M, statement: &LeastSquares, bytes: f64, bandwidth: f64) -> Outcome<Race> {
    let reduced = Reduced::of(matrix, statement)?;
    let blocks = engines::single_blocks(&reduced);
    let nonzeros = engines::nonzeros(&reduced);
    let mut lazy = LazyRun::new(&reduced, &blocks);
    let mut descent = Descent::new(&reduced);
    for _ in 0..WARM_UP {
        lazy.epoch();
        descent.epoch();
    }
    lazy.take_work();
    let y: Vec<f64> = (0..matrix.rows()).map(|i| 1.0 + (i % 7) as f64).collect();
    let mut product = vec![0.0; reduced.len()];
    let mut rounds: [Vec<(f64, u64)>; 3] = Default::default();
    let mut before = (lazy.x(), descent.x.clone());
    for round in 0..ROUNDS {
        if round + 1 == ROUNDS {
            before = (lazy.x(), descent.x.clone());
        }
        let time = seconds(|| lazy.epoch());
        rounds[0].push((time, lazy.take_work()));
        rounds[1].push((seconds(|| descent.epoch()), nonzeros));
        rounds[2].push((seconds(|| engines::multiply_transposed(&reduced, black_box(&y), &mut product)), nonzeros));
        black_box(&mut product);
    }
    let moved = |before: &[f64], after: &[f64]| before.iter().zip(after).filter(|(old, new)| old != new).count();
    Ok(Race {
        problem: name.into(),
        rows: matrix.rows(),
        kept_columns: reduced.len(),
        kept_nonzeros: nonzeros,
        lazy: Pace::new(&rounds[0]),
        descent: Pace::new(&rounds[1]),
        product: Pace::new(&rounds[2]),
        lazy_moved: moved(&before.0, &lazy.x()),
        descent_moved: moved(&before.1, &descent.x),
        limit_ns_per_nonzero: memory_limit(bytes * nonzeros as f64, nonzeros as f64, bandwidth),
    })
}
