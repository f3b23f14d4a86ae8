//! How much of the mapped files is in memory. The system would let go of their pages when memory is short; a limit that is set for
//! this process is kept by letting go of them before.

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use memmap2::{Mmap, UncheckedAdvice};

/// All files that are mapped.
static MAPS: Mutex<Vec<&'static Mmap>> = Mutex::new(Vec::new());

/// Where the first of them begins and the last one ends. What lies between two of them is taken for mapped, too: that only lets
/// pages go too soon.
static LOWEST: AtomicUsize = AtomicUsize::new(usize::MAX);
static HIGHEST: AtomicUsize = AtomicUsize::new(0);

/// Bytes that this process may hold; zero for no limit.
static LIMIT: AtomicU64 = AtomicU64::new(0);

/// Bytes that have come in so far, in this process.
static TOUCHED: AtomicU64 = AtomicU64::new(0);

/// The part of the limit that passes may bring in before all of it goes again. They are counted: what the kernel says of memory lags
/// behind by a hundred megabytes where it maps files in large pieces.
const PART: u64 = 8;

/// Bytes around what is looked at that come in with it, on either side: systems bring in pages by the dozen.
const AROUND: usize = 1 << 16;

/// How often to look where pages come in without a word from a pass: methods that take columns in random order.
const PERIOD: Duration = Duration::from_millis(2);

pub(super) fn register(map: &'static Mmap) {
    let Range { start, end } = map.as_ptr_range();
    LOWEST.fetch_min(start.addr(), Ordering::Relaxed);
    HIGHEST.fetch_max(end.addr(), Ordering::Relaxed);
    MAPS.lock().unwrap_or_else(PoisonError::into_inner).push(map);
}

/// From now on mapped `.nnm` files are let go of whenever this process holds more than so many bytes (Linux only; elsewhere that is
/// the system's business). What is used again is fetched again, from the system's cache if it is still there.
pub fn limit_resident_memory(bytes: u64) {
    static STARTED: Once = Once::new();
    LIMIT.store(bytes.max(1), Ordering::Relaxed);
    if cfg!(target_os = "linux") {
        STARTED.call_once(|| {
            nonneg::matrix::listen_to_passes(touched);
            std::thread::spawn(|| {
                loop {
                    std::thread::sleep(PERIOD);
                    keep_limit();
                }
            });
        });
    }
}

/// What lies at these addresses has just been looked at.
pub(super) fn touched(range: Range<usize>) {
    let limit = LIMIT.load(Ordering::Relaxed);
    let mapped = LOWEST.load(Ordering::Relaxed)..HIGHEST.load(Ordering::Relaxed);
    if limit > 0 && mapped.contains(&range.start) {
        let bytes = brought_in(range);
        let (before, step) = (TOUCHED.fetch_add(bytes, Ordering::Relaxed), limit / PART + 1);
        if before / step != (before + bytes) / step {
            let_go();
        }
    }
}

/// Bytes that came in for a range: only itself, where this thread has just been in front of it. A column has indices and values,
/// so it can have been in front of it in either.
fn brought_in(range: Range<usize>) -> u64 {
    thread_local!(static ENDS: Cell<[usize; 2]> = const { Cell::new([0; 2]) });
    let ends = ENDS.get();
    let goes_on = |end: usize| (end..=end.saturating_add(AROUND)).contains(&range.start);
    let other = if goes_on(ends[1]) { ends[0] } else { ends[1] }; // the older one is given up
    ENDS.set([other, range.end]);
    let around = if ends.into_iter().any(goes_on) { 0 } else { 2 * AROUND };
    (range.len() + around) as u64
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_where_a_thread_was_counts_as_itself() {
        let (page, alone) = (4096, |bytes: usize| (bytes + 2 * AROUND) as u64);
        assert_eq!(brought_in(110 * page..120 * page), alone(10 * page));
        assert_eq!(brought_in(120 * page..121 * page), page as u64);
        // Indices here and values there, in turn.
        assert_eq!(brought_in(900 * page..901 * page), alone(page));
        assert_eq!(brought_in(121 * page..122 * page), page as u64);
        assert_eq!(brought_in(901 * page..902 * page), page as u64);
        assert_eq!(brought_in(122 * page..123 * page), page as u64);
        // Backwards, and elsewhere.
        assert_eq!(brought_in(122 * page..123 * page), alone(page));
        assert_eq!(brought_in(500 * page..501 * page), alone(page));
    }
}
