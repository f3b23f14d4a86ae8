//! Compressed sparse columns.

use super::kernels::{self, BoundedSum, Rows};
use super::{Column, Columns, Index, Value, in_order, position, tell};
use crate::error::{Error, Result};

/// A sparse matrix stored by columns. Rows within a column are strictly increasing.
#[derive(Debug, Clone, PartialEq)]
pub struct CscMatrix<T: Value = f64, I: Index = u32> {
    rows: usize,
    col_ptr: Vec<usize>,
    row_idx: Vec<I>,
    values: Vec<T>,
}

/// [`CscMatrix`] borrowed from slices, without a copy.
#[derive(Debug, Clone, Copy)]
pub struct CscView<'a, T: Value = f64, I: Index = u32> {
    rows: usize,
    col_ptr: &'a [usize],
    row_idx: &'a [I],
    values: &'a [T],
}

impl<T: Value, I: Index> CscMatrix<T, I> {
    /// Checks everything; sorts unsorted columns and sums duplicate entries.
    ///
    /// `col_ptr` has `cols + 1` elements; column j is `row_idx[col_ptr[j]..col_ptr[j + 1]]`.
    pub fn new(rows: usize, cols: usize, col_ptr: Vec<usize>, row_idx: Vec<I>, values: Vec<T>) -> Result<Self> {
        let mut compressed = Compressed { outer: "column", inner: "row", inner_len: rows, ptr: col_ptr, idx: row_idx, values };
        compressed.check_and_tidy(cols)?;
        let Compressed { ptr, idx, values, .. } = compressed;
        Ok(Self { rows, col_ptr: ptr, row_idx: idx, values })
    }

    /// From triplets `(row, column, value)` in any order; duplicates are summed.
    pub fn from_triplets(rows: usize, cols: usize, triplets: &[(usize, usize, T)]) -> Result<Self> {
        let mut col_ptr = vec![0usize; cols + 1];
        for &(i, j, _) in triplets {
            if i >= rows || j >= cols {
                return Err(Error::Matrix(format!("entry ({i}, {j}) lies outside the {rows}×{cols} matrix")));
            }
            col_ptr[j + 1] += 1;
        }
        for j in 0..cols {
            col_ptr[j + 1] += col_ptr[j];
        }
        let mut next = col_ptr.clone();
        let mut row_idx = vec![I::from_usize(0); triplets.len()];
        let mut values = vec![T::from_f64(0.0); triplets.len()];
        for &(i, j, value) in triplets {
            row_idx[next[j]] = I::from_usize(i);
            values[next[j]] = value;
            next[j] += 1;
        }
        Self::new(rows, cols, col_ptr, row_idx, values)
    }

    /// For code in this crate that has built sorted, checked parts.
    pub(crate) fn from_checked(rows: usize, col_ptr: Vec<usize>, row_idx: Vec<I>, values: Vec<T>) -> Self {
        Self { rows, col_ptr, row_idx, values }
    }

    /// Borrows it.
    pub fn view(&self) -> CscView<'_, T, I> {
        CscView { rows: self.rows, col_ptr: &self.col_ptr, row_idx: &self.row_idx, values: &self.values }
    }
}

impl<'a, T: Value, I: Index> CscView<'a, T, I> {
    /// Checks everything; rows must be strictly increasing in each column ([`CscMatrix::new`] sorts and sums).
    pub fn new(rows: usize, cols: usize, col_ptr: &'a [usize], row_idx: &'a [I], values: &'a [T]) -> Result<Self> {
        check_compressed("column", "row", cols, rows, col_ptr, row_idx, values)?;
        check_increasing("column", "row", col_ptr, row_idx)?;
        Ok(Self { rows, col_ptr, row_idx, values })
    }

    /// m.
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// n.
    pub fn cols(&self) -> usize {
        self.col_ptr.len() - 1
    }
    /// Stored entries.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }
    /// Where the arrays stand: what tells one matrix from another.
    pub(super) fn address(&self) -> [usize; 3] {
        [self.col_ptr.as_ptr().addr(), self.row_idx.as_ptr().addr(), self.values.as_ptr().addr()]
    }
    /// Bytes of the arrays.
    pub fn bytes(&self) -> usize {
        size_of_val(self.col_ptr) + size_of_val(self.row_idx) + size_of_val(self.values)
    }
    #[inline]
    fn sparse_column(&self, j: usize) -> SparseColumn<'a, T, I> {
        let range = self.col_ptr[j]..self.col_ptr[j + 1];
        SparseColumn { rows: self.rows, idx: &self.row_idx[range.clone()], values: &self.values[range] }
    }
    /// Column pointers, row indices and values.
    pub fn parts(&self) -> (&'a [usize], &'a [I], &'a [T]) {
        (self.col_ptr, self.row_idx, self.values)
    }
}

impl<T: Value, I: Index> Columns for CscView<'_, T, I> {
    type Column<'a>
        = SparseColumn<'a, T, I>
    where
        Self: 'a;
    type Copied = CscMatrix<T, I>;

    fn copy_columns(&self, columns: &[usize]) -> CscMatrix<T, I> {
        let mut col_ptr = Vec::with_capacity(columns.len() + 1);
        col_ptr.push(0);
        let mut total = 0;
        for &j in columns {
            total += self.column_len(j);
            col_ptr.push(total);
        }
        let (mut row_idx, mut values) = (vec![I::from_usize(0); total], vec![T::from_f64(0.0); total]);
        for place in in_order(columns) {
            let (column, range) = (self.column(columns[place]), col_ptr[place]..col_ptr[place + 1]);
            row_idx[range.clone()].copy_from_slice(column.idx);
            values[range].copy_from_slice(column.values);
            column.tell();
        }
        CscMatrix { rows: self.rows, col_ptr, row_idx, values }
    }

    fn rows(&self) -> usize {
        self.rows
    }
    fn cols(&self) -> usize {
        self.col_ptr.len() - 1
    }
    fn nnz(&self) -> usize {
        self.values.len()
    }
    #[inline]
    fn column(&self, j: usize) -> SparseColumn<'_, T, I> {
        self.sparse_column(j)
    }
    #[inline]
    fn column_len(&self, j: usize) -> usize {
        self.col_ptr[j + 1] - self.col_ptr[j]
    }
    #[inline]
    fn prefetch_pointer(&self, j: usize) {
        kernels::prefetch(&self.col_ptr[j]);
    }
    #[inline]
    fn prefetch_entries(&self, j: usize) {
        let range = self.col_ptr[j]..self.col_ptr[j + 1];
        kernels::prefetch_slice(&self.row_idx[range.clone()]);
        kernels::prefetch_slice(&self.values[range]);
    }
}

impl<T: Value, I: Index> Columns for CscMatrix<T, I> {
    type Column<'a>
        = SparseColumn<'a, T, I>
    where
        Self: 'a;
    type Copied = CscMatrix<T, I>;

    fn copy_columns(&self, columns: &[usize]) -> Self {
        self.view().copy_columns(columns)
    }
    fn rows(&self) -> usize {
        self.rows
    }
    fn cols(&self) -> usize {
        self.col_ptr.len() - 1
    }
    fn nnz(&self) -> usize {
        self.values.len()
    }
    #[inline]
    fn column(&self, j: usize) -> SparseColumn<'_, T, I> {
        self.view().sparse_column(j)
    }
    #[inline]
    fn column_len(&self, j: usize) -> usize {
        self.col_ptr[j + 1] - self.col_ptr[j]
    }
    #[inline]
    fn prefetch_pointer(&self, j: usize) {
        self.view().prefetch_pointer(j);
    }
    #[inline]
    fn prefetch_entries(&self, j: usize) {
        self.view().prefetch_entries(j);
    }
}

/// One column of a [`CscView`]. Invariant: every index is below `rows`, and above the one before it.
#[derive(Debug, Clone, Copy)]
pub struct SparseColumn<'a, T: Value, I: Index> {
    rows: usize,
    idx: &'a [I],
    values: &'a [T],
}

impl<T: Value, I: Index> SparseColumn<'_, T, I> {
    /// Whether every row is stored: indices are in order, so the values alone tell everything.
    #[inline]
    fn is_full(self) -> bool {
        self.values.len() == self.rows
    }
}

impl<T: Value, I: Index> Column for SparseColumn<'_, T, I> {
    #[inline]
    fn len(self) -> usize {
        self.values.len()
    }
    #[inline]
    fn for_each(self, mut visit: impl FnMut(usize, f64)) {
        for (&i, &v) in self.idx.iter().zip(self.values) {
            visit(i.to_usize(), v.to_f64());
        }
    }
    #[inline]
    fn dot(self, y: &[f64]) -> f64 {
        assert_eq!(y.len(), self.rows);
        if self.is_full() {
            return kernels::dense_dot(self.values, y);
        }
        // SAFETY: construction checked that every index is below `rows`, and y has `rows` elements.
        unsafe { kernels::sparse_dot(self.idx, self.values, y) }
    }
    #[inline]
    fn add_to(self, scale: f64, alpha: f64, y: &mut [f64]) {
        assert_eq!(y.len(), self.rows);
        if self.is_full() {
            return kernels::dense_add(self.values, scale, alpha, y);
        }
        // SAFETY: as in `dot`.
        unsafe { kernels::sparse_add(self.idx, self.values, scale, alpha, y) }
    }
    #[inline]
    fn extrapolated_dot(self, rows: &Rows, alpha: f64, beta: f64, recent: Option<u64>) -> f64 {
        assert_eq!(rows.len(), self.rows);
        // SAFETY: as in `dot`.
        unsafe { kernels::sparse_extrapolated_dot(self.idx, self.values, rows, alpha, beta, recent) }
    }
    #[inline]
    fn move_rows(self, rows: &mut Rows, weights: Option<&[f64]>, delta: f64, omega: f64, now: u64) {
        assert_eq!(rows.len(), self.rows);
        assert!(weights.is_none_or(|w| w.len() == self.rows));
        // SAFETY: as in `dot`; the weights, when present, have `rows` elements too.
        unsafe { kernels::sparse_move_rows(self.idx, self.values, rows, weights, delta, omega, now) }
    }
    fn bounded_dot(self, scale: f64, y: &[f64]) -> BoundedSum {
        assert_eq!(y.len(), self.rows);
        if self.is_full() {
            return kernels::dense_bounded_dot(self.values, scale, y);
        }
        // SAFETY: as in `dot`.
        unsafe { kernels::sparse_bounded_dot(self.idx, self.values, scale, y) }
    }
    fn positive_dot(self, y: &[f64]) -> BoundedSum {
        assert_eq!(y.len(), self.rows);
        if self.is_full() {
            return kernels::dense_positive_dot(self.values, y);
        }
        // SAFETY: as in `dot`.
        unsafe { kernels::sparse_positive_dot(self.idx, self.values, y) }
    }
    fn bounded_square(self, scale: f64) -> BoundedSum {
        kernels::bounded_square(self.values, scale)
    }
    fn extremes(self) -> kernels::Extremes {
        kernels::extremes(self.values)
    }
    #[inline]
    fn tell(self) {
        tell(self.idx);
        tell(self.values);
    }
    fn write_rows(self, rows: std::ops::Range<usize>, scale: f64, out: &mut [f64]) {
        if self.is_full() {
            return kernels::write_scaled(&self.values[rows], scale, out);
        }
        out.fill(0.0);
        let first = self.idx.partition_point(|i| i.to_usize() < rows.start);
        for (i, v) in self.idx[first..].iter().zip(&self.values[first..]).take_while(|(i, _)| i.to_usize() < rows.end) {
            out[i.to_usize() - rows.start] = v.to_f64() * scale;
        }
    }
    #[inline]
    fn bounded_sum(self, term: impl Fn(usize, f64) -> f64) -> BoundedSum {
        let (idx, values) = (self.idx, &self.values[..self.idx.len()]);
        kernels::bounded_sum(idx.len(), |k| term(idx[k].to_usize(), values[k].to_f64()))
    }
}

/// The parts of a compressed matrix while they are checked: CSC with outer = columns, CSR with outer = rows.
pub(super) struct Compressed<T, I> {
    pub outer: &'static str,
    pub inner: &'static str,
    pub inner_len: usize,
    pub ptr: Vec<usize>,
    pub idx: Vec<I>,
    pub values: Vec<T>,
}

impl<T: Value, I: Index> Compressed<T, I> {
    /// Checks all parts, then sorts what is unsorted and sums duplicates.
    pub fn check_and_tidy(&mut self, outer_len: usize) -> Result<()> {
        check_compressed(self.outer, self.inner, outer_len, self.inner_len, &self.ptr, &self.idx, &self.values)?;
        let tidy = |k: usize| strictly_increasing(&self.idx[self.ptr[k]..self.ptr[k + 1]]);
        let Some(first) = (0..outer_len).find(|&k| !tidy(k)) else { return Ok(()) };

        let mut kept = self.ptr[first];
        let mut entries: Vec<(I, f64)> = Vec::new();
        for k in first..outer_len {
            let range = self.ptr[k]..self.ptr[k + 1];
            entries.clear();
            entries.extend(range.map(|e| (self.idx[e], self.values[e].to_f64())));
            entries.sort_by_key(|&(i, _)| i); // stable: duplicates are summed in the order given
            self.ptr[k] = kept;
            let mut group = entries.as_slice();
            while let Some(&(i, _)) = group.first() {
                let size = group.iter().take_while(|e| e.0 == i).count();
                let sum = T::from_f64(group[..size].iter().map(|e| e.1).sum());
                if !sum.to_f64().is_finite() {
                    let (outer, inner) = (self.outer, self.inner);
                    let i = i.to_usize();
                    return Err(Error::Matrix(format!("{outer} {k}: the sum of duplicate entries in {inner} {i} overflows")));
                }
                self.idx[kept] = i;
                self.values[kept] = sum;
                kept += 1;
                group = &group[size..];
            }
        }
        self.ptr[outer_len] = kept;
        self.idx.truncate(kept);
        self.values.truncate(kept);
        Ok(())
    }
}

fn strictly_increasing<I: Index>(idx: &[I]) -> bool {
    idx.windows(2).all(|pair| pair[0] < pair[1])
}

/// No duplicates, nothing unsorted.
pub(super) fn check_increasing<I: Index>(outer: &str, inner: &str, ptr: &[usize], idx: &[I]) -> Result<()> {
    let unsorted = |range: &[usize]| {
        let idx = &idx[range[0]..range[1]];
        tell(idx);
        !strictly_increasing(idx)
    };
    match ptr.windows(2).position(unsorted) {
        Some(k) => Err(Error::Matrix(format!("{outer} {k}: {inner} indices are not strictly increasing"))),
        None => Ok(()),
    }
}

/// Lengths, monotone pointers, indices in range, finite values.
pub(super) fn check_compressed<T: Value, I: Index>(
    outer: &str,
    inner: &str,
    outer_len: usize,
    inner_len: usize,
    ptr: &[usize],
    idx: &[I],
    values: &[T],
) -> Result<()> {
    let bad = |message: String| Err(Error::Matrix(message));
    if inner_len as u64 > I::MAX {
        return bad(format!("{inner_len} {inner}s do not fit the {}-byte index type", size_of::<I>()));
    }
    if ptr.len() != outer_len + 1 {
        return bad(format!("{} {outer} pointers, expected {} (one more than {outer}s)", ptr.len(), outer_len + 1));
    }
    if idx.len() != values.len() {
        return bad(format!("{} {inner} indices but {} values", idx.len(), values.len()));
    }
    if ptr[0] != 0 || ptr[outer_len] != values.len() {
        return bad(format!(
            "{outer} pointers run from {} to {}, expected 0 to {} (the number of values)",
            ptr[0],
            ptr[outer_len],
            values.len()
        ));
    }
    if let Some(k) = ptr.windows(2).position(|pair| pair[0] > pair[1]) {
        return bad(format!("{outer} pointers decrease at {outer} {k}: {} > {}", ptr[k], ptr[k + 1]));
    }
    let outer_of = |entry: usize| ptr.partition_point(|&start| start <= entry) - 1;
    if let Some(e) = position(idx, |i| i.to_usize() >= inner_len) {
        let k = outer_of(e);
        return bad(format!("{outer} {k}: {inner} index {} is out of range, there are {inner_len} {inner}s", idx[e].to_usize()));
    }
    if let Some(e) = position(values, |v| !v.to_f64().is_finite()) {
        let k = outer_of(e);
        return bad(format!("{outer} {k}, {inner} {}: {:?} is not a finite number", idx[e].to_usize(), values[e]));
    }
    Ok(())
}
