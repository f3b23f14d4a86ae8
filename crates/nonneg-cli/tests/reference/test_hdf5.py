"""HDF5 as h5py and AnnData handle it."""

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import zstandard
from matrices import as_read, assert_same, dense, rhs, sparse

LAYOUTS = {
    "contiguous": {},
    "chunked": {"chunks": (3, 2)},
    "growing": {"chunks": (2, 2), "maxshape": (None, None)},
    "gzip": {"compression": "gzip", "chunks": (3, 2)},
    "gzip and shuffle": {"compression": "gzip", "compression_opts": 9, "shuffle": True},
    "lzf": {"compression": "lzf", "chunks": (4, 5)},
    "lzf and shuffle": {"compression": "lzf", "shuffle": True, "chunks": (7, 5)},
    "checksums": {"fletcher32": True, "chunks": (2, 3)},
}


def save(path, A, b=None, name="A", libver=None, **options):
    with h5py.File(path, "w", libver=libver) as file:
        file.create_dataset(name, data=A, **options)
        if b is not None:
            file["b"] = b


@pytest.mark.parametrize("libver", ["earliest", "latest", ("v108", "v108"), ("v110", "v110")], ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_datasets(nonneg, layout, dtype, libver):
    save(nonneg / "A.h5", dense(dtype), rhs(), libver=libver, **LAYOUTS[layout])
    got, b = nonneg.read("A.h5")
    assert_same(got, dense(dtype))
    assert_same(b, rhs())


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_chunks_compressed_by_zstd(nonneg, libver):
    # h5py has no zstd without a plugin, but stores chunks that are compressed already.
    with h5py.File(nonneg / "A.h5", "w", libver=libver) as file:
        options = {"chunks": (7, 3), "compression": 32015, "allow_unknown_filter": True}
        dataset = file.create_dataset("A", (7, 5), "f8", **options)
        padded = np.pad(dense(), [(0, 0), (0, 1)])
        for first in [0, 3]:
            dataset.id.write_direct_chunk((0, first), zstandard.compress(padded[:, first : first + 3].tobytes()))
    assert_same(nonneg.read("A.h5")[0], dense())


@pytest.mark.parametrize("dtype", [">f4", ">f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", ">u8", "bool"])
def test_types_of_datasets(nonneg, dtype):
    save(nonneg / "A.hdf5", dense(dtype), name="only one")
    assert_same(nonneg.read("A.hdf5")[0], dense(dtype).astype(as_read(dtype)))


@pytest.mark.parametrize("maxshape", [None, (None, 120), (None, None)], ids=["fixed", "one grows", "both grow"])
@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("layout", ["chunked", "gzip", "lzf"])
def test_more_chunks_than_one_page_of_their_index(nonneg, layout, libver, maxshape):
    A = np.random.default_rng(1).integers(0, 9, (200, 120)) / 8
    save(nonneg / "A.h5", A, libver=libver, **{**LAYOUTS[layout], "chunks": (4, 4), "maxshape": maxshape})
    assert_same(nonneg.read("A.h5")[0], A)


@pytest.mark.parametrize("options", [{}, {"compression": "gzip", "chunks": (100, 64)}, {"compression": "lzf"}])
def test_more_than_is_read_at_a_time(nonneg, options):
    A = np.random.default_rng(2).integers(0, 9, (1100, 600)) / 8
    save(nonneg / "A.h5", A, **options)
    assert_same(nonneg.read("A.h5")[0], A)


@pytest.mark.parametrize(
    "options",
    [{"userblock_size": 1024}, {"fs_strategy": "page"}, {"fs_strategy": "page", "fs_persist": True, "libver": "latest"}],
    ids=["a user block", "pages", "pages and free space"],
)
def test_layouts_of_files(nonneg, options):
    with h5py.File(nonneg / "A.h5", "w", **options) as file:
        file["A"], file["b"] = dense(), rhs()
    got, b = nonneg.read("A.h5")
    assert_same(got, dense())
    assert_same(b, rhs())


@pytest.mark.parametrize("fill", [0.0, 2.5])
def test_chunks_that_were_never_written(nonneg, fill):
    with h5py.File(nonneg / "A.h5", "w") as file:
        file.create_dataset("A", (6, 4), "f8", chunks=(2, 2), fillvalue=fill)[:2, :2] = [[1.0, 2.0], [3.0, 4.0]]
        expected = file["A"][:]
    assert_same(nonneg.read("A.h5")[0], expected)


def test_a_dataset_in_the_header_of_its_object(nonneg):
    with h5py.File(nonneg / "A.h5", "w") as file:
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_layout(h5py.h5d.COMPACT)
        space, kind = h5py.h5s.create_simple((7, 5)), h5py.h5t.IEEE_F64LE
        h5py.h5d.create(file.id, b"A", kind, space, properties).write(h5py.h5s.ALL, h5py.h5s.ALL, dense())
    assert_same(nonneg.read("A.h5")[0], dense())


def test_a_is_stored_transposed(nonneg):
    save(nonneg / "A.h5", dense().T, rhs(), compression="gzip")
    got, b = nonneg.read("A.h5", "--transpose")
    assert_same(got, dense())
    assert_same(b, rhs())


@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("track_order", [False, True])
def test_a_path_inside_the_file(nonneg, track_order, libver):
    with h5py.File(nonneg / "A.h5", "w", libver=libver, track_order=track_order) as file:
        group = file.create_group("run 1/measured", track_order=track_order)
        for number in range(30):  # more than fit into the header of a group
            group[f"other {number}"] = np.full((2, 2), number)
        group["A"], group["b"], group["name"] = dense(), rhs(), "some text"
        group["linked"] = h5py.SoftLink("/run 1/measured/A")
    for path in ["/run 1/measured/A", "run 1/measured/A", "/run 1/measured/linked"]:
        got, b = nonneg.read(f"A.h5:{path}")
        assert_same(got, dense())
        assert_same(b, rhs())
    assert_same(nonneg.read("A.h5:/run 1/measured/other 17")[0], np.full((2, 2), 17.0))


def anndata_of(X):
    # The numbers of cells and genes are those of rows and columns.
    obs = pd.DataFrame({"b": rhs(), "kind": pd.Categorical(list("xyxyxyx"))}, index=[f"cell {i}" for i in range(7)])
    return anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=[f"gene {j}" for j in range(5)]))


MATRICES = {"dense": dense, "csr": lambda dtype: sparse(dtype, "csr"), "csc": lambda dtype: sparse(dtype, "csc")}


@pytest.mark.parametrize("compression", [None, "gzip", "lzf"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
@pytest.mark.parametrize("layout", MATRICES)
def test_h5ad_is_read(nonneg, layout, dtype, compression):
    X = MATRICES[layout](dtype)
    anndata_of(X).write_h5ad(nonneg / "cells.h5ad", compression=compression)
    got, b = nonneg.read("cells.h5ad")
    assert_same(got, X.astype(as_read(dtype)))
    assert b is None


@pytest.mark.parametrize("layout", MATRICES)
def test_parts_of_h5ad_are_named_by_their_path(nonneg, layout):
    data = anndata_of(sparse())
    data.layers["counts"] = 2 * MATRICES[layout]("f8")
    data.obsm["X_pca"] = dense()[:, :2]
    data.write_h5ad(nonneg / "cells.h5ad")
    assert_same(nonneg.read("cells.h5ad:/layers/counts")[0], 2 * MATRICES[layout]("f8"))
    assert_same(nonneg.read("cells.h5ad:obsm/X_pca")[0], dense()[:, :2])
    assert_same(nonneg.read("cells.h5ad:/obs/b")[0], rhs()[:, None])


def test_genes_may_be_the_rows(nonneg):
    anndata_of(sparse(layout="csr")).write_h5ad(nonneg / "cells.h5ad")
    assert_same(nonneg.read("cells.h5ad", "--transpose")[0], sparse().T.tocsc())


def test_sparse_elements_with_64_bit_indices(nonneg):
    X = sparse(layout="csr")
    X.indices, X.indptr = X.indices.astype("i8"), X.indptr.astype("i8")
    with h5py.File(nonneg / "A.h5", "w") as file:
        anndata.io.write_elem(file, "A", X)
        assert file["A/indices"].dtype == file["A/indptr"].dtype == "i8"
        anndata.io.write_elem(file, "b", rhs())
    got, b = nonneg.read("A.h5")
    assert_same(got, sparse())
    assert_same(b, rhs())


def test_unsorted_sparse_elements(nonneg):
    X = sp.csr_matrix((np.array([3.0, 1.0, 2.0, 5.0]), np.array([2, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3))
    with h5py.File(nonneg / "A.h5", "w") as file:
        anndata.io.write_elem(file, "A", X)
    assert_same(nonneg.read("A.h5")[0], sp.csc_array([[1.0, 0.0, 3.0], [0.0, 7.0, 0.0]]))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("with_b", [False, True])
@pytest.mark.parametrize("name", ["A.h5", "A.hdf5"])
def test_dense_h5_is_written(nonneg, name, with_b, dtype):
    with h5py.File(nonneg.write(name, dense(dtype), rhs() if with_b else None)) as file:
        assert_same(file["A"][:], dense(dtype))
        assert_same(file["A"][2:5, 1], dense(dtype)[2:5, 1])
        assert ("b" in file) == with_b
        if with_b:
            assert_same(file["b"][:], rhs())


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("with_b", [False, True])
def test_sparse_h5_is_written_as_anndata_does(nonneg, with_b, dtype):
    A = sparse(dtype)
    with h5py.File(nonneg.write("A.h5", A, rhs() if with_b else None)) as file:
        got = anndata.io.read_elem(file["A"])
        assert_same(got, A)
        assert got.format == "csc"
        assert got.indices.dtype == got.indptr.dtype == np.int32
        assert_same(anndata.io.sparse_dataset(file["A"])[:, 1:4], A[:, 1:4])  # without reading the rest
        assert ("b" in file) == with_b
        if with_b:
            assert_same(file["b"][:], rhs())


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_dense_h5_is_written_as_anndata_does(nonneg, dtype):
    with h5py.File(nonneg.write("A.h5", dense(dtype), rhs())) as file:
        assert_same(anndata.io.read_elem(file["A"]), dense(dtype))
        assert_same(anndata.io.read_elem(file["b"]), rhs())


def test_an_empty_sparse_h5_is_written(nonneg):
    with h5py.File(nonneg.write("A.h5", sp.csc_array((4, 3)))) as file:
        assert_same(anndata.io.read_elem(file["A"]), sp.csc_array((4, 3)))


def test_a_sparse_h5_goes_into_an_anndata_file(nonneg):
    with h5py.File(nonneg.write("A.h5", sparse("f4"))) as file:
        anndata_of(anndata.io.read_elem(file["A"])).write_h5ad(nonneg / "cells.h5ad")
    assert_same(nonneg.read("cells.h5ad")[0], sparse("f4"))


def test_h5ad_is_not_written(nonneg):
    sp.save_npz(nonneg / "A.npz", sparse())
    assert "AnnData" in nonneg("convert", "A.npz", "A.h5ad", status=2)
