"""Every kind of input: the right result or a clear refusal, never a crash, and nothing is written to."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from common import run_python, text_like, uniform
from numpy.testing import assert_allclose, assert_array_equal

import nonneg
from nonneg._input import to_matrix

ROWS, COLS = 12, 5
FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]


@pytest.fixture
def small():
    """Whole numbers, so that every number type holds them exactly."""
    rng = np.random.default_rng(0)
    A = rng.integers(0, 4, (ROWS, COLS)).astype(float)
    A[0] = 1.0
    return A, A @ np.array([1.0, 0.0, 2.0, 0.0, 3.0]) + rng.integers(0, 3, ROWS)


def check(A, b, expected_A, expected_b):
    """The same answer as for plain arrays, by every way in."""
    expected = nonneg.nnls(np.asfortranarray(expected_A, dtype=float), np.asarray(expected_b, dtype=float))
    solution = nonneg.solve(A, b, tol=1e-10)
    assert solution.status == "solved"
    assert_allclose(solution.x, expected[0], atol=1e-4)
    assert_allclose(solution.residual_norm, expected[1], rtol=1e-8)
    x, rnorm = nonneg.nnls(A, b)
    assert_allclose(x, expected[0], rtol=1e-9, atol=1e-10)
    assert_allclose(rnorm, expected[1], rtol=1e-10)
    assert nonneg.verify(A, b, expected[0]).relative_gap < 1e-10
    assert_allclose(nonneg.Problem(A).solve(b, tol=1e-10).residual_norm, expected[1], rtol=1e-8)


def refused(A, b, error, match):
    """By every way in."""
    with pytest.raises(error, match=match):
        nonneg.solve(A, b)
    with pytest.raises(error, match=match):
        nonneg.nnls(A, b)
    with pytest.raises(error, match=match):
        nonneg.verify(A, b, np.zeros(COLS))
    with pytest.raises(error, match=match):
        nonneg.Problem(A).solve(b)


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


# -- sparse ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "?"])
def test_sparse_formats(small, form, kind, dtype):
    A, b = small
    A = A.astype(dtype)
    check(getattr(sp, f"{form}_{kind}")(A), b, A, b)


def with_indices(A, dtype):
    A = A.copy()
    A.indices, A.indptr = A.indices.astype(dtype), A.indptr.astype(dtype)
    return A


@pytest.mark.parametrize("form", ["csc", "csr"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_index_types(small, form, index, dtype):
    A, b = small
    check(with_indices(getattr(sp, f"{form}_array")(A.astype(dtype)), index), b, A, b)


@pytest.mark.parametrize("form", ["csc", "csr"])
@pytest.mark.parametrize("index", [np.int16, np.uint32, np.uint64])
def test_unusual_index_types(small, form, index):
    """SciPy does not make them, but other programs set them."""
    A, b = small
    check(with_indices(getattr(sp, f"{form}_array")(A), index), b, A, b)


def test_pointers_and_indices_of_different_types(small):
    A, b = small
    mixed = sp.csc_array(A)
    mixed.indptr = mixed.indptr.astype(np.int64)
    mixed.indices = mixed.indices.astype(np.int32)
    check(mixed, b, A, b)


@pytest.mark.parametrize("form", ["csc", "csr"])
def test_unsorted_indices(small, form):
    A, b = small
    mixed = getattr(sp, f"{form}_array")(A)
    for j in range(len(mixed.indptr) - 1):
        part = slice(mixed.indptr[j], mixed.indptr[j + 1])
        mixed.indices[part], mixed.data[part] = mixed.indices[part][::-1].copy(), mixed.data[part][::-1].copy()
    mixed.has_sorted_indices = False
    kept = mixed.indices.copy(), mixed.data.copy()
    check(mixed, b, A, b)
    assert_array_equal(mixed.indices, kept[0])
    assert_array_equal(mixed.data, kept[1])


@pytest.mark.parametrize("form", ["csc", "csr", "coo"])
def test_duplicates_are_summed(small, form):
    A, b = small
    rows, cols = np.nonzero(A)
    both = np.concatenate([A[rows, cols] / 4, 3 * A[rows, cols] / 4])
    doubled = sp.coo_array((both, (np.tile(rows, 2), np.tile(cols, 2))), A.shape)
    if form != "coo":
        order = np.argsort(doubled.col if form == "csc" else doubled.row, kind="stable")
        line, other = (doubled.col, doubled.row) if form == "csc" else (doubled.row, doubled.col)
        pointers = np.searchsorted(line[order], np.arange(A.shape[form == "csc"] + 1)).astype(np.int32)
        doubled = getattr(sp, f"{form}_array")((both[order], other[order], pointers), A.shape)
        assert not doubled.has_canonical_format and doubled.nnz == 2 * rows.size
    check(doubled, b, A, b)
    assert doubled.nnz == 2 * rows.size


def test_explicit_zeros(small):
    A, b = small
    full = sp.csc_array((A.T.ravel(), np.tile(np.arange(ROWS), COLS), np.arange(0, A.size + 1, ROWS)), A.shape)
    assert full.nnz == A.size
    check(full, b, A, b)


def test_empty_rows_and_columns(small):
    A, b = small
    A[:, 2] = 0.0
    A[5] = 0.0
    check(sp.csc_array(A), b, A, b)
    check(sp.csr_array(A), b, A, b)


def test_arrays_longer_than_in_use(small):
    A, b = small
    long = sp.csc_array(A)
    long.indices, long.data = np.append(long.indices, np.int32(99)), np.append(long.data, np.nan)
    check(long, b, A, b)


@pytest.mark.parametrize("form", ["csc", "csr"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("bad", [-1, -(2**31), 12, 2**31 - 1])
def test_indices_out_of_range_are_refused(small, form, index, bad):
    A, b = small
    wrong = with_indices(getattr(sp, f"{form}_array")(A), index)
    wrong.indices[4] = bad
    refused(wrong, b, ValueError, "index|row|column")


@pytest.mark.parametrize("form", ["csc", "csr"])
@pytest.mark.parametrize("pointers", [[0, -1], [0, 10**6], [0, 5, 3], [1], []], ids=str)
def test_wrong_pointers_are_refused(small, form, pointers):
    A, b = small
    wrong = getattr(sp, f"{form}_array")(A)
    wrong.indptr = wrong.indptr.copy()
    if len(pointers) < 2:
        wrong.indptr = np.array(pointers, np.int32)
    else:
        wrong.indptr[: len(pointers)] = pointers
    refused(wrong, b, ValueError, "pointer|indptr")


@pytest.mark.parametrize("form", ["csc", "csr"])
def test_arrays_too_short_are_refused(small, form):
    A, b = small
    for part in ("indices", "data"):
        wrong = getattr(sp, f"{form}_array")(A)
        setattr(wrong, part, getattr(wrong, part)[:-2])
        refused(wrong, b, ValueError, "pointer|indices|values")


def test_float_indices_are_refused(small):
    A, b = small
    wrong = sp.csc_array(A)
    wrong.indices = wrong.indices.astype(float)
    refused(wrong, b, (TypeError, ValueError), "ind")


def test_one_dimensional_sparse_array_is_refused(small):
    _, b = small
    refused(sp.coo_array(np.ones(ROWS)), b, ValueError, r"\bA\b")


def test_sparse_right_hand_side(small):
    A, b = small
    check(A, sp.csc_array(b[:, None]), A, b)


def test_sparse_strided_parts(small):
    A, b = small
    odd = sp.csc_array(A)
    odd.data, odd.indices = np.repeat(odd.data, 2)[::2], np.repeat(odd.indices, 2)[::2]
    check(odd, b, A, b)


def test_sparse_unaligned_parts(small):
    A, b = small
    odd = sp.csc_array(A)

    def shifted(values):
        array = np.zeros(values.nbytes + 1, np.uint8)[1:].view(values.dtype)
        array[:] = values
        return array

    odd.data, odd.indices, odd.indptr = shifted(odd.data), shifted(odd.indices), shifted(odd.indptr)
    assert not odd.data.flags.aligned
    check(odd, b, A, b)


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


# -- the other arguments --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [0, 1, ROWS - 1, ROWS + 1])
@pytest.mark.parametrize("name", ["b", "weights"])
def test_one_number_per_row(small, name, length):
    A, b = small
    arguments = {"b": b, name: np.ones(length)}
    with pytest.raises(ValueError, match=rf"\b{name}\b.*{length}.*{ROWS}"):
        nonneg.solve(A, **arguments)


@pytest.mark.parametrize("length", [0, 1, COLS - 1, COLS + 1])
@pytest.mark.parametrize("name", ["upper", "x0", "c"])
def test_one_number_per_column(small, name, length):
    A, _ = small
    arguments = {"c" if name == "c" else "b": np.ones(ROWS), name: np.ones(length)}
    with pytest.raises(ValueError, match=rf"\b{name}\b.*{length}.*{COLS}"):
        nonneg.solve(A, **arguments)


@pytest.mark.parametrize("name", ["b", "weights", "upper", "x0", "c"])
@pytest.mark.parametrize("shape", [(ROWS, 2), (2, COLS), (1, 2, 3)], ids=str)
def test_vectors_have_one_dimension(small, name, shape):
    A, b = small
    arguments = {"c" if name == "c" else "b": b, name: np.ones(shape)}
    with pytest.raises(ValueError, match=rf"\b{name}\b.*dimension"):
        nonneg.solve(A, **arguments)


@pytest.mark.parametrize("name", ["weights", "upper", "x0", "c"])
@pytest.mark.parametrize("values", ["text", ["a"] * COLS, np.ones(COLS) * 1j, [None] * COLS], ids=str)
def test_vectors_hold_numbers(small, name, values):
    A, b = small
    arguments = {"c" if name == "c" else "b": b, name: values}
    with pytest.raises((TypeError, ValueError), match=rf"\b{name}\b"):
        nonneg.solve(A, **arguments)


@pytest.mark.parametrize("upper", [-1.0, np.nan, -np.inf, [1.0, 1.0, -1.0, 1.0, 1.0], [1.0, 1.0, np.nan, 1.0, 1.0]], ids=str)
def test_wrong_upper_bounds_are_refused(small, upper):
    A, b = small
    with pytest.raises(ValueError, match=r"\bupper\b"):
        nonneg.solve(A, b, upper=upper)


def test_negative_weights_are_refused(small):
    A, b = small
    with pytest.raises(ValueError, match=r"\bweights\b.*0"):
        nonneg.solve(A, b, weights=-np.ones(ROWS))


@pytest.mark.parametrize("upper", [1, np.float32(1.0), np.array(1.0), True], ids=repr)
def test_upper_may_be_any_kind_of_number(small, upper):
    A, b = small
    assert_array_equal(nonneg.solve(A, b, upper=upper).x, nonneg.solve(A, b, upper=1.0).x)


def test_vectors_may_be_lists_columns_or_series(small):
    A, b = small
    plain = nonneg.solve(A, b, weights=np.ones(ROWS), upper=np.ones(COLS), x0=np.ones(COLS))
    ways = [
        list,
        pd.Series,
        pl.Series,
        lambda v: v[:, None],
        lambda v: v.astype("f4"),
        lambda v: v.astype(">f8"),
        lambda v: np.repeat(v, 2)[::2],
    ]
    for make in ways:
        solution = nonneg.solve(A, make(b), weights=make(np.ones(ROWS)), upper=make(np.ones(COLS)), x0=make(np.ones(COLS)))
        assert_array_equal(solution.x, plain.x)


def test_b_or_c_but_one_of_them(small):
    A, b = small
    for call in (nonneg.solve, lambda *given, **named: nonneg.verify(*given, x=np.zeros(COLS), **named)):
        with pytest.raises((TypeError, ValueError), match=r"\bb\b.*\bc\b"):
            call(A)
        with pytest.raises((TypeError, ValueError), match=r"\bb\b.*\bc\b"):
            call(A, b, c=A.T @ b)


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
