//! How the columns of a set overlap, from a sample of them: whether they have neighbourhoods, and whether their order is one of
//! neighbours.

use super::gram::Gram;
use crate::matrix::{Column, Columns};
use crate::presolve::Reduced;

/// Columns that are compared with others, and how many others.
const SAMPLES: usize = 16;
const OTHERS: usize = 128;
const SCATTER: usize = 0x9E37_79B1;

/// The part of a set that a column of it may overlap with on average where columns have neighbourhoods, and the part of its rows that it
/// shares with each of those, at least, and how many: with a few columns in a row each, factors soon are full.
const FEW: f64 = 0.2;
const COMMON: f64 = 0.1;
const COMMON_ROWS: f64 = 2.0;

/// Columns stand in the order of neighbours where each shares so many times more rows with the next one than with any other.
const NEXT_TO_ANY: f64 = 3.0;

/// Sets below this size are no trouble for dense matrices.
const LEAST: usize = 256;

/// What a sample of pairs of columns shows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Overlaps {
    /// With how many others of the set a column overlaps, about, if columns have neighbourhoods: each overlaps with few others, and much
    /// with those.
    pub neighbours: Option<f64>,
    /// Whether the order of the columns means nothing.
    pub scattered: bool,
}

/// Rows that pairs have in common.
#[derive(Default)]
struct Pairs {
    pairs: f64,
    /// Pairs with a common row.
    meeting: f64,
    /// Of all pairs together.
    common: f64,
    /// The rows of the longer column, of all pairs that were looked at.
    rows: f64,
}

impl Pairs {
    fn add(&mut self, common: usize, rows: usize) {
        self.pairs += 1.0;
        self.meeting += f64::from(u8::from(common > 0));
        self.common += common as f64;
        self.rows += rows as f64;
    }
}

fn part(of: f64, all: f64) -> f64 {
    if all > 0.0 { of / all } else { 0.0 }
}

impl Overlaps {
    /// Of a set in the order of its variables. Second, the entries looked at.
    pub fn look<M: Columns>(problem: &Reduced<M>, set: &[usize]) -> (Self, u64) {
        if set.len() < LEAST {
            return (Self::default(), 0);
        }
        let entries = problem.entries(set.iter().copied());
        if Gram::is_dense(problem, set.len(), entries) {
            return (Self { neighbours: None, scattered: true }, 0);
        }
        // Scattered, so that no pattern of the columns agrees with that of the samples.
        let place = |k: usize| (k.wrapping_mul(SCATTER) >> 7) % set.len();
        let mut last_seen = vec![usize::MAX; problem.matrix.rows()];
        let (mut any, mut next, mut work) = (Pairs::default(), Pairs::default(), 0);
        for sample in 0..SAMPLES {
            let here = place(sample);
            problem.column(set[here]).for_each(|i, _| last_seen[i] = sample);
            let len = problem.column_len(set[here]);
            let mut compare = |pairs: &mut Pairs, other: usize| {
                let mut common = 0;
                problem.column(set[other]).for_each(|i, _| common += usize::from(last_seen[i] == sample));
                let other_len = problem.column_len(set[other]);
                pairs.add(common, len.max(other_len));
                work += other_len as u64;
            };
            (SAMPLES..SAMPLES + OTHERS).map(place).filter(|&other| other != here).for_each(|other| compare(&mut any, other));
            [here.wrapping_sub(1), here + 1].into_iter().filter(|&k| k < set.len()).for_each(|other| compare(&mut next, other));
        }
        let scattered = part(next.common, next.rows) <= NEXT_TO_ANY * part(any.common, any.rows);
        if part(any.meeting, any.pairs) >= FEW {
            return (Self { neighbours: None, scattered }, work);
        }
        // Pairs that meet are rare: some columns with all others.
        let samples: Vec<usize> = (0..SAMPLES).map(|sample| set[place(sample)]).collect();
        let meeting = meeting_any(problem, &samples, set);
        let neighbours = 1.0 + meeting.meeting / SAMPLES as f64;
        let share_much = meeting.common >= COMMON * meeting.rows && meeting.common >= COMMON_ROWS * meeting.meeting;
        // Sparse matrices count their entries in 32 bits.
        let local = neighbours < FEW * set.len() as f64 && share_much && neighbours * (set.len() as f64) < f64::from(i32::MAX);
        (Self { neighbours: local.then_some(neighbours), scattered }, work + entries)
    }
}

/// The pairs of a sample and a column of a set that meet.
fn meeting_any<M: Columns>(problem: &Reduced<M>, samples: &[usize], set: &[usize]) -> Pairs {
    let mut samples_of_row = vec![0u16; problem.matrix.rows()]; // a bit for each
    for (sample, &k) in samples.iter().enumerate() {
        problem.column(k).for_each(|i, _| samples_of_row[i] |= 1 << sample);
    }
    let mut pairs = Pairs::default();
    for &other in set {
        let mut met = 0;
        problem.column(other).for_each(|i, _| met |= samples_of_row[i]);
        for (sample, &k) in samples.iter().enumerate().filter(|&(sample, &k)| met >> sample & 1 == 1 && k != other) {
            let mut common = 0;
            problem.column(other).for_each(|i, _| common += usize::from(samples_of_row[i] >> sample & 1));
            pairs.add(common, problem.column_len(k).max(problem.column_len(other)));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;
    use crate::{CscMatrix, LeastSquares};

    fn look(rows: usize, columns: &[Vec<u32>], set: &[usize]) -> Overlaps {
        let pointers = std::iter::once(0).chain(columns.iter().scan(0, |end, c| {
            *end += c.len();
            Some(*end)
        }));
        let entries = columns.concat();
        let values = vec![1.0; entries.len()];
        let a = CscMatrix::new(rows, columns.len(), pointers.collect(), entries, values).unwrap();
        let (view, b) = (a.view(), vec![1.0; rows]);
        let problem = Reduced::of(&view, &LeastSquares::new(&a, &b)).unwrap();
        assert_eq!(problem.len(), columns.len());
        Overlaps::look(&problem, set).0
    }

    fn in_order<T: Ord>(mut list: Vec<T>) -> Vec<T> {
        list.sort();
        list.dedup();
        list
    }

    #[test]
    fn bands_have_neighbours_in_any_order_of_the_columns() {
        let (n, all) = (400, (0..400).collect::<Vec<usize>>());
        let band = |j: usize| (0..6).map(|i| (2 * j + i) as u32).collect::<Vec<u32>>();
        let found = look(2 * n + 4, &(0..n).map(band).collect::<Vec<_>>(), &all);
        assert!((1.0..20.0).contains(&found.neighbours.expect("local")), "{found:?}"); // about five
        assert!(!found.scattered);
        assert_eq!(
            look(2 * n + 4, &(0..n).map(band).collect::<Vec<_>>(), &all[..100]),
            Overlaps::default(),
            "too small to matter"
        );

        let mixed: Vec<Vec<u32>> = (0..n).map(|j| band(j * 171 % n)).collect();
        let found = look(2 * n + 4, &mixed, &all);
        assert!(found.neighbours.is_some() && found.scattered, "{found:?}");
    }

    #[test]
    fn a_common_row_and_random_rows_make_no_neighbourhoods() {
        let (n, all) = (400, (0..400).collect::<Vec<usize>>());
        let common: Vec<Vec<u32>> = (0..n as u32).map(|j| vec![j, 400]).collect();
        assert_eq!(look(401, &common, &all), Overlaps { neighbours: None, scattered: true });
        // Few meet, and those in one row: G is sparse, its factor is not.
        let mut random = Random::new(5);
        let rows = |random: &mut Random| in_order((0..40).map(|_| (random.unit() * 40000.0) as u32).collect());
        let words: Vec<Vec<u32>> = (0..n).map(|_| rows(&mut random)).collect();
        assert_eq!(look(40000, &words, &all), Overlaps { neighbours: None, scattered: true });
    }

    #[test]
    fn neighbourhoods_are_found_and_ruled_out_where_samples_of_pairs_do_not_meet() {
        let n = 50_000;
        let band = |j: usize| (0..6).map(|i| (2 * j + i) as u32).collect::<Vec<u32>>();
        let found = look(2 * n + 4, &(0..n).map(band).collect::<Vec<_>>(), &(0..n).collect::<Vec<_>>());
        assert!((4.8..=5.0).contains(&found.neighbours.expect("local")), "{found:?}"); // itself, and two on either side
        assert!(!found.scattered);

        // Rare words: hardly any two meet, but the graph of those that do has no small separators.
        let mut random = Random::new(6);
        let rows = |random: &mut Random| in_order((0..2).map(|_| (random.unit() * 20_000.0) as u32).collect());
        let words: Vec<Vec<u32>> = (0..n).map(|_| rows(&mut random)).collect();
        assert_eq!(look(20_000, &words, &(0..n).collect::<Vec<_>>()), Overlaps { neighbours: None, scattered: true });
    }
}
