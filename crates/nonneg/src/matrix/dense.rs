//! Column-major dense matrices.

use rayon::prelude::*;

use super::kernels::{self, BoundedSum, Rows};
use super::{Column, Columns, Value, in_order, position, tell};
use crate::error::{Error, Result};

/// Columns that are filled together from rows.
const PANEL: usize = 16;

/// Entries worth more than one thread.
const LARGE: usize = 1 << 20;

/// A dense matrix stored column after column.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseMatrix<T: Value = f64> {
    rows: usize,
    cols: usize,
    values: Vec<T>,
}

/// [`DenseMatrix`] borrowed from a slice, without a copy.
#[derive(Debug, Clone, Copy)]
pub struct DenseView<'a, T: Value = f64> {
    rows: usize,
    cols: usize,
    values: &'a [T],
}

impl<T: Value> DenseMatrix<T> {
    /// From `rows * cols` finite values in column-major order.
    pub fn new(rows: usize, cols: usize, values: Vec<T>) -> Result<Self> {
        check_dense(rows, cols, &values)?;
        Ok(Self { rows, cols, values })
    }

    /// From values in row-major order (one transposing copy).
    pub fn from_row_major(rows: usize, cols: usize, values: &[T]) -> Result<Self> {
        Self::from_row_major_in(Vec::new(), rows, cols, values)
    }

    /// The same in memory that was used before, of [`into_values`](Self::into_values): for many small matrices.
    pub fn from_row_major_in(mut columns: Vec<T>, rows: usize, cols: usize, values: &[T]) -> Result<Self> {
        check_size(rows, cols, values)?;
        columns.clear();
        columns.resize(values.len(), T::from_f64(0.0));
        // A few columns at a time: each piece of a row that is read fills whole cache lines.
        let panels = columns.chunks_mut((PANEL * rows).max(1)).zip((0..cols).step_by(PANEL));
        let transpose = |(panel, first): (&mut [T], usize)| {
            let width = panel.len() / rows;
            for i in 0..rows {
                let piece = &values[i * cols + first..][..width];
                piece.iter().enumerate().for_each(|(j, &value)| panel[j * rows + i] = value);
            }
        };
        if values.len() < LARGE {
            panels.for_each(transpose);
        } else {
            panels.par_bridge().for_each(transpose);
        }
        Self::new(rows, cols, columns)
    }

    /// Its values, column after column.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Its values, column after column, without it.
    pub fn into_values(self) -> Vec<T> {
        self.values
    }

    /// Borrows it.
    pub fn view(&self) -> DenseView<'_, T> {
        DenseView { rows: self.rows, cols: self.cols, values: &self.values }
    }
}

impl<'a, T: Value> DenseView<'a, T> {
    /// From `rows * cols` finite values in column-major order.
    pub fn new(rows: usize, cols: usize, values: &'a [T]) -> Result<Self> {
        check_dense(rows, cols, values)?;
        Ok(Self { rows, cols, values })
    }

    /// m.
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// n.
    pub fn cols(&self) -> usize {
        self.cols
    }
    /// Stored entries, zeros included.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }
    /// Where the arrays stand: what tells one matrix from another.
    pub(super) fn address(&self) -> [usize; 3] {
        [self.values.as_ptr().addr(), 0, 0]
    }
    /// Bytes of the array.
    pub fn bytes(&self) -> usize {
        size_of_val(self.values)
    }
    /// The values, column after column.
    pub fn values(&self) -> &'a [T] {
        self.values
    }
}

fn check_dense<T: Value>(rows: usize, cols: usize, values: &[T]) -> Result<()> {
    check_size(rows, cols, values)?;
    if let Some(k) = position(values, |v| !v.to_f64().is_finite()) {
        return Err(Error::Matrix(format!("column {}, row {}: {:?} is not a finite number", k / rows, k % rows, values[k])));
    }
    Ok(())
}

fn check_size<T: Value>(rows: usize, cols: usize, values: &[T]) -> Result<()> {
    if rows.checked_mul(cols) != Some(values.len()) {
        return Err(Error::Matrix(format!("{} values do not fill a {rows}×{cols} dense matrix", values.len())));
    }
    Ok(())
}

impl<T: Value> Columns for DenseView<'_, T> {
    type Column<'a>
        = DenseColumn<'a, T>
    where
        Self: 'a;
    type Copied = DenseMatrix<T>;

    fn copy_columns(&self, columns: &[usize]) -> DenseMatrix<T> {
        let mut values = vec![T::from_f64(0.0); self.rows * columns.len()];
        for place in in_order(columns) {
            let column = self.column(columns[place]);
            values[place * self.rows..(place + 1) * self.rows].copy_from_slice(column.0);
            column.tell();
        }
        DenseMatrix { rows: self.rows, cols: columns.len(), values }
    }

    fn rows(&self) -> usize {
        self.rows
    }
    fn cols(&self) -> usize {
        self.cols
    }
    fn nnz(&self) -> usize {
        self.values.len()
    }
    #[inline]
    fn column(&self, j: usize) -> DenseColumn<'_, T> {
        DenseColumn(&self.values[j * self.rows..(j + 1) * self.rows])
    }
    #[inline]
    fn column_len(&self, _j: usize) -> usize {
        self.rows
    }
    #[inline]
    fn prefetch_entries(&self, j: usize) {
        kernels::prefetch_slice(self.column(j).0);
    }
}

impl<T: Value> Columns for DenseMatrix<T> {
    type Column<'a>
        = DenseColumn<'a, T>
    where
        Self: 'a;
    type Copied = DenseMatrix<T>;

    fn copy_columns(&self, columns: &[usize]) -> Self {
        self.view().copy_columns(columns)
    }
    fn rows(&self) -> usize {
        self.rows
    }
    fn cols(&self) -> usize {
        self.cols
    }
    fn nnz(&self) -> usize {
        self.values.len()
    }
    #[inline]
    fn column(&self, j: usize) -> DenseColumn<'_, T> {
        DenseColumn(&self.values[j * self.rows..(j + 1) * self.rows])
    }
    #[inline]
    fn column_len(&self, _j: usize) -> usize {
        self.rows
    }
    #[inline]
    fn prefetch_entries(&self, j: usize) {
        self.view().prefetch_entries(j);
    }
}

/// One column of a [`DenseView`].
#[derive(Debug, Clone, Copy)]
pub struct DenseColumn<'a, T: Value>(&'a [T]);

impl<T: Value> Column for DenseColumn<'_, T> {
    #[inline]
    fn len(self) -> usize {
        self.0.len()
    }
    #[inline]
    fn for_each(self, mut visit: impl FnMut(usize, f64)) {
        for (i, v) in self.0.iter().enumerate() {
            visit(i, v.to_f64());
        }
    }
    #[inline]
    fn dot(self, y: &[f64]) -> f64 {
        kernels::dense_dot(self.0, y)
    }
    #[inline]
    fn add_to(self, scale: f64, alpha: f64, y: &mut [f64]) {
        kernels::dense_add(self.0, scale, alpha, y);
    }
    #[inline]
    fn extrapolated_dot(self, rows: &Rows, alpha: f64, beta: f64, recent: Option<u64>) -> f64 {
        kernels::dense_extrapolated_dot(self.0, rows, alpha, beta, recent)
    }
    #[inline]
    fn move_rows(self, rows: &mut Rows, weights: Option<&[f64]>, delta: f64, omega: f64, now: u64) {
        kernels::dense_move_rows(self.0, rows, weights, delta, omega, now);
    }
    fn bounded_dot(self, scale: f64, y: &[f64]) -> BoundedSum {
        kernels::dense_bounded_dot(self.0, scale, y)
    }
    fn positive_dot(self, y: &[f64]) -> BoundedSum {
        kernels::dense_positive_dot(self.0, y)
    }
    fn bounded_square(self, scale: f64) -> BoundedSum {
        kernels::bounded_square(self.0, scale)
    }
    fn extremes(self) -> kernels::Extremes {
        kernels::extremes(self.0)
    }
    #[inline]
    fn tell(self) {
        tell(self.0);
    }
    fn write_rows(self, rows: std::ops::Range<usize>, scale: f64, out: &mut [f64]) {
        let part = &self.0[rows];
        kernels::write_scaled(part, scale, out);
        tell(part);
    }
    #[inline]
    fn bounded_sum(self, term: impl Fn(usize, f64) -> f64) -> BoundedSum {
        kernels::bounded_sum(self.0.len(), |k| term(k, self.0[k].to_f64()))
    }
}
