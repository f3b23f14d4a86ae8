//! Bad input. Running out of time or passes is not an error: it is a [`Status`](crate::Status).

/// What is wrong with the input, in words that name the offending row, column or option.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A matrix or vector is not what its parts claim.
    #[error("{0}")]
    Matrix(String),
    /// Two parts of the problem do not fit together.
    #[error("{what} has {got} entries, expected {expected} ({why})")]
    Length {
        /// Which vector.
        what: &'static str,
        /// Its length.
        got: usize,
        /// The length that fits the matrix.
        expected: usize,
        /// Where that length comes from.
        why: &'static str,
    },
    /// A vector holds NaN, an infinity or a number of the wrong sign.
    #[error("{what}[{index}] is {value}, expected {expected}")]
    Entry {
        /// Which vector.
        what: &'static str,
        /// Position, from 0.
        index: usize,
        /// The offending number.
        value: f64,
        /// What would have been accepted.
        expected: &'static str,
    },
    /// A setting is outside its range.
    #[error("{name} is {value}, expected {expected}")]
    Setting {
        /// Which setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// What would have been accepted.
        expected: &'static str,
    },
    /// What a method needs does not fit into memory, or into the limit that was set.
    #[error("{0}")]
    Memory(String),
    /// The objective has no minimum.
    #[error("the objective is unbounded below: {0}")]
    Unbounded(String),
}

/// Result with this crate's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;
