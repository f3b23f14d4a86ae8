//! Seeded makers of small problems of every kind, and planted optima of any size.

use proptest::prelude::*;

use super::dyadic::{Dyadic, Fraction};
use super::exact::Quadratic;
use super::random::Random;
use super::{Bound, Goal, Problem, Storage};

/// How A is filled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fill {
    /// Uniform in (0, 1).
    Dense,
    /// A third of the entries; empty rows and columns happen.
    Sparse,
    /// Columns that differ from the first by 2⁻¹⁰ to 2⁻⁵⁰.
    NearDuplicates,
    /// 1/(i + j + 1).
    Hilbert,
    /// Every column is one of the first two.
    Duplicates,
    /// 0 to 5: sums are exact, and cancel exactly.
    Integers,
    /// Uniform in (−1, 1).
    Signed,
    /// −3 to 3.
    SignedIntegers,
}

impl Fill {
    pub const NONNEGATIVE: [Fill; 6] =
        [Fill::Dense, Fill::Sparse, Fill::NearDuplicates, Fill::Hilbert, Fill::Duplicates, Fill::Integers];
    pub const ALL: [Fill; 8] = [
        Fill::Dense,
        Fill::Sparse,
        Fill::NearDuplicates,
        Fill::Hilbert,
        Fill::Duplicates,
        Fill::Integers,
        Fill::Signed,
        Fill::SignedIntegers,
    ];
}

/// What b, or c, looks like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aim {
    /// b uniform in (0, 1).
    Positive,
    /// b uniform in (−1, 1).
    Mixed,
    /// b = 0.
    Zero,
    /// Rows come in equal pairs, b has opposite integers there: Aᵀb is exactly zero.
    Orthogonal,
    /// The same, up to 2⁻²⁰ to 2⁻⁵²: Aᵀb is what cancellation leaves.
    NearlyOrthogonal,
    /// b = Ax for some x ≥ 0, so the least residual is rounding alone.
    InRange,
    /// c uniform in (−1, 1); unbounded problems happen.
    Linear,
    /// c = AᵀWr − s with s ≥ 0: bounded below, as −½‖r‖²_W, for any A.
    LinearBounded,
}

impl Aim {
    pub const RHS: [Aim; 6] = [Aim::Positive, Aim::Mixed, Aim::Zero, Aim::Orthogonal, Aim::NearlyOrthogonal, Aim::InRange];
    pub const ALL: [Aim; 8] = [
        Aim::Positive,
        Aim::Mixed,
        Aim::Zero,
        Aim::Orthogonal,
        Aim::NearlyOrthogonal,
        Aim::InRange,
        Aim::Linear,
        Aim::LinearBounded,
    ];
}

/// What is scaled, by powers of two in 2⁻⁶⁰⁰..2⁶⁰⁰ or by 1e±200.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    None,
    /// All of A by one factor, b or c by another.
    Whole,
    /// Each column by its own (c along with it), b by one.
    Columns,
    /// Each row of A and its entry of b by their own.
    Rows,
    /// The weights, where there are any, by half as much.
    Weights,
}

impl Scale {
    pub const ALL: [Scale; 5] = [Scale::None, Scale::Whole, Scale::Columns, Scale::Rows, Scale::Weights];
}

/// ℓ, measured in the columns' own c/L.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UpperKind {
    None,
    Uniform,
    Each,
    SomeZero,
    SomeInfinite,
}

impl UpperKind {
    pub const ALL: [UpperKind; 5] =
        [UpperKind::None, UpperKind::Uniform, UpperKind::Each, UpperKind::SomeZero, UpperKind::SomeInfinite];
}

/// All that decides a problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    pub rows: usize,
    pub cols: usize,
    pub fill: Fill,
    pub aim: Aim,
    pub scale: Scale,
    /// Scale by powers of two rather than of ten.
    pub binary: bool,
    pub upper: UpperKind,
    pub l1: bool,
    pub l2: bool,
    pub weights: bool,
    pub storage: Storage,
    pub seed: u64,
}

impl Recipe {
    /// No constraints but x ≥ 0, no scaling, dense.
    pub fn plain(rows: usize, cols: usize, fill: Fill, aim: Aim, seed: u64) -> Self {
        Self {
            rows,
            cols,
            fill,
            aim,
            scale: Scale::None,
            binary: true,
            upper: UpperKind::None,
            l1: false,
            l2: false,
            weights: false,
            storage: Storage::Dense,
            seed,
        }
    }

    pub fn make(&self) -> Problem {
        let mut random = Random::new(self.seed);
        let random = &mut random;
        let (m, n) = (self.rows, self.cols);
        let mut a = self.fill(random);
        if matches!(self.aim, Aim::Orthogonal | Aim::NearlyOrthogonal) {
            // Rows in equal pairs; a last row without a partner has b = 0.
            for j in 0..n {
                for i in (1..m).step_by(2) {
                    a[j * m + i] = a[j * m + i - 1];
                }
            }
        }
        let f32 = self.storage.is_f32() && self.scale == Scale::None;
        if f32 {
            a.iter_mut().for_each(|v| *v = f64::from(*v as f32));
        }
        let weights: Option<Vec<f64>> = self.weights.then(|| {
            let draw = |random: &mut Random| if random.chance(0.25) { 0.0 } else { random.between(0.1, 2.0) };
            (0..m).map(|_| draw(random)).collect()
        });
        let goal = self.goal(random, &a, weights.as_deref());
        let mut problem = Problem::with_goal(m, n, a, goal);
        problem.weights = weights;
        problem.storage = match self.storage {
            Storage::DenseF32 if !f32 => Storage::Dense,
            Storage::CscF32 if !f32 => Storage::Csc,
            storage => storage,
        };
        self.scale(random, &mut problem);
        self.constrain(random, &mut problem);
        problem
    }

    fn fill(&self, random: &mut Random) -> Vec<f64> {
        let (m, n) = (self.rows, self.cols);
        let mut a = vec![0.0; m * n];
        for j in 0..n {
            let closeness = 2f64.powi(-random.integer(10, 50) as i32);
            let original = random.index(2.min(n));
            for i in 0..m {
                a[j * m + i] = match self.fill {
                    Fill::Dense => random.unit(),
                    Fill::Sparse if random.chance(1.0 / 3.0) => random.unit(),
                    Fill::Sparse => 0.0,
                    Fill::NearDuplicates if j > 0 => a[i] * (1.0 + closeness * random.between(-1.0, 1.0)),
                    Fill::Duplicates if j > original => a[original * m + i],
                    Fill::NearDuplicates | Fill::Duplicates => random.between(0.1, 1.0),
                    Fill::Hilbert => 1.0 / (i + j + 1) as f64,
                    Fill::Integers => random.integer(0, 5) as f64,
                    Fill::Signed => random.between(-1.0, 1.0),
                    Fill::SignedIntegers => random.integer(-3, 3) as f64,
                };
            }
        }
        a
    }

    fn goal(&self, random: &mut Random, a: &[f64], weights: Option<&[f64]>) -> Goal {
        let (m, n) = (self.rows, self.cols);
        let whole = matches!(self.fill, Fill::Integers | Fill::SignedIntegers);
        let positive = |random: &mut Random| if whole { random.integer(0, 9) as f64 } else { random.unit() };
        match self.aim {
            Aim::Positive => Goal::Rhs((0..m).map(|_| positive(random)).collect()),
            Aim::Mixed if whole => Goal::Rhs((0..m).map(|_| random.integer(-9, 9) as f64).collect()),
            Aim::Mixed => Goal::Rhs((0..m).map(|_| random.between(-1.0, 1.0)).collect()),
            Aim::Zero => Goal::Rhs(vec![0.0; m]),
            Aim::Orthogonal | Aim::NearlyOrthogonal => {
                let mut b = vec![0.0; m];
                for i in (1..m).step_by(2) {
                    b[i - 1] = random.integer(1, 9) as f64;
                    let nearly = 1.0 - 2f64.powi(-random.integer(20, 52) as i32);
                    b[i] = -b[i - 1] * if self.aim == Aim::Orthogonal { 1.0 } else { nearly };
                }
                Goal::Rhs(b)
            }
            Aim::InRange => {
                let x: Vec<f64> = (0..n).map(|_| if random.chance(0.4) { 0.0 } else { positive(random) }).collect();
                Goal::Rhs((0..m).map(|i| (0..n).map(|j| a[j * m + i] * x[j]).sum()).collect())
            }
            Aim::Linear => Goal::Linear((0..n).map(|_| random.between(-1.0, 1.0)).collect()),
            Aim::LinearBounded => {
                // Small integers over a power of two: c is what it claims, not a rounding of it.
                let r: Vec<f64> = (0..m).map(|_| random.integer(-2, 8) as f64).collect();
                let slack: Vec<f64> = (0..n).map(|_| random.integer(0, 3) as f64 / 2.0).collect();
                let exact = |j: usize| {
                    let terms = (0..m).map(|i| {
                        let weighted = &Dyadic::from(a[j * m + i]) * &weights.map_or(1.0, |w| w[i]).into();
                        &weighted * &r[i].into()
                    });
                    terms.fold(Dyadic::zero(), |sum, term| &sum + &term).to_f64()
                };
                // Rounded down, and zero stays zero: c stays AᵀWr − s with some s ≥ 0.
                let below = |v: f64| if v == 0.0 { v } else { v.next_down() };
                Goal::Linear((0..n).map(|j| below(exact(j)) - slack[j]).map(below).collect())
            }
        }
    }

    fn scale(&self, random: &mut Random, problem: &mut Problem) {
        let (m, n) = (self.rows, self.cols);
        // The library refuses weights that differ by more than 1e240.
        let (binary, decimal) = if self.scale == Scale::Weights { (380, 1e100) } else { (600, 1e200) };
        let mut factor = || match self.binary {
            true => 2f64.powi(random.integer(-binary, binary) as i32),
            false => random.pick(&[1.0 / decimal, 1.0, decimal]),
        };
        let times = |values: &mut [f64], factor: f64| values.iter_mut().for_each(|v| *v *= factor);
        match self.scale {
            Scale::None => {}
            Scale::Whole => {
                times(&mut problem.a, factor());
                match &mut problem.goal {
                    Goal::Rhs(target) | Goal::Linear(target) => times(target, factor()),
                }
            }
            Scale::Columns => {
                let factors: Vec<f64> = (0..n).map(|_| factor()).collect();
                for j in 0..n {
                    times(&mut problem.a[j * m..(j + 1) * m], factors[j]);
                }
                match &mut problem.goal {
                    Goal::Rhs(b) => times(b, factor()),
                    Goal::Linear(c) => c.iter_mut().zip(factors).for_each(|(c, factor)| *c *= factor),
                }
            }
            Scale::Rows => {
                for i in 0..m {
                    let factor = factor();
                    (0..n).for_each(|j| problem.a[j * m + i] *= factor);
                    if let Goal::Rhs(b) = &mut problem.goal {
                        b[i] *= factor;
                    }
                }
            }
            Scale::Weights => {
                if let Some(weights) = &mut problem.weights {
                    weights.iter_mut().for_each(|w| *w *= factor());
                }
            }
        }
    }

    /// Bounds and penalties of a size that matters for this problem.
    fn constrain(&self, random: &mut Random, problem: &mut Problem) {
        let n = self.cols;
        let exact = Quadratic::new(problem);
        let finite_or = |v: f64, other: f64| if v.is_finite() { v } else { other };
        if self.l1 {
            let size = exact.linear[random.index(n)].abs().to_f64();
            problem.l1 = finite_or(size * random.between(0.01, 0.9), 0.0);
        }
        if self.l2 {
            let j = random.index(n);
            let size = exact.hessian[j][j].to_f64();
            problem.l2 = finite_or(size * 2f64.powi(random.integer(-20, 2) as i32), 0.0);
        }
        let mut bound = |j: usize| {
            let (c, square) = (exact.linear[j].abs(), &exact.hessian[j][j]);
            let size = if square.is_positive() { Fraction::from(c).over(square).to_f64() } else { 1.0 };
            finite_or(size * random.between(0.05, 1.5), f64::INFINITY)
        };
        problem.bound = match self.upper {
            UpperKind::None => Bound::None,
            UpperKind::Uniform => Bound::Uniform(bound(0)),
            UpperKind::Each => Bound::Each((0..n).map(bound).collect()),
            UpperKind::SomeZero => Bound::Each((0..n).map(|j| if j % 3 == 0 { 0.0 } else { bound(j) }).collect()),
            UpperKind::SomeInfinite => Bound::Each((0..n).map(|j| if j % 3 == 0 { f64::INFINITY } else { bound(j) }).collect()),
        };
    }
}

/// Problems of the given kinds, up to 8×6, with every constraint that `extras` allows. Shrinks towards 1×1 and plain.
pub fn recipes(
    fills: &'static [Fill],
    aims: &'static [Aim],
    scales: &'static [Scale],
    extras: bool,
) -> impl Strategy<Value = Recipe> {
    let uppers: &[UpperKind] = if extras { &UpperKind::ALL } else { &[UpperKind::None] };
    let flag = move || if extras { any::<bool>().boxed() } else { Just(false).boxed() };
    let pick = proptest::sample::select::<Storage>;
    let shape = (1usize..=8, 1usize..=6);
    let kind = (proptest::sample::select(fills), proptest::sample::select(aims));
    let size = (proptest::sample::select(scales), any::<bool>());
    let extra = (proptest::sample::select(uppers), flag(), flag(), flag());
    (shape, kind, size, extra, pick(Storage::ALL.to_vec()), any::<u64>().no_shrink()).prop_map(
        |((rows, cols), (fill, aim), (scale, binary), (upper, l1, l2, weights), storage, seed)| Recipe {
            rows,
            cols,
            fill,
            aim,
            scale,
            binary,
            upper,
            l1,
            l2,
            weights,
            storage,
            seed,
        },
    )
}

/// A problem of any size whose optimum is known exactly.
///
/// A = [A₀; diag(d)], with small integers in A₀ and powers of two in d. Choose x* ≥ 0 and the gradient g ≥ 0 that it is to
/// have, with g = 0 wherever x* > 0, and any r₀. Then r = [r₀; −(g + A₀ᵀr₀)/d] satisfies Aᵀr = −g, so that b = Ax* + r
/// gives Aᵀ(Ax* − b) = g: x* meets the optimality conditions. All numbers are small multiples of ⅛, so nothing is rounded.
pub fn planted(random: &mut Random, extra_rows: usize, cols: usize, support: usize) -> (Problem, Vec<f64>) {
    let (m, n) = (extra_rows + cols, cols);
    let mut a = vec![0.0; m * n];
    let mut x = vec![0.0; n];
    let mut gradient: Vec<f64> = (0..n).map(|_| random.integer(0, 9) as f64).collect();
    for _ in 0..support {
        let j = random.index(n);
        x[j] = random.integer(1, 9) as f64;
        gradient[j] = 0.0;
    }
    let r0: Vec<f64> = (0..extra_rows).map(|_| random.integer(-9, 9) as f64).collect();
    let mut r = vec![0.0; m];
    r[..extra_rows].copy_from_slice(&r0);
    for j in 0..n {
        let column = &mut a[j * m..(j + 1) * m];
        column[..extra_rows].iter_mut().for_each(|v| *v = if random.chance(0.6) { random.integer(1, 9) as f64 } else { 0.0 });
        let diagonal = random.pick(&[1.0, 2.0, 4.0, 8.0]);
        column[extra_rows + j] = diagonal;
        let on_top: f64 = column.iter().zip(&r0).map(|(a, r)| a * r).sum();
        r[extra_rows + j] = -(gradient[j] + on_top) / diagonal;
    }
    let b: Vec<f64> = (0..m).map(|i| r[i] + (0..n).map(|j| a[j * m + i] * x[j]).sum::<f64>()).collect();
    (Problem::new(m, n, &a, &b), x)
}
