//! How much of the mapped files is in memory. The system would let go of their pages when memory is short; a limit that is set for
//! this process is kept by letting go of them before.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use memmap2::{Mmap, UncheckedAdvice};

/// All files that are mapped.
static MAPS: Mutex<Vec<&'static Mmap>> = Mutex::new(Vec::new());

/// Bytes that this process may hold; zero for no limit.
static LIMIT: AtomicU64 = AtomicU64::new(0);

/// Bytes that passes have looked at so far, in this process.
static TOUCHED: AtomicU64 = AtomicU64::new(0);

/// The part of the limit that passes may bring in before all of it goes again. They are counted: what the kernel says of memory lags
/// behind by a hundred megabytes where it maps files in large pieces.
const PART: u64 = 8;

/// Bytes of an entry, at most.
const ENTRY: u64 = 16;

/// How often to look where pages come in without a word from a pass: methods that take columns in random order.
const PERIOD: Duration = Duration::from_millis(2);

pub(super) fn register(map: &'static Mmap) {
    MAPS.lock().unwrap_or_else(PoisonError::into_inner).push(map);
}

/// From now on mapped `.nnm` files are let go of whenever this process holds more than so many bytes (Linux only; elsewhere that is
/// the system's business). What is used again is fetched again, from the system's cache if it is still there.
pub fn limit_resident_memory(bytes: u64) {
    static STARTED: Once = Once::new();
    LIMIT.store(bytes.max(1), Ordering::Relaxed);
    if cfg!(target_os = "linux") {
        STARTED.call_once(|| {
            nonneg::matrix::listen_to_passes(|entries| touched(ENTRY * entries as u64));
            std::thread::spawn(|| {
                loop {
                    std::thread::sleep(PERIOD);
                    keep_limit();
                }
            });
        });
    }
}

/// So many bytes of a map have just been looked at.
pub(super) fn touched(bytes: u64) {
    let limit = LIMIT.load(Ordering::Relaxed);
    if limit > 0 {
        let (before, step) = (TOUCHED.fetch_add(bytes, Ordering::Relaxed), limit / PART + 1);
        if before / step != (before + bytes) / step {
            let_go();
        }
    }
}

fn keep_limit() {
    let limit = LIMIT.load(Ordering::Relaxed);
    if limit > 0 && resident().is_some_and(|now| now > limit) {
        let_go();
    }
}

fn let_go() {
    for map in MAPS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        // SAFETY: the map is of a file and never written to: pages that are let go of come back as they were.
        // A refusal is no error: the memory then stays as it is.
        let _ = unsafe { map.unchecked_advise(UncheckedAdvice::DontNeed) };
    }
}

/// Bytes of this process that are in memory, by the kernel's account in pages of 4 KiB.
fn resident() -> Option<u64> {
    let account = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(account.split(' ').nth(1)?.parse::<u64>().ok()? * 4096)
}
