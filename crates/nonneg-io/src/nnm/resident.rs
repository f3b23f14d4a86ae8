//! How much of the mapped files is in memory. The system would let go of their pages when memory is short; a limit that is set for
//! this process is kept by letting go of them before.

use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use memmap2::{Mmap, UncheckedAdvice};

/// All files that are mapped.
static MAPS: Mutex<Vec<&'static Mmap>> = Mutex::new(Vec::new());

/// A pass brings in some megabytes in this time.
const PERIOD: Duration = Duration::from_millis(2);

pub(super) fn register(map: &'static Mmap) {
    MAPS.lock().unwrap_or_else(PoisonError::into_inner).push(map);
}

/// From now on mapped `.nnm` files are let go of whenever this process holds more than so many bytes (Linux only; elsewhere that is
/// the system's business). What is used again is fetched again, from the system's cache if it is still there.
pub fn limit_resident_memory(bytes: u64) {
    static STARTED: Once = Once::new();
    if cfg!(target_os = "linux") {
        STARTED.call_once(|| {
            std::thread::spawn(move || {
                loop {
                    std::thread::sleep(PERIOD);
                    if resident().is_some_and(|now| now > bytes) {
                        let_go();
                    }
                }
            });
        });
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
