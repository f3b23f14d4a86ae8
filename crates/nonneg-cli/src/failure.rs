//! Why a command could not do its work: one message for the user, exit status 2.

use std::fmt;

/// A complete message.
#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Adds what follows from it.
    pub fn and(self, consequence: &str) -> Self {
        Self(format!("{}; {consequence}", self.0))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<nonneg::Error> for Failure {
    fn from(error: nonneg::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<nonneg_io::Error> for Failure {
    fn from(error: nonneg_io::Error) -> Self {
        Self(error.to_string())
    }
}
