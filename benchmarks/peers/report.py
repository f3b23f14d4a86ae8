"""From measurements to scores: JSON with everything, a Markdown table, and a performance profile."""
import datetime
import json
import math
import os
import platform
import statistics
from importlib import metadata
from pathlib import Path

from solvers import PEERS

CAP = 100.0          # a ratio beyond it says no more
LOSS = 0.9           # a ratio below it is a loss, not noise


def time_to(runs, gap):
    """Seconds of the fastest run whose x has this certified gap; None if there is none."""
    return min((r["seconds"] for r in runs if r.get("gap") is not None and r["gap"] <= gap), default=None)


def seconds_text(seconds, limit):
    return f"> {limit:g}" if seconds is None else f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}"


def times_line(runs, gaps, limit):
    return "  ".join(f"{g:.0e}: {seconds_text(time_to(runs, g), limit):>7}" for g in gaps)


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def collect(state, names, gaps, options, command):
    packages = sorted({"numpy", "scipy", "numba"} | {p.package for p in PEERS.values()})
    versions = {}
    for package in packages:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            pass
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "machine": {"processor": processor(), "cores": os.cpu_count(), "system": platform.system()},
        "python": platform.python_version(),
        "versions": versions,
        "nonneg": {"version": command.version, "binary": command.fingerprint} if command else None,
        "threads": options.threads,
        "limit_seconds": options.limit,
        "gaps": gaps,
        "problems": {n: state.problem(n) for n in names if "m" in state.problem(n)},
    }


def reuse(results, earlier):
    """Peers' entries of an earlier run, for the same problems. Tells how the machine's speed has changed since."""
    changes = []
    for name, entry in results["problems"].items():
        old = earlier["problems"].get(name)
        if old is None:
            continue
        if (old["m"], old["n"], old["nnz"]) != (entry["m"], entry["n"], entry["nnz"]):
            raise SystemExit(f"{name} is another problem in the earlier results")
        entry["peers"] = old.get("peers", {})
        if old.get("transpose_seconds") and entry.get("transpose_seconds"):
            entry["transpose_seconds_then"] = old["transpose_seconds"]
            changes.append(entry["transpose_seconds"] / old["transpose_seconds"])
    results["reused"] = {"date": earlier["date"], "versions": earlier["versions"]}
    results["versions"] |= earlier["versions"]
    if earlier["limit_seconds"] != results["limit_seconds"] or earlier["threads"] != results["threads"]:
        print("note: the earlier results have another time limit or number of threads")
    if changes:
        results["reused"]["yardstick_now_over_then"] = statistics.median(changes)
        print(f"yardstick Aᵀy, now / then: median {statistics.median(changes):.2f}, "
              f"from {min(changes):.2f} to {max(changes):.2f} (above 1: the machine is slower now than for the peers)")


def given(entry, limit):
    """The seconds that a peer had for a gap that it did not reach; all of them where time was not the reason."""
    for_lack_of_time = entry["status"] == "time limit" or entry["status"].startswith("skipped") or entry.get("not_tried")
    return min(limit, entry.get("limit_seconds", limit)) if for_lack_of_time else limit


def score(results):
    """Per problem and gap: our time, the best peer's, and their ratio. Who fails counts as the limit."""
    limit, scores = results["limit_seconds"], []
    for name, entry in results["problems"].items():
        for gap in results["gaps"]:
            peers = {p: time_to(e["runs"], gap) for p, e in entry.get("peers", {}).items()}
            reached = {p: t for p, t in peers.items() if t is not None}
            best = min(reached, key=reached.get, default=None)
            mine = time_to(entry["ours"]["runs"], gap) if "ours" in entry else None
            line = {"problem": name, "group": entry["group"], "gap": gap, "ours": mine, "best_peer": best,
                    "best_peer_seconds": reached.get(best), "peers": peers, "ratio": None, "ours_over_transpose": None,
                    # A peer of earlier results that was stopped sooner might have done it just then.
                    "peers_given": min((given(e, limit) for p, e in entry.get("peers", {}).items() if p not in reached),
                                       default=limit)}
            if "ours" in entry and peers:
                theirs = min(limit, line["peers_given"], reached.get(best, limit))
                line["ratio"] = min(CAP, theirs / max(limit if mine is None else min(mine, limit), 1e-9))
            if mine is not None and entry.get("transpose_seconds"):
                line["ours_over_transpose"] = mine / entry["transpose_seconds"]
            scores.append(line)
    return scores


def summarise(scores, gaps):
    ratios = [s["ratio"] for s in scores if s["ratio"] is not None]
    units = [s["ours_over_transpose"] for s in scores if s["gap"] == 1e-6 and s["ours_over_transpose"] is not None]
    per_gap = {}
    for gap in gaps:
        own = [s["ratio"] for s in scores if s["gap"] == gap and s["ratio"] is not None]
        if own:
            per_gap[f"{gap:.0e}"] = {"min_ratio": min(own), "below_0.9": sum(r < LOSS for r in own), "count": len(own),
                                     "geometric_mean": math.exp(statistics.fmean(math.log(r) for r in own))}
    summary = {"median_ours_over_transpose_at_1e-6": statistics.median(units) if units else None, "per_gap": per_gap}
    if ratios:
        summary |= {"count": len(ratios), "min_ratio": min(ratios), "below_0.9": sum(r < LOSS for r in ratios),
                    "geometric_mean": math.exp(statistics.fmean(math.log(r) for r in ratios))}
    summary["losses"] = sorted(([s["problem"], s["gap"], s["ratio"], s["best_peer"]] for s in scores
                                if s["ratio"] is not None and s["ratio"] < LOSS), key=lambda loss: loss[2])
    return summary


def median_time(times, limit):
    """Over the seeds, a failure counting as the limit; None if the median is one."""
    middle = statistics.median(limit if t is None else t for t in times)
    return None if middle >= limit else middle


def markdown(results):
    limit, gaps, scores, summary = (results[k] for k in ("limit_seconds", "gaps", "scores", "summary"))
    out = [f"# nonneg and its peers, {results['date']}", ""]
    machine = results["machine"]
    out += [f"{machine['processor']}, {machine['cores']} cores, {results['threads']} thread(s) used; "
            + ", ".join(f"{k} {v}" for k, v in results["versions"].items())
            + (f"; {results['nonneg']['version']}" if results["nonneg"] else "") + ".", ""]
    out += [f"Seconds of solving (medians over seeds) until the certified relative gap is reached; {limit:g} s allowed. "
            "Ratio: best peer / nonneg, so above 1 nonneg is faster. Aᵀy: our time in units of one Aᵀy by numpy or scipy.", ""]
    if "count" in summary:
        out += ["| gap | problems | smallest ratio | below 0.9 | geometric mean |", "|---|---|---|---|---|"]
        rows = list(summary["per_gap"].items()) + [("all", summary)]
        out += [f"| {g} | {s['count']} | {s['min_ratio']:.2f} | {s['below_0.9']} | {s['geometric_mean']:.2f} |" for g, s in rows]
        out += [""]
    unit = summary["median_ours_over_transpose_at_1e-6"]
    if unit is not None:
        out += [f"Our time to 1e-6, median over problems: {unit:.0f} × Aᵀy.", ""]
    out += ["| problem | gap | nonneg | best peer | ratio | Aᵀy |", "|---|---|---|---|---|---|"]
    for group in dict.fromkeys(s["group"] for s in scores):
        for gap in gaps:
            seeds = [s for s in scores if s["group"] == group and s["gap"] == gap]
            names = [s["best_peer"] for s in seeds if s["best_peer"]]
            winner = max(dict.fromkeys(names), key=names.count, default=None)
            best = median_time([s["best_peer_seconds"] for s in seeds], limit)
            measured = any("ours" in results["problems"][s["problem"]] for s in seeds)
            theirs = seconds_text(best, min(s["peers_given"] for s in seeds)) + ("" if best is None else f" {winner}")
            theirs = theirs if any(s["peers"] for s in seeds) else "–"
            mine = seconds_text(median_time([s["ours"] for s in seeds], limit), limit) if measured else "–"
            ratios = [s["ratio"] for s in seeds if s["ratio"] is not None]
            units = [s["ours_over_transpose"] for s in seeds if s["ours_over_transpose"] is not None]
            out.append(f"| {group} | {gap:.0e} | {mine} | {theirs} | "
                       + (f"{statistics.median(ratios):.2f}" if ratios else "–") + " | "
                       + (f"{statistics.median(units):.0f}" if units else "–") + " |")
    out += ["", "## Losses", ""]
    out += [f"* {p}, {g:.0e}: {r:.2f} ({peer})" for p, g, r, peer in summary["losses"]] or [
        "None." if "count" in summary else "Nothing was compared."]
    names = list(dict.fromkeys(p for s in scores for p in s["peers"]))
    for gap in gaps if names else []:
        out += ["", f"## Every peer, seconds to {gap:.0e}", "", "| problem | " + " | ".join(names) + " |",
                "|---|" + "---|" * len(names)]
        for group in dict.fromkeys(s["group"] for s in scores):
            seeds = [s for s in scores if s["group"] == group and s["gap"] == gap]
            cells = []
            for name in names:
                times = [s["peers"][name] for s in seeds if name in s["peers"]]
                had = min((given(results["problems"][s["problem"]]["peers"][name], limit) for s in seeds
                           if name in s["peers"]), default=limit)
                cells.append(seconds_text(median_time(times, limit), had) if times else "–")
            out.append(f"| {group} | " + " | ".join(cells) + " |")
    return "\n".join(out) + "\n"


def plot(results, file):
    """Per gap, the fraction of problems that a solver solves within a factor τ of the fastest."""
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "nonneg"           # the same data, the same file
    import matplotlib.pyplot as plt
    gaps, scores, limit = results["gaps"], results["scores"], results["limit_seconds"]
    names = list(dict.fromkeys(p for s in scores for p in s["peers"]))
    figure, axes = plt.subplots(1, len(gaps), figsize=(4.6 * len(gaps), 3.8), sharey=True, squeeze=False)
    for axis, gap in zip(axes[0], gaps):
        rows = [s for s in scores if s["gap"] == gap and s["peers"]]
        for k, name in enumerate(["nonneg"] + names):
            factors = []
            for s in rows:
                times = dict(s["peers"], nonneg=s["ours"])
                fastest = min((t for t in times.values() if t is not None), default=None)
                if times.get(name) is not None:
                    factors.append(times[name] / max(fastest, 1e-9))
            factors = sorted(f for f in factors if f <= 1000.0)      # the end of the axis
            x = [1.0] + factors + [1000.0]
            y = [sum(f <= 1.0 for f in factors) / max(len(rows), 1)] + [(i + 1) / len(rows) for i in range(len(factors))]
            axis.step(x, y + [y[-1]], where="post", label=name, color="black" if k == 0 else f"C{k - 1}",
                      linewidth=2.2 if k == 0 else 1.2)
        axis.set(xscale="log", xlim=(1, 1000), ylim=(0, 1.02), xlabel="factor of the fastest",
                 title=f"gap {gap:.0e}, {limit:g} s, {len(rows)} problems")
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("fraction of problems solved")
    axes[0][-1].legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.tight_layout()
    figure.savefig(file, format="svg", metadata={"Date": None})
    plt.close(figure)


def write(results, folder, quick):
    results["scores"] = score(results)
    results["summary"] = summarise(results["scores"], results["gaps"])
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{results['date']}-peers" + ("-quick" if quick else "")
    (folder / f"{stem}.json").write_text(json.dumps(results, indent=1, allow_nan=False) + "\n")
    (folder / f"{stem}.md").write_text(markdown(results))
    plot(results, folder / f"{stem}.svg")
    print(markdown(results).split("## Every peer")[0])
    print(f"written: {stem}.json, .md, .svg")
