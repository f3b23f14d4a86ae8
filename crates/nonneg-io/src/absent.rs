//! Stands in for a format that was left out of the build.
#![allow(dead_code)] // each format has its own set of functions

use nonneg::MatrixRef;

use crate::error::{Error, Result};
use crate::number::Numbers;
use crate::{Problem, Progress, Shape, Stored};

fn refuse<T>(path: &str) -> Result<T> {
    let feature = if path.to_ascii_lowercase().ends_with(".parquet") { "parquet" } else { "hdf5" };
    let also = if path.to_ascii_lowercase().ends_with(".mat") { ", or save the file with -v7" } else { "" };
    let message = format!("this nonneg was built without the feature '{feature}' that such files need: build it with it{also}");
    Err(Error::ending(path, message))
}

pub(crate) fn read_problem(path: &str, _: Option<&str>, _: Option<Progress>, _: Stored) -> Result<Problem> {
    refuse(path)
}

pub(crate) fn read_vector(path: &str, _: Option<&str>, _: Numbers) -> Result<Vec<f64>> {
    refuse(path)
}

pub(crate) fn peek(path: &str, _: Option<&str>) -> Result<Shape> {
    refuse(path)
}

pub(crate) fn is_vector(path: &str, _: Option<&str>) -> Result<bool> {
    refuse(path)
}

pub(crate) fn write_problem(path: &str, _: MatrixRef, _: Option<&[f64]>) -> Result<()> {
    refuse(path)
}
