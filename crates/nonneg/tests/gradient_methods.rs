//! FISTA and OA+DS, the methods that the paper compares with: their published promises, on planted optima.

mod common;

use common::families;
use common::random::Random;
use nonneg::algorithm::fista::Fista;
use nonneg::algorithm::oa_ds::OaDs;
use nonneg::algorithm::{Algorithm, Check, Monitor};
use nonneg::presolve::Reduced;
use nonneg::{BlockMetric, DenseMatrix, DenseView, LeastSquares, Method, Solver, Status, Switch};

const METRICS: [BlockMetric; 2] = [BlockMetric::ScaleInvariant, BlockMetric::Spectral];

/// A ≥ 0 with columns of different sizes, and c = AᵀAx* − s with s ≥ 0 where x* = 0: x* is optimal.
struct Planted {
    rows: usize,
    a: Vec<f64>,
    c: Vec<f64>,
    optimum: Vec<f64>,
}

impl Planted {
    fn new(rows: usize, cols: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let unit: Vec<f64> = (0..cols).map(|_| 10f64.powf(random.between(-1.0, 1.0))).collect();
        let a: Vec<f64> = (0..rows * cols).map(|e| unit[e / rows] * random.unit()).collect();
        let optimum: Vec<f64> = (0..cols).map(|_| if random.chance(0.4) { random.unit() } else { 0.0 }).collect();
        let image: Vec<f64> = (0..rows).map(|i| (0..cols).map(|j| a[j * rows + i] * optimum[j]).sum()).collect();
        let slack = |j: usize, random: &mut Random| if optimum[j] > 0.0 { 0.0 } else { unit[j] * random.unit() };
        let product = |j: usize| (0..rows).map(|i| a[j * rows + i] * image[i]).sum::<f64>();
        let c = (0..cols).map(|j| product(j) - slack(j, &mut random)).collect();
        Self { rows, a, c, optimum }
    }

    /// f(x) − f*, from x − x* so that it does not cancel.
    fn above(&self, x: &[f64]) -> f64 {
        let change: Vec<f64> = x.iter().zip(&self.optimum).map(|(x, o)| x - o).collect();
        let columns: Vec<&[f64]> = self.a.chunks(self.rows).collect();
        let dot = |v: &[f64], i: usize| columns.iter().zip(v).map(|(column, v)| column[i] * v).sum::<f64>();
        let square: f64 = (0..self.rows).map(|i| dot(&change, i).powi(2)).sum();
        let slope = |j: usize| (0..self.rows).map(|i| columns[j][i] * dot(&self.optimum, i)).sum::<f64>() - self.c[j];
        0.5 * square + (0..x.len()).map(|j| slope(j) * x[j]).sum::<f64>()
    }

    /// x in the units of A and c: linear = c·scale/unit, and x = scaled x·scale·unit.
    fn in_caller(&self, reduced: &Reduced<DenseView>, scaled: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.c.len()];
        for (k, &j) in reduced.columns.iter().enumerate() {
            let unit = self.c[j] * reduced.scale[k] / reduced.linear[k];
            x[j] = scaled[k] * reduced.scale[k] * unit;
        }
        x
    }
}

/// Keeps every point that is checked, with the number of steps before it, and stops after so many.
struct Recorder<'p> {
    problem: &'p Reduced<'p, DenseView<'p>>,
    points: Vec<(usize, Vec<f64>)>,
    steps: usize,
    limit: usize,
    restarts: usize,
}

impl<'p> Recorder<'p> {
    fn new(problem: &'p Reduced<'p, DenseView<'p>>, limit: usize) -> Self {
        Self { problem, points: Vec::new(), steps: 0, limit, restarts: 0 }
    }
}

impl Monitor for Recorder<'_> {
    fn check(&mut self, x: &[f64]) -> Check {
        if self.points.is_empty() {
            self.steps = 0;
        }
        self.points.push((self.steps, x.to_vec()));
        let image = self.problem.multiply(x);
        let slope = |k: usize| {
            use nonneg::matrix::Column;
            self.problem.scale[k] * self.problem.column(k).dot(&image) - self.problem.linear[k]
        };
        Check {
            stop: self.steps >= self.limit,
            objective: 0.0,
            residual: 0.0,
            distance: 0.0,
            wanted_distance: 0.0,
            gradient: (0..x.len()).map(slope).collect(),
            image: image.into(),
        }
    }
    fn spend(&mut self, _: u64) {
        self.steps += 1;
    }
    fn restarted(&mut self) {
        self.restarts += 1;
    }
    fn switched(&mut self, _: Switch) {}
    fn out_of_time(&self) -> bool {
        false
    }
}

/// f(xₖ) − f* ≤ 2L‖x₀ − x*‖²/(k + 1)² with L = ‖A‖², for every k that was looked at; and it is attained to a constant.
#[test]
fn fista_keeps_its_published_rate() {
    for seed in 0..40 {
        let (rows, cols) = (5 + seed as usize % 30, 3 + seed as usize % 17);
        let planted = Planted::new(rows, cols, seed);
        let a = DenseMatrix::new(rows, cols, planted.a.clone()).unwrap();
        let problem = LeastSquares::with_linear(&a, &planted.c);
        let view = a.view();
        let reduced = Reduced::of(&view, &problem).unwrap();
        let mut recorder = Recorder::new(&reduced, 2000);
        Fista { restarts: false, metric: BlockMetric::Spectral }.run(&reduced, vec![0.0; reduced.len()], &mut recorder);
        assert_eq!(recorder.restarts, 0);
        // ‖A‖² ≤ trace; a power iteration is sharper.
        let mut v = vec![1.0; cols];
        let mut norm = 0.0;
        for _ in 0..2000 {
            let image: Vec<f64> = (0..rows).map(|i| (0..cols).map(|j| planted.a[j * rows + i] * v[j]).sum()).collect();
            let next: Vec<f64> = (0..cols).map(|j| (0..rows).map(|i| planted.a[j * rows + i] * image[i]).sum()).collect();
            norm = next.iter().map(|v| v * v).sum::<f64>().sqrt();
            v = next.iter().map(|v| v / norm).collect();
        }
        let far: f64 = planted.optimum.iter().map(|x| x * x).sum();
        // The first calls of `spend` are the power steps, before which nothing was checked but the start.
        let power_steps = recorder.points[1].0 - 5;
        assert!((1..=20).contains(&power_steps));
        for (spent, x) in &recorder.points[1..] {
            let k = spent - power_steps;
            let x = planted.in_caller(&reduced, x);
            let bound = 2.0 * 1.02 * norm * far / ((k + 1) * (k + 1)) as f64;
            let above = planted.above(&x);
            assert!(above <= bound, "seed {seed}, step {k}: {above:e} above {bound:e}");
            assert!(above >= -1e-12 * norm * far, "seed {seed}, step {k}: {above:e}");
        }
    }
}

/// Restarts turn 1/k² into linear convergence on well-conditioned problems.
#[test]
fn restarted_fista_converges_linearly() {
    for seed in 0..10 {
        let planted = Planted::new(60, 12, seed);
        let a = DenseMatrix::new(60, 12, planted.a.clone()).unwrap();
        let problem = LeastSquares::with_linear(&a, &planted.c);
        for metric in METRICS {
            let solver = Solver::new().method(Method::Fista).block_metric(metric).tolerance(1e-11).max_passes(1e5);
            let solution = solver.solve_problem(&problem).unwrap();
            assert_eq!(solution.status, Status::Solved, "{metric:?}, seed {seed}: {:?}", solution.certificate);
            let to = |gap: f64| {
                let reached = |row: &&nonneg::TraceRow| row.relative_gap.is_some_and(|g| g <= gap);
                solution.trace.iter().find(reached).map_or(f64::INFINITY, |row| row.passes)
            };
            let (half, whole) = (to(1e-5), to(1e-10));
            assert!(whole <= 4.0 * half.max(50.0), "{metric:?}, seed {seed}: {half} and {whole} passes");
        }
    }
}

/// Its guarantee is asymptotic: on dense positive columns its steps may go round in circles until β has shrunk. On the sparse
/// data that it was made for it is fast.
#[test]
fn oa_ds_solves_sparse_problems() {
    for seed in 0..5 {
        for metric in METRICS {
            let problem = families::text(400, 200, 0.02, seed);
            let solver = Solver::new().method(Method::OaDs).block_metric(metric).tolerance(1e-6).max_passes(1e4);
            let solution = problem.solve(&solver).unwrap();
            assert_eq!(solution.status, Status::Solved, "{metric:?}, seed {seed}: {:?}", solution.certificate.relative_gap);
        }
    }
}

#[test]
fn restarts_are_counted_and_help() {
    let problem = families::uniform(200, 150, 1);
    for metric in METRICS {
        let solver = Solver::new().block_metric(metric).tolerance(1e-6).max_passes(20_000.0);
        let plain = problem.solve(&solver.clone().method(Method::FistaNoRestart)).unwrap();
        let restarted = problem.solve(&solver.method(Method::Fista)).unwrap();
        assert_eq!((plain.status, restarted.status), (Status::Solved, Status::Solved), "{metric:?}");
        assert_eq!(plain.stats.restarts, 0);
        assert!(restarted.stats.restarts > 0, "{metric:?}");
        assert!(restarted.stats.passes < plain.stats.passes, "{metric:?}: {} {}", restarted.stats.passes, plain.stats.passes);
    }
}

/// As published, steps are in the caller's units: a badly scaled column slows them down, and nothing else.
#[test]
fn the_published_metric_is_that_of_the_callers_units() {
    let plain = families::uniform(60, 30, 1);
    let mut scaled = plain.clone();
    scaled.a[..60].iter_mut().for_each(|v| *v *= 64.0);
    let passes = |problem: &common::Problem, metric: BlockMetric| {
        let solver = Solver::new().method(Method::Fista).block_metric(metric).tolerance(1e-4).max_passes(1e6);
        let solution = problem.solve(&solver).unwrap();
        assert_eq!(solution.status, Status::Solved);
        solution.stats.passes
    };
    let invariant = BlockMetric::ScaleInvariant;
    assert_eq!(passes(&plain, invariant).to_bits(), passes(&scaled, invariant).to_bits());
    let (before, after) = (passes(&plain, BlockMetric::Spectral), passes(&scaled, BlockMetric::Spectral));
    assert!(after > 2.0 * before, "{before} and {after} passes");
}

/// Units further apart than any float can square: slow, but nothing breaks.
#[test]
fn units_far_apart_break_nothing() {
    let mut problem = families::uniform(40, 20, 3);
    for (j, column) in problem.a.chunks_mut(40).enumerate() {
        let unit = 2f64.powi(90 * (j as i32 - 10));
        column.iter_mut().for_each(|v| *v *= unit);
    }
    for method in [Method::Fista, Method::FistaNoRestart, Method::OaDs] {
        for metric in METRICS {
            let solver = Solver::new().method(method).block_metric(metric).tolerance(1e-6).max_passes(5e3);
            let solution = problem.solve(&solver).unwrap();
            assert!(solution.x.iter().all(|x| x.is_finite() && *x >= 0.0), "{method:?}, {metric:?}");
            let promised = metric == BlockMetric::ScaleInvariant && method != Method::OaDs;
            assert!(!promised || solution.status == Status::Solved, "{method:?}: {:?}", solution.status);
        }
    }
}

/// ‖A‖² of a signed A is only estimated; steps that prove too long are taken back.
#[test]
fn signed_problems_converge() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let (rows, cols) = (40, 5 + seed as usize);
        let a: Vec<f64> = (0..rows * cols).map(|_| random.between(-1.0, 1.0)).collect();
        let b: Vec<f64> = (0..rows).map(|_| random.between(-1.0, 1.0)).collect();
        let problem = common::Problem::new(rows, cols, &a, &b);
        let exact = problem.solve(&Solver::new().method(Method::LawsonHanson).tolerance(1e-10)).unwrap();
        for method in [Method::Fista, Method::FistaNoRestart, Method::OaDs] {
            for metric in METRICS {
                let solver = Solver::new().method(method).block_metric(metric).tolerance(1e-7).max_passes(2e4);
                let solution = problem.solve(&solver).unwrap();
                assert!(solution.status.is_success(), "{method:?}, {metric:?}, seed {seed}: {:?}", solution.status);
                let (ours, best) = (solution.certificate.objective.unwrap(), exact.certificate.objective.unwrap());
                assert!((ours - best).abs() <= 1e-9 * best, "{method:?}, {metric:?}, seed {seed}: {ours} and {best}");
            }
        }
    }
}

/// Both are usable as they stand, without the pipeline around them.
#[test]
fn methods_run_on_a_reduced_problem() {
    let planted = Planted::new(30, 8, 3);
    let a = DenseMatrix::new(30, 8, planted.a.clone()).unwrap();
    let problem = LeastSquares::with_linear(&a, &planted.c);
    let view = a.view();
    let reduced = Reduced::of(&view, &problem).unwrap();
    let mut recorder = Recorder::new(&reduced, 300);
    OaDs { metric: BlockMetric::ScaleInvariant }.run(&reduced, vec![0.0; reduced.len()], &mut recorder);
    assert!(recorder.points.len() > 10);
}
