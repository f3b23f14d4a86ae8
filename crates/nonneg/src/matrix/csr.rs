//! Compressed sparse rows: accepted everywhere, turned into columns once before solving.

use super::csc::{Compressed, CscMatrix, check_compressed, check_increasing};
use super::{Index, Value};
use crate::error::Result;

/// A sparse matrix stored by rows.
#[derive(Debug, Clone, PartialEq)]
pub struct CsrMatrix<T: Value = f64, I: Index = u32> {
    cols: usize,
    row_ptr: Vec<usize>,
    col_idx: Vec<I>,
    values: Vec<T>,
}

/// [`CsrMatrix`] borrowed from slices.
#[derive(Debug, Clone, Copy)]
pub struct CsrView<'a, T: Value = f64, I: Index = u32> {
    cols: usize,
    row_ptr: &'a [usize],
    col_idx: &'a [I],
    values: &'a [T],
}

impl<T: Value, I: Index> CsrMatrix<T, I> {
    /// Checks everything; sorts unsorted rows and sums duplicate entries.
    pub fn new(rows: usize, cols: usize, row_ptr: Vec<usize>, col_idx: Vec<I>, values: Vec<T>) -> Result<Self> {
        let mut compressed = Compressed { outer: "row", inner: "column", inner_len: cols, ptr: row_ptr, idx: col_idx, values };
        compressed.check_and_tidy(rows)?;
        let Compressed { ptr, idx, values, .. } = compressed;
        Ok(Self { cols, row_ptr: ptr, col_idx: idx, values })
    }

    /// Borrows it.
    pub fn view(&self) -> CsrView<'_, T, I> {
        CsrView { cols: self.cols, row_ptr: &self.row_ptr, col_idx: &self.col_idx, values: &self.values }
    }
}

impl<'a, T: Value, I: Index> CsrView<'a, T, I> {
    /// Checks everything; columns must be strictly increasing in each row ([`CsrMatrix::new`] sorts and sums).
    pub fn new(rows: usize, cols: usize, row_ptr: &'a [usize], col_idx: &'a [I], values: &'a [T]) -> Result<Self> {
        check_compressed("row", "column", rows, cols, row_ptr, col_idx, values)?;
        check_increasing("row", "column", row_ptr, col_idx)?;
        Ok(Self { cols, row_ptr, col_idx, values })
    }

    /// m.
    pub fn rows(&self) -> usize {
        self.row_ptr.len() - 1
    }
    /// n.
    pub fn cols(&self) -> usize {
        self.cols
    }
    /// Stored entries.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }
    /// Where the arrays stand: what tells one matrix from another.
    pub(super) fn address(&self) -> [usize; 3] {
        [self.row_ptr.as_ptr().addr(), self.col_idx.as_ptr().addr(), self.values.as_ptr().addr()]
    }
    /// Bytes of the arrays.
    pub fn bytes(&self) -> usize {
        size_of_val(self.row_ptr) + size_of_val(self.col_idx) + size_of_val(self.values)
    }

    /// The same matrix by columns: a counting sort over the entries.
    pub fn to_csc(&self) -> CscMatrix<T, I> {
        let mut col_ptr = vec![0usize; self.cols + 1];
        for j in self.col_idx {
            col_ptr[j.to_usize() + 1] += 1;
        }
        for j in 0..self.cols {
            col_ptr[j + 1] += col_ptr[j];
        }
        let mut next = col_ptr.clone();
        let mut row_idx = vec![I::from_usize(0); self.nnz()];
        let mut values = vec![T::from_f64(0.0); self.nnz()];
        for i in 0..self.rows() {
            for e in self.row_ptr[i]..self.row_ptr[i + 1] {
                let j = self.col_idx[e].to_usize();
                row_idx[next[j]] = I::from_usize(i);
                values[next[j]] = self.values[e];
                next[j] += 1;
            }
        }
        CscMatrix::from_checked(self.rows(), col_ptr, row_idx, values)
    }
}
