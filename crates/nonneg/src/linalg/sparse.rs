//! Cholesky factors of sparse matrices: one order of elimination for all variables that are there, and a factor that is made
//! anew for every subset of them.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::linalg::{SupernodalThreshold, amd};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};

/// The upper triangle of a symmetric matrix, column after column, the rows of a column in any order.
#[derive(Debug, Clone, Default)]
pub struct Upper {
    /// Where the columns start, and where the last one ends.
    pub starts: Vec<u32>,
    /// Row of each entry.
    pub rows: Vec<u32>,
    /// Value of each entry.
    pub values: Vec<f64>,
}

impl Upper {
    /// Number of variables.
    fn size(&self) -> usize {
        self.starts.len() - 1
    }

    fn pattern(&self) -> SymbolicSparseColMatRef<'_, u32> {
        SymbolicSparseColMatRef::new_unsorted_checked(self.size(), self.size(), &self.starts, None, &self.rows)
    }

    /// The rank of each variable in an order of elimination that keeps the factor sparse (approximate minimum degree). It serves
    /// every subset as well: what a subset fills in, all of them fill in.
    pub fn elimination_ranks(&self) -> Vec<u32> {
        let n = self.size();
        let (mut order, mut ranks) = (vec![0u32; n], vec![0u32; n]);
        let memory = amd::order_maybe_unsorted_scratch::<u32>(n, self.rows.len());
        let mut memory = MemBuffer::new(memory);
        let found = amd::order_maybe_unsorted(
            &mut order,
            &mut ranks,
            self.pattern(),
            amd::Control::default(),
            MemStack::new(&mut memory),
        );
        if found.is_err() {
            ranks = (0..n as u32).collect(); // any order is right
        }
        ranks
    }
}

/// L with LLᵀ = G.
#[derive(Debug, Default)]
pub struct SparseCholesky {
    symbolic: Option<SymbolicCholesky<u32>>,
    values: Vec<f64>,
}

impl SparseCholesky {
    /// The factor of a matrix, in its own order; none if it is not positive definite, or too large. Returns the multiply-adds.
    pub fn factor(&mut self, matrix: &Upper) -> Option<u64> {
        self.symbolic = None;
        // By blocks of columns: overlapping columns have much in common.
        let supernodal_flop_ratio_threshold = SupernodalThreshold::FORCE_SUPERNODAL;
        let parameters = CholeskySymbolicParams { supernodal_flop_ratio_threshold, ..Default::default() };
        let symbolic =
            factorize_symbolic_cholesky(matrix.pattern(), Side::Upper, SymmetricOrdering::Identity, parameters).ok()?;
        self.values.clear();
        self.values.resize(symbolic.len_val(), 0.0);
        let mut memory = MemBuffer::new(symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default()));
        let matrix = SparseColMatRef::new(matrix.pattern(), &matrix.values[..]);
        let stack = MemStack::new(&mut memory);
        symbolic
            .factorize_numeric_llt(&mut self.values, matrix, Side::Upper, Default::default(), Par::Seq, stack, Default::default())
            .ok()?;
        let work = multiply_adds(&symbolic);
        self.symbolic = Some(symbolic);
        Some(work)
    }

    /// Entries of the factor, with those that only make its blocks whole.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// LLᵀz = r, in place; zeros if there is no factor.
    pub fn solve(&self, r: &mut [f64]) {
        let Some(symbolic) = &self.symbolic else { return r.fill(0.0) };
        let mut memory = MemBuffer::new(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq));
        let len = r.len();
        let right = MatMut::from_column_major_slice_mut(r, len, 1);
        LltRef::new(symbolic, &self.values[..]).solve_in_place_with_conj(Conj::No, right, Par::Seq, MemStack::new(&mut memory));
    }
}

/// Of a factorisation: half the square of every column's length.
fn multiply_adds(symbolic: &SymbolicCholesky<u32>) -> u64 {
    let square = |length: usize| (length * length / 2) as u64;
    match symbolic.raw() {
        SymbolicCholeskyRaw::Simplicial(factor) => {
            factor.col_ptr().windows(2).map(|ends| square((ends[1] - ends[0]) as usize)).sum()
        }
        SymbolicCholeskyRaw::Supernodal(factor) => (0..factor.n_supernodes())
            .map(|s| {
                let width = (factor.supernode_end()[s] - factor.supernode_begin()[s]) as usize;
                let below = factor.supernode(s).pattern().len();
                (1..=width).map(|i| square(below + i)).sum::<u64>()
            })
            .sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Cholesky;
    use crate::testing::Random;

    /// Chains of neighbours on a grid, with the dense factor beside it.
    #[test]
    fn sparse_factors_solve_what_dense_ones_do() {
        let mut random = Random::new(3);
        for n in [1usize, 2, 7, 60, 300] {
            let mut dense = vec![0.0; n * n];
            for j in 0..n {
                for i in [j.checked_sub(1), j.checked_sub(9)].into_iter().flatten() {
                    let value = 2.0 * random.unit() - 1.0;
                    (dense[j * n + i], dense[i * n + j]) = (value, value);
                }
                dense[j * n + j] = 4.5 + random.unit();
            }
            let build = |order: &[usize]| {
                let mut upper = Upper { starts: vec![0], ..Upper::default() };
                for (at, &j) in order.iter().enumerate() {
                    for (row, &i) in order[..=at].iter().enumerate().rev() {
                        if dense[j * n + i] != 0.0 {
                            upper.rows.push(row as u32);
                            upper.values.push(dense[j * n + i]);
                        }
                    }
                    upper.starts.push(upper.rows.len() as u32);
                }
                upper
            };
            let ranks = build(&(0..n).collect::<Vec<_>>()).elimination_ranks();
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by_key(|&j| ranks[j]);
            assert!(order.iter().enumerate().all(|(rank, &j)| ranks[j] as usize == rank));

            let mut sparse = SparseCholesky::default();
            let work = sparse.factor(&build(&order)).expect("positive definite");
            assert!(work <= (n as u64 + 1).pow(3), "{work} multiply-adds for {n} variables");
            let right: Vec<f64> = (0..n).map(|_| 2.0 * random.unit() - 1.0).collect();
            let mut found: Vec<f64> = order.iter().map(|&j| right[j]).collect();
            sparse.solve(&mut found);

            let mut reference = Cholesky::new();
            reference.extend(&[], &dense, n).unwrap();
            let mut expected = right.clone();
            reference.solve(&mut expected);
            assert!(order.iter().zip(&found).all(|(&j, z)| (z - expected[j]).abs() < 1e-13));
        }
    }

    #[test]
    fn what_is_not_positive_definite_has_no_factor() {
        let matrix = Upper { starts: vec![0, 1, 3], rows: vec![0, 0, 1], values: vec![1.0, 2.0, 1.0] };
        let mut factor = SparseCholesky::default();
        assert_eq!(factor.factor(&matrix), None);
        let mut r = [1.0, 2.0];
        factor.solve(&mut r);
        assert_eq!(r, [0.0, 0.0]);
    }
}
