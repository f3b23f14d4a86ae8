"""NumPy's and SciPy's own files, .npz and .npy, and our .nnm."""

import matrices
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import load_npz, save_npz
from matrices import as_read, assert_same, dense, rhs, sparse

TYPES = ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "bool"]


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("array", [sp.csc_matrix, sp.csr_matrix, sp.coo_matrix, sp.csc_array, sp.csr_array, sp.coo_array])
def test_scipy_sparse_npz_is_read(nonneg, array, compressed):
    A = array(dense())
    sp.save_npz(nonneg / "A.npz", A, compressed=compressed)
    got, b = nonneg.read("A.npz")
    assert_same(got, sparse())
    assert b is None


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("layout", ["csc", "csr", "coo"])
def test_types_of_sparse_npz(nonneg, layout, dtype):
    A = sparse(dtype, layout)
    sp.save_npz(nonneg / "A.npz", A)
    assert_same(nonneg.read("A.npz")[0], A.astype(as_read(dtype)))


@pytest.mark.parametrize("layout", ["csc", "csr", "coo"])
def test_sparse_npz_with_64_bit_indices(nonneg, layout):
    A = sparse(layout=layout)
    if layout == "coo":
        A.coords = tuple(index.astype("i8") for index in A.coords)
    else:
        A.indices, A.indptr = A.indices.astype("i8"), A.indptr.astype("i8")
    sp.save_npz(nonneg / "A.npz", A)
    with np.load(nonneg / "A.npz") as arrays:
        assert arrays["row" if layout == "coo" else "indices"].dtype == "i8"
    assert_same(nonneg.read("A.npz")[0], sparse())


@pytest.mark.parametrize("layout", ["csc", "csr", "coo"])
def test_unsorted_and_duplicate_entries_of_sparse_npz(nonneg, layout):
    rows, cols = np.array([5, 0, 5, 2, 0, 5]), np.array([1, 2, 1, 1, 0, 1])
    values = np.array([0.5, 3.0, 0.25, -1.0, 2.0, 8.0])
    if layout == "coo":
        A = sp.coo_array((values, (rows, cols)), shape=(6, 4))
    else:
        outer, inner = (cols, rows) if layout == "csc" else (rows, cols)
        order = np.argsort(outer, kind="stable")
        pointers = np.searchsorted(outer[order], np.arange((4 if layout == "csc" else 6) + 1))
        A = {"csc": sp.csc_array, "csr": sp.csr_array}[layout]((values[order], inner[order], pointers), shape=(6, 4))
    assert not A.has_canonical_format
    sp.save_npz(nonneg / "A.npz", A)
    got, _ = nonneg.read("A.npz")
    assert got.nnz == 4
    assert_same(got, sp.csc_array(A))


@pytest.mark.parametrize("rows", [3_000_000_000, 2**32 + 9])
def test_more_rows_than_32_bits_hold(nonneg, rows):
    A = sp.coo_array(([1.5, 2.0, -3.0], ([rows - 1, 4, 2**31], [0, 2, 2])), shape=(rows, 3)).tocsc()
    sp.save_npz(nonneg / "A.npz", A)
    for name in ["B.npz", "A.nnm", "C.npz"]:  # not through `info`, which takes a byte per row
        nonneg("convert", "A.npz" if name != "C.npz" else "A.nnm", name)
    for name in ["B.npz", "C.npz"]:
        assert_same(sp.load_npz(nonneg / name), A)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "bool"])
def test_plain_npz_is_read(nonneg, dtype, order, save):
    A = np.asarray(dense(dtype), order=order)
    save(nonneg / "A.npz", A=A, b=rhs())
    got, b = nonneg.read("A.npz")
    assert_same(got, A.astype(as_read(dtype)))
    assert_same(b, rhs())


@pytest.mark.parametrize("shape", [(7,), (7, 1), (1, 7)])
def test_b_beside_a_sparse_matrix(nonneg, shape):
    save_npz(nonneg / "A.npz", sparse(layout="csr"), rhs().reshape(shape))
    got, b = nonneg.read("A.npz")
    assert_same(got, sparse())
    assert_same(b, rhs())


def test_one_array_of_an_npz_is_named_after_a_colon(nonneg):
    np.savez(nonneg / "data.npz", first=dense(), second=dense()[::-1], target=rhs())
    assert_same(nonneg.read("data.npz:first")[0], dense())
    assert_same(nonneg.read("data.npz:second")[0], dense()[::-1])
    assert "KEY" in nonneg("convert", "data.npz", "out.npz", status=2)
    np.savez(nonneg / "one.npz", first=dense(), target=rhs())
    assert_same(nonneg.read("one.npz")[0], dense())


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("with_b", [False, True])
@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_npz_is_written(nonneg, kind, with_b, dtype):
    A, b = getattr(matrices, kind)(dtype), rhs() if with_b else None
    got, got_b = load_npz(nonneg.write("A.npz", A, b))
    assert_same(got, A)
    if kind == "sparse":
        assert got.format == "csc"
        assert got.has_canonical_format
        assert got.indices.dtype == got.indptr.dtype == np.int32
    if with_b:
        assert_same(got_b, b)
    else:
        assert got_b is None


@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1), (4, 3)])
@pytest.mark.parametrize("name", ["A.npz", "A.nnm", "A.mat", "A.h5", "A.mtx", "A.svm"])
def test_matrices_without_any_entry(nonneg, name, shape):
    A = sp.csc_array(shape)
    nonneg.write(name, A)
    assert_same(nonneg.read(name)[0], A)


@pytest.mark.parametrize("dtype", [*TYPES, ">f4", ">f8", ">i4", ">u8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_is_read(nonneg, order, dtype):
    A = np.asarray(dense(dtype), order=order)
    np.save(nonneg / "A.npy", A)
    assert_same(nonneg.read("A.npy")[0], A.astype(as_read(dtype)))
    assert_same(nonneg.read("A.npy", "--transpose")[0], A.T.astype(as_read(dtype)))


def test_a_strided_view_is_saved_and_read(nonneg):
    np.save(nonneg / "A.npy", dense()[::2, ::-1])
    assert_same(nonneg.read("A.npy")[0], dense()[::2, ::-1])


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_versions_of_npy(nonneg, version):
    with open(nonneg / "A.npy", "wb") as file:
        np.lib.format.write_array(file, dense(), version=version)
    assert_same(nonneg.read("A.npy")[0], dense())


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_npy_is_written(nonneg, dtype):
    path = nonneg.write("A.npy", dense(dtype), rhs())
    assert_same(np.load(path), dense(dtype))
    assert_same(np.asarray(np.load(path, mmap_mode="r")), dense(dtype))
    assert_same(np.loadtxt(nonneg / "A.b.txt"), rhs())


@pytest.mark.parametrize("name", ["A.npy", "A.csv", "A.tsv", "A.parquet"])
def test_formats_for_dense_matrices_refuse_sparse_ones(nonneg, name):
    sp.save_npz(nonneg / "S.npz", sparse())
    assert "dense" in nonneg("convert", "S.npz", name, status=2)
    assert not (nonneg.folder / name).exists()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("with_b", [False, True])
@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_nnm_and_back(nonneg, kind, with_b, dtype):
    A, b = getattr(matrices, kind)(dtype), rhs() if with_b else None
    nonneg.write("A.nnm", A, b)
    got, got_b = nonneg.read("A.nnm")
    assert_same(got, A)
    np.testing.assert_array_equal(got_b, b)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_npy_becomes_nnm(nonneg, dtype, order):
    np.save(nonneg / "A.npy", np.asarray(dense(dtype), order=order))
    nonneg("convert", "A.npy", "A.nnm")
    assert_same(nonneg.read("A.nnm")[0], dense(dtype).astype(as_read(dtype)))
