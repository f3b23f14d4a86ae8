"""Times nonneg and its peers on the same problems, judged by one certificate.

    python benchmarks/peers/run.py [--data DIR] [--problems GLOB] [--peers LIST] [--gaps 1e-4,1e-6,1e-10] ...

What is timed is solving: reading files, building formats and compiling are not, for nobody. Every answer is scored by
certificate.py; a solver's time to a gap is that of its first run whose x has it.
"""
import argparse
import os
import sys


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--data", help="folder with real problems (.npz with b); default ../shared/data if it exists")
    p.add_argument("--problems", default="*", help="names to run, shell patterns separated by commas")
    p.add_argument("--peers", default="all", help="peers, separated by commas; all; none")
    p.add_argument("--seeds", default="1,2,3", help="seeds of the generated problems")
    p.add_argument("--gaps", default="1e-4,1e-6,1e-10", help="certified gaps to reach")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--limit", type=float, default=60.0, help="seconds per solve; who fails counts as this")
    p.add_argument("--quick", action="store_true", help="problems up to a million entries, seed 1, 10 s per solve")
    p.add_argument("--cache", default="target/peers-cache", help="problems and the state of an interrupted run")
    p.add_argument("--out", default="benchmarks/results", help="where the dated results go")
    p.add_argument("--nonneg", help="the nonneg-bench command; default target/release/nonneg-bench, or NONNEG_BENCH")
    p.add_argument("--only-ours", action="store_true", help="no peers")
    p.add_argument("--only-peers", action="store_true", help="not ours")
    p.add_argument("--reuse-peers", metavar="JSON", help="take the peers' times from earlier results")
    p.add_argument("--breadth", action="store_true", help="one peer on all problems, then the next; for short runs")
    p.add_argument("--budget", type=float, help="minutes after which no new work starts")
    p.add_argument("--fresh", action="store_true", help="forget the state of an interrupted run")
    options = p.parse_args()
    if options.quick:
        options.limit, options.seeds = min(options.limit, 10.0), "1"
    return options


OPTIONS = arguments()
for _name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON"):      # before numpy is loaded, or it has no effect
    os.environ[f"{_name}_NUM_THREADS"] = str(OPTIONS.threads)

import fnmatch                                             # noqa: E402
import json                                                # noqa: E402
import time                                                # noqa: E402
from pathlib import Path                                   # noqa: E402

import ours                                                # noqa: E402
import peers                                               # noqa: E402
import report                                              # noqa: E402
from certificate import Certificate                        # noqa: E402
from problems import all_problems, load                    # noqa: E402
from solvers import PEERS                                  # noqa: E402
from state import State                                    # noqa: E402
from yardstick import transpose_product_seconds            # noqa: E402

SMALL = 1_000_000


def chosen_problems():
    data = OPTIONS.data
    if data is None and Path("../shared/data").is_dir():
        data = "../shared/data"
    seeds = [int(s) for s in OPTIONS.seeds.split(",")]
    patterns = OPTIONS.problems.split(",")
    found = [p for p in all_problems(OPTIONS.cache, data, seeds)
             if any(fnmatch.fnmatch(p.name, q) for q in patterns)]
    return [p for p in found if p.size <= SMALL] if OPTIONS.quick else found


def chosen_peers():
    if OPTIONS.only_ours or OPTIONS.reuse_peers or OPTIONS.peers == "none":
        return []
    names = list(PEERS) if OPTIONS.peers == "all" else OPTIONS.peers.split(",")
    unknown = [n for n in names if n not in PEERS]
    if unknown:
        sys.exit(f"no such peer: {', '.join(unknown)}; there are {', '.join(PEERS)}")
    return names


class Loaded:
    """The problem that is being worked on, in memory once."""

    def __init__(self):
        self.name = None

    def judge(self, problem):
        if self.name != problem.name:
            self.certificate, self.name = None, None
            problem.write()
            self.certificate, self.name = Certificate(*load(problem.files)), problem.name
        return self.certificate


def main():
    began = time.monotonic()
    gaps = sorted((float(g) for g in OPTIONS.gaps.split(",")), reverse=True)
    problems, peer_names, loaded = chosen_problems(), chosen_peers(), Loaded()
    if not problems:
        sys.exit("no problem has such a name")
    command = None if OPTIONS.only_peers else ours.Command(OPTIONS.nonneg, OPTIONS.threads, OPTIONS.limit)
    setup = {"threads": OPTIONS.threads, "limit": OPTIONS.limit}
    state = State(Path(OPTIONS.cache) / "state.json", setup, fresh=OPTIONS.fresh)
    out_of_time = lambda: OPTIONS.budget is not None and time.monotonic() - began > 60 * OPTIONS.budget

    def describe(problem):
        if "m" not in state.problem(problem.name):
            judge = loaded.judge(problem)
            (m, n), A = judge.A.shape, judge.A
            state.problem(problem.name).update(
                family=problem.family, group=problem.group, seed=problem.seed, size=problem.size, m=m, n=n,
                nnz=int(getattr(A, "nnz", A.size)), dense=not hasattr(A, "nnz"))
            state.save()

    def run_ours(problem):
        describe(problem)
        judge, entry = loaded.judge(problem), state.problem(problem.name)
        # Beside every timing of ours, so that it tells the speed of the machine at that time.
        entry["transpose_seconds"] = transpose_product_seconds(judge.A)
        entry["ours"] = command.run(problem, gaps, judge, entry.get("ours"))
        state.save()
        print(f"{problem.name:32} {'nonneg':10} " + report.times_line(entry["ours"]["runs"], gaps, OPTIONS.limit), flush=True)

    def run_peer(problem, name):
        describe(problem)
        entry = state.problem(problem.name)
        if "transpose_seconds" not in entry:
            entry["transpose_seconds"] = transpose_product_seconds(loaded.judge(problem).A)
        done = entry.setdefault("peers", {}).get(name)
        if done is None or not peers.covers(done, gaps):
            wanted = peers.still_possible(state.problems(), problem, name, gaps)
            done = peers.run(problem, name, gaps, wanted, lambda: loaded.judge(problem), OPTIONS.threads, OPTIONS.limit)
            entry["peers"][name] = done
            state.save()
        print(f"{problem.name:32} {name:10} " + report.times_line(done["runs"], gaps, OPTIONS.limit)
              + f"  {done['status']}" + (", tighter ones timed out on a smaller one" if done.get("not_tried") else ""),
              flush=True)

    jobs = [(p, s) for p in problems for s in ([None] if command else []) + peer_names]
    if OPTIONS.breadth:
        order = {name: k for k, name in enumerate([None] + peer_names)}
        jobs.sort(key=lambda job: order[job[1]])           # stable: the problems stay small to large
    for problem, name in jobs:
        if out_of_time():
            print("out of time: what is measured so far is reported; the same command goes on from here")
            break
        run_ours(problem) if name is None else run_peer(problem, name)

    results = report.collect(state, [p.name for p in problems], gaps, OPTIONS, command)
    if OPTIONS.reuse_peers:
        report.reuse(results, json.loads(Path(OPTIONS.reuse_peers).read_text()))
    report.write(results, OPTIONS.out, quick=OPTIONS.quick)


if __name__ == "__main__":
    main()
