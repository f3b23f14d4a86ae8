//! The pipeline (being written).
use std::ops::ControlFlow;

use crate::error::Result;
use crate::matrix::MatrixRef;
use crate::problem::LeastSquares;
use crate::settings::Solver;
use crate::solution::Solution;
use crate::trace::TraceRow;

impl Solver {
    /// min ½‖Ax − b‖² over x ≥ 0.
    pub fn solve<'a>(&self, a: impl Into<MatrixRef<'a>>, b: &'a [f64]) -> Result<Solution> {
        self.solve_problem(&LeastSquares::new(a, b))
    }

    /// Solves any [`LeastSquares`] problem.
    pub fn solve_problem(&self, problem: &LeastSquares) -> Result<Solution> {
        self.solve_observed(problem, &mut |_| ControlFlow::Continue(()))
    }

    /// As [`solve_problem`](Self::solve_problem); `observe` sees every trace row as it happens and may stop the run.
    pub fn solve_observed(
        &self,
        problem: &LeastSquares,
        observe: &mut dyn FnMut(&TraceRow) -> ControlFlow<()>,
    ) -> Result<Solution> {
        self.validate()?;
        problem.validate()?;
        let _ = observe;
        todo!()
    }
}
