//! Matrices: what the caller hands in, and the column access that the algorithms are written against.
//!
//! * [`CscMatrix`], [`CsrMatrix`], [`DenseMatrix`] own their data; [`CscView`], [`CsrView`], [`DenseView`] borrow it.
//! * [`MatrixRef`] is any of them behind one type; everything public takes `impl Into<MatrixRef>`.
//! * [`Columns`] is what an algorithm sees: a shape and columns, each with a few kernels ([`Column`]).

mod csc;
mod csr;
mod dense;
pub mod kernels;
mod passes;

pub use csc::{CscMatrix, CscView};
pub use csr::{CsrMatrix, CsrView};
pub use dense::{DenseMatrix, DenseView};
pub use passes::{
    MAX_PARTS, for_columns, for_each_column, for_some_columns, listen_to_passes, multiply, multiply_transposed, per_task,
};
pub(crate) use passes::{position, tell};

use kernels::Rows;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// A stored number: `f32` or `f64`. All arithmetic is done in `f64`.
pub trait Value: Copy + Send + Sync + std::fmt::Debug + PartialEq + sealed::Sealed + 'static {
    /// Exact widening.
    fn to_f64(self) -> f64;
    /// Nearest representable value.
    fn from_f64(value: f64) -> Self;
}

impl Value for f64 {
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
    fn from_f64(value: f64) -> Self {
        value
    }
}

impl Value for f32 {
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

/// A stored row index: `u32` or `u64`.
pub trait Index: Copy + Send + Sync + std::fmt::Debug + Ord + sealed::Sealed + 'static {
    /// The index as a position.
    fn to_usize(self) -> usize;
    /// The position as an index; the caller knows that it fits.
    fn from_usize(position: usize) -> Self;
    /// Largest position that fits.
    const MAX: u64;
}

impl Index for u32 {
    #[inline(always)]
    fn to_usize(self) -> usize {
        self as usize
    }
    fn from_usize(position: usize) -> Self {
        position as u32
    }
    const MAX: u64 = u32::MAX as u64;
}

impl Index for u64 {
    #[inline(always)]
    fn to_usize(self) -> usize {
        self as usize
    }
    fn from_usize(position: usize) -> Self {
        position as u64
    }
    const MAX: u64 = u64::MAX;
}

/// Column access to an m×n matrix: all that an algorithm may know about A.
pub trait Columns: Sync {
    /// One column.
    type Column<'a>: Column
    where
        Self: 'a;
    /// What [`copy_columns`](Self::copy_columns) makes.
    type Copied: Columns;
    /// Some of the columns, side by side in memory of their own.
    fn copy_columns(&self, columns: &[usize]) -> Self::Copied;
    /// m.
    fn rows(&self) -> usize;
    /// n.
    fn cols(&self) -> usize;
    /// Stored entries: the unit of one pass.
    fn nnz(&self) -> usize;
    /// Column `j`, `j < cols()`.
    fn column(&self, j: usize) -> Self::Column<'_>;
    /// Stored entries of column `j`.
    fn column_len(&self, j: usize) -> usize;
    /// Asks the memory system for what [`column`](Self::column) needs to find column `j`.
    fn prefetch_pointer(&self, _j: usize) {}
    /// Asks the memory system for the entries of column `j`, the first ones of a long column.
    fn prefetch_entries(&self, _j: usize) {}
}

/// One column a of A, with the kernels that run over its stored entries.
///
/// Every vector argument has one element per row; the kernels check its length once per call.
pub trait Column: Copy {
    /// Stored entries.
    fn len(self) -> usize;
    /// Whether nothing is stored.
    fn is_empty(self) -> bool {
        self.len() == 0
    }
    /// Visits the stored entries `(row, value)` in order.
    fn for_each(self, visit: impl FnMut(usize, f64));
    /// aᵀy.
    fn dot(self, y: &[f64]) -> f64;
    /// y += α(σa), σ a power of two: in this order nothing leaves the range of f64 that need not.
    fn add_to(self, scale: f64, alpha: f64, y: &mut [f64]);
    /// Σ aᵢ(qᵢ + αsᵢ + βtᵢ), where tᵢ counts only on rows stamped `recent` (see [`Rows`]).
    fn extrapolated_dot(self, rows: &Rows, alpha: f64, beta: f64, recent: Option<u64>) -> f64;
    /// tᵢ = δaᵢwᵢ, qᵢ += tᵢ, sᵢ += ωtᵢ, stamped `now`; a row already stamped `now` accumulates t.
    fn move_rows(self, rows: &mut Rows, weights: Option<&[f64]>, delta: f64, omega: f64, now: u64);
    /// Tells those who listen to passes that all of it has been looked at.
    fn tell(self);
    /// Writes the entries of a range of rows, times a power of two, over `out` (one element per row of the range).
    fn write_rows(self, rows: std::ops::Range<usize>, scale: f64, out: &mut [f64]);
    /// For the certificate: Σ (aᵢσ)yᵢ, σ a power of two.
    fn bounded_dot(self, scale: f64, y: &[f64]) -> kernels::BoundedSum;
    /// For the certificate: Σ aᵢyᵢ, where neither a nor y has a negative entry.
    fn positive_dot(self, y: &[f64]) -> kernels::BoundedSum;
    /// For the certificate: Σ (aᵢσ)².
    fn bounded_square(self, scale: f64) -> kernels::BoundedSum;
    /// The sizes of the stored values.
    fn extremes(self) -> kernels::Extremes;
    /// For the certificate: Σ term(i, aᵢ) with a proved error (see [`kernels::bounded_sum`]).
    fn bounded_sum(self, term: impl Fn(usize, f64) -> f64) -> kernels::BoundedSum;
}

/// The places of a list of columns in the order of the matrix: pages of a file that is mapped are let go of as reading goes on, and what
/// was read here and there would stay.
fn in_order(columns: &[usize]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..columns.len()).collect();
    places.sort_unstable_by_key(|&place| columns[place]);
    places
}

macro_rules! matrix_ref {
    ($($variant:ident($view:ty) from $owned:ty;)*) => {
        /// Any matrix of the caller's, borrowed: CSC, CSR or column-major dense, `f32` or `f64`, 32- or 64-bit indices.
        #[derive(Debug, Clone, Copy)]
        #[allow(missing_docs)]
        pub enum MatrixRef<'a> { $($variant($view),)* }

        $(impl<'a> From<$view> for MatrixRef<'a> {
            fn from(view: $view) -> Self { MatrixRef::$variant(view) }
        }
        impl<'a> From<&'a $owned> for MatrixRef<'a> {
            fn from(owned: &'a $owned) -> Self { MatrixRef::$variant(owned.view()) }
        }
        impl From<$owned> for AnyMatrix {
            fn from(owned: $owned) -> Self { AnyMatrix::$variant(owned) }
        })*

        /// Any matrix, owned: what a reader returns.
        #[derive(Debug, Clone)]
        #[allow(missing_docs)]
        pub enum AnyMatrix { $($variant($owned),)* }

        impl AnyMatrix {
            /// Borrows it.
            pub fn view(&self) -> MatrixRef<'_> {
                match self { $(AnyMatrix::$variant(owned) => MatrixRef::$variant(owned.view()),)* }
            }
        }

        impl MatrixRef<'_> {
            /// m.
            pub fn rows(&self) -> usize { match self { $(MatrixRef::$variant(view) => view.rows(),)* } }
            /// n.
            pub fn cols(&self) -> usize { match self { $(MatrixRef::$variant(view) => view.cols(),)* } }
            /// Stored entries.
            pub fn nnz(&self) -> usize { match self { $(MatrixRef::$variant(view) => view.nnz(),)* } }
            /// Whether both are the same matrix in the same place.
            pub(crate) fn is_same(&self, other: &MatrixRef) -> bool {
                let place = |matrix: &MatrixRef| match matrix { $(MatrixRef::$variant(view) => view.address(),)* };
                let size = |matrix: &MatrixRef| (matrix.rows(), matrix.cols(), matrix.nnz(), matrix.bytes());
                place(self) == place(other) && size(self) == size(other)
            }
            /// Bytes of the arrays that hold it.
            pub fn bytes(&self) -> usize { match self { $(MatrixRef::$variant(view) => view.bytes(),)* } }
        }
    };
}

matrix_ref! {
    CscF64(CscView<'a, f64, u32>) from CscMatrix<f64, u32>;
    CscF32(CscView<'a, f32, u32>) from CscMatrix<f32, u32>;
    CscF64Wide(CscView<'a, f64, u64>) from CscMatrix<f64, u64>;
    CscF32Wide(CscView<'a, f32, u64>) from CscMatrix<f32, u64>;
    CsrF64(CsrView<'a, f64, u32>) from CsrMatrix<f64, u32>;
    CsrF32(CsrView<'a, f32, u32>) from CsrMatrix<f32, u32>;
    CsrF64Wide(CsrView<'a, f64, u64>) from CsrMatrix<f64, u64>;
    CsrF32Wide(CsrView<'a, f32, u64>) from CsrMatrix<f32, u64>;
    DenseF64(DenseView<'a, f64>) from DenseMatrix<f64>;
    DenseF32(DenseView<'a, f32>) from DenseMatrix<f32>;
}

impl<'a> From<&'a AnyMatrix> for MatrixRef<'a> {
    fn from(matrix: &'a AnyMatrix) -> Self {
        matrix.view()
    }
}

/// Runs `$body` with `$columns` bound to a `&impl Columns` for whatever the [`MatrixRef`] holds.
/// CSR has no columns to walk: it is transposed into CSC first, once.
#[macro_export]
#[doc(hidden)]
macro_rules! with_columns {
    ($matrix:expr, |$columns:ident| $body:expr) => {{
        use $crate::MatrixRef::*;
        match $matrix {
            CscF64($columns) => {
                let $columns = &$columns;
                $body
            }
            CscF32($columns) => {
                let $columns = &$columns;
                $body
            }
            CscF64Wide($columns) => {
                let $columns = &$columns;
                $body
            }
            CscF32Wide($columns) => {
                let $columns = &$columns;
                $body
            }
            CsrF64(csr) => {
                let csc = csr.to_csc();
                let $columns = &csc.view();
                $body
            }
            CsrF32(csr) => {
                let csc = csr.to_csc();
                let $columns = &csc.view();
                $body
            }
            CsrF64Wide(csr) => {
                let csc = csr.to_csc();
                let $columns = &csc.view();
                $body
            }
            CsrF32Wide(csr) => {
                let csc = csr.to_csc();
                let $columns = &csc.view();
                $body
            }
            DenseF64($columns) => {
                let $columns = &$columns;
                $body
            }
            DenseF32($columns) => {
                let $columns = &$columns;
                $body
            }
        }
    }};
}
pub use with_columns;
