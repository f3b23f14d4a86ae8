"""A matrix several times larger than the memory it may take: passes against the disk's sequential rate, peak memory.

    python benchmarks/large/run.py --nonneg target/release/nonneg --gigabytes 8 --folder DIR

Makes a dense single-precision problem (A.npy, written in parts), converts it to .nnm, and solves it with --memory-limit. Where
the kernel lets it (control groups, root), the run is confined together with its share of the page cache, so that every pass
comes from the disk; otherwise the cache of the whole machine helps, and the table says so. Needs NumPy, and twice the size on
disk.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import time

import numpy as np

ROWS = 20_000
PART = 256  # columns that are made at a time
POSITIVE = 200


def make(folder: pathlib.Path, cols: int) -> None:
    """A ≥ 0 with uniform entries, b from a few of its columns and some noise."""
    rng = np.random.default_rng(1)
    positive = set(rng.choice(cols, POSITIVE, replace=False).tolist())
    header = np.lib.format.open_memmap(folder / "A.npy", "w+", np.float32, (ROWS, cols), fortran_order=True)
    header.flush()
    offset = header.offset
    del header
    b = np.zeros(ROWS)
    with open(folder / "A.npy", "r+b") as file:
        file.seek(offset)
        for first in range(0, cols, PART):
            part = rng.random((min(PART, cols - first), ROWS), dtype=np.float32)
            for j in range(part.shape[0]):
                if first + j in positive:
                    b += (1 + rng.random()) * part[j]
            file.write(part.tobytes())
    np.save(folder / "b.npy", b + 0.1 * rng.random(ROWS))


def disk_rate(path: pathlib.Path) -> float:
    """Bytes a second of a sequential read from the disk itself, of the first gigabyte."""
    with open(path, "rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        begin, done = time.perf_counter(), 0
        while done < 1 << 30 and (block := file.read(1 << 22)):
            done += len(block)
    return done / (time.perf_counter() - begin)


def confine(limit: int) -> pathlib.Path | None:
    """A control group whose memory, page cache included, is limited."""
    # The second version of the interface, and the first.
    for root, file in (("/sys/fs/cgroup", "memory.max"), ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")):
        group = pathlib.Path(root) / f"nonneg-{os.getpid()}"
        try:
            group.mkdir()
            # Where no control groups are mounted, this is a folder like any other.
            with open(group / file, "r+") as entry:
                entry.write(str(limit))
            return group
        except OSError:
            if group.exists():
                group.rmdir()
    return None


def timed(command: list[str], **options) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, **options)
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nonneg", required=True, help="the release binary")
    parser.add_argument("--folder", required=True, type=pathlib.Path, help="room for twice the size")
    parser.add_argument("--gigabytes", type=float, default=8)
    parser.add_argument("--memory-limit", type=float, default=2, help="in GiB")
    parser.add_argument("--tol", default="1e-4")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "results")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    cols = int(args.gigabytes * 1e9 / (4 * ROWS))
    found = {"rows": ROWS, "cols": cols, "bytes": 4 * ROWS * cols, "limit_bytes": int(args.memory_limit * 2**30)}
    matrix = args.folder / "A.nnm"
    if not matrix.exists():
        make(args.folder, cols)
        found["convert_seconds"] = timed([args.nonneg, "convert", str(args.folder / "A.npy"), str(matrix), "--quiet"])
        (args.folder / "A.npy").unlink()
    os.sync()
    found["disk_bytes_per_second"] = disk_rate(matrix)
    with open(matrix, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    group = confine(found["limit_bytes"])
    found["confined"] = group is not None

    def join() -> None:
        if group:
            (group / "cgroup.procs").write_text(str(os.getpid()))

    limit = str(found["limit_bytes"])
    report, trace = args.folder / "report.json", args.folder / "trace.csv"
    command = [args.nonneg, "solve", str(matrix), str(args.folder / "b.npy"), "--tol", args.tol, "--memory-limit", limit]
    command += ["-o", str(args.folder / "x.npy"), "--report", str(report), "--trace", str(trace), "--quiet"]
    found["seconds"] = timed(command, preexec_fn=join)
    if group:
        group.rmdir()
    report = json.loads(report.read_text())
    found["report"] = report
    # Work in passes also counts what is done in memory. The disk sees two checks of the file, and two passes for a check of x.
    checks = sum(1 for line in trace.read_text().splitlines()[1:] if line.split(",")[-1] in ("start", "check", "final"))
    found["checks"] = checks
    write(found, args.out)


def write(found: dict, out: pathlib.Path) -> None:
    report, size, rate = found["report"], found["bytes"], found["disk_bytes_per_second"]
    confined = ", enforced by the kernel with the page cache in it" if found["confined"] else "; the page cache was not limited"
    read = report["seconds"]["read"]
    name = f"{datetime.date.today()}-large"
    lines = [
        f"# A matrix larger than its memory, {datetime.date.today()}",
        "",
        "`benchmarks/large/run.py`, see there.",
        "",
        "| figure | got |",
        "|---|---|",
        f"| matrix | {found['rows']} × {found['cols']}, dense float32, {size / 1e9:.1f} GB in .nnm |",
        f"| memory limit | {found['limit_bytes'] / 2**30:.1f} GiB{confined} |",
        f"| peak memory of the report | {report['peak_memory_bytes'] / 2**30:.2f} GiB |",
        f"| status | {report['status']}, gap {report['relative_gap']:.1e}, support {report['support']} |",
        f"| disk, sequential | {rate / 1e6:.0f} MB/s: one pass in {size / rate:.1f} s |",
        f"| read and checked | {read:.1f} s: {size / read / rate:.2f} × the disk's rate |",
        f"| solve | {report['seconds']['solve'] + report['seconds']['certify'] + report['seconds']['presolve']:.1f} s, "
        f"{report['passes']:.1f} passes of work, {found['checks']} checks of x |",
        f"| all | {found['seconds']:.1f} s: as long as {found['seconds'] * rate / size:.1f} passes over the disk |",
        "",
    ]
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.md").write_text("\n".join(lines))
    (out / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
