//! Matrix and vector files for nonneg.
