//! The paper's claims about SI-NNLS+, and proof that these tests refuse a wrong algorithm.

mod paper;

use nonneg::algorithm::si_nnls::{Blocks, Explicit, Lazy, StepWeights};
use nonneg::matrix::Columns;
use nonneg::presolve::Reduced;
use nonneg::{BlockMetric, CscView, DenseView, LeastSquares};
use paper::audit::{Watched, audit};
use paper::mutants::{Mutant, Mutation};
use paper::{Random, Small, distance, dot};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// A lazy run on a problem, from a start in the caller's units.
struct Run<'p, M: Columns> {
    lazy: Lazy<'p, M>,
    reduced: &'p Reduced<'p, M>,
    /// Caller's units over scaled units, per column.
    units: Vec<f64>,
    rhs_unit: f64,
}

fn lazy<'p, M: Columns>(small: &Small, reduced: &'p Reduced<'p, M>, blocks: &'p Blocks, start: &[f64]) -> Run<'p, M> {
    assert_eq!(reduced.len(), small.columns.len(), "these problems keep all their columns");
    // c̃ⱼ = cⱼ·2^(eⱼ − rhs) tells the unit of b.
    let rhs_unit = small.linear()[0] * reduced.scale[0] / reduced.linear[0];
    let rhs_unit = 2f64.powi(rhs_unit.log2().round() as i32);
    let units: Vec<f64> = reduced.scale.iter().map(|s| s * rhs_unit).collect();
    let scaled: Vec<f64> = start.iter().zip(&units).map(|(x, u)| x / u).collect();
    let image: Vec<f64> = small.image(start).iter().map(|y| y / rhs_unit).collect();
    let gradient: Vec<f64> = small.gradient(start).iter().zip(&reduced.scale).map(|(g, s)| g * s / rhs_unit).collect();
    Run { lazy: Lazy::start(reduced, blocks, &scaled, &image, &gradient), reduced, units, rhs_unit }
}

impl<M: Columns> Watched for Run<'_, M> {
    fn step(&mut self, block: usize) {
        self.lazy.step(block);
    }
    fn current(&self) -> Vec<f64> {
        self.lazy.current().iter().zip(&self.units).map(|(x, u)| x * u).collect()
    }
    fn output(&self) -> Vec<f64> {
        self.lazy.average().iter().zip(&self.units).map(|(x, u)| x * u).collect()
    }
    fn image(&self) -> Vec<f64> {
        self.lazy.weighted_image().iter().map(|y| y * self.rhs_unit).collect()
    }
    fn weight(&self) -> f64 {
        self.lazy.weights().current
    }
}

fn warm_start(small: &Small, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    small.linear().iter().zip(small.norms()).map(|(c, l)| if random.unit() < 0.5 { c / l * random.unit() } else { 0.0 }).collect()
}

fn random_blocks(count: usize, blocks: usize, seed: u64) -> Vec<usize> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.below(blocks)).collect()
}

/// y = Ax̃, x̃ = Σ aᵢᵏxᵢ/Aₖ, xₖ = argmin φₖ and the weights, at every one of 400 steps, from zero and from elsewhere.
#[test]
fn every_step_satisfies_the_papers_definitions() {
    for (seed, cols) in [(1, 12), (2, 12), (3, 5), (4, 2), (5, 3)] {
        let small = Small::random(30, cols, if seed % 2 == 0 { 0.4 } else { 1.0 }, seed);
        let matrix = small.sparse();
        let view = matrix.view();
        let reduced = Reduced::of(&view, &LeastSquares::new(&matrix, &small.b)).unwrap();
        let (blocks, _) = Blocks::new(&reduced, 1, BlockMetric::ScaleInvariant);
        for start in [vec![0.0; cols], warm_start(&small, seed)] {
            let mut run = lazy(&small, &reduced, &blocks, &start);
            audit(&small, &start, &mut run, &random_blocks(400, cols, seed)).unwrap();
        }
    }
}

#[test]
fn wrong_algorithms_fail_the_audit() {
    let small = Small::random(30, 12, 1.0, 7);
    let start = vec![0.0; 12];
    let verdict = |mutation| audit(&small, &start, &mut Mutant::start(&small, &start, mutation), &random_blocks(200, 12, 3));
    assert_eq!(verdict(Mutation::None), Ok(()));
    let refused = [
        (Mutation::NoExtrapolation, "does not minimise"),
        (Mutation::LastIterate, "the output is not"),
        (Mutation::AppendixWeights, "a₁"),
        (Mutation::CoordinateFirst, "does not minimise"),
        (Mutation::InverseRatio, "does not minimise"),
    ];
    for (mutation, reason) in refused {
        let message = verdict(mutation).expect_err(&format!("{mutation:?} must fail"));
        assert!(message.contains(reason), "{mutation:?}: {message}");
    }
}

/// Explicit and lazy forms on the same blocks, compared every 100 steps.
fn forms_agree<M: Columns>(view: &M, small: &Small, problem: &LeastSquares, batch_size: usize, start: &[f64], seed: u64) {
    let reduced = Reduced::of(view, problem).unwrap();
    let (blocks, _) = Blocks::new(&reduced, batch_size, BlockMetric::ScaleInvariant);
    let zero = vec![0.0; small.columns.len()];
    let units = lazy(small, &reduced, &blocks, &zero).units;
    let mut scaled: Vec<f64> = start.iter().zip(&units).map(|(x, u)| x / u).collect();
    reduced.clip(&mut scaled);
    let mut explicit = Explicit::start(&reduced, &blocks, scaled.clone());
    let image = reduced.multiply(&scaled);
    let gradient = explicit_gradient(&reduced, &scaled, &image);
    let mut lazy = Lazy::start(&reduced, &blocks, &scaled, &image, &gradient);
    for (k, block) in random_blocks(4000, blocks.count(), seed).into_iter().enumerate() {
        explicit.step(block);
        lazy.step(block);
        if k % 100 == 99 {
            let (average, current) =
                (distance(explicit.average(), &lazy.average()), distance(explicit.current(), &lazy.current()));
            // x is x₀ minus a sum of gradients with weights that add up to Aₖ, so it carries Aₖ times their rounding errors;
            // the output x̃ divides by Aₖ again.
            let allowed = 1e-12 * lazy.weights().sum.max(1.0);
            assert!(average <= 1e-12, "step {k}, blocks of {batch_size}: x̃ differs by {average}");
            assert!(current <= allowed, "step {k}, blocks of {batch_size}: x differs by {current}");
        }
    }
    assert!(lazy.average().iter().any(|&x| x > 0.0), "the run moved");
}

fn explicit_gradient<M: Columns>(reduced: &Reduced<M>, x: &[f64], image: &[f64]) -> Vec<f64> {
    use nonneg::matrix::Column;
    let weighted: Vec<f64> = match &reduced.weights {
        None => image.to_vec(),
        Some(w) => image.iter().zip(w).map(|(y, w)| y * w).collect(),
    };
    (0..x.len())
        .map(|k| reduced.scale[k] * reduced.column(k).dot(&weighted) + reduced.ridge(k) * x[k] - reduced.linear[k])
        .collect()
}

#[test]
fn explicit_and_lazy_forms_agree_over_thousands_of_steps() {
    for seed in 1..=3 {
        for density in [0.25, 1.0] {
            let small = Small::random(40, 14, density, seed);
            let (sparse, dense) = (small.sparse(), small.dense());
            let (sparse_view, dense_view): (CscView, DenseView) = (sparse.view(), dense.view());
            for batch_size in [1, 3, 14] {
                for start in [vec![0.0; 14], warm_start(&small, seed + 10)] {
                    forms_agree(&sparse_view, &small, &LeastSquares::new(&sparse, &small.b), batch_size, &start, seed);
                    forms_agree(&dense_view, &small, &LeastSquares::new(&dense, &small.b), batch_size, &start, seed);
                }
            }
        }
    }
}

#[test]
fn explicit_and_lazy_forms_agree_with_penalties_weights_and_bounds() {
    let small = Small::random(40, 14, 0.5, 9);
    let matrix = small.sparse();
    let mut random = Random::new(4);
    let weights: Vec<f64> = (0..40).map(|_| random.unit()).collect();
    let problem = LeastSquares::new(&matrix, &small.b).l1(0.01).l2(0.3).weights(&weights).upper(0.4);
    for batch_size in [1, 3, 14] {
        for start in [vec![0.0; 14], warm_start(&small, 2)] {
            let view = matrix.view();
            let reduced = Reduced::of(&view, &problem).unwrap();
            let (blocks, _) = Blocks::new(&reduced, batch_size, BlockMetric::ScaleInvariant);
            let mut scaled: Vec<f64> = start.clone();
            reduced.clip(&mut scaled);
            let mut explicit = Explicit::start(&reduced, &blocks, scaled.clone());
            let image = reduced.multiply(&scaled);
            let gradient = explicit_gradient(&reduced, &scaled, &image);
            let mut lazy = Lazy::start(&reduced, &blocks, &scaled, &image, &gradient);
            for (k, block) in random_blocks(4000, blocks.count(), 8).into_iter().enumerate() {
                explicit.step(block);
                lazy.step(block);
                let apart = distance(explicit.average(), &lazy.average());
                assert!(apart <= 1e-12, "step {k}, blocks of {batch_size}: {apart}");
            }
        }
    }
}

const SEEDS: u64 = 60;

/// f(x̃_K) and ⟨∇f(x̃_K), x̃_K − x*⟩ for one seed at each K.
fn measure(small: &Small, start: &[f64], optimum: &[f64], at: &[usize], seed: u64) -> Vec<(f64, f64, f64)> {
    let matrix = small.sparse();
    let view = matrix.view();
    let reduced = Reduced::of(&view, &LeastSquares::new(&matrix, &small.b)).unwrap();
    let (blocks, _) = Blocks::new(&reduced, 1, BlockMetric::ScaleInvariant);
    let mut run = lazy(small, &reduced, &blocks, start);
    assert_eq!(run.reduced.len(), start.len());
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut step = 1;
    at.iter()
        .map(|&k| {
            run.lazy.random_steps(k - step, &mut rng);
            step = k;
            let x = run.output();
            let away: Vec<f64> = x.iter().zip(optimum).map(|(x, o)| x - o).collect();
            (small.objective(&x), dot(&small.gradient(&x), &away), run.lazy.weights().sum)
        })
        .collect()
}

#[test]
fn the_theorems_bounds_hold_on_average() {
    for (seed, density) in [(11, 1.0), (12, 0.3)] {
        let small = Small::random(25, 10, density, seed);
        let optimum = small.optimum();
        let best = small.objective(&optimum);
        for start in [vec![0.0; 10], warm_start(&small, seed)] {
            let away = |j: usize| (start[j] - optimum[j]) * (start[j] - optimum[j]) * small.norms()[j];
            let size: f64 = (0..10).map(away).sum(); // ‖x₀ − x*‖²_Λ
            let steps = [10, 50, 100, 300, 1000, 3000];
            let runs: Vec<_> = (0..SEEDS).map(|seed| measure(&small, &start, &optimum, &steps, seed)).collect();
            for (k, steps) in steps.iter().enumerate() {
                let weight = runs[0][k].2;
                let error = runs.iter().map(|run| run[k].0 - best).sum::<f64>() / SEEDS as f64;
                let product = runs.iter().map(|run| run[k].1).sum::<f64>() / SEEDS as f64;
                assert!(error <= size / (2.0 * weight), "K = {steps}: {error} > {}", size / (2.0 * weight));
                assert!(product <= size / weight, "K = {steps}: {product} > {}", size / weight);
            }
        }
    }
}

#[test]
fn the_theorems_number_of_steps_gives_the_promised_accuracy() {
    for (seed, density) in [(21, 1.0), (22, 0.3), (23, 0.6)] {
        let small = Small::random(25, 10, density, seed);
        let optimum = small.optimum();
        let best = small.objective(&optimum);
        for epsilon in [0.1f64, 0.01] {
            let n = 10f64;
            let steps = (2.5 * n * n.ln() + 6.0 * n / epsilon.sqrt()).ceil() as usize;
            let total: f64 = (0..SEEDS).map(|seed| measure(&small, &[0.0; 10], &optimum, &[steps], seed)[0].0 - best).sum();
            let error = total / SEEDS as f64;
            assert!(error <= epsilon * best.abs(), "ε = {epsilon}: {error} > {}", epsilon * best.abs());
        }
    }
}

#[test]
fn the_weights_grow_as_fast_as_the_theorem_says() {
    for blocks in [4usize, 5, 10, 100, 1000, 20000] {
        let n = blocks as f64;
        let warm_up = 2.5 * n * n.ln();
        let mut weights = StepWeights::first(blocks);
        for _ in 0..(warm_up + 60.0 * n) as usize {
            weights.advance();
            let k = weights.step as f64;
            if k >= warm_up {
                let bound = (k - warm_up).powi(2) / (36.0 * n * n);
                assert!(weights.sum >= bound, "n = {n}, k = {k}: A_k = {} < {bound}", weights.sum);
            }
        }
    }
}

#[test]
fn the_weights_obey_the_conditions_of_the_proof() {
    for blocks in [1usize, 2, 3, 4, 7, 50] {
        let n = blocks as f64;
        let mut weights = StepWeights::first(blocks);
        let first = weights.current;
        for _ in 0..2000 {
            weights.advance();
            assert!(weights.current <= weights.sum_before.sqrt() / (2.0 * n) * (1.0 + 1e-15));
            if weights.step == 2 {
                assert!(first >= (n - 1.0) * weights.current * (1.0 - 1e-15), "a₁ ≥ (n−1)a₂");
            } else {
                assert!((n - 1.0) * weights.current <= n * weights.previous * (1.0 + 1e-15));
            }
        }
    }
}

/// BᵀB ⪯ diag(M) for every block, and M follows a rescaled column exactly.
#[test]
fn the_block_metric_dominates_the_block() {
    for seed in 0..20 {
        let small = Small::random(15, 9, if seed % 2 == 0 { 0.3 } else { 1.0 }, seed);
        let matrix = small.sparse();
        let view = matrix.view();
        let reduced = Reduced::of(&view, &LeastSquares::new(&matrix, &small.b)).unwrap();
        for (size, kind) in [
            (2, BlockMetric::ScaleInvariant),
            (4, BlockMetric::ScaleInvariant),
            (9, BlockMetric::ScaleInvariant),
            (4, BlockMetric::Spectral),
        ] {
            let (blocks, _) = Blocks::new(&reduced, size, kind);
            let mut random = Random::new(seed);
            for block in 0..blocks.count() {
                for _ in 0..200 {
                    let direction: Vec<f64> =
                        (0..9).map(|k| if blocks.range(block).contains(&k) { random.unit() - 0.3 } else { 0.0 }).collect();
                    let image = reduced.multiply(&direction);
                    let square = dot(&image, &image);
                    let metric: f64 = (0..9).map(|k| blocks.metric(&reduced, k) * direction[k] * direction[k]).sum();
                    assert!(square <= metric * (1.0 + 1e-12), "block {block} of {size}: {square} > {metric}");
                }
            }
        }
    }
}
