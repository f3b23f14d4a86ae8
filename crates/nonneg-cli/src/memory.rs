//! Memory that is given back and asked for again: large arrays come and go with every block of a file and every check of x, and to
//! fetch their pages anew each time takes longer than to fill them.

/// Bytes that are kept at most; the share of a limit that they may be.
const MOST: u64 = 1 << 26;
const SHARE: u64 = 16;

/// Keeps what is given back for later, up to some megabytes, and fewer under a limit.
pub fn keep_for_later(limit: Option<u64>) {
    keep(limit.map_or(MOST, |limit| (limit / SHARE).min(MOST)));
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn keep(bytes: u64) {
    /// The largest array that may be kept; glibc allows no more.
    const LARGEST: i32 = 1 << 25;
    let bytes = i32::try_from(bytes).unwrap_or(LARGEST);
    // SAFETY: both only set numbers of the allocator, which may be done at any time. One that it refuses stays as it was.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGEST.min(bytes));
        libc::mallopt(libc::M_TRIM_THRESHOLD, bytes);
    }
}

/// Other allocators keep enough by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn keep(_bytes: u64) {}
