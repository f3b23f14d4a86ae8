//! The one source of randomness: xoshiro256++ and the few distributions that the generators draw from.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A seeded stream of random numbers.
#[derive(Debug, Clone)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The stream of this seed.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform in [0, 1), 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Uniform in 0..count, `count > 0` (multiply-shift; its bias is below count/2⁶⁴).
    pub fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.0.next_u64()) * count as u128) >> 64) as usize
    }

    /// Standard normal (Box and Muller, one of the pair).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }

    /// Poisson: by multiplication for small means, the rounded normal above 50.
    pub fn poisson(&mut self, mean: f64) -> f64 {
        if mean > 50.0 {
            return (mean + mean.sqrt() * self.normal()).round().max(0.0);
        }
        let limit = (-mean).exp();
        let (mut count, mut product) = (0.0, self.uniform());
        while product > limit {
            count += 1.0;
            product *= self.uniform();
        }
        count
    }

    /// Visits each of 0..len with probability `density`, by geometric jumps: the cost is the number of visits.
    pub fn scatter(&mut self, len: usize, density: f64, mut visit: impl FnMut(usize, &mut Self)) {
        let log_miss = (1.0 - density).ln(); // −∞ at density 1: every jump is 0
        let mut position = 0.0;
        loop {
            position += ((1.0 - self.uniform()).ln() / log_miss).floor();
            if position >= len as f64 {
                return;
            }
            visit(position as usize, self);
            position += 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_what_the_names_say() {
        let mut random = Random::new(1);
        let count = 20_000;
        let mean = |draw: &mut dyn FnMut() -> f64| (0..count).map(|_| draw()).sum::<f64>() / f64::from(count);
        assert!((mean(&mut || random.uniform()) - 0.5).abs() < 0.02);
        assert!(mean(&mut || random.normal()).abs() < 0.03);
        assert!((mean(&mut || random.normal().powi(2)) - 1.0).abs() < 0.05);
        assert!((mean(&mut || random.exponential()) - 1.0).abs() < 0.05);
        assert!((mean(&mut || random.poisson(3.0)) - 3.0).abs() < 0.1);
        assert!((mean(&mut || random.poisson(80.0)) - 80.0).abs() < 0.5);
        assert!((0..1000).all(|_| random.below(7) < 7));
    }

    #[test]
    fn scatter_hits_increasing_positions_at_the_density_asked_for() {
        let mut random = Random::new(2);
        for density in [0.001, 0.1, 0.9, 1.0] {
            let mut seen = Vec::new();
            random.scatter(20_000, density, |i, _| seen.push(i));
            assert!(seen.windows(2).all(|pair| pair[0] < pair[1]));
            assert!((seen.len() as f64 / 20_000.0 - density).abs() < 0.02, "{density}: {}", seen.len());
        }
    }
}
