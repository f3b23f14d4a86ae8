"""Many right-hand sides against a loop over SciPy's nnls, and NMF against scikit-learn's.

    make bench-many            # writes benchmarks/results/DATE-many.{json,md}

Real data come from --data (../shared/data): jasper_lib.npz, cbcl_faces.npz, mnist.npz; what is not there is left out. The loops
over SciPy run on a part of the columns, and count for all. One thread, then all cores for ours.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pathlib
import resource
import subprocess
import sys
import time
import warnings

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "RAYON_NUM_THREADS")


def best(run, times):
    """The quickest of a few runs: (seconds, result)."""
    results = []
    for _ in range(times):
        begin = time.perf_counter()
        result = run()
        results.append((time.perf_counter() - begin, result))
    return min(results, key=lambda pair: pair[0])


def scipy_loop(A, B, part):
    """Seconds that a loop over all columns takes, from some of them."""
    import scipy.optimize

    columns = range(0, B.shape[1], part)
    begin = time.perf_counter()
    for k in columns:
        scipy.optimize.nnls(A, B[:, k])
    return (time.perf_counter() - begin) * B.shape[1] / len(columns)


def scene(folder, threads):
    """jasper_lib and its 10000 pixels."""
    import numpy as np
    import scipy.sparse

    import nonneg

    file = folder / "jasper_lib.npz"
    if not file.exists():
        return None
    A, Y = scipy.sparse.load_npz(file), np.asfortranarray(np.load(file)["Y"].astype(float))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, many = best(lambda: nonneg.solve_many(A, Y, tol=1e-6), 3)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    found = {"seconds": seconds, "status": many.status, "gap": float(many.relative_gap.max()), "grown_bytes": grown}
    found["output_bytes"] = many.x.nbytes
    if threads == 1:
        found["scipy_seconds"] = scipy_loop(A.toarray(), Y, 50)
    return found


def small(threads):
    """A million problems with a 20×8 matrix."""
    import numpy as np

    import nonneg

    rng = np.random.default_rng(0)
    A, B = rng.random((20, 8)), np.asfortranarray(rng.random((20, 1_000_000)))
    found = {}
    for kind in (np.float64, np.float32):
        a, b = A.astype(kind), B.astype(kind)
        seconds, many = best(lambda a=a, b=b: nonneg.solve_many(a, b), 3)
        found[kind.__name__] = {"per_second": B.shape[1] / seconds, "status": many.status}
    if threads == 1:
        found["scipy_microseconds"] = scipy_loop(A, B, 500) / B.shape[1] * 1e6
    return found


def factorisation(folder, name, rank):
    """Seconds until scikit-learn's final objective is reached."""
    import scipy.sparse
    import sklearn.decomposition

    import nonneg

    file = folder / f"{name}.npz"
    if not file.exists():
        return None
    V = scipy.sparse.load_npz(file).astype(float)
    V = V.toarray() if V.nnz > 0.5 * V.shape[0] * V.shape[1] else V.tocsr()
    model = sklearn.decomposition.NMF(rank, random_state=0)
    warnings.simplefilter("ignore")
    theirs, _ = best(lambda: model.fit_transform(V), 1)
    target = model.reconstruction_err_**2 / 2
    steps = 20
    while True:
        seconds, factors = best(lambda: nonneg.nmf(V, rank, tol=0, max_iter=steps), 1)  # noqa: B023
        if factors.objective <= target or steps > 1000:
            break
        steps = int(steps * 1.5)
    # The same again with as many steps as it takes.
    needed = int((factors.trace > target).sum()) + 1
    seconds, factors = best(lambda: nonneg.nmf(V, rank, tol=0, max_iter=needed), 2)
    return {
        "sklearn_seconds": theirs,
        "sklearn_steps": int(model.n_iter_),
        "sklearn_residual": float(model.reconstruction_err_),
        "seconds": seconds,
        "steps": factors.n_iter,
        "residual": factors.residual_norm,
        "reached": bool(factors.objective <= target),
    }


def measure(folder, threads):
    found = {"scene": scene(folder, threads), "small": small(threads)}
    if threads == 1:
        found["cbcl_faces"] = factorisation(folder, "cbcl_faces", 49)
        found["mnist"] = factorisation(folder, "mnist", 40)
    return found


def table(one, all_cores, cores):
    lines = ["| figure | got | target |", "|---|---|---|"]
    if one["scene"]:
        s, p = one["scene"], all_cores["scene"]
        lines += [
            f"| jasper_lib, 10000 pixels to a certified 1e-6, one core: against a loop over SciPy's `nnls` "
            f"| {s['seconds']:.2f} s, {s['scipy_seconds'] / s['seconds']:.1f} × | ≥ 20 × |",
            f"| the same on {cores} cores: against one | {s['seconds'] / p['seconds']:.2f} × | near {cores} |",
            f"| memory beyond inputs and outputs | {max(0, s['grown_bytes'] - s['output_bytes']) / 1e6:.0f} MB | ≤ 200 MB |",
        ]
    for kind in ("float64", "float32"):
        rate = all_cores["small"][kind]["per_second"]
        lines.append(f"| 20×8, 10⁶ problems a second, {kind}, {cores} cores | {rate / 1e6:.2f} | ≥ 1 |")
    lines.append(
        f"| the same on one core, and SciPy's loop | {one['small']['float64']['per_second'] / 1e6:.2f}, "
        f"{1 / one['small']['scipy_microseconds']:.3f} | |"
    )
    for name, rank in (("cbcl_faces", 49), ("mnist", 40)):
        found = one[name]
        if found:
            lines.append(
                f"| NMF of {name}, rank {rank}, one core: scikit-learn's final objective ({found['sklearn_seconds']:.2f} s, "
                f"{found['sklearn_steps']} steps) | {found['seconds']:.2f} s, {found['steps']} steps, "
                f"{found['sklearn_seconds'] / found['seconds']:.1f} × sooner | ≥ 3 × |"
            )
    return "\n".join(lines)


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=pathlib.Path, default=root.parent / "shared/data")
    parser.add_argument("--out", type=pathlib.Path, default=root / "benchmarks/results")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(measure(options.data, options.worker)))
        return
    cores, results = os.cpu_count(), {}
    for threads in (1, cores):
        environment = os.environ | dict.fromkeys(THREADS, str(threads))
        command = [sys.executable, __file__, "--worker", str(threads), "--data", str(options.data)]
        run = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        results[threads] = json.loads(run.stdout.splitlines()[-1])
    date = datetime.date.today().isoformat()
    page = f"# Many right-hand sides, and NMF\n\n{date}. `make bench-many`.\n\n{table(results[1], results[cores], cores)}\n"
    (options.out / f"{date}-many.md").write_text(page, encoding="utf-8")
    (options.out / f"{date}-many.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
