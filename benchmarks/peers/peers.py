"""Runs a peer on a problem in a process of its own, from loose tolerances to tight ones."""
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from solvers import PEERS

START_LIMIT = 300.0        # seconds to load, import and compile: none of it counts
MOST_RUNS = 12             # per problem and peer


def covers(done, gaps):
    """Whether an earlier entry answers for these gaps: it went as far as it could, or far enough."""
    return min(gaps) >= done["tightest_wanted"] or done["status"] != "done"


def still_possible(all_entries, problem, name, gaps):
    """The gaps worth trying: a gap that the peer ran out of time for on a smaller member of the family is not."""
    possible = list(gaps)
    for other in all_entries.values():
        smaller = other.get("family") == problem.family and other.get("size", 0) < problem.size
        done = other.get("peers", {}).get(name)
        if smaller and done and done["status"] in ("time limit", "skipped: timed out on a smaller one"):
            reached = min((r["gap"] for r in done["runs"] if r["gap"] is not None), default=float("inf"))
            possible = [g for g in possible if g >= reached]
    return possible


def tighter(peer, tol, gap, stuck, wanted):
    """The next tolerance: aimed at half of the first gap that is not reached yet. Fixed steps would overshoot the gaps
    wanted by a factor of up to a hundred, and so make the peer look slow. None: there is nothing left to try."""
    missing = [g for g in wanted if gap is None or gap > g]
    if not missing or peer.loosest is None or tol <= peer.tightest:
        return None
    # Far from the first gap wanted the gap falls in jumps, and a large step would overshoot after all.
    largest_step = 1e-4 if gap is not None and gap <= max(wanted) else 0.02
    aim = 0.01 if gap is None else min(0.3, max(largest_step, 0.5 * max(missing) / gap))
    if stuck:                       # the last step brought nothing: a larger one
        aim = min(aim, 0.03)
    return max(peer.tightest, tol * aim**peer.power)


class Worker:
    def __init__(self, name, problem, threads, x_file):
        command = [sys.executable, str(Path(__file__).with_name("worker.py")), name, str(threads), str(x_file)]
        self.process = subprocess.Popen(command + [str(f) for f in problem.files], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.buffer, self.threads = b"", threads

    def cpu_seconds(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def answer(self, limit):
        """The next line, None when time is up, or an error when the process has died. On one thread the limit is on
        processor time, and three times as much on the clock."""
        cpu_end, end = self.cpu_seconds() + limit, time.monotonic() + (3 * limit if self.threads == 1 else limit)
        while b"\n" not in self.buffer:
            if not select.select([self.process.stdout], [], [], 0.5)[0]:
                if time.monotonic() > end or (self.threads == 1 and self.cpu_seconds() > cpu_end):
                    return None
                continue
            piece = os.read(self.process.stdout.fileno(), 65536)
            if not piece:
                return {"error": f"died with status {self.process.wait()}"}
            self.buffer += piece
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def ask(self, tol):
        self.process.stdin.write(f"{json.dumps(tol)}\n".encode())
        self.process.stdin.flush()

    def end(self):
        self.process.kill()
        self.process.wait()


def run(problem, name, gaps, wanted, judge, threads, limit):
    """{"status", "runs": [{"tol", "seconds", "gap", ...}], "warmup_seconds"}; runs that failed have no gap."""
    entry = {"runs": [], "warmup_seconds": None, "tightest_wanted": min(gaps), "limit_seconds": limit,
             "not_tried": [g for g in gaps if g not in wanted]}
    if not wanted:
        return entry | {"status": "skipped: timed out on a smaller one"}
    judge()                                            # writes the problem, and warms the file cache
    with tempfile.TemporaryDirectory() as folder:
        x_file = Path(folder) / "x.npy"
        worker = Worker(name, problem, threads, x_file)
        try:
            first = worker.answer(START_LIMIT)
            if first is None or "ready" not in first:
                reason = "did not start in time" if first is None else first.get("unsuited") or first["error"]
                return entry | {"status": f"failed: {reason}"}
            entry["warmup_seconds"] = first["warmup"]
            peer = PEERS[name]
            tol, best = peer.loosest, None
            for _ in range(MOST_RUNS):
                worker.ask(tol)
                worker.answer(START_LIMIT)             # "start"
                answer = worker.answer(limit)
                if answer is None or answer.get("seconds", 0) > limit:
                    entry["runs"].append({"tol": tol, "seconds": None, "gap": None})
                    return entry | {"status": "time limit"}
                if "error" in answer:
                    entry["runs"].append({"tol": tol, "seconds": None, "gap": None, "error": answer["error"]})
                    if "died" in answer["error"]:
                        return entry | {"status": f"failed: {answer['error']}"}
                    gap = None
                else:
                    score = judge().score(np.load(x_file))
                    gap = score["gap"] = score["gap"] if np.isfinite(score["gap"]) else None
                    entry["runs"].append({"tol": tol, "seconds": answer["seconds"], "elapsed": answer["elapsed"]} | score)
                better = gap is not None and (best is None or gap < 0.9 * best)
                best = gap if better else best
                tol = tighter(peer, tol, best, not better, wanted)
                if tol is None:
                    break
        finally:
            worker.end()
    return entry | {"status": "done"}
