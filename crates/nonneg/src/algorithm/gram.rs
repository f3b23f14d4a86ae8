//! G = AᵀWA + Λ on a growing list of variables, in full.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::curvature::{Curvature, Factor};
use crate::linalg::{Cholesky, Dependent};
use crate::matrix::kernels::{add_columns, axpy, clear_below};
use crate::matrix::{Column, Columns, per_task};
use crate::presolve::Reduced;
use crate::scaling::power_of_two;

/// Rows of A at a time, and columns of G that one thread fills, in the dense path.
const ROWS: usize = 256;
const PANEL: usize = 128;

/// A set this dense is multiplied as if it were full: a product of two tiles costs a tenth of what scattered entries do.
const DENSE: f64 = 0.2;

/// log₂ of what counts as zero beside columns of length one, far below any rounding error: the tails of peaks multiply to
/// numbers so small that processors take a hundred times as long over them.
pub(super) const NOTHING: i32 = -300;

/// The Gram matrix of some variables of one problem.
#[derive(Debug, Default)]
pub struct Gram {
    /// The variables, in order of arrival.
    variables: Vec<usize>,
    /// Place of each variable of the problem, or `ABSENT`.
    places: Vec<u32>,
    /// Both triangles, column-major.
    values: Vec<f64>,
    /// Rows that a column has room for.
    room: usize,
    /// Memory that is used again: a fresh page costs as much as the work on it.
    rows: RowLists,
    block: Vec<f64>,
}

/// No place.
pub(super) const ABSENT: u32 = u32::MAX;

impl Gram {
    /// Number of variables.
    pub fn len(&self) -> usize {
        self.variables.len()
    }

    /// Column of the variable at a place.
    #[inline]
    pub fn column(&self, place: usize) -> &[f64] {
        &self.values[place * self.room..place * self.room + self.variables.len()]
    }

    /// Whether so many variables with so many stored entries are multiplied as if they were full.
    pub fn is_dense<M: Columns>(problem: &Reduced<M>, variables: usize, entries: u64) -> bool {
        entries as f64 > DENSE * variables as f64 * problem.matrix.rows() as f64
    }

    /// The new columns and rows.
    fn copy<M: Columns>(&mut self, problem: &Reduced<M>, known: &KnownGram, old: usize) {
        let from: Vec<usize> = self.variables.iter().map(|&k| known.places[problem.columns[k]] as usize).collect();
        for place in old..self.len() {
            let column = known.gram.column(from[place]);
            let out = &mut self.values[place * self.room..][..=place];
            out.iter_mut().zip(&from).for_each(|(out, &p)| *out = column[p]);
        }
        self.mirror(old);
    }

    /// Columns long enough for all variables; the old ones are moved over.
    fn make_room(&mut self, old: usize) {
        let len = self.len();
        if len <= self.room {
            self.values.resize(self.room * len, 0.0);
            return;
        }
        let room = len.max(self.room + self.room / 2).next_multiple_of(8);
        let mut values = vec![0.0; room * len];
        for place in 0..old {
            values[place * room..][..old].copy_from_slice(&self.values[place * self.room..][..old]);
        }
        (self.values, self.room) = (values, room);
    }

    /// G[new, old] from G[old, new].
    fn mirror(&mut self, old: usize) {
        let (room, len) = (self.room, self.len());
        for new in old..len {
            for place in 0..new {
                self.values[place * room + new] = self.values[new * room + place];
            }
        }
    }

    /// The upper triangle of the new columns, a block of rows at a time.
    fn fill_dense<M: Columns>(&mut self, problem: &Reduced<M>, old: usize) -> u64 {
        let (room, len, m) = (self.room, self.variables.len(), problem.matrix.rows());
        let mut block = std::mem::take(&mut self.block);
        block.resize(block.len().max(ROWS.min(m) * len), 0.0);
        let mut weighted = if problem.weights.is_some() { vec![0.0; ROWS.min(m) * (len - old)] } else { Vec::new() };
        for start in (0..m).step_by(ROWS) {
            let rows = start..(start + ROWS).min(m);
            let height = rows.len();
            let block = &mut block[..height * len];
            let together = per_task(len, height * len);
            block.par_chunks_mut(height).zip(&self.variables).with_min_len(together).for_each(|(out, &k)| {
                problem.column(k).write_rows(rows.clone(), problem.scale[k], out);
                clear_below(power_of_two(NOTHING), out);
            });
            let left = MatRef::from_column_major_slice(block, height, len).transpose();
            let mut new = &block[height * old..];
            if let Some(weights) = &problem.weights {
                let weighted = &mut weighted[..new.len()];
                for (out, column) in weighted.chunks_mut(height).zip(new.chunks(height)) {
                    for ((out, &v), &w) in out.iter_mut().zip(column).zip(&weights[rows.clone()]) {
                        *out = if w == 0.0 { 0.0 } else { v * w };
                    }
                }
                new = weighted;
            }
            let right = MatRef::from_column_major_slice(new, height, len - old);
            let panels = self.values[old * room..].par_chunks_mut(PANEL * room).enumerate();
            panels.with_min_len(per_task(len - old, height * len * (len - old)).div_ceil(PANEL)).for_each(|(panel, values)| {
                let first = panel * PANEL;
                let columns = PANEL.min(len - old - first);
                let above = old + first + columns; // rows of the upper triangle
                matmul(
                    MatMut::from_column_major_slice_with_stride_mut(values, above, columns, room),
                    Accum::Add,
                    left.subrows(0, above),
                    right.subcols(first, columns),
                    1.0,
                    Par::Seq,
                );
            });
        }
        self.block = block;
        (m as u64) * ((old..len).map(|j| j as u64 + 1).sum::<u64>())
    }

    /// The upper triangle of the new columns, through the rows that they touch.
    fn fill_sparse<M: Columns>(&mut self, problem: &Reduced<M>, old: usize) -> u64 {
        let (room, len) = (self.room, self.variables.len());
        let mut rows = std::mem::take(&mut self.rows);
        rows.fill(problem, &self.variables);
        let variables = &self.variables;
        let together = per_task(len - old, rows.len());
        let work = self.values[old * room..]
            .par_chunks_mut(room)
            .enumerate()
            .with_min_len(together)
            .map(|(new, out)| {
                let (variable, out) = (variables[old + new], &mut out[..len]);
                let mut work = 0;
                problem.column(variable).for_each(|i, a| {
                    let weight = problem.weights.as_ref().map_or(1.0, |w| w[i]);
                    let value = a * problem.scale[variable] * weight;
                    let row = rows.row(i);
                    work += row.len() as u64;
                    for &(place, other) in row {
                        out[place as usize] += value * other;
                    }
                });
                work
            })
            .sum();
        self.rows = rows;
        work
    }
}

impl Curvature for Gram {
    type Factor = Cholesky;

    fn variables(&self) -> &[usize] {
        &self.variables
    }

    fn place(&self, variable: usize) -> Option<usize> {
        self.places.get(variable).filter(|&&place| place != ABSENT).map(|&place| place as usize)
    }

    fn diagonal(&self, place: usize) -> f64 {
        self.column(place)[place]
    }

    fn add<M: Columns>(&mut self, problem: &Reduced<M>, new: &[usize], known: &KnownGram) -> u64 {
        if new.is_empty() {
            return 0;
        }
        let old = self.len();
        self.places.resize(problem.len(), ABSENT);
        for &variable in new {
            self.places[variable] = self.variables.len() as u32;
            self.variables.push(variable);
        }
        self.make_room(old);
        if known.covers(problem, &self.variables) {
            self.copy(problem, known, old);
            return 0;
        }
        let entries = problem.entries(self.variables.iter().copied());
        let work = if Self::is_dense(problem, self.len(), entries) {
            self.fill_dense(problem, old)
        } else {
            self.fill_sparse(problem, old)
        };
        clear_below(power_of_two(NOTHING), &mut self.values[old * self.room..]);
        self.mirror(old);
        for place in old..self.len() {
            self.values[place * self.room + place] += problem.ridge(self.variables[place]);
        }
        work
    }

    fn keep(&mut self, places: &[usize]) {
        let (rows, block) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.block));
        let mut kept = Gram { places: vec![ABSENT; self.places.len()], rows, block, ..Gram::default() };
        for (to, &from) in places.iter().enumerate() {
            kept.variables.push(self.variables[from]);
            kept.places[self.variables[from]] = to as u32;
        }
        kept.make_room(0);
        for (to, &from) in places.iter().enumerate() {
            let column = self.column(from);
            let out = &mut kept.values[to * kept.room..][..places.len()];
            out.iter_mut().zip(places).for_each(|(out, &p)| *out = column[p]);
        }
        *self = kept;
    }

    fn add_column(&self, place: usize, change: f64, out: &mut [f64]) -> u64 {
        axpy(change, self.column(place), out);
        self.len() as u64
    }

    fn add_columns(&self, places: &[usize], d: &[f64], out: &mut [f64]) -> u64 {
        add_columns(d.iter().zip(places).map(|(&d, &place)| (d, self.column(place))), out);
        (places.len() * self.len()) as u64
    }
}

impl Factor<Gram> for Cholesky {
    const AT_ONCE: usize = 1024; // some hundred milliseconds at most
    const FOLLOWS: bool = true;

    fn extend(&mut self, gram: &Gram, face: &[usize], new: &[usize], damping: f64) -> Result<(), Dependent> {
        let mut cross = Vec::with_capacity(face.len() * new.len());
        let mut corner = Vec::with_capacity(new.len() * new.len());
        for &place in new {
            let column = gram.column(place);
            cross.extend(face.iter().map(|&p| column[p]));
            corner.extend(new.iter().map(|&p| if p == place { column[p] * (1.0 + damping) } else { column[p] }));
        }
        Cholesky::extend(self, &cross, &corner, new.len())
    }

    fn remove(&mut self, positions: &[usize]) {
        Cholesky::remove(self, positions);
    }

    fn solve(&mut self, _gram: &Gram, _face: &[usize], _damping: f64, r: &mut [f64]) {
        Cholesky::solve(self, r);
    }

    fn clear(&mut self) {
        Cholesky::clear(self);
    }

    fn work(&mut self) -> u64 {
        Cholesky::work(self)
    }
}

/// G on some columns of A, for other problems with the same A, weights and ridge.
#[derive(Debug, Default)]
pub struct KnownGram {
    gram: Gram,
    /// Place of each column of A, or `ABSENT`; empty if nothing is known.
    places: Vec<u32>,
}

impl KnownGram {
    /// What a problem found out.
    pub fn new<M: Columns>(gram: Gram, problem: &Reduced<M>) -> Self {
        let mut places = vec![ABSENT; problem.matrix.cols()];
        for (place, &variable) in gram.variables.iter().enumerate() {
            places[problem.columns[variable]] = place as u32;
        }
        Self { gram, places }
    }

    /// G on all variables of a problem.
    pub fn of_all<M: Columns>(problem: &Reduced<M>) -> Self {
        let mut gram = Gram::default();
        gram.add(problem, &(0..problem.len()).collect::<Vec<_>>(), &Self::default());
        Self::new(gram, problem)
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.gram.len()
    }

    /// Whether a column of A is among them.
    pub fn knows(&self, column: usize) -> bool {
        self.places.get(column).is_some_and(|&place| place != ABSENT)
    }

    fn covers<M: Columns>(&self, problem: &Reduced<M>, variables: &[usize]) -> bool {
        variables.iter().all(|&k| self.knows(problem.columns[k]))
    }
}

/// The entries of some columns, by rows: (place in the list, scaled value).
#[derive(Debug, Default)]
pub(super) struct RowLists {
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
}

impl RowLists {
    /// Takes the place of what was there.
    pub fn fill<M: Columns>(&mut self, problem: &Reduced<M>, variables: &[usize]) {
        let Self { starts, entries } = self;
        starts.clear();
        starts.resize(problem.matrix.rows() + 2, 0);
        for &k in variables {
            problem.column(k).for_each(|i, _| starts[i + 2] += 1);
            problem.column(k).tell();
        }
        for i in 2..starts.len() {
            starts[i] += starts[i - 1];
        }
        entries.resize(entries.len().max(starts[starts.len() - 1]), (0, 0.0));
        for (place, &k) in variables.iter().enumerate() {
            problem.column(k).for_each(|i, a| {
                entries[starts[i + 1]] = (place as u32, a * problem.scale[k]);
                starts[i + 1] += 1;
            });
        }
    }

    /// Entries.
    fn len(&self) -> usize {
        self.starts[self.starts.len() - 2]
    }

    /// Those of one row, in order of place.
    pub fn row(&self, i: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[i]..self.starts[i + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DenseMatrix, LeastSquares};

    /// Gaussian peaks with tails that reach below the range of f64, and so do their products.
    #[test]
    fn products_of_tails_are_zero_and_all_others_what_they_are() {
        let (m, n) = (400, 30);
        let peak = |i: usize, j: usize| (-0.5 * ((i as f64 - 14.0 * j as f64) / 5.0).powi(2)).exp();
        let a = DenseMatrix::new(m, n, (0..m * n).map(|k| peak(k % m, k / m)).collect()).unwrap();
        let view = a.view();
        let problem = Reduced::of(&view, &LeastSquares::new(&a, &[1.0; 400])).unwrap();
        assert_eq!(problem.len(), n);
        let mut gram = Gram::default();
        for some in [0..7, 7..n] {
            gram.add(&problem, &some.collect::<Vec<_>>(), &KnownGram::default());
        }
        let product =
            |j: usize, k: usize| (0..m).map(|i| peak(i, j) * peak(i, k)).sum::<f64>() * problem.scale[j] * problem.scale[k];
        let mut zeros = 0;
        for (j, k) in (0..n).flat_map(|j| (0..n).map(move |k| (j, k))) {
            let (found, expected) = (gram.column(k)[j], product(j, k));
            zeros += usize::from(found == 0.0);
            assert!(found == 0.0 || found >= power_of_two(NOTHING), "{j}, {k}: {found:e}");
            assert!((found - expected).abs() <= 1e-14 * expected + power_of_two(NOTHING), "{j}, {k}: {found:e} {expected:e}");
        }
        assert!(zeros > n, "{zeros} zeros");
    }
}
