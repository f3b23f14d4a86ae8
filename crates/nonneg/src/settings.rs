//! The solver's settings: plain fields with defaults, and a setter for each.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::error::{Error, Result};

/// How to solve. Every field has a working default.
///
/// ```
/// use nonneg::{DenseMatrix, Solver};
///
/// let a = DenseMatrix::new(3, 2, vec![1.0, 2.0, 0.0, 0.0, 1.0, 3.0])?;
/// let solution = Solver::new().tolerance(1e-9).solve(&a, &[1.0, 2.5, 1.5])?;
/// assert!(solution.certificate.relative_gap.unwrap() <= 1e-9);
/// # Ok::<(), nonneg::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Solver {
    /// ε: stop when the certified relative gap (f(x) − f*)/|f*| is at most this. Range [0, ∞); default 1e-6.
    /// Zero asks for all that floating point gives, and ends `Stalled`.
    pub tolerance: f64,
    /// Which algorithm. Default [`Method::Auto`].
    pub method: Method,
    /// Columns that move together in one step of SI-NNLS+. Range ≥ 1; default 1.
    pub batch_size: usize,
    /// The metric in which columns move that move together. Default: [`BlockMetric::ScaleInvariant`] for blocks of SI-NNLS+;
    /// [`BlockMetric::Spectral`], as published, for FISTA and OA+DS, which move all of them.
    pub block_metric: Option<BlockMetric>,
    /// Seed of all randomness. Same seed, same answer, on any number of threads. Default 0.
    pub seed: u64,
    /// Stop with the best answer so far after this time. Default none.
    pub time_limit: Option<Duration>,
    /// Stop with the best answer so far after this much work, in passes over A. Default none.
    pub max_passes: Option<f64>,
    /// Threads for full passes. Default: rayon's current pool.
    pub threads: Option<usize>,
    /// Bytes that a method may take for matrices of its own: `auto` does without, others refuse. Default 2 GiB for `auto`.
    pub memory_limit: Option<u64>,
    /// Set it from elsewhere (Ctrl-C) to stop with the best answer so far.
    pub interrupt: Option<Arc<AtomicBool>>,
}

/// Bytes for the matrices of the default solver where no limit is set.
pub(crate) const MEMORY: u64 = 2 << 30;

/// An algorithm, under the name that reports and the command line use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
#[non_exhaustive]
pub enum Method {
    /// Working sets, with the inner engine that gains most for its cost; SI-NNLS+ where a block size is set.
    #[default]
    Auto,
    /// SI-NNLS+ with adaptive restarts.
    SiNnls,
    /// SI-NNLS+ as the theorem states it, one run without restarts.
    SiNnlsNoRestart,
    /// Working sets with the exact engine: a block active-set method.
    ActiveSet,
    /// Cyclic coordinate descent.
    Cd,
    /// Accelerated proximal coordinate gradient (Lin, Lu, Xiao 2014), with restarts.
    Apcg,
    /// FISTA (Beck, Teboulle 2009) with adaptive restarts (O'Donoghue, Candès 2015).
    Fista,
    /// FISTA as published, one run without restarts.
    FistaNoRestart,
    /// OA+DS (Kim, Sra, Dhillon 2013): projected gradients with Barzilai–Borwein steps on the free variables.
    OaDs,
    /// Lawson and Hanson's active set method: exact, for up to some thousands of positive entries; no upper bounds.
    LawsonHanson,
    /// Fast NNLS (Bro, de Jong 1997): the same on AᵀA, formed once; exact, for up to some thousands of columns; no upper bounds.
    Fnnls,
    /// TNT-NN (Myre et al. 2017): block changes of the active set; exact, for up to some thousands of columns; no upper bounds.
    TntNn,
}

impl Method {
    /// All methods, in the order of the documentation.
    pub const ALL: [Method; 12] = [
        Method::Auto,
        Method::SiNnls,
        Method::SiNnlsNoRestart,
        Method::ActiveSet,
        Method::Cd,
        Method::Apcg,
        Method::Fista,
        Method::FistaNoRestart,
        Method::OaDs,
        Method::LawsonHanson,
        Method::Fnnls,
        Method::TntNn,
    ];

    /// The name in reports and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::Auto => "auto",
            Method::SiNnls => "si-nnls",
            Method::SiNnlsNoRestart => "si-nnls-norestart",
            Method::ActiveSet => "active-set",
            Method::Cd => "cd",
            Method::Apcg => "apcg",
            Method::Fista => "fista",
            Method::FistaNoRestart => "fista-norestart",
            Method::OaDs => "oa-ds",
            Method::LawsonHanson => "lawson-hanson",
            Method::Fnnls => "fnnls",
            Method::TntNn => "tnt-nn",
        }
    }

    /// The metric in which its columns move where none is set.
    pub fn default_metric(self) -> BlockMetric {
        match self {
            Method::Fista | Method::FistaNoRestart | Method::OaDs => BlockMetric::Spectral,
            _ => BlockMetric::ScaleInvariant,
        }
    }

    /// Whether it solves problems with upper bounds on x.
    pub fn takes_upper_bounds(self) -> bool {
        !matches!(self, Method::LawsonHanson | Method::Fnnls | Method::TntNn)
    }
}

impl std::str::FromStr for Method {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self> {
        Method::ALL.into_iter().find(|method| method.name() == name).ok_or_else(|| Error::Setting {
            name: "method",
            value: name.to_owned(),
            expected: "auto, si-nnls, si-nnls-norestart, active-set, cd, apcg, fista, fista-norestart, oa-ds, lawson-hanson, \
                       fnnls or tnt-nn",
        })
    }
}

/// The diagonal M ⪰ BᵀB in which a block B of columns moves. To FISTA and OA+DS all columns are one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockMetric {
    /// One constant per column, by Collatz–Wielandt: rescaling a column changes nothing.
    ScaleInvariant,
    /// σ_max(B)² for the whole block in the caller's units, as published; for reproducing the paper's figures.
    Spectral,
}

impl Default for Solver {
    fn default() -> Self {
        Self {
            tolerance: 1e-6,
            method: Method::Auto,
            batch_size: 1,
            block_metric: None,
            seed: 0,
            time_limit: None,
            max_passes: None,
            threads: None,
            memory_limit: None,
            interrupt: None,
        }
    }
}

impl Solver {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`tolerance`](Self::tolerance).
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }
    /// Sets [`method`](Self::method).
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }
    /// Sets [`batch_size`](Self::batch_size).
    pub fn batch_size(mut self, batch_size: usize) -> Self {
        self.batch_size = batch_size;
        self
    }
    /// Sets [`block_metric`](Self::block_metric).
    pub fn block_metric(mut self, block_metric: BlockMetric) -> Self {
        self.block_metric = Some(block_metric);
        self
    }
    /// Sets [`seed`](Self::seed).
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
    /// Sets [`time_limit`](Self::time_limit).
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }
    /// Sets [`max_passes`](Self::max_passes).
    pub fn max_passes(mut self, passes: f64) -> Self {
        self.max_passes = Some(passes);
        self
    }
    /// Sets [`threads`](Self::threads).
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }
    /// Sets [`memory_limit`](Self::memory_limit).
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }
    /// Sets [`interrupt`](Self::interrupt).
    pub fn interrupt(mut self, flag: Arc<AtomicBool>) -> Self {
        self.interrupt = Some(flag);
        self
    }

    /// Checks every setting against its range.
    pub fn validate(&self) -> Result<()> {
        let refuse = |name, value: String, expected| Err(Error::Setting { name, value, expected });
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return refuse("tolerance", self.tolerance.to_string(), "a finite number ≥ 0");
        }
        if self.batch_size == 0 {
            return refuse("batch_size", "0".into(), "at least 1");
        }
        if let Some(passes) = self.max_passes.filter(|&passes| passes.is_nan() || passes < 0.0) {
            return refuse("max_passes", passes.to_string(), "a number ≥ 0");
        }
        if self.threads == Some(0) {
            return refuse("threads", "0".into(), "at least 1");
        }
        Ok(())
    }
}
