//! What can go wrong with a file, in one line that names the file, the place in it and what was expected.

/// A file that cannot be read or written. The message is complete: print it as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("{path}: cannot {action}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What was tried: "open", "read", "write", ...
        action: &'static str,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A line of a text file is not what the format asks for.
    #[error("{path}, line {line}: {message}")]
    Line {
        /// The file.
        path: String,
        /// Line number, from 1.
        line: u64,
        /// What was found and what was expected.
        message: String,
    },
    /// The contents as a whole do not make sense.
    #[error("{path}: {message}")]
    Content {
        /// The file.
        path: String,
        /// What was found and what was expected.
        message: String,
    },
    /// The name's ending says nothing we know, or something that does not fit here.
    #[error("{path}: {message}")]
    Ending {
        /// The file.
        path: String,
        /// What is wrong and which endings are known.
        message: String,
    },
}

/// Result with this crate's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn io(path: &str, action: &'static str, source: std::io::Error) -> Self {
        Error::Io { path: path.to_string(), action, source }
    }
    pub(crate) fn line(path: &str, line: u64, message: impl Into<String>) -> Self {
        Error::Line { path: path.to_string(), line, message: message.into() }
    }
    pub(crate) fn content(path: &str, message: impl Into<String>) -> Self {
        Error::Content { path: path.to_string(), message: message.into() }
    }
    pub(crate) fn ending(path: &str, message: impl Into<String>) -> Self {
        Error::Ending { path: path.to_string(), message: message.into() }
    }
}
