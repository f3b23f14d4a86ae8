"""Text files under .gz, .bz2, .xz and .zst, as Python's own modules, zstandard and the tools that write the text make them."""

import bz2
import gzip
import lzma

import numpy as np
import pandas as pd
import pytest
import scipy.io
import zstandard
from matrices import assert_same, assert_same_numbers, dense, rhs, sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

COMPRESS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard.compress}
DECOMPRESS = {
    "gz": gzip.decompress,
    "bz2": bz2.decompress,
    "xz": lzma.decompress,
    # Our frames do not say how long they are, and the simple call wants to know.
    "zst": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
}


def as_text(nonneg, ending):
    """A as the reference writes it, and what is to be read."""
    name = f"plain.{ending}"
    if ending == "mtx":
        scipy.io.mmwrite(nonneg / name, sparse())
        return nonneg.bytes_of(name), sparse()
    if ending == "svm":
        dump_svmlight_file(sparse()[:, :4], rhs(), nonneg / name)
        return nonneg.bytes_of(name), load_svmlight_file(nonneg / name)[0].tocsc()
    np.savetxt(nonneg / name, dense(), delimiter="," if ending == "csv" else "\t")
    return nonneg.bytes_of(name), dense()


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("ending", ["mtx", "svm", "csv", "tsv"])
def test_compressed_text_is_read(nonneg, ending, compression):
    text, expected = as_text(nonneg, ending)
    nonneg.put(f"A.{ending}.{compression}", COMPRESS[compression](text))
    assert_same(nonneg.read(f"A.{ending}.{compression}")[0], expected)
    # Several streams in a row are one file, as `cat` and parallel tools make them.
    parts = [COMPRESS[compression](part) for part in (text[:50], text[50:90], b"", text[90:])]
    nonneg.put(f"B.{ending}.{compression}", b"".join(parts))
    assert_same(nonneg.read(f"B.{ending}.{compression}")[0], expected)


def test_zeros_after_gzip(nonneg):
    text, expected = as_text(nonneg, "mtx")
    data = gzip.compress(text) + bytes(512)
    assert gzip.decompress(data) == text
    nonneg.put("A.mtx.gz", data)
    assert_same(nonneg.read("A.mtx.gz")[0], expected)


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("ending", ["mtx", "svm", "csv", "tsv"])
def test_compressed_text_is_written(nonneg, ending, compression):
    A = sparse() if ending in ("mtx", "svm") else dense()
    nonneg.write(f"A.{ending}", A, rhs())
    nonneg.write(f"B.{ending}.{compression}", A, rhs())
    assert DECOMPRESS[compression](nonneg.bytes_of(f"B.{ending}.{compression}")) == nonneg.bytes_of(f"A.{ending}")
    if ending != "svm":
        assert_same(np.loadtxt(nonneg / "B.b.txt"), rhs())


@pytest.mark.parametrize("compression", ["gz", "bz2", "xz", "zst"])
def test_pandas_compresses_by_the_ending(nonneg, compression):
    pd.DataFrame(dense(), columns=list("vwxyz")).to_csv(nonneg / f"A.csv.{compression}", index=False)
    assert_same(nonneg.read(f"A.csv.{compression}")[0], dense())
    path = nonneg.write(f"B.csv.{compression}", dense())
    assert_same(pd.read_csv(path, header=None, float_precision="round_trip").to_numpy(), dense())


@pytest.mark.parametrize("compression", ["gz", "bz2"])
def test_scipy_decompresses_mtx_by_the_ending(nonneg, compression):
    assert_same(scipy.io.mmread(nonneg.write(f"B.mtx.{compression}", sparse())), sparse())


@pytest.mark.parametrize("compression", ["gz", "bz2"])
def test_sklearn_decompresses_svm_by_the_ending(nonneg, compression):
    got, labels = load_svmlight_file(nonneg.write(f"A.svm.{compression}", sparse(), rhs()))
    assert_same_numbers(got, dense())
    assert_same(labels, rhs())


XZ_CHECKS = {"none": lzma.CHECK_NONE, "crc32": lzma.CHECK_CRC32, "crc64": lzma.CHECK_CRC64, "sha256": lzma.CHECK_SHA256}
XZ_FILTERS = {
    "preset 0": [{"id": lzma.FILTER_LZMA2, "preset": 0}],
    "preset 9e": [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}],
    "delta": [{"id": lzma.FILTER_DELTA, "dist": 4}, {"id": lzma.FILTER_LZMA2, "preset": 6}],
    "x86": [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 6}],
}


@pytest.mark.parametrize("check", XZ_CHECKS)
@pytest.mark.parametrize("filters", XZ_FILTERS)
def test_options_of_xz(nonneg, filters, check):
    text, expected = as_text(nonneg, "mtx")
    nonneg.put("A.mtx.xz", lzma.compress(text, check=XZ_CHECKS[check], filters=XZ_FILTERS[filters]))
    assert_same(nonneg.read("A.mtx.xz")[0], expected)


@pytest.mark.parametrize(
    "options",
    [
        {"level": -5},
        {"level": 22},
        {"write_checksum": True},
        {"write_content_size": False},
        {"threads": 2},
        {"compression_params": zstandard.ZstdCompressionParameters(window_log=27, enable_ldm=True)},
    ],
    ids=["fast", "slow", "checksum", "no size", "threads", "long"],
)
def test_options_of_zstd(nonneg, options):
    text, expected = as_text(nonneg, "mtx")
    nonneg.put("A.mtx.zst", zstandard.ZstdCompressor(**options).compress(text))
    assert_same(nonneg.read("A.mtx.zst")[0], expected)
