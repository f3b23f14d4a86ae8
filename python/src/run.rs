//! Runs a solve without the GIL: Ctrl-C, callbacks, threads.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use nonneg::{Solver, TraceRow};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Stored entries up to which a solve is not worth a thread of its own.
const SMALL: usize = 1 << 17;

/// How often signals are looked for, and how long one may wait for a small problem without looking.
const SIGNALS: Duration = Duration::from_millis(50);

/// The process that imported the module.
static IMPORTED_BY: AtomicU32 = AtomicU32::new(0);

/// Threads of a process that was forked: those of its parent are gone.
static FORKED: Mutex<Option<(u32, Arc<rayon::ThreadPool>)>> = Mutex::new(None);

/// Called on import.
pub fn remember_process() {
    IMPORTED_BY.store(std::process::id(), Ordering::Relaxed);
}

/// Runs where threads are alive.
fn in_pool<R: Send>(run: impl FnOnce() -> R + Send) -> R {
    let process = std::process::id();
    if process == IMPORTED_BY.load(Ordering::Relaxed) {
        return run();
    }
    let pool = {
        let mut forked = FORKED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some((owner, pool)) = forked.take() {
            if owner == process {
                *forked = Some((owner, pool));
            } else {
                std::mem::forget(pool); // its threads are another process's
            }
        }
        match &*forked {
            Some((_, pool)) => Some(pool.clone()),
            None => {
                let pool = rayon::ThreadPoolBuilder::new().build().ok().map(Arc::new);
                *forked = pool.clone().map(|pool| (process, pool));
                pool
            }
        }
    };
    match pool {
        Some(pool) => pool.install(run),
        None => run(),
    }
}

/// What sees every row of the trace.
pub type Observe<'a> = dyn FnMut(&TraceRow) -> ControlFlow<()> + Send + 'a;

/// When a run is to end early.
pub struct Limits {
    interrupt: Arc<AtomicBool>,
    begin: Instant,
    /// After this time it is to begin again, where signals are looked for.
    patience: Option<Duration>,
}

impl Limits {
    /// The solver with these limits, and whether its time limit is now ours.
    pub fn apply(&self, solver: &Solver) -> (Solver, bool) {
        let mut solver = solver.clone().interrupt(self.interrupt.clone());
        match self.patience {
            Some(patience) if solver.time_limit.is_none_or(|limit| limit > patience) => {
                solver.time_limit = Some(patience);
                (solver, true)
            }
            _ => (solver, false),
        }
    }

    /// What is raised when the run is to end.
    pub fn interrupt(&self) -> Arc<AtomicBool> {
        self.interrupt.clone()
    }

    /// Whether patience has run out.
    pub fn are_over(&self) -> bool {
        self.patience.is_some_and(|patience| self.begin.elapsed() >= patience)
    }
}

/// Runs `solve` without the GIL. `callback(passes, seconds, objective, lower_bound, relative_gap, natural_residual, support,
/// restarts, event)` is called with every row; if it returns true the run stops, if it raises so does this.
///
/// A small problem runs where it was called; one that takes longer than expected (`solve` returns `None`) or is large runs in
/// a thread of its own, while the thread that called, the one that Python sends signals to, looks for them.
pub fn without_gil<R: Send>(
    py: Python<'_>,
    entries: usize,
    callback: Option<Py<PyAny>>,
    solve: impl Fn(&Limits, &mut Observe) -> Option<R> + Send + Sync,
) -> PyResult<R> {
    let stop = Arc::new(AtomicBool::new(false));
    let failure: Mutex<Option<PyErr>> = Mutex::new(None);
    let fail = |error: PyErr| {
        stop.store(true, Ordering::Relaxed);
        failure.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(error);
    };
    let mut observe = |row: &TraceRow| {
        if stop.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        let Some(callback) = &callback else { return ControlFlow::Continue(()) };
        match Python::attach(|py| call(py, callback, row)) {
            Ok(false) => ControlFlow::Continue(()),
            Ok(true) => ControlFlow::Break(()),
            Err(error) => {
                fail(error);
                ControlFlow::Break(())
            }
        }
    };
    let limits = |patience| Limits { interrupt: stop.clone(), begin: Instant::now(), patience };
    let small = entries <= SMALL && callback.is_none();
    let result = py.detach(|| {
        if small && let Some(result) = in_pool(|| solve(&limits(Some(SIGNALS)), &mut observe)) {
            return Some(result);
        }
        std::thread::scope(|scope| {
            let (done, finished) = mpsc::channel::<()>();
            let worker = scope.spawn(|| {
                let result = in_pool(|| solve(&limits(None), &mut observe));
                drop(done);
                result
            });
            while finished.recv_timeout(SIGNALS) == Err(mpsc::RecvTimeoutError::Timeout) {
                let _ = Python::attach(|py| py.check_signals()).map_err(&fail);
            }
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    });
    match failure.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        Some(error) => Err(error),
        None => result.ok_or_else(|| PyRuntimeError::new_err("the solver ended without an answer")),
    }
}

fn call(py: Python<'_>, callback: &Py<PyAny>, row: &TraceRow) -> PyResult<bool> {
    let &TraceRow { passes, seconds, objective, lower_bound, relative_gap, natural_residual, support, restarts, event } = row;
    let row = (passes, seconds, objective, lower_bound, relative_gap, natural_residual, support, restarts, event.name());
    callback.bind(py).call1(row)?.is_truthy()
}
