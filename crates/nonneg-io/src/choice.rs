//! Which array of a file is meant, where several have names.

use crate::error::{Error, Result};

/// The matrix: the one named by the caller, one of the `usual` names, or the only one there is.
pub(crate) fn matrix<'a>(
    path: &str,
    key: Option<&str>,
    usual: &[&str],
    arrays: impl Iterator<Item = (&'a str, bool)> + Clone,
) -> Result<String> {
    if let Some(key) = key {
        return Ok(key.to_string());
    }
    if let Some(name) = usual.iter().find(|name| arrays.clone().any(|(other, _)| other == **name)) {
        return Ok(name.to_string());
    }
    let mut matrices = arrays.clone().filter(|(_, is_matrix)| *is_matrix);
    match (matrices.next(), matrices.next()) {
        (Some((only, _)), None) => Ok(only.to_string()),
        _ => {
            let names: Vec<&str> = arrays.map(|(name, _)| name).collect();
            let usual = usual[0];
            if names.is_empty() {
                return Err(Error::content(path, format!("holds no arrays of numbers, expected '{usual}'")));
            }
            let names = names.join(", ");
            let message = format!("expected an array '{usual}' or exactly one matrix; name one as {path}:KEY out of: {names}");
            Err(Error::content(path, message))
        }
    }
}

/// The array named by the caller, or the only one there is.
pub(crate) fn only<'a>(path: &str, key: Option<&str>, names: impl Iterator<Item = &'a str>) -> Result<String> {
    let names: Vec<&str> = names.collect();
    match (key, names.as_slice()) {
        (Some(key), _) => Ok(key.to_string()),
        (None, [only]) => Ok(only.to_string()),
        (None, []) => Err(Error::content(path, "holds no arrays of numbers")),
        _ => {
            let message = format!("holds several arrays; name one as {path}:KEY out of: {}", names.join(", "));
            Err(Error::content(path, message))
        }
    }
}

/// The right-hand side beside a matrix with `rows` rows.
pub(crate) fn matching_rhs(name: &str, values: Vec<f64>, rows: usize) -> Result<Vec<f64>> {
    if values.len() != rows {
        let message = format!("has {} elements, expected {rows} (the rows of the matrix)", values.len());
        return Err(Error::content(name, message));
    }
    Ok(values)
}
