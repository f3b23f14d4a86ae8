//! Clocks, medians, and the physical limit that times are compared with.

use std::hint::black_box;
use std::time::Instant;

/// Wall-clock seconds of one call.
pub fn seconds(work: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    work();
    begin.elapsed().as_secs_f64()
}

/// The middle one of some numbers (the upper one of two); NaN of none.
pub fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Smallest and largest.
pub fn range(numbers: &[f64]) -> (f64, f64) {
    numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)))
}

/// Far more than any cache that this is likely to run on.
const STREAM_BYTES: usize = 512 << 20;
const STREAM_ROUNDS: usize = 7;

/// Arrays smaller than this may live in a cache: the memory's bandwidth is no limit for them.
const CACHED_BYTES: f64 = 64e6;

/// Bytes per second at which one thread sums a long array: the best of a few rounds, since a limit is wanted.
pub fn bandwidth() -> f64 {
    let stream = vec![1.0f64; STREAM_BYTES / size_of::<f64>()];
    let sum = || {
        let mut lanes = [0.0f64; 16];
        for chunk in black_box(&stream).as_chunks::<16>().0 {
            for (lane, value) in lanes.iter_mut().zip(chunk) {
                *lane += value;
            }
        }
        black_box(lanes);
    };
    let times: Vec<f64> = (0..STREAM_ROUNDS).map(|_| seconds(sum)).collect();
    STREAM_BYTES as f64 / range(&times).0
}

/// Nanoseconds that the memory needs to deliver one nonzero, where the arrays are too large for a cache.
pub fn memory_limit(bytes: f64, nonzeros: f64, bandwidth: f64) -> Option<f64> {
    (bytes >= CACHED_BYTES).then(|| 1e9 * bytes / nonzeros / bandwidth)
}
