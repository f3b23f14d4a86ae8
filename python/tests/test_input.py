"""Every kind of input: the right result or a clear refusal, never a crash, and nothing is written to."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from common import run_python, text_like, uniform
from numpy.testing import assert_allclose, assert_array_equal
from ways_in import COLS, ROWS, check, refused, with_indices

import nonneg
from nonneg._input import to_matrix

# -- dense ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "dtype", ["f8", "f4", "f2", "longdouble", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">f8", ">f4", ">i4"]
)
def test_number_types(small, dtype, order):
    A, b = small
    check(np.array(A, dtype=dtype, order=order), b.astype(dtype), A, b)


def test_bools(small):
    A, b = small
    check(A > 1, b > 4, A > 1, b > 4)


def test_lists_and_tuples(small):
    A, b = small
    check(A.tolist(), b.tolist(), A, b)
    check(tuple(map(tuple, A)), tuple(b), A, b)
    check(list(A), list(b), A, b)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_strided_views(small, dtype):
    A, b = small
    A = A.astype(dtype)
    wide, tall = np.full((ROWS, 3 * COLS), np.nan, dtype), np.full((2 * ROWS, COLS), np.nan, dtype, order="F")
    wide[:, ::3], tall[::2] = A, A
    long = np.full(2 * ROWS, np.nan)
    long[::2] = b
    check(wide[:, ::3], long[::2], A, b)
    check(tall[::2], long[::2], A, b)
    check(wide[:, ::3].T.copy().T, b, A, b)


@pytest.mark.parametrize("order", ["C", "F"])
def test_negative_strides(small, order):
    A, b = small
    A = np.array(A, order=order)
    check(A[::-1], b[::-1], A, b)
    check(A[:, ::-1], b, A[:, ::-1], b)
    check(A[::-1, ::-1], b[::-1], A[:, ::-1], b)


def test_a_window_of_a_larger_array(small):
    A, b = small
    big = np.full((ROWS + 4, COLS + 4), np.nan, order="F")
    big[2:-2, 2:-2] = A
    check(big[2:-2, 2:-2], b, A, b)


def test_zero_strides():
    """A broadcast column: the same memory for every row."""
    A = np.broadcast_to(np.array([1.0, 2.0, 0.0, 3.0, 1.0]), (ROWS, COLS))
    solution = nonneg.solve(A, np.arange(12.0))
    assert solution.status == "solved"
    assert_allclose(solution.residual_norm, np.linalg.norm(np.arange(12.0) - 5.5), rtol=1e-5)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_read_only(small, order, dtype):
    A, b = small
    A = np.array(A, order=order, dtype=dtype)
    A.flags.writeable = b.flags.writeable = False
    check(A, b, A, b)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_unaligned(small, order, dtype):
    A, b = small
    size = np.dtype(dtype).itemsize
    odd = np.zeros(A.size * size + 1, np.uint8)[1:].view(dtype).reshape(A.shape, order=order)
    odd[:] = A
    odd_b = np.zeros(b.size * 8 + 1, np.uint8)[1:].view("f8")
    odd_b[:] = b
    assert not odd.flags.aligned and not odd_b.flags.aligned
    check(odd, odd_b, A, b)


def test_unaligned_vectors(small):
    A, b = small

    def odd(values):
        array = np.zeros(len(values) * 8 + 1, np.uint8)[1:].view("f8")
        array[:] = values
        return array

    plain = nonneg.solve(A, b, weights=np.ones(ROWS), upper=np.ones(COLS), x0=np.ones(COLS))
    same = nonneg.solve(A, odd(b), weights=odd(np.ones(ROWS)), upper=odd(np.ones(COLS)), x0=odd(np.ones(COLS)))
    assert_array_equal(same.x, plain.x)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_matrix_class(small):
    A, b = small
    check(np.asmatrix(A), np.asmatrix(b).T, A, b)


def test_subclass_of_array(small):
    class Mine(np.ndarray):
        pass

    A, b = small
    check(A.view(Mine), b.view(Mine), A, b)
    assert type(nonneg.solve(A.view(Mine), b.view(Mine)).x) is np.ndarray


def test_memory_map(small, tmp_path):
    A, b = small
    np.save(tmp_path / "A.npy", np.asfortranarray(A))
    check(np.load(tmp_path / "A.npy", mmap_mode="r"), b, A, b)


def test_masked_arrays(small):
    A, b = small
    check(np.ma.masked_array(A), np.ma.masked_array(b), A, b)
    refused(np.ma.masked_array(A, mask=A[3, 3] == A), b, ValueError, r"\bA\b.*masked")
    refused(A, np.ma.masked_array(b, mask=b == b[3]), ValueError, r"\bb\b.*masked")


@pytest.mark.parametrize("shape", [(), (ROWS,), (ROWS, COLS, 1), (1, ROWS, COLS)], ids=str)
def test_a_needs_two_dimensions(shape):
    refused(np.ones(shape), np.ones(ROWS), ValueError, r"\bA\b")


@pytest.mark.parametrize("shape", [(0, 0), (0, COLS), (ROWS, 0)], ids=str)
@pytest.mark.parametrize("make", [np.zeros, sp.csc_array, sp.csr_array], ids=["dense", "csc", "csr"])
def test_an_empty_matrix(make, shape):
    """nnls takes it, as SciPy's does; solve says what is wrong."""
    A, b = make(shape), np.ones(shape[0])
    x, rnorm = nonneg.nnls(A, b)
    assert_array_equal(x, np.zeros(shape[1]))
    assert_allclose(rnorm, np.sqrt(shape[0]))
    for call in (nonneg.solve, lambda A, b: nonneg.verify(A, b, x), lambda A, b: nonneg.Problem(A).solve(b)):
        with pytest.raises(ValueError, match=r"\bA\b|matrix"):
            call(A, b)


def test_nothing_but_a_ragged_list():
    refused([[1.0, 2.0], [3.0]], [1.0, 1.0], ValueError, r"\bA\b")
    refused(np.eye(COLS), [[1.0], [2.0, 3.0]], ValueError, r"\bb\b")


def test_objects_that_are_numbers(small):
    from decimal import Decimal
    from fractions import Fraction

    A, b = small
    check(A.astype(object), b.astype(object), A, b)
    check(np.vectorize(Fraction)(A), [Decimal(int(value)) for value in b], A, b)


@pytest.mark.parametrize("bad", ["text", None, [1.0], {}, 1j], ids=str)
def test_objects_that_are_no_numbers_are_refused(small, bad):
    A, b = small
    wrong = A.astype(object)
    wrong[2, 2] = bad
    refused(wrong, b, (TypeError, ValueError), r"\bA\b")
    wrong = b.astype(object)
    wrong[2] = bad
    refused(A, wrong, (TypeError, ValueError), r"\bb\b")


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_is_refused(small, dtype):
    A, b = small
    refused(A.astype(dtype), b, TypeError, r"\bA\b.*complex")
    refused(A, b.astype(dtype), TypeError, r"\bb\b.*complex")
    refused(sp.csc_array(A.astype(dtype)), b, TypeError, r"\bA\b.*complex")


@pytest.mark.parametrize("dtype", ["U8", "S8", "M8[s]", "m8[s]", [("a", "f8")]], ids=str)
def test_what_is_not_a_number_is_refused(small, dtype):
    A, b = small
    refused(A.astype(int).astype(dtype), b, TypeError, r"\bA\b")
    refused(A, b.astype(int).astype(dtype), TypeError, r"\bb\b")


@pytest.mark.parametrize("thing", ["text", b"bytes", {1: 2}, {1.0, 2.0}, object(), len, iter([1.0])], ids=repr)
def test_other_things_are_refused(small, thing):
    A, b = small
    refused(thing, b, (TypeError, ValueError), r"\bA\b")
    refused(A, thing, (TypeError, ValueError), r"\bb\b")


def test_none_is_refused(small):
    A, b = small
    refused(None, b, (TypeError, ValueError), r"\bA\b")
    refused(A, None, (TypeError, ValueError), r"\bb\b")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("make", [np.ascontiguousarray, np.asfortranarray, sp.csc_array, sp.csr_array, sp.coo_array])
def test_numbers_that_are_not_finite_are_refused(small, bad, dtype, make):
    A, b = small
    A = A.astype(dtype)
    A[7, 3] = bad
    refused(make(A), b, ValueError, r"(?=.*\bA\b)(?=.*row 7)(?=.*column 3)")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_vectors_that_are_not_finite_are_refused(small, bad):
    A, b = small
    wrong = b.copy()
    wrong[7] = bad
    refused(A, wrong, ValueError, r"\bb\b.*7")
    for name, size in (("weights", ROWS), ("x0", COLS)):
        values = np.ones(size)
        values[3] = bad
        with pytest.raises(ValueError, match=rf"\b{name}\b.*3"):
            nonneg.solve(A, b, **{name: values})
    values = np.ones(COLS)
    values[3] = bad
    with pytest.raises(ValueError, match=r"\bc\b.*3"):
        nonneg.solve(A, c=values)


def test_a_longdouble_too_large_for_float64_is_refused(small):
    A, b = small
    A = A.astype(np.longdouble)
    A[1, 1] = np.longdouble("1e4000")
    for call in (nonneg.solve, nonneg.nnls):
        with pytest.raises((ValueError, RuntimeWarning)):
            call(A, b)


def test_an_integer_too_large_for_float64_is_refused(small):
    A, b = small
    refused([[10**400] * COLS] * ROWS, b, ValueError, r"\bA\b")
    refused(A, [10**400] * ROWS, ValueError, r"\bb\b")


# -- frames and protocols -------------------------------------------------------------------------------------------------


def test_pandas(small):
    A, b = small
    frame = pd.DataFrame(A, columns=list("abcde"), index=np.arange(ROWS)[::-1])
    check(frame, pd.Series(b), A, b)
    check(frame.astype("float32"), pd.Series(b, dtype="int64"), A, b)
    check(frame.astype("Int64"), pd.Series(b).astype("Int64"), A, b)
    check(frame, pd.DataFrame({"b": b}), A, b)


def test_pandas_mixed_columns(small):
    A, b = small
    frame = pd.DataFrame({"a": A[:, 0], "b": A[:, 1].astype(int), "c": A[:, 2] > 1, "d": A[:, 3].astype("f4"), "e": A[:, 4]})
    A = A.copy()
    A[:, 2] = A[:, 2] > 1
    check(frame, b, A, b)


def test_pandas_sparse_columns(small):
    A, b = small
    frame = pd.DataFrame.sparse.from_spmatrix(sp.csc_matrix(A))
    check(frame, b, A, b)
    check(A, pd.Series(b, dtype=pd.SparseDtype(float, 0.0)), A, b)


def test_pandas_with_text_or_gaps_is_refused(small):
    A, b = small
    frame = pd.DataFrame(A)
    refused(frame.assign(name="x"), b, (TypeError, ValueError), r"\bA\b")
    refused(frame.astype("Int64").where(frame < 2), b, (TypeError, ValueError), r"\bA\b")
    refused(frame.assign(day=pd.Timestamp(0)), b, (TypeError, ValueError), r"\bA\b")


def test_polars(small):
    A, b = small
    frame = pl.DataFrame(A, schema=list("abcde"))
    check(frame, pl.Series(b), A, b)
    check(frame.cast(pl.Float32), pl.Series(b).cast(pl.Int32), A, b)
    check(frame, pl.DataFrame({"b": b}), A, b)


def test_polars_with_text_or_gaps_is_refused(small):
    A, b = small
    frame = pl.DataFrame(A, schema=list("abcde"))
    refused(frame.with_columns(pl.lit("x").alias("a")), b, (TypeError, ValueError), r"\bA\b")
    refused(frame.with_columns(pl.lit(None, dtype=pl.Float64).alias("a")), b, (TypeError, ValueError), r"\bA\b")


class OnlyArray:
    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)


class OnlyDlpack:
    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


@pytest.mark.parametrize("wrap", [OnlyArray, OnlyDlpack])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
def test_protocols(small, wrap, dtype):
    A, b = small
    check(wrap(np.asfortranarray(A, dtype=dtype)), wrap(b.astype(dtype)), A, b)


def test_an_error_in_a_protocol_comes_through(small):
    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("disk on fire")

    with pytest.raises(RuntimeError, match="disk on fire"):
        nonneg.solve(Broken(), small[1])


# -- memory ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [np.ascontiguousarray, np.asfortranarray, sp.csc_array, sp.csr_array, sp.coo_array, sp.lil_array, pd.DataFrame]
)
def test_inputs_are_never_written_to(make):
    A, b = text_like()
    A = make(A.toarray())
    weights, upper, x0 = np.ones(80), np.ones(40), np.full(40, 7.0)
    given = {"b": b, "weights": weights, "upper": upper, "x0": x0}
    kept = {name: values.copy() for name, values in given.items()}
    kept_A = A.copy()
    for method in nonneg.METHODS[:-3]:
        nonneg.solve(A, method=method, tol=1e-3, **given)
    nonneg.nnls(A, b)
    nonneg.verify(A, b, upper)
    nonneg.Problem(A, weights=weights, l2=0.1).solve(b, columns=[1, 2], x0=x0)
    for name, values in given.items():
        assert_array_equal(values, kept[name], err_msg=name)
    if sp.issparse(A):
        assert (kept_A != A).nnz == 0 and A.nnz == kept_A.nnz and A.format == kept_A.format
        if A.format in ("csc", "csr"):
            assert_array_equal(A.indices, kept_A.indices)
            assert_array_equal(A.data, kept_A.data)
    else:
        assert_array_equal(A, kept_A)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_no_copy_where_the_layout_allows_it(dtype):
    A, _ = uniform(20, 8)
    A = A.astype(dtype)
    for index in (np.int32, np.int64):
        assert to_matrix(with_indices(sp.csc_array(A), index)).copied is False
        assert to_matrix(with_indices(sp.csr_array(A), index)).copied is False
    assert to_matrix(np.asfortranarray(A)).copied is False
    assert to_matrix(A.T).copied is False
    assert to_matrix(np.ascontiguousarray(A)).copied is True


def test_a_column_or_a_row_is_in_both_orders():
    assert to_matrix(np.ones((5, 1))).copied is False
    assert to_matrix(np.ones((1, 5))).copied is False


MEMORY = """
import sys
import numpy as np, scipy.sparse as sp
import nonneg

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024

kind, dtype = sys.argv[1:3]
size = 80_000_000 // np.dtype(dtype).itemsize
cols = 100
rows = size // cols
if kind == "dense":
    A = np.empty((rows, cols), dtype, order="F")
    for j in range(cols):
        A[:, j] = (np.arange(rows, dtype="f4") * (j + 1)) % 7
else:
    indices = np.tile(np.arange(rows, dtype=np.int32), cols)
    values = np.resize(np.arange(1, 8, dtype=dtype), rows * cols)
    A = sp.csc_array((values, indices, np.arange(0, rows * cols + 1, rows)), (rows, cols))
    A.has_canonical_format = True
    A.indptr = A.indptr.astype(np.int32)
    del indices, values
b = np.ones(rows)
before = peak()
nonneg.solve(A, b, max_passes=4)
nonneg.verify(A, b, np.zeros(cols))
print(peak() - before)
"""


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_memory_does_not_grow_by_a_copy(kind, dtype):
    grown = int(run_python(MEMORY, kind, dtype))
    assert grown < 40_000_000, f"{grown / 1e6:.0f} MB more for a matrix of 80 MB"
