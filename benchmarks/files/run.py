"""How fast files are read: text against a copy of its bytes, compressed arrays against their decompression alone.

    make bench-files           # writes benchmarks/results/DATE-files.{json,md}

The files are written by the tools that people use (SciPy, h5py, pandas), lie in the page cache and are read on one thread by
`nonneg solve --max-passes 0`, whose report tells the seconds of reading. The yardstick of a compressed file is zlib, bzip2,
xz or zstd inflating the same bytes, all at once, in the same run. MB are 10⁶ bytes: of the text, or of the arrays in memory.
"""

from __future__ import annotations

import argparse
import bz2
import datetime
import gzip
import json
import lzma
import pathlib
import subprocess
import tempfile
import time
import zipfile

import h5py
import numpy as np
import pandas
import scipy.io
import scipy.sparse
import zstandard

RUNS = 5
TEXT_TARGET = 200.0  # MB/s


def best(run) -> float:
    """Seconds of the quickest of a few runs, the first not counted."""
    times = []
    for _ in range(RUNS + 1):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times[1:])


def reading(command: str, path: pathlib.Path, b: pathlib.Path, threads: int) -> float:
    """Seconds that the command takes to read, the best of a few runs."""
    report = path.parent / "report.json"
    times = []
    for _ in range(RUNS + 1):
        words = [
            command,
            "solve",
            str(path),
            str(b),
            "--max-passes",
            "0",
            "--threads",
            str(threads),
            "--quiet",
            "--report",
            str(report),
        ]
        subprocess.run(words, check=False, capture_output=True)
        times.append(json.loads(report.read_text())["seconds"]["read"])
    return min(times[1:])


def inflate_npz(path: pathlib.Path) -> float:
    def run() -> None:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                archive.read(name)

    return best(run)


def inflate_chunks(path: pathlib.Path) -> float:
    """The raw chunks of the dataset, inflated one by one."""
    import zlib

    with h5py.File(path) as file:
        data = file["A"]
        chunks = [data.id.read_direct_chunk(data.id.get_chunk_info(k).chunk_offset)[1] for k in range(data.id.get_num_chunks())]
    return best(lambda: [zlib.decompress(chunk) for chunk in chunks])


def text(size: float) -> scipy.sparse.csc_matrix:
    """Documents by words: values with seven digits."""
    rng = np.random.default_rng(1)
    rows, cols, entries = int(size / 1600), 20_000, int(size / 20)
    word = np.minimum((cols * rng.random(entries) ** 3).astype(int), cols - 1)
    values = np.round(rng.random(entries), 7) + 1e-7
    return scipy.sparse.csc_matrix((values, (rng.integers(rows, size=entries), word)), shape=(rows, cols))


def measure(command: str, folder: pathlib.Path, size: float) -> list[dict]:
    sparse, rng = text(size), np.random.default_rng(2)
    # Counts, as microscopes and sequencers give them: compress to about a quarter.
    dense = rng.poisson(3.0, (2000, int(size / 16000))).astype(np.float64)
    files, b_sparse, b_dense = [], folder / "sparse.npy", folder / "dense.npy"
    np.save(b_sparse, np.ones(sparse.shape[0]))
    np.save(b_dense, np.ones(dense.shape[0]))

    def add(name, file, b, megabytes, yardstick, target):
        found = {"file": name, "megabytes": megabytes, "seconds": reading(command, file, b, 1)}
        found |= {"seconds_2": reading(command, file, b, 2), "yardstick_seconds": yardstick, "target": target}
        print(found, flush=True)
        files.append(found)
        file.unlink()

    def copied(file):
        return best(file.read_bytes)

    mtx = folder / "a.mtx"
    scipy.io.mmwrite(mtx, sparse, precision=7)
    plain = mtx.read_bytes()
    megabytes = len(plain) / 1e6
    for ending, compress, expand in (
        (".gz", lambda data: gzip.compress(data, 6), gzip.decompress),
        (".bz2", bz2.compress, bz2.decompress),
        (".xz", lambda data: lzma.compress(data, preset=1), lzma.decompress),
        (".zst", zstandard.compress, zstandard.decompress),
    ):
        file = folder / f"a.mtx{ending}"
        file.write_bytes(compress(plain))
        packed = file.read_bytes()
        add(
            f"Matrix Market{ending}", file, b_sparse, megabytes, best(lambda packed=packed, expand=expand: expand(packed)), None
        )
    add("Matrix Market", mtx, b_sparse, megabytes, copied(mtx), TEXT_TARGET)
    csv = folder / "a.csv"
    tables = (("7 digits", np.round(rng.random((2000, int(size / 20000))), 7)), ("2 digits", dense * 1.25))
    for digits, table in tables:
        pandas.DataFrame(table).to_csv(csv, header=False, index=False)
        add(f"CSV, {digits}", csv, b_dense, csv.stat().st_size / 1e6, copied(csv), TEXT_TARGET)

    arrays = (sparse.data.nbytes + sparse.indices.nbytes + sparse.indptr.nbytes) / 1e6
    for compressed in (False, True):
        file = folder / "a.npz"
        scipy.sparse.save_npz(file, sparse, compressed=compressed)
        add(f"npz of SciPy, {'compressed' if compressed else 'stored'}", file, b_sparse, arrays, inflate_npz(file), None)
    for name, options in (("contiguous", {}), ("gzip", {"compression": "gzip", "chunks": (250, 250)})):
        file = folder / "a.h5"
        with h5py.File(file, "w") as out:
            out.create_dataset("A", data=dense, **options)
        add(f"HDF5, {name}", file, b_dense, dense.nbytes / 1e6, inflate_chunks(file) if options else copied(file), None)
    file = folder / "a.parquet"
    pandas.DataFrame(dense, columns=[str(j) for j in range(dense.shape[1])]).to_parquet(file)
    add("Parquet of pandas", file, b_dense, dense.nbytes / 1e6, best(lambda: pandas.read_parquet(file).to_numpy()), None)
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nonneg", required=True, help="the release binary")
    parser.add_argument("--megabytes", type=float, default=80, help="size of the files, about")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "results")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = measure(args.nonneg, pathlib.Path(folder), args.megabytes * 1e6)
    name = f"{datetime.date.today()}-files"
    lines = [
        f"# Reading files, {datetime.date.today()}",
        "",
        "`make bench-files`, see benchmarks/files/run.py. One thread; MB of the unpacked text or of the arrays. The yardstick "
        "copies the bytes, inflates them (compressed files) or is pandas itself (Parquet), on one thread.",
        "",
        "| file | MB | MB/s | yardstick, MB/s | time / yardstick | MB/s on 2 threads | target |",
        "|---|---|---|---|---|---|---|",
    ]
    for found in files:
        size, seconds, yardstick = found["megabytes"], found["seconds"], found["yardstick_seconds"]
        target = f"≥ {found['target']:.0f} MB/s" if found["target"] else ""
        lines.append(
            f"| {found['file']} | {size:.0f} | {size / seconds:.0f} | {size / yardstick:.0f} | {seconds / yardstick:.2f} "
            f"| {size / found['seconds_2']:.0f} | {target} |"
        )
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / f"{name}.md").write_text("\n".join(lines) + "\n")
    (args.out / f"{name}.json").write_text(json.dumps(files, indent=1) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
