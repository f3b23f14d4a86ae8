"""Parquet tables of pandas, pyarrow and polars."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from matrices import as_read, assert_same, dense, rhs

NAMES = list("vwxyz")


def frame(dtype="f8", **options):
    return pd.DataFrame(dense(dtype), columns=NAMES, **options)


def arrow(dtype="f8"):
    return pa.table(dict(zip(NAMES, dense(dtype).T, strict=True)))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "bool"])
@pytest.mark.parametrize("tool", ["pandas", "pyarrow", "polars"])
def test_tables_are_read(nonneg, tool, dtype):
    path = nonneg / "A.parquet"
    if tool == "pandas":
        frame(dtype).to_parquet(path)
    elif tool == "pyarrow":
        pq.write_table(arrow(dtype), path)
    else:
        pl.DataFrame(dense(dtype), schema=NAMES).write_parquet(path)
    assert_same(nonneg.read("A.parquet")[0], dense(dtype).astype(as_read(dtype)))


@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "brotli", "lz4", "zstd"])
@pytest.mark.parametrize("page", ["1.0", "2.0"])
def test_compressions_of_pyarrow(nonneg, page, compression):
    pq.write_table(arrow(), nonneg / "A.parquet", compression=compression, data_page_version=page, row_group_size=3)
    assert_same(nonneg.read("A.parquet")[0], dense())


@pytest.mark.parametrize("compression", ["uncompressed", "snappy", "gzip", "brotli", "lz4", "zstd"])
def test_compressions_of_polars(nonneg, compression):
    table = pl.DataFrame(dense(), schema=NAMES)
    table.write_parquet(nonneg / "A.parquet", compression=compression, row_group_size=4)
    assert_same(nonneg.read("A.parquet")[0], dense())


@pytest.mark.parametrize("compression", [None, "snappy", "gzip", "brotli", "lz4", "zstd"])
def test_compressions_of_pandas(nonneg, compression):
    frame().to_parquet(nonneg / "A.parquet", compression=compression)
    assert_same(nonneg.read("A.parquet")[0], dense())


ENCODINGS = [
    (dtype, encoding) for dtype in ["f4", "f8", "i4", "i8"] for encoding in ["PLAIN", "BYTE_STREAM_SPLIT", "RLE_DICTIONARY"]
]


@pytest.mark.parametrize("dtype, encoding", [*ENCODINGS, ("i4", "DELTA_BINARY_PACKED"), ("i8", "DELTA_BINARY_PACKED")])
def test_encodings(nonneg, dtype, encoding):
    dictionary = encoding == "RLE_DICTIONARY"
    options = {"use_dictionary": dictionary, "column_encoding": None if dictionary else encoding}
    pq.write_table(arrow(dtype), nonneg / "A.parquet", write_page_checksum=True, write_page_index=True, **options)
    assert_same(nonneg.read("A.parquet")[0], dense(dtype).astype(as_read(dtype)))


def test_more_rows_than_one_page(nonneg):
    A = np.random.default_rng(5).random((30_000, 3))
    pq.write_table(pa.table(dict(zip("abc", A.T, strict=True))), nonneg / "A.parquet", data_page_size=4096, row_group_size=7000)
    assert_same(nonneg.read("A.parquet")[0], A)


@pytest.mark.parametrize("dtype", ["Float64", "Int64", "float64[pyarrow]"])
def test_types_of_pandas_that_allow_nulls(nonneg, dtype):
    frame("i8").astype(dtype).to_parquet(nonneg / "A.parquet")
    assert_same(nonneg.read("A.parquet")[0], dense("i8").astype("f8"))


LABELS = {
    "a part of the range": pd.RangeIndex(2, 16, 2),
    "text": pd.Index(list("abcdefg")),
    "numbers": pd.Index(np.arange(7.0)),
    "text with a name": pd.Index(list("abcdefg"), name="sample"),
    "numbers with a name": pd.Index(np.arange(7.0), name="wavelength"),
    "two": pd.MultiIndex.from_product([[1], range(7)], names=["run", None]),
}


@pytest.mark.parametrize("labels", LABELS)
def test_row_labels_of_pandas_are_left_out(nonneg, labels):
    frame(index=LABELS[labels]).to_parquet(nonneg / "A.parquet")
    assert_same(nonneg.read("A.parquet")[0], dense())
    if LABELS[labels].name == "wavelength":
        assert_same(nonneg.read("A.parquet:wavelength")[0], np.arange(7.0)[:, None])


def test_columns_without_names(nonneg):
    pd.DataFrame(dense()).to_parquet(nonneg / "A.parquet")
    assert_same(nonneg.read("A.parquet")[0], dense())


def test_one_column_is_named_after_a_colon(nonneg):
    frame().assign(**{"a name: é": rhs(), "text": "t"}).to_parquet(nonneg / "data.parquet")
    assert_same(nonneg.read("data.parquet:a name: é")[0], rhs()[:, None])
    assert_same(nonneg.read("data.parquet:x")[0], dense()[:, 2:3])
    assert "text" in nonneg("convert", "data.parquet", "out.npz", status=2)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_tables_are_written(nonneg, dtype):
    path = nonneg.write("A.parquet", dense(dtype), rhs())
    names = [str(number) for number in range(5)]
    table = pq.read_table(path)
    assert table.schema.types == [pa.float32() if dtype == "f4" else pa.float64()] * 5
    assert table.schema.names == names
    for read in [table.to_pandas(), pd.read_parquet(path), pl.read_parquet(path)]:
        assert list(read.columns) == names
        assert_same(np.asarray(read.to_numpy()), dense(dtype))
    assert_same(pl.scan_parquet(path).select("3").collect().to_numpy()[:, 0], dense(dtype)[:, 3])
    assert_same(np.loadtxt(nonneg / "A.b.txt"), rhs())


def test_a_wide_table_is_written(nonneg):
    A = np.random.default_rng(6).random((3, 400))
    path = nonneg.write("A.parquet", A)
    assert_same(pd.read_parquet(path).to_numpy(), A)
    assert_same(pl.read_parquet(path).to_numpy(), A)
