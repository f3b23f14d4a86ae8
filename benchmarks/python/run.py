"""The figures of the Python package: call overhead, nnls against SciPy, import time. One thread each.

    make bench-python            # writes benchmarks/results/DATE-python.{json,md}

Times are the best of several rounds in which both sides take turns; what counts are their ratios.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np
import scipy
import scipy.optimize

import nonneg
from nonneg import _nonneg

SIZES = [
    (20, 10), (10, 20), (15, 15), (50, 20), (20, 50), (100, 50), (64, 64), (50, 100), (200, 100), (100, 200), (100, 400),
    (500, 200), (200, 500), (300, 300), (1000, 500), (500, 1000), (1000, 1000), (5000, 100), (100, 2000), (500, 2000),
    (2000, 1000), (5000, 500), (2000, 2000), (5000, 1000), (5000, 2000), (5000, 20), (2000, 50), (700, 100), (1000, 100),
    (5000, 200),
]  # fmt: skip


#: To be 1 before the libraries start their threads.
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "RAYON_NUM_THREADS")


def uniform(rows, cols, rng):
    A = rng.random((rows, cols))
    return A, A @ (rng.random(cols) * (rng.random(cols) < 0.2)) + 0.05 * rng.standard_normal(rows)


def gaussian(rows, cols, rng):
    return rng.standard_normal((rows, cols)), rng.standard_normal(rows)


def spectra(rows, cols, rng):
    place = np.arange(rows)[:, None] - np.linspace(0, rows, cols)[None, :]
    A = np.exp(-0.5 * (place / (0.01 * rows + 1)) ** 2)
    return A, A @ (rng.random(cols) * (rng.random(cols) < 0.1)) + 0.01 * rng.random(rows)


KINDS = {"uniform": uniform, "Gaussian, signed": gaussian, "spectra": spectra}


def seconds(call, repeats):
    begin = time.perf_counter()
    for _ in range(repeats):
        result = call()
    return (time.perf_counter() - begin) / repeats, result


def take_turns(calls, budget):
    """The best time of each call, and its result, in rounds of at least a millisecond."""
    first = [seconds(call, 1) for call in calls]
    repeats = [max(1, int(1e-3 / max(t, 1e-7))) for t, _ in first]
    best, results = [t for t, _ in first], [result for _, result in first]
    rounds = max(2, min(25, int(budget / max(sum(t * n for t, n in zip(best, repeats, strict=True)), 1e-9))))
    for _ in range(rounds):
        for k, call in enumerate(calls):
            best[k] = min(best[k], seconds(call, repeats[k])[0])
    return best, results


def violation(A, b, x):
    """The largest slope against the rules, over ‖A:ⱼ‖‖b‖."""
    slopes = A.T @ (b - A @ x) / (np.linalg.norm(A, axis=0) * np.linalg.norm(b))
    return float(max(slopes.max(initial=0.0), np.abs(slopes[x > 0]).max(initial=0.0)))


def against_scipy(budget):
    rows = []
    for m, n in SIZES:
        for kind, make in KINDS.items():
            A, b = make(m, n, np.random.default_rng([m, n]))
            calls = [lambda A=A, b=b: scipy.optimize.nnls(A, b), lambda A=A, b=b: nonneg.nnls(A, b)]
            (theirs, ours), ((x, norm), (y, our_norm)) = take_turns(calls, budget)
            row = {"rows": m, "cols": n, "kind": kind, "scipy": theirs, "nonneg": ours, "ratio": theirs / ours}
            row |= {"support": int((y > 0).sum()), "scipy_violation": violation(A, b, x), "violation": violation(A, b, y)}
            row["norm_difference"] = float((our_norm - norm) / np.linalg.norm(b))
            rows.append(row)
            print(
                f"{m:>5} × {n:<5} {kind:<17} {theirs * 1e6:>11.1f} µs {ours * 1e6:>11.1f} µs {theirs / ours:>6.2f} "
                f"{row['scipy_violation']:>9.1e} {row['violation']:>9.1e} {row['norm_difference']:>9.1e}",
                flush=True,
            )
    return rows


def call_overhead():
    A, b = np.asfortranarray(np.random.default_rng(0).random((5, 3))), np.random.default_rng(1).random(5)
    calls = [lambda: scipy.optimize.nnls(A, b), lambda: nonneg.nnls(A, b), lambda: nonneg.solve(A, b).x]
    (theirs, nnls, solve), _ = take_turns(calls, 3.0)
    in_rust = _nonneg.seconds_in_rust(_nonneg.Matrix.dense(A), {"b": b}, 25, 200)
    return {"scipy_nnls": theirs, "nnls": nnls, "solve": solve, "solve_in_rust": in_rust, "solve_overhead": solve - in_rust}


def import_time():
    def once(code):
        script = f"import numpy, time; t = time.perf_counter(); {code}; print(time.perf_counter() - t)"
        return float(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout)

    return statistics.median(once("import nonneg") for _ in range(11))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "results")
    parser.add_argument("--budget", type=float, default=2.0, help="seconds for each problem, about")
    args = parser.parse_args()
    if missing := [name for name in THREADS if os.environ.get(name) != "1"]:
        parser.error(f"expected {', '.join(missing)} to be 1 in the environment (make bench-python sets them)")
    overhead, imported = call_overhead(), import_time()
    print(f"call: {overhead}\nimport: {imported * 1e3:.1f} ms beyond numpy's")
    rows = against_scipy(args.budget)

    ratios = [row["ratio"] for row in rows]
    slower = [row for row in rows if row["ratio"] < 1]
    versions = f"SciPy {scipy.__version__}, NumPy {np.__version__}, nonneg {nonneg.__version__}, one thread"
    lines = [
        "# The Python package", "", f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}, {versions}. `make bench-python`.", "",
        "| figure | got | target |", "|---|---|---|",
        f"| `nnls` on 5×3, and SciPy's | {overhead['nnls'] * 1e6:.1f}, {overhead['scipy_nnls'] * 1e6:.1f} µs | not above |",
        f"| `solve` on 5×3, beyond the Rust call | {overhead['solve_overhead'] * 1e6:.1f} µs | ≤ 10 µs |",
        f"| import beyond NumPy's | {imported * 1e3:.1f} ms | < 50 ms |",
        f"| `nnls` against SciPy's, {len(rows)} problems: least ratio | {min(ratios):.2f} | > 1 |",
        f"| the same, geometric mean | {statistics.geometric_mean(ratios):.2f} | |",
        f"| largest violation of an optimality condition, ours and SciPy's | {max(r['violation'] for r in rows):.1e}, "
        f"{max(r['scipy_violation'] for r in rows):.1e} | as SciPy's |", "",
        f"Slower than SciPy on {len(slower)} of {len(rows)}." if slower else "Faster than SciPy on all of them.", "",
        "| A | kind | support | SciPy | nonneg | ratio | violation, SciPy's | ours |", "|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    lines += [
        f"| {r['rows']}×{r['cols']} | {r['kind']} | {r['support']} | {r['scipy'] * 1e3:.3g} ms | {r['nonneg'] * 1e3:.3g} ms "
        f"| {r['ratio']:.2f} | {r['scipy_violation']:.0e} | {r['violation']:.0e} |"
        for r in rows
    ]
    stem = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}-python"
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / f"{stem}.md").write_text("\n".join(lines) + "\n")
    report = {"versions": versions, "overhead": overhead, "import_seconds": imported, "nnls": rows}
    (args.out / f"{stem}.json").write_text(json.dumps(report, indent=1) + "\n")
    print("\n".join(lines[:14]))


if __name__ == "__main__":
    main()
