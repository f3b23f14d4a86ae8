"""Runs the nonneg command, once per gap wanted, and scores its x as everyone's."""
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


class Command:
    def __init__(self, path, threads, limit):
        built = Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "release" / "nonneg"
        self.path = Path(path or os.environ.get("NONNEG_BIN", built)).resolve()
        if not self.path.exists():
            sys.exit("no nonneg command: build it (cargo build --release -p nonneg-cli), or name it with --nonneg")
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
        """The median of three, unless one takes long. seconds: all that is done after reading."""
        result, times = self._once(problem, gap, judge), []
        while result["seconds"] is not None:
            times.append(result["seconds"])
            result["seconds"], result["all_seconds"] = statistics.median(times), times
            if len(times) == 3 or times[0] >= 5.0:
                break
            result["seconds"] = self._once(problem, gap, None)["seconds"]
        return result

    def _once(self, problem, gap, judge):
        with tempfile.TemporaryDirectory() as folder:
            x, report = Path(folder) / "x.npy", Path(folder) / "report.json"
            command = [self.path, "solve", *problem.files, "--method", "auto", "--tol", f"{gap:.3g}", "--threads",
                       str(self.threads), "--time-limit", f"{self.limit}s", "--report", report, "-o", x, "--quiet"]
            failed = {"tol": gap, "seconds": None, "gap": None}
            before, began = os.times(), time.monotonic()
            try:
                done = subprocess.run([str(c) for c in command], capture_output=True, text=True,
                                      timeout=2 * self.limit + 60)
            except subprocess.TimeoutExpired:
                return failed | {"error": "did not stop at its time limit"}
            if done.returncode not in (0, 1) or not report.exists():
                return failed | {"error": done.stderr.strip()[:300].replace(str(problem.files[0].parent), "")}
            after, elapsed = os.times(), time.monotonic() - began
            cpu = after.children_user + after.children_system - before.children_user - before.children_system
            said = json.loads(report.read_text())
            seconds = said["seconds"]["presolve"] + said["seconds"]["solve"] + said["seconds"]["certify"]
            score = {} if judge is None else judge.score(np.load(x))
            if score and not np.isfinite(score["gap"]):
                score["gap"] = None
            return {"tol": gap, "seconds": seconds, "status": said["status"], "claimed_gap": said["relative_gap"],
                    "method": said["method"], "passes": said["passes"],
                    "processor_share": round(cpu / elapsed, 3)} | score
