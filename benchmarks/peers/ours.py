"""Runs nonneg (nonneg-bench timed), once per gap wanted, and scores its x as everyone's."""
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


class Command:
    def __init__(self, path, threads, limit):
        built = Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "release" / "nonneg-bench"
        self.path = Path(path or os.environ.get("NONNEG_BENCH", built)).resolve()
        if not self.path.exists():
            sys.exit("no nonneg-bench command: build it (cargo build --release -p nonneg-bench), or name it with --nonneg")
        self.threads, self.limit = threads, limit
        self.fingerprint = hashlib.sha256(self.path.read_bytes()).hexdigest()[:16]
        self.version = subprocess.run([self.path, "--version"], capture_output=True, text=True).stdout.strip()

    def run(self, problem, gaps, judge, earlier):
        """Runs of the same binary are kept."""
        runs = earlier["runs"] if earlier and earlier.get("binary") == self.fingerprint else []
        for gap in gaps:
            if any(r["tol"] == gap for r in runs):
                continue
            # The judge may know a worse lower bound than the solver; then the solver has to go further, as peers do.
            for tol in (gap, 0.3 * gap, 0.1 * gap):
                runs.append(self._to_gap(problem, tol, judge))
                if runs[-1].get("status") != "solved" or (runs[-1]["gap"] is not None and runs[-1]["gap"] <= gap):
                    break
        return {"binary": self.fingerprint, "runs": runs}

    def _to_gap(self, problem, gap, judge):
        """As the peers are timed: in a warm process, the median of three unless one takes long, without reading."""
        with tempfile.TemporaryDirectory() as folder:
            x = Path(folder) / "x.npy"
            command = [self.path, "timed", *problem.files, "--tol", f"{gap:.3g}", "--threads", str(self.threads),
                       "--limit", str(self.limit), "-o", x]
            failed = {"tol": gap, "seconds": None, "gap": None}
            before, began = os.times(), time.monotonic()
            try:
                done = subprocess.run([str(c) for c in command], capture_output=True, text=True,
                                      timeout=2 * self.limit + 60)
            except subprocess.TimeoutExpired:
                return failed | {"error": "did not stop at its time limit"}
            if done.returncode != 0 or not x.exists():
                return failed | {"error": done.stderr.strip()[:300].replace(str(problem.files[0].parent), "")}
            after, elapsed = os.times(), time.monotonic() - began
            cpu = after.children_user + after.children_system - before.children_user - before.children_system
            said = json.loads(done.stdout)
            score = judge.score(np.load(x))
            if not np.isfinite(score["gap"]):
                score["gap"] = None
            return {"tol": gap, "seconds": said["seconds"], "all_seconds": said["all_seconds"], "status": said["status"],
                    "claimed_gap": said["relative_gap"], "method": said["method"], "passes": said["passes"],
                    "processor_share": round(cpu / elapsed, 3)} | score
