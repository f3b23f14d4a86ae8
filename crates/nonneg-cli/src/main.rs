//! The nonneg command.
fn main() {}
