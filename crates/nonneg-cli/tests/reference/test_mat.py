"""MATLAB's files, as SciPy and hdf5storage handle them."""

import h5py
import hdf5storage
import matrices
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from matrices import as_read, assert_same, dense, rhs, sparse

VERSIONS = {
    "4": {"format": "4"},
    "5": {"format": "5"},
    "5, compressed": {"format": "5", "do_compression": True},
}


@pytest.mark.parametrize("oned_as", ["row", "column"])
@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize("version", VERSIONS)
def test_mat_is_read(nonneg, version, kind, oned_as):
    A = getattr(matrices, kind)()
    scipy.io.savemat(nonneg / "A.mat", {"A": A, "b": rhs()}, oned_as=oned_as, **VERSIONS[version])
    got, b = nonneg.read("A.mat")
    assert_same(got, A)
    assert_same(b, rhs())


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "bool"])
@pytest.mark.parametrize("version", ["5", "5, compressed"])
def test_types_of_dense_mat(nonneg, version, dtype):
    scipy.io.savemat(nonneg / "A.mat", {"only_one": dense(dtype)}, **VERSIONS[version])
    assert_same(nonneg.read("A.mat")[0], dense(dtype).astype(as_read(dtype)))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "bool"])
@pytest.mark.parametrize("version", ["5", "5, compressed"])
def test_types_of_sparse_mat(nonneg, version, dtype):
    scipy.io.savemat(nonneg / "A.mat", {"A": sparse(dtype)}, **VERSIONS[version])
    got, _ = nonneg.read("A.mat")
    np.testing.assert_array_equal(got.toarray(), dense(dtype))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "i4", "u1"])
def test_types_of_version_4(nonneg, dtype):
    scipy.io.savemat(nonneg / "A.mat", {"A": dense(dtype)}, format="4")
    assert_same(nonneg.read("A.mat")[0], dense(dtype).astype(as_read(dtype)))


@pytest.mark.parametrize("layout", ["csr", "coo"])
@pytest.mark.parametrize("version", VERSIONS)
def test_other_sparse_layouts_become_columns(nonneg, version, layout):
    scipy.io.savemat(nonneg / "A.mat", {"A": sparse(layout=layout)}, **VERSIONS[version])
    assert_same(nonneg.read("A.mat")[0], sparse())


@pytest.mark.parametrize("version", ["5", "5, compressed"])
def test_one_array_of_a_mat_is_named_after_a_colon(nonneg, version):
    long = "a_name_that_does_not_fit_into_a_tag"
    others = {"text": "é", "cells": np.array([1, "a"], object), "struct": {"x": 1.0}, "cube": np.ones((2, 2, 2))}
    scipy.io.savemat(nonneg / "data.mat", {**others, "S": sparse(), long: dense(), "t": rhs()}, **VERSIONS[version])
    assert_same(nonneg.read("data.mat:S")[0], sparse())
    assert_same(nonneg.read(f"data.mat:{long}")[0], dense())
    assert_same(nonneg.read("data.mat:t")[0], rhs()[:, None].T)
    assert "KEY" in nonneg("convert", "data.mat", "out.npz", status=2)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("with_b", [False, True])
@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_mat_is_written(nonneg, kind, with_b, dtype):
    A = getattr(matrices, kind)(dtype)
    path = nonneg.write("A.mat", A, rhs() if with_b else None)
    arrays = scipy.io.loadmat(path, spmatrix=False)
    # MATLAB has no sparse matrices in single precision.
    assert_same(arrays["A"], A.astype("f8") if kind == "sparse" else A)
    if with_b:
        assert_same(arrays["b"], rhs()[:, None])
    variables = [("A", (7, 5), "sparse" if kind == "sparse" else {"f4": "single", "f8": "double"}[dtype])]
    assert scipy.io.whosmat(path) == variables + [("b", (7, 1), "double")] * with_b


# --- version 7.3 ---


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u8", "bool"])
def test_version_7_3_of_hdf5storage_is_read(nonneg, dtype, compress):
    options = {"compress": True, "compress_size_threshold": 0, "shuffle_filter": True, "gzip_compression_level": 7}
    options = options if compress else {"compress": False}
    arrays = {"A": dense(dtype), "b": rhs()}
    hdf5storage.savemat(nonneg / "A.mat", arrays, format="7.3", oned_as="column", **options)
    got, b = nonneg.read("A.mat")
    assert_same(got, dense(dtype).astype(as_read(dtype)))
    assert_same(b, rhs())


def save_73(path, A, b):
    """Sparse, as MATLAB does: no tool of Python writes this."""
    with h5py.File(path, "w", userblock_size=512) as file:
        group = file.create_group("A")
        group.attrs["MATLAB_class"] = np.bytes_("logical" if A.dtype == bool else "double")
        group.attrs["MATLAB_sparse"] = np.uint64(A.shape[0])
        if A.nnz:
            group["data"], group["ir"] = A.data.view("u1") if A.dtype == bool else A.data, A.indices.astype("u8")
        group["jc"] = A.indptr.astype("u8")
        file["b"] = b[None, :]
        file["b"].attrs["MATLAB_class"] = np.bytes_("double")
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")


@pytest.mark.parametrize("dtype", ["f8", "bool"])
def test_sparse_version_7_3_is_read(nonneg, dtype):
    save_73(nonneg / "A.mat", sparse(dtype), rhs())
    for location in ["A.mat", "A.mat:A"]:
        got, b = nonneg.read(location)
        assert_same(got, sparse(dtype).astype("f8"))
        assert_same(b, rhs())


def test_an_empty_sparse_matrix_of_version_7_3_is_read(nonneg):
    save_73(nonneg / "A.mat", sp.csc_matrix((7, 3)), rhs())
    assert_same(nonneg.read("A.mat")[0], sp.csc_matrix((7, 3)))
