"""Matrix Market, LIBSVM and tables, as SciPy, scikit-learn, NumPy, pandas and polars handle them."""

import csv

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.io
import scipy.sparse as sp
from matrices import assert_same, assert_same_numbers, dense, rhs, sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file


def read_csv(path, **options):
    return pd.read_csv(path, header=None, float_precision="round_trip", **options).to_numpy()


# --- Matrix Market ---


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u8"])
@pytest.mark.parametrize("layout", ["csc", "csr", "coo"])
def test_sparse_mtx_is_read(nonneg, layout, dtype):
    scipy.io.mmwrite(nonneg / "A.mtx", sparse(dtype, layout), comment="two\nlines")
    assert_same(nonneg.read("A.mtx")[0], sp.csc_array(scipy.io.mmread(nonneg / "A.mtx")).astype("f8"))


def test_doubles_in_mtx_are_read_to_the_last_bit(nonneg):
    scipy.io.mmwrite(nonneg / "A.mtx", sparse())
    assert_same(nonneg.read("A.mtx")[0], sparse())


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_dense_mtx_is_read(nonneg, dtype):
    scipy.io.mmwrite(nonneg / "A.mtx", dense(dtype))
    assert_same(nonneg.read("A.mtx")[0], scipy.io.mmread(nonneg / "A.mtx").astype("f8"))


def test_pattern_mtx_is_read(nonneg):
    scipy.io.mmwrite(nonneg / "A.mtx", sparse(), field="pattern")
    assert_same(nonneg.read("A.mtx")[0], sp.csc_array(dense() != 0).astype("f8"))


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("symmetry", ["symmetric", "skew-symmetric"])
def test_symmetric_mtx_is_read(nonneg, symmetry, as_sparse):
    lower = np.tril(dense()[:5, :5], -1)
    A = lower - lower.T if symmetry == "skew-symmetric" else lower + lower.T + np.diag([1.0, 0.0, 2.0, 0.1, 3.0])
    A = sp.csc_array(A) if as_sparse else A
    scipy.io.mmwrite(nonneg / "A.mtx", A)  # finds out by itself
    assert symmetry in nonneg.bytes_of("A.mtx").decode().splitlines()[0]
    assert_same(nonneg.read("A.mtx")[0], A)


def test_duplicates_in_mtx_are_summed(nonneg):
    scipy.io.mmwrite(nonneg / "A.mtx", sp.coo_array(([1.5, 2.0, 0.25], ([3, 0, 3], [1, 2, 1])), shape=(4, 3)))
    got, _ = nonneg.read("A.mtx")
    assert got.nnz == 2
    assert_same(got, sp.csc_array(([1.75, 2.0], ([3, 0], [1, 2])), shape=(4, 3)))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("make", [sparse, dense])
def test_mtx_is_written(nonneg, make, dtype):
    A = make(dtype)
    assert_same(scipy.io.mmread(nonneg.write("A.mtx", A, rhs())), A.astype("f8"))
    assert_same(np.loadtxt(nonneg / "A.b.txt"), rhs())


@pytest.mark.parametrize("name", ["A.mtx", "A.svm", "A.csv"])
def test_standard_input_and_output(nonneg, name):
    path = nonneg.write(name, dense() if name == "A.csv" else sparse(), rhs())
    nonneg.put("out.mtx", nonneg("convert", "-", "-", stdin=nonneg.bytes_of(path)).encode())
    assert_same(scipy.io.mmread(nonneg / "out.mtx"), dense() if name == "A.csv" else sparse())


@pytest.mark.parametrize("name", ["A.mtx", "A.svm", "A.csv"])
def test_more_text_than_is_read_at_a_time(nonneg, name):
    A = sp.random_array((3000, 400), density=0.08, rng=np.random.default_rng(4), format="csc")
    A = A.toarray() if name == "A.csv" else A
    if name == "A.mtx":
        scipy.io.mmwrite(nonneg / name, A)
    elif name == "A.svm":
        A.data = np.round(A.data, 12)  # sklearn writes 16 digits
        dump_svmlight_file(A, np.arange(3000), nonneg / name, zero_based=False)
    else:
        np.savetxt(nonneg / name, A, delimiter=",")
    assert_same(nonneg.read(name)[0], A)
    path = nonneg.write(f"B{name[1:]}", A)
    got = {"A.mtx": scipy.io.mmread, "A.svm": lambda path: load_svmlight_file(path)[0]}.get(name, read_csv)(path)
    assert_same(got, A)


# --- LIBSVM ---


@pytest.mark.parametrize("make", [sparse, dense])
@pytest.mark.parametrize("options", [{}, {"comment": "a comment"}, {"query_id": np.arange(7)}], ids=["plain", "comment", "qid"])
@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("ending", ["svm", "libsvm"])
def test_svm_is_read(nonneg, ending, zero_based, options, make):
    name = f"A.{ending}"
    dump_svmlight_file(make()[:, :4], rhs(), nonneg / name, zero_based=zero_based, **options)
    expected, labels = load_svmlight_file(nonneg / name)  # 16 digits are not all of them
    got, b = nonneg.read(name)
    assert_same(got, expected.tocsc())
    assert_same(b, labels)


@pytest.mark.parametrize("dtype", ["f4", "i8"])
def test_types_of_svm(nonneg, dtype):
    dump_svmlight_file(sparse(dtype, "csr")[:, :4], np.arange(7), nonneg / "A.svm")
    got, b = nonneg.read("A.svm")
    np.testing.assert_array_equal(b, np.arange(7.0))
    if dtype == "i8":
        assert_same(got, sparse(dtype)[:, :4].astype("f8"))
    else:
        np.testing.assert_array_equal(got.toarray().astype(dtype), dense(dtype)[:, :4])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("make", [sparse, dense])
def test_svm_is_written(nonneg, make, dtype):
    got, labels = load_svmlight_file(nonneg.write("A.svm", make(dtype), rhs()))
    assert_same_numbers(got, dense(dtype))  # the last column too, though it is empty
    assert_same(labels, rhs())


def test_svm_with_an_empty_first_column_is_written(nonneg):
    got, _ = load_svmlight_file(nonneg.write("A.svm", sparse()[:, [2, 0, 1]]))
    assert_same_numbers(got, dense()[:, [2, 0, 1]])


# --- tables ---


@pytest.mark.parametrize("name", ["A.csv", "A.tsv"])
@pytest.mark.parametrize("header", ["", "a,b,c,d,e", "five words are no numbers"])
def test_savetxt_is_read(nonneg, name, header):
    np.savetxt(nonneg / name, dense(), delimiter="," if name == "A.csv" else "\t", header=header)
    assert_same(nonneg.read(name)[0], dense())


@pytest.mark.parametrize("options", [{"delimiter": " "}, {"delimiter": ";"}, {"newline": "\r\n", "delimiter": ","}])
def test_savetxt_with_other_separators(nonneg, options):
    np.savetxt(nonneg / "A.csv", dense(), **options)
    assert_same(nonneg.read("A.csv")[0], dense())


def table(A=None, names="vwxyz"):
    return pd.DataFrame(dense() if A is None else A, columns=list(names))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"header": False},
        {"sep": "\t"},
        {"sep": ";"},
        {"lineterminator": "\r\n"},
        {"quoting": csv.QUOTE_ALL},
        {"quoting": csv.QUOTE_NONNUMERIC},
        {"encoding": "utf-8-sig"},
    ],
    ids=str,
)
def test_pandas_csv_is_read(nonneg, options):
    table().to_csv(nonneg / "A.csv", index=False, **options)
    assert_same(nonneg.read("A.csv")[0], dense())


def test_names_of_columns_with_commas_and_blanks(nonneg):
    table(names=["one, two", "a b", 'say "x"', "é", "y"]).to_csv(nonneg / "A.csv", index=False)
    assert_same(nonneg.read("A.csv")[0], dense())


@pytest.mark.parametrize("names", [list("vwxyz"), range(5)], ids=["named columns", "numbered columns"])
@pytest.mark.parametrize("labels", [range(7), list("abcdefg")], ids=["numbers", "text"])
def test_row_labels_of_pandas_csv_are_left_out(nonneg, labels, names):
    # What to_csv does unless told otherwise: labels in a first column that has no name. R does the same.
    for name, separator in [("A.csv", ","), ("A.tsv", "\t")]:
        pd.DataFrame(dense(), index=labels, columns=names).to_csv(nonneg / name, sep=separator)
        assert_same(nonneg.read(name)[0], dense())


def test_row_labels_with_commas_and_quotes(nonneg):
    pd.DataFrame(dense(), index=["a, b", 'say "x, y"', *"cdefg"]).to_csv(nonneg / "A.csv")
    assert_same(nonneg.read("A.csv")[0], dense())


def test_two_row_labels(nonneg):
    table().set_index(pd.MultiIndex.from_product([[1], range(7)])).to_csv(nonneg / "A.csv")
    assert_same(nonneg.read("A.csv")[0], dense())


@pytest.mark.parametrize("options", [(), ("--transpose",)])
def test_numbered_columns_without_labels_are_numbers_but_not_silently(nonneg, options):
    pd.DataFrame(dense()).to_csv(nonneg / "A.csv", index=False)
    expected = np.vstack([np.arange(5.0), dense()])
    assert_same(nonneg.read("A.csv", *options)[0], expected.T if options else expected)
    assert "0, 1, 2 and so on" in nonneg.message_of("info", "A.csv", *options)
    assert not nonneg.message_of("info", "A.csv", "--quiet", *options)
    table().to_csv(nonneg / "B.csv", index=False)
    assert not nonneg.message_of("info", "B.csv", *options)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
@pytest.mark.parametrize("name", ["A.csv", "A.tsv"])
def test_polars_csv_is_read(nonneg, name, dtype):
    pl.DataFrame(dense(dtype), schema=list("vwxyz")).write_csv(nonneg / name, separator="," if name == "A.csv" else "\t")
    got, _ = nonneg.read(name)
    np.testing.assert_array_equal(got.astype(dtype), dense(dtype))


@pytest.mark.parametrize("name", ["A.csv", "A.tsv"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_tables_are_written(nonneg, dtype, name):
    path, separator = nonneg.write(name, dense(dtype), rhs()), "," if name == "A.csv" else "\t"
    expected = dense(dtype).astype("f8")
    assert_same(np.loadtxt(path, delimiter=separator), expected)
    assert_same_numbers(read_csv(path, sep=separator), expected)
    assert_same(np.loadtxt(nonneg / "A.b.txt"), rhs())
