//! A fence around decoders of others, which may panic on a damaged file.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, Result};

/// Runs `body`; a panic becomes an error. Nothing that `body` has touched is used after one.
pub(crate) fn guarded<T>(path: &str, body: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| Err(Error::content(path, "the file is damaged")))
}
