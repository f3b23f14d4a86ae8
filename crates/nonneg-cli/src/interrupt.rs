//! Ctrl-C, and termination by a batch system: while solving, the first one asks the solver to stop with its best answer; otherwise,
//! and the second time, the process ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// What a shell says of a process that Ctrl-C ended.
const CTRL_C: u8 = 130;

/// 128 and the number of the signal that came.
static CODE: AtomicU8 = AtomicU8::new(CTRL_C);

/// The exit status of a command that was interrupted.
pub fn exit_code() -> u8 {
    CODE.load(Ordering::SeqCst)
}

fn leave() -> ! {
    std::process::exit(exit_code().into())
}

/// Calls `handle` for every signal that asks to stop. Where that cannot be arranged, signals keep their ordinary meaning.
#[cfg(unix)]
fn on_signal(mut handle: impl FnMut() + Send + 'static) {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            CODE.store(128 + signal as u8, Ordering::SeqCst);
            handle();
        }
    });
}

#[cfg(not(unix))]
fn on_signal(handle: impl FnMut() + Send + 'static) {
    let _ = ctrlc::set_handler(handle);
}

/// Takes over signals for work that may stop anywhere: calls `farewell`, then ends the process.
pub fn leave_with(farewell: impl Fn() + Send + 'static) {
    on_signal(move || {
        farewell();
        leave();
    });
}

#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    /// There is an answer worth waiting for.
    solving: Arc<AtomicBool>,
    requested: Arc<AtomicBool>,
}

impl Interrupt {
    /// Takes over signals.
    pub fn install() -> Self {
        let interrupt = Self::default();
        let handler = interrupt.clone();
        on_signal(move || {
            if !handler.solving.load(Ordering::SeqCst) || handler.requested.swap(true, Ordering::SeqCst) {
                leave();
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
