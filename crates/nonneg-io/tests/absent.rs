//! Formats that were left out of the build say so.
#![cfg(not(any(feature = "hdf5", feature = "parquet")))]

use nonneg_io::{peek, read_problem, read_vector};

#[test]
fn the_feature_is_named() {
    let v73 = format!("{}/tests/fixtures/v73.mat", env!("CARGO_MANIFEST_DIR"));
    for (name, reason) in
        [("a.h5", "'hdf5'"), ("a.h5ad:X", "'hdf5'"), ("a.parquet", "'parquet'"), (&v73, "save the file with -v7")]
    {
        let messages = [
            peek(name).unwrap_err().to_string(),
            read_problem(name, None).unwrap_err().to_string(),
            read_vector(name).unwrap_err().to_string(),
        ];
        assert!(messages.iter().all(|message| message.contains("built without") && message.contains(reason)), "{messages:?}");
    }
}
