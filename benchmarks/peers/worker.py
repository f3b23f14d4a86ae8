"""One peer on one problem, in a process of its own that the parent may kill.

usage: worker.py PEER THREADS X.npy FILE...

Answers lines of JSON on standard output; reads one tolerance per line from standard input until the end:
    {"ready": true, "warmup": s}   then for every tolerance   {"start": tol}   {"seconds": s} with x written, or {"error": text}
"""
import json
import os
import sys
import time
import warnings

SHORT = 1.0      # seconds; below it the median of three counts


def main():
    peer_name, threads, x_file, files = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON"):
        os.environ[f"{name}_NUM_THREADS"] = threads
    import ctypes
    import resource
    import signal
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)        # PR_SET_PDEATHSIG: an interrupted run leaves no solver behind
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)                                     # what a peer prints must not mix with the answers
    say = lambda **message: print(json.dumps(message), file=answers, flush=True)
    warnings.simplefilter("ignore")

    import numpy as np
    import scipy.sparse as sp
    from problems import load
    from solvers import PEERS, Unsuited

    try:
        peer = PEERS[peer_name]
        A, b = load(files)
        # A tiny problem of the same kind first: imports and compilation are not what we measure.
        began = time.perf_counter()
        rng = np.random.default_rng(0)
        small = np.asfortranarray(rng.random((30, 12)) * (rng.random((30, 12)) < 0.7))
        small, b_small = peer.prepare(sp.csc_matrix(small) if sp.issparse(A) else small, rng.random(30))
        peer.solve(small, b_small, peer.loosest)
        warmup = time.perf_counter() - began
        A, b = peer.prepare(A, b)
    except Unsuited as reason:
        return say(unsuited=str(reason))
    except Exception as error:
        return say(error=f"{type(error).__name__}: {error}"[:200])
    say(ready=True, warmup=warmup)

    for line in sys.stdin:
        tol, times, elapsed = json.loads(line), [], []
        say(start=tol)
        try:
            while not times or (len(times) < 3 and times[0] < SHORT):
                began, began_cpu = time.perf_counter(), time.process_time()
                x = peer.solve(A, b, tol)
                elapsed.append(time.perf_counter() - began)
                # On one thread processor time, so that a busy machine does not count against a peer.
                times.append(min(elapsed[-1], time.process_time() - began_cpu) if threads == "1" else elapsed[-1])
        except Exception as error:
            say(error=f"{type(error).__name__}: {error}"[:200])
            continue
        np.save(x_file, x)
        say(seconds=sorted(times)[len(times) // 2], elapsed=sorted(elapsed)[len(elapsed) // 2])


main()
