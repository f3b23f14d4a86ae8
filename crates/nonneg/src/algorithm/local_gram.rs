//! G where columns overlap with few others, as those of a blurred image do: its entries that are not zero, and sparse factors.

use super::curvature::{Curvature, Factor};
use super::gram::{ABSENT, KnownGram, NOTHING, RowLists};
use crate::linalg::{Dependent, SparseCholesky, Upper};
use crate::matrix::{Column, Columns};
use crate::presolve::Reduced;
use crate::scaling::power_of_two;

/// The entries of G that are not zero.
#[derive(Debug, Default)]
pub struct LocalGram {
    /// The variables, in order of arrival.
    variables: Vec<usize>,
    /// Place of each variable of the problem, or `ABSENT`.
    places: Vec<u32>,
    /// (place, value) of each column, both triangles, without the diagonal.
    columns: Vec<Vec<(u32, f64)>>,
    diagonal: Vec<f64>,
    /// Changes with the variables.
    version: u64,
}

impl Curvature for LocalGram {
    type Factor = LocalFactor;

    fn variables(&self) -> &[usize] {
        &self.variables
    }

    fn place(&self, variable: usize) -> Option<usize> {
        self.places.get(variable).filter(|&&place| place != ABSENT).map(|&place| place as usize)
    }

    fn diagonal(&self, place: usize) -> f64 {
        self.diagonal[place]
    }

    fn add<M: Columns>(&mut self, problem: &Reduced<M>, new: &[usize], _known: &KnownGram) -> u64 {
        self.version += 1;
        let old = self.variables.len();
        self.places.resize(problem.len(), ABSENT);
        for &variable in new {
            self.places[variable] = self.variables.len() as u32;
            self.variables.push(variable);
        }
        let len = self.variables.len();
        self.columns.resize_with(len, Vec::new);
        self.diagonal.resize(len, 0.0);
        let mut rows = RowLists::default();
        rows.fill(problem, &self.variables);
        let (mut sums, mut seen) = (vec![0.0; len], vec![ABSENT; len]);
        let (mut touched, mut work) = (Vec::new(), 0);
        for place in old..len {
            let variable = self.variables[place];
            problem.column(variable).for_each(|i, a| {
                let weight = problem.weights.as_ref().map_or(1.0, |w| w[i]);
                let value = a * problem.scale[variable] * weight;
                // Places come in order: what follows has its turn.
                for &(other, b) in rows.row(i).iter().take_while(|&&(other, _)| other as usize <= place) {
                    if seen[other as usize] != place as u32 {
                        seen[other as usize] = place as u32;
                        touched.push(other);
                    }
                    sums[other as usize] += value * b;
                    work += 1;
                }
            });
            for other in touched.drain(..) {
                let sum = std::mem::take(&mut sums[other as usize]);
                if other as usize == place {
                    self.diagonal[place] = sum + problem.ridge(variable);
                } else if sum.abs() >= power_of_two(NOTHING) {
                    self.columns[place].push((other, sum));
                    self.columns[other as usize].push((place as u32, sum));
                }
            }
        }
        work
    }

    fn keep(&mut self, places: &[usize]) {
        self.version += 1;
        let mut moved = vec![ABSENT; self.variables.len()];
        places.iter().enumerate().for_each(|(to, &from)| moved[from] = to as u32);
        self.places.fill(ABSENT);
        let (mut variables, mut columns, mut diagonal) = (Vec::new(), Vec::new(), Vec::new());
        for (to, &from) in places.iter().enumerate() {
            self.places[self.variables[from]] = to as u32;
            variables.push(self.variables[from]);
            diagonal.push(self.diagonal[from]);
            let mut column = std::mem::take(&mut self.columns[from]);
            column.retain_mut(|entry| {
                entry.0 = moved[entry.0 as usize];
                entry.0 != ABSENT
            });
            columns.push(column);
        }
        (self.variables, self.columns, self.diagonal) = (variables, columns, diagonal);
    }

    fn add_column(&self, place: usize, change: f64, out: &mut [f64]) -> u64 {
        out[place] += change * self.diagonal[place];
        for &(other, value) in &self.columns[place] {
            out[other as usize] += change * value;
        }
        self.columns[place].len() as u64 + 1
    }

    fn add_columns(&self, places: &[usize], d: &[f64], out: &mut [f64]) -> u64 {
        places.iter().zip(d).filter(|(_, d)| **d != 0.0).map(|(&place, &d)| self.add_column(place, d, out)).sum()
    }
}

/// A sparse factor, made anew when the list of places has changed.
#[derive(Debug, Default)]
pub struct LocalFactor {
    factor: SparseCholesky,
    /// Positions in the list, in the order of elimination.
    order: Vec<usize>,
    /// The rank of each place in it, and the version of G that this is of.
    ranks: Vec<u32>,
    version: u64,
    stale: bool,
    work: u64,
}

impl LocalFactor {
    /// Whether there is a factor now.
    fn refresh(&mut self, gram: &LocalGram, face: &[usize], damping: f64) -> bool {
        if self.version != gram.version {
            let all: Vec<usize> = (0..gram.variables.len()).collect();
            (self.ranks, self.version) = (upper(gram, &all, 0.0).elimination_ranks(), gram.version);
        }
        self.order = (0..face.len()).collect();
        self.order.sort_unstable_by_key(|&f| self.ranks[face[f]]);
        let ordered: Vec<usize> = self.order.iter().map(|&f| face[f]).collect();
        let work = self.factor.factor(&upper(gram, &ordered, damping));
        self.work += work.unwrap_or(0);
        self.stale = false;
        work.is_some()
    }
}

/// G + damping·diag(G) on some places.
fn upper(gram: &LocalGram, places: &[usize], damping: f64) -> Upper {
    let mut positions = vec![ABSENT; gram.variables.len()];
    places.iter().enumerate().for_each(|(at, &place)| positions[place] = at as u32);
    let mut upper = Upper { starts: vec![0], ..Upper::default() };
    for (at, &place) in places.iter().enumerate() {
        for &(other, value) in &gram.columns[place] {
            let row = positions[other as usize];
            if row < at as u32 {
                upper.rows.push(row);
                upper.values.push(value);
            }
        }
        upper.rows.push(at as u32);
        upper.values.push(gram.diagonal[place] * (1.0 + damping));
        upper.starts.push(upper.rows.len() as u32);
    }
    upper
}

impl Factor<LocalGram> for LocalFactor {
    const AT_ONCE: usize = usize::MAX;
    const FOLLOWS: bool = false;

    fn extend(&mut self, gram: &LocalGram, face: &[usize], new: &[usize], damping: f64) -> Result<(), Dependent> {
        let all: Vec<usize> = face.iter().chain(new).copied().collect();
        if self.refresh(gram, &all, damping) { Ok(()) } else { Err(Dependent { appended: 0 }) }
    }

    fn remove(&mut self, _positions: &[usize]) {
        self.stale = true;
    }

    fn solve(&mut self, gram: &LocalGram, face: &[usize], damping: f64, r: &mut [f64]) {
        if (self.stale || self.version != gram.version) && !self.refresh(gram, face, damping) {
            return r.fill(0.0);
        }
        let mut ordered: Vec<f64> = self.order.iter().map(|&f| r[f]).collect();
        self.factor.solve(&mut ordered);
        self.order.iter().zip(ordered).for_each(|(&f, z)| r[f] = z);
        self.work += 2 * self.factor.entries() as u64;
    }

    fn clear(&mut self) {
        self.stale = true;
    }

    fn work(&mut self) -> u64 {
        std::mem::take(&mut self.work)
    }
}

#[cfg(test)]
mod tests {
    use super::super::gram::Gram;
    use super::*;
    use crate::linalg::Cholesky;
    use crate::{CscMatrix, LeastSquares};

    /// Bands of six rows, two rows further from column to column, with an entry that is zero in each.
    fn banded(n: usize) -> CscMatrix<f64> {
        let value = |j: usize, i: usize| if i == 3 { 0.0 } else { 1.0 + ((7 * j + 3 * i) % 11) as f64 };
        let rows = (0..n).flat_map(|j| (0..6).map(move |i| (2 * j + i) as u32)).collect();
        let values = (0..n).flat_map(|j| (0..6).map(move |i| value(j, i))).collect();
        CscMatrix::new(2 * n + 4, n, (0..=n).map(|j| 6 * j).collect(), rows, values).unwrap()
    }

    fn same(local: &LocalGram, full: &Gram) {
        let len = local.variables().len();
        assert_eq!(local.variables(), full.variables());
        for place in 0..len {
            let (mut found, mut expected) = (vec![0.0; len], vec![0.0; len]);
            local.add_column(place, 1.5, &mut found);
            full.add_column(place, 1.5, &mut expected);
            assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-14), "column {place}");
            assert_eq!(local.diagonal(place) > 0.0, full.diagonal(place) > 0.0);
            assert_eq!(local.place(local.variables()[place]), Some(place));
        }
    }

    #[test]
    fn a_local_gram_matrix_and_its_factor_are_those_in_full() {
        let n = 90;
        let a = banded(n);
        let b: Vec<f64> = (0..2 * n + 4).map(|i| 1.0 + (i % 3) as f64).collect();
        let weights: Vec<f64> = (0..2 * n + 4).map(|i| 0.5 + (i % 4) as f64).collect();
        let (view, question) = (a.view(), LeastSquares::new(&a, &b).weights(&weights).l2(0.25));
        let problem = Reduced::of(&view, &question).unwrap();
        assert_eq!(problem.len(), n);
        let (mut local, mut full, known) = (LocalGram::default(), Gram::default(), KnownGram::default());
        let scattered: Vec<usize> = (0..n).map(|k| k * 37 % n).collect();
        for some in [&scattered[..20], &scattered[20..]] {
            assert!(local.add(&problem, some, &known) > 0);
            full.add(&problem, some, &known);
            same(&local, &full);
        }
        let kept: Vec<usize> = (0..n).filter(|p| p % 4 != 1).rev().collect();
        local.keep(&kept);
        full.keep(&kept);
        same(&local, &full);

        let (mut sparse, mut dense) = (LocalFactor::default(), Cholesky::new());
        let mut face: Vec<usize> = (0..40).collect();
        Factor::extend(&mut sparse, &local, &[], &face, 0.1).unwrap();
        Factor::extend(&mut dense, &full, &[], &face, 0.1).unwrap();
        for leaving in [vec![], vec![0, 7, 39]] {
            Factor::remove(&mut sparse, &leaving);
            Factor::remove(&mut dense, &leaving);
            face.retain(|p| !leaving.contains(p));
            let (mut found, mut expected) = (vec![1.0; face.len()], vec![1.0; face.len()]);
            sparse.solve(&local, &face, 0.1, &mut found);
            Factor::solve(&mut dense, &full, &face, 0.1, &mut expected);
            assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-13));
        }
        assert!(Factor::work(&mut sparse) > 0);
    }
}
