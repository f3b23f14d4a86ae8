//! Stands in for a format that was left out of the build.

use nonneg::MatrixRef;

use crate::error::{Error, Result};
use crate::number::Numbers;
use crate::{Problem, Progress, Shape};

fn refuse<T>(path: &str) -> Result<T> {
    let ending = path.rsplit('.').next().unwrap_or_default();
    let message = format!("this nonneg was built without .{ending} files; build it with its default features to use them");
    Err(Error::ending(path, message))
}

pub(crate) fn read_problem(path: &str, _: Option<&str>, _: Option<Progress>) -> Result<Problem> {
    refuse(path)
}

pub(crate) fn read_vector(path: &str, _: Option<&str>, _: Numbers) -> Result<Vec<f64>> {
    refuse(path)
}

pub(crate) fn peek(path: &str, _: Option<&str>) -> Result<Shape> {
    refuse(path)
}

pub(crate) fn write_problem(path: &str, _: MatrixRef) -> Result<()> {
    refuse(path)
}
