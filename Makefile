# `make test` is the whole truth: format, lints, every test, the wheel in a fresh environment. CI calls nothing else.
.PHONY: test check test-rust test-files test-python test-python-debug bench bench-peers bench-python bench-many bench-files bench-large doc

test: check test-rust test-files test-python

check:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings

test-rust:
	cargo test --workspace --quiet

# What the command reads and writes, against the tools that such files come from and go to.
FILES = crates/nonneg-cli/tests/reference
FILES_VENV = target/files-venv

$(FILES_VENV)/installed: $(FILES)/requirements.txt
	python3 -m venv $(FILES_VENV)
	$(FILES_VENV)/bin/pip install --quiet -r $<
	touch $@

test-files: $(FILES_VENV)/installed
	cargo build --quiet -p nonneg-cli
	$(FILES_VENV)/bin/ruff check --quiet $(FILES)
	$(FILES_VENV)/bin/ruff format --quiet --check $(FILES)
	NONNEG_BIN=$(CURDIR)/target/debug/nonneg $(FILES_VENV)/bin/python -m pytest $(FILES)

# A wheel, installed into an environment that has never seen the sources.
PYTHON_VENV = target/python-venv
WHEELS = target/wheels

test-python:
	rm -rf $(PYTHON_VENV) $(WHEELS)
	python3 -m venv $(PYTHON_VENV)
	$(PYTHON_VENV)/bin/pip wheel --quiet --no-deps --wheel-dir $(WHEELS) .
	$(PYTHON_VENV)/bin/pip install --quiet "$$(ls $(WHEELS)/nonneg-*.whl)[test]"
	$(PYTHON_VENV)/bin/ruff check --quiet python benchmarks/python
	$(PYTHON_VENV)/bin/ruff format --quiet --check python benchmarks/python
	$(PYTHON_VENV)/bin/python -m pytest

# The same tests on a build with overflow checks and debug assertions.
test-python-debug:
	test -d $(PYTHON_VENV) || python3 -m venv $(PYTHON_VENV)
	$(PYTHON_VENV)/bin/pip install --quiet "maturin>=1.9.4,<2"
	. $(PYTHON_VENV)/bin/activate && maturin develop --quiet --extras test
	$(PYTHON_VENV)/bin/python -m pytest

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

# The package as users install it, against SciPy.
BENCH_VENV = target/bench-python-venv

bench-python:
	test -d $(BENCH_VENV) || python3 -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/pip install --quiet --force-reinstall --no-deps .
	$(BENCH_VENV)/bin/pip install --quiet numpy scipy
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 RAYON_NUM_THREADS=1 $(BENCH_VENV)/bin/python benchmarks/python/run.py

bench-many:
	test -d $(BENCH_VENV) || python3 -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/pip install --quiet --force-reinstall --no-deps .
	$(BENCH_VENV)/bin/pip install --quiet numpy scipy scikit-learn
	$(BENCH_VENV)/bin/python benchmarks/python/many.py

# In the environment of test-files, which has the tools that write such files.
bench-files: $(FILES_VENV)/installed
	cargo build --release --quiet -p nonneg-cli
	$(FILES_VENV)/bin/python benchmarks/files/run.py --nonneg target/release/nonneg

# LARGE_ARGS goes to run.py, for example LARGE_ARGS='--gigabytes 20 --folder /scratch'.
LARGE_ARGS = --folder target/large

bench-large: $(FILES_VENV)/installed
	cargo build --release --quiet -p nonneg-cli
	$(FILES_VENV)/bin/python benchmarks/large/run.py --nonneg target/release/nonneg $(LARGE_ARGS)

doc:
	cargo doc --workspace --no-deps
