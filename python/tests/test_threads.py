"""Many threads at once, Ctrl-C, and forks."""

import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from common import run_python, spectra, text_like, uniform
from numpy.testing import assert_array_equal

import nonneg


def hammer(work, times=48, threads=8):
    """Runs each piece of work many times on many threads, all started together."""
    barrier = threading.Barrier(threads)

    def start():
        barrier.wait(timeout=60)

    with ThreadPoolExecutor(threads, initializer=start) as pool:
        futures = [(k % len(work), pool.submit(work[k % len(work)])) for k in range(times)]
        return [(which, future.result(timeout=60)) for which, future in futures]


@pytest.mark.parametrize("size", [(80, 40), (1500, 300)], ids=["small", "large"])
def test_concurrent_calls_on_shared_arrays_give_the_same_bits_as_alone(size):
    A, b = text_like(*size)
    A.sort_indices()
    dense = np.asfortranarray(A.toarray())
    problem = nonneg.Problem(A)
    x = nonneg.nnls(dense, b)[0]
    work = [
        lambda: nonneg.solve(A, b).x,
        lambda: nonneg.solve(dense, b, method="si-nnls", tol=1e-3, threads=2).x,
        lambda: nonneg.nnls(dense, b)[0],
        lambda: nonneg.nnls(A, b)[0],
        lambda: nonneg.verify(A, b, x).dual,
        lambda: problem.solve(b).x,
        lambda: problem.solve(b, columns=range(0, 40, 2), method="cd", tol=1e-3).x,
        lambda: problem.verify(b, x).dual,
    ]
    alone = [piece() for piece in work]
    for which, result in hammer(work):
        assert_array_equal(result, alone[which])


def test_concurrent_errors_and_callbacks_stay_apart():
    A, b = uniform()

    def fail():
        with pytest.raises(ValueError, match="mine"):
            nonneg.solve(A, b, callback=lambda row: (_ for _ in ()).throw(ValueError("mine")))

    def refuse():
        with pytest.raises(ValueError, match=r"\bb\b"):
            nonneg.solve(A, b[:-1])

    def stop():
        assert nonneg.solve(A, b, callback=lambda row: True).status == "interrupted"

    def watch():
        rows = []
        solution = nonneg.solve(A, b, callback=rows.append)
        assert solution.status == "solved" and len(rows) == len(solution.trace.passes)

    hammer([fail, refuse, stop, watch])


@pytest.mark.parametrize("size", [(300, 200), (600, 400)], ids=["small", "large"])
def test_the_gil_is_released(size):
    """Another thread counts on while a solve runs, and ends it."""
    A, b = spectra(*size)
    A = np.asfortranarray(A)
    count, seen = 0, threading.Event()

    def run():
        solution = nonneg.solve(A, b, method="fista-norestart", tol=1e-300, time_limit=1.0)
        seen.set()
        return solution

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(run)
        while not seen.is_set():
            count += 1
            time.sleep(0.001)
        assert future.result().status == "time_limit"
    assert count > 20


LONG = """
import sys, threading, time
import numpy as np
import nonneg

rows, cols, exact = (int(text) for text in sys.argv[1:4])
rng = np.random.default_rng(0)
if exact:
    A, b = rng.standard_normal((rows, cols)), rng.standard_normal(rows)
    run = lambda: nonneg.nnls(A, b)
else:
    place = np.linspace(0.0, 1.0, rows)[:, None]
    A = np.exp(-0.5 * ((place - np.sort(rng.random(cols))) / 0.03) ** 2)
    b = A @ rng.exponential(size=cols) * (1 + 0.01 * rng.standard_normal(rows))
    run = lambda: nonneg.solve(A, b, method="fista-norestart", tol=1e-300, time_limit=50.0)
print("ready", flush=True)
try:
    run()
except KeyboardInterrupt:
    print("interrupted", flush=True)
    # Still in order afterwards.
    print(nonneg.solve(np.eye(2), [1.0, 2.0]).status, flush=True)
else:
    print("finished", flush=True)
"""


@pytest.mark.parametrize(
    "problem", [(300, 200, 0), (1500, 1000, 0), (4000, 4000, 1)], ids=["small solve", "large solve", "large nnls"]
)
def test_ctrl_c_raises_keyboard_interrupt(problem):
    child = subprocess.Popen(
        [sys.executable, "-c", LONG, *map(str, problem)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.7)
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n", child.stderr.read()
        assert time.monotonic() - sent < 10.0
        assert child.stdout.readline() == "solved\n"
        _, err = child.communicate(timeout=60)
        assert (err, child.returncode) == ("", 0)
    finally:
        child.kill()
        child.communicate()


def test_a_signal_handler_of_python_runs_during_a_solve():
    run_python(
        """
import signal
import numpy as np
import nonneg

class Alarm(Exception):
    pass

def ring(number, frame):
    raise Alarm

A = np.random.default_rng(0).random((400, 300))
signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    nonneg.solve(A, A @ np.ones(300), method="fista-norestart", tol=1e-300, time_limit=30)
except Alarm:
    pass
else:
    raise SystemExit("the handler did not run")
"""
    )


def test_signals_are_seen_all_along():
    """Ctrl-C works within a second late in a long run too: the time between looks must not grow with the run."""
    longest = run_python(
        """
import signal, time
import numpy as np
import nonneg

times = []
rng = np.random.default_rng(0)
A = np.exp(-0.5 * ((np.linspace(0.0, 1.0, 300)[:, None] - np.sort(rng.random(200))) / 0.03) ** 2)
b = A @ rng.exponential(size=200) * (1 + 0.01 * rng.standard_normal(300))
signal.signal(signal.SIGALRM, lambda number, frame: times.append(time.monotonic()))
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
nonneg.solve(A, b, method="oa-ds", tol=1e-300, time_limit=7)
signal.setitimer(signal.ITIMER_REAL, 0)
print(np.diff(times).max())
"""
    )
    assert float(longest) < 0.5


def test_absurdly_many_threads():
    """As many threads as there are cores are enough; starting them all must not hang."""
    code = "import numpy as np, nonneg; print(nonneg.solve(np.eye(3), [1, 2, 3], threads=10_000).status)"
    assert run_python(code, timeout=20) == "solved\n"


FORK = """
import os, sys, time, warnings
import numpy as np
import nonneg

warnings.simplefilter("ignore")  # newer Pythons warn of forks beside threads
rng = np.random.default_rng(0)
A = np.asfortranarray(rng.random((1000, 300)))
b = A @ np.maximum(rng.standard_normal(300), 0)
here = nonneg.solve(A, b).x

def check():
    same = (nonneg.solve(A, b).x == here).all() and nonneg.solve(A, b, threads=2).status == "solved"
    nonneg.nnls(A, b)
    return same and nonneg.solve(A[:20, :10], b[:20]).status == "solved"

def wait(pid):
    end = time.monotonic() + 40
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return "the child hangs"

def in_child(work):
    pid = os.fork()
    if pid == 0:
        status = 3
        try:
            status = 0 if work() else 4
        finally:
            os._exit(status)
    return wait(pid)

assert in_child(check) == 0, "child"
assert in_child(lambda: check() and in_child(check) == 0) == 0, "grandchild"
assert check(), "parent"
"""


def test_a_forked_child_solves():
    run_python(FORK)


def test_fork_pool_of_multiprocessing():
    """What scikit-learn users do: workers forked after a solve in the parent."""
    out = run_python(
        """
import multiprocessing, warnings
import numpy as np
import nonneg

warnings.simplefilter("ignore")
A = np.random.default_rng(0).random((700, 200))

def work(seed):
    b = np.random.default_rng(seed).random(700)
    return nonneg.solve(A, b).objective

here = [work(seed) for seed in range(4)]
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map_async(work, range(4)).get(timeout=50) == here
print("same")
"""
    )
    assert out == "same\n"
