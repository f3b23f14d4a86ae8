# `make test` is the whole truth: format, lints, every test. CI calls nothing else.
.PHONY: test check bench bench-peers doc

test: check
	cargo test --workspace --quiet

check:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings

bench:
	cargo run --release -p nonneg-bench -- foundation

# Peers from pip in an environment of their own. PEERS_ARGS goes to run.py, for example PEERS_ARGS=--quick.
PEERS_VENV = target/peers-venv

$(PEERS_VENV)/installed: benchmarks/peers/requirements.txt
	python3 -m venv $(PEERS_VENV)
	$(PEERS_VENV)/bin/pip install --quiet -r $<
	touch $@

bench-peers: $(PEERS_VENV)/installed
	cargo build --release -p nonneg-bench
	$(PEERS_VENV)/bin/python -m pytest --quiet -p no:cacheprovider benchmarks/peers
	$(PEERS_VENV)/bin/python benchmarks/peers/run.py $(PEERS_ARGS)

doc:
	cargo doc --workspace --no-deps
