# `make test` is the whole truth: format, lints, every test. CI calls nothing else.
.PHONY: test check bench doc

test: check
	cargo test --workspace --quiet

check:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings

bench:
	cargo run --release -p nonneg-bench -- foundation

doc:
	cargo doc --workspace --no-deps
