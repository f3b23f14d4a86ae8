//! Ctrl-C: while solving, the first one asks the solver to stop with its best answer; otherwise, and the second time,
//! the process ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Takes over Ctrl-C for work that may stop anywhere: calls `farewell`, then ends the process.
pub fn leave_with(farewell: impl Fn() + Send + 'static) {
    // Where no handler can be set, Ctrl-C keeps its ordinary meaning.
    let _ = ctrlc::set_handler(move || {
        farewell();
        std::process::exit(crate::INTERRUPTED.into());
    });
}

#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    /// There is an answer worth waiting for.
    solving: Arc<AtomicBool>,
    requested: Arc<AtomicBool>,
}

impl Interrupt {
    /// Takes over Ctrl-C (and termination by a batch system).
    pub fn install() -> Self {
        let interrupt = Self::default();
        let handler = interrupt.clone();
        // Where no handler can be set, Ctrl-C keeps its ordinary meaning.
        let _ = ctrlc::set_handler(move || {
            if !handler.solving.load(Ordering::SeqCst) || handler.requested.swap(true, Ordering::SeqCst) {
                std::process::exit(crate::INTERRUPTED.into());
            }
        });
        interrupt
    }

    /// From now on an interruption yields an answer. Returns the flag that the solver watches.
    pub fn begin_solving(&self) -> Arc<AtomicBool> {
        self.solving.store(true, Ordering::SeqCst);
        self.requested.clone()
    }
}
