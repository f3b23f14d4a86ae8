//! What unit tests share.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::algorithm::{Check, Monitor};
use crate::trace::Switch;

/// The same numbers every time.
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.0.next_u64() % limit as u64) as usize
    }
}

/// Counts work, and has no limits unless it is told to.
#[derive(Default)]
pub struct Account {
    pub work: u64,
    pub limit: Option<u64>,
}

impl Monitor for Account {
    fn check(&mut self, _x: &[f64]) -> Check {
        unreachable!("engines do not check")
    }
    fn spend(&mut self, multiply_adds: u64) {
        self.work += multiply_adds;
    }
    fn restarted(&mut self) {}
    fn switched(&mut self, _switch: Switch) {}
    fn out_of_time(&self) -> bool {
        self.limit.is_some_and(|limit| self.work > limit)
    }
}
