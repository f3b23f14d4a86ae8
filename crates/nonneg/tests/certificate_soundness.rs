//! What a certificate claims holds in exact arithmetic, for any x on problems of every kind; and it is tight.

mod common;
#[path = "common/exact_tests.rs"]
mod exact_tests;
