"""Sparse input: every format and index type, canonical or not; broken ones are refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from ways_in import COLS, FORMATS, ROWS, check, refused, with_indices


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "?"])
def test_sparse_formats(small, form, kind, dtype):
    A, b = small
    A = A.astype(dtype)
    check(getattr(sp, f"{form}_{kind}")(A), b, A, b)


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
