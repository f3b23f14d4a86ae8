//! The digest of an array: that of the digests of its pieces, so that all cores can work at it.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::resident::touched;

/// Bytes of a piece.
const PIECE: usize = 1 << 22;

/// Of bytes that are all there; `advance` hears how many are done.
pub fn digest(bytes: &[u8], advance: &(dyn Fn(u64) + Sync)) -> u64 {
    let done = AtomicU64::new(0);
    let of_piece = |piece: &[u8]| {
        let digest = xxh3_64(piece);
        touched(piece.as_ptr().addr()..piece.as_ptr().addr() + piece.len());
        advance(done.fetch_add(piece.len() as u64, Ordering::Relaxed) + piece.len() as u64);
        digest
    };
    combine(&bytes.par_chunks(PIECE).map(of_piece).collect::<Vec<u64>>())
}

fn combine(pieces: &[u64]) -> u64 {
    xxh3_64(&pieces.iter().flat_map(|digest| digest.to_le_bytes()).collect::<Vec<u8>>())
}

/// Of bytes that come bit by bit.
#[derive(Default)]
pub struct Digest {
    pieces: Vec<u64>,
    current: Xxh3,
    filled: usize,
}

impl Digest {
    pub fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(PIECE - self.filled));
            self.current.update(now);
            self.filled += now.len();
            if self.filled == PIECE {
                self.end_piece();
            }
            bytes = rest;
        }
    }

    fn end_piece(&mut self) {
        self.pieces.push(self.current.digest());
        self.current.reset();
        self.filled = 0;
    }

    pub fn finish(mut self) -> u64 {
        if self.filled > 0 {
            self.end_piece();
        }
        combine(&self.pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_by_bit_is_the_same_as_at_once() {
        for len in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 17] {
            let bytes: Vec<u8> = (0..len).map(|k| (k * k % 251) as u8).collect();
            let mut digest = Digest::default();
            bytes.chunks(PIECE / 3 + 5).for_each(|part| digest.update(part));
            assert_eq!(digest.finish(), super::digest(&bytes, &|_| ()), "{len}");
        }
    }
}
