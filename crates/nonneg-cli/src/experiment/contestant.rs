//! The methods that are compared, under the names of reports and in words.

use std::time::Duration;

use nonneg::{BlockMetric, Method, Solver};

/// Block sizes of the paper, of which it shows the best.
const PAPER_BLOCKS: [usize; 4] = [10, 50, 300, 500];

/// A method with its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contestant {
    pub method: Method,
    pub batch_size: usize,
    pub metric: BlockMetric,
}

impl Contestant {
    /// With the method's own metric.
    pub fn plain(method: Method) -> Self {
        Self { method, batch_size: 1, metric: method.default_metric() }
    }

    /// SI-NNLS+ in blocks.
    pub fn blocks(batch_size: usize, metric: BlockMetric) -> Self {
        Self { method: Method::SiNnls, batch_size, metric }
    }

    /// All that `reproduce` runs: the paper's methods, then those that it leaves out.
    pub fn of_the_paper() -> Vec<Self> {
        let mut all: Vec<Self> = [Method::Auto, Method::SiNnlsNoRestart, Method::SiNnls].map(Self::plain).into();
        for metric in [BlockMetric::Spectral, BlockMetric::ScaleInvariant] {
            all.extend(PAPER_BLOCKS.map(|size| Self::blocks(size, metric)));
        }
        all.extend([Method::FistaNoRestart, Method::Fista, Method::OaDs, Method::Cd, Method::Apcg].map(Self::plain));
        all
    }

    /// The name in files: the `--method` name, `-bsK` for blocks, and the metric where it is not the method's own.
    pub fn name(&self) -> String {
        let mut name = self.method.name().to_owned();
        if self.batch_size > 1 {
            name += &format!("-bs{}", self.batch_size);
        }
        if self.metric != self.method.default_metric() {
            name += match self.metric {
                BlockMetric::Spectral => "-spectral",
                BlockMetric::ScaleInvariant => "-scale-invariant",
            };
        }
        name
    }

    /// For people.
    pub fn label(&self) -> String {
        let method = match self.method {
            Method::Auto => "nonneg (auto)",
            Method::SiNnls => "SI-NNLS+ restarted",
            Method::SiNnlsNoRestart => "SI-NNLS+",
            Method::ActiveSet => "active set",
            Method::Cd => "coordinate descent",
            Method::Apcg => "APCG restarted",
            Method::Fista => "FISTA restarted",
            Method::FistaNoRestart => "FISTA",
            Method::OaDs => "OA+DS",
            Method::LawsonHanson => "Lawson–Hanson",
            Method::Fnnls => "Fast NNLS",
            Method::TntNn => "TNT-NN",
            other => other.name(),
        };
        let blocks = match (self.method, self.batch_size, self.metric) {
            (Method::SiNnls | Method::SiNnlsNoRestart, 1, _) => ", bs 1".to_owned(),
            (_, 1, _) => String::new(),
            (_, size, BlockMetric::Spectral) => format!(", bs {size} (paper's constants)"),
            (_, size, BlockMetric::ScaleInvariant) => format!(", bs {size} (ours)"),
        };
        format!("{method}{blocks}")
    }

    /// What the library is asked to do.
    pub fn solver(&self, seed: u64, budget: Duration, tolerance: f64) -> Solver {
        Solver::new()
            .method(self.method)
            .batch_size(self.batch_size)
            .block_metric(self.metric)
            .tolerance(tolerance)
            .time_limit(budget)
            .seed(seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_command_line_and_differ() {
        let all = Contestant::of_the_paper();
        let names: Vec<String> = all.iter().map(Contestant::name).collect();
        for name in ["auto", "si-nnls", "si-nnls-norestart", "si-nnls-bs10", "si-nnls-bs500-spectral", "fista", "oa-ds"] {
            assert!(names.iter().any(|known| known == name), "{name} of {names:?}");
        }
        for texts in [names, all.iter().map(Contestant::label).collect()] {
            let mut sorted = texts.clone();
            sorted.sort();
            sorted.dedup();
            assert_eq!(sorted.len(), texts.len());
        }
    }
}
