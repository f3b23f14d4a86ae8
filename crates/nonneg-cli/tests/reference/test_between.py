"""From every format to every other, and the same solution from each."""

import gzip
import json

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.optimize
import scipy.sparse as sp
from conftest import save_npz
from matrices import assert_same, assert_same_numbers, dense, problem, rhs, sparse

SPARSE = ["npz", "mtx", "svm", "nnm", "mat", "h5"]
DENSE = ["npz", "npy", "mtx", "csv", "tsv", "parquet", "mat", "h5", "nnm"]
# Formats that know single precision.
SINGLE = {"sparse": ["npz", "nnm", "h5"], "dense": ["npz", "npy", "parquet", "mat", "h5", "nnm"]}
HOLD_B = ["npz", "svm", "nnm", "mat", "h5"]


@pytest.fixture(scope="module")
def sources(shared):
    """A in every format, as `convert` writes it."""
    for dtype in ["f8", "f4"]:
        for ending in SPARSE:
            shared.write(f"sparse_{dtype}.{ending}", sparse(dtype), rhs())
        for ending in DENSE:
            shared.write(f"dense_{dtype}.{ending}", dense(dtype), rhs())
    shared.write("rows.svm", dense(), rhs())
    return shared


@pytest.mark.parametrize("target", SPARSE)
@pytest.mark.parametrize("source", SPARSE)
def test_sparse_pairs(sources, source, target):
    name = f"sparse_{source}_to_{target}.{target}"
    sources("convert", f"sparse_f8.{source}", name)
    got, b = sources.read(name)
    assert_same(got, sparse())
    if source in HOLD_B and target in HOLD_B:
        assert_same(b, rhs())
    if source in HOLD_B and target not in HOLD_B:
        assert_same(np.loadtxt(sources / f"sparse_{source}_to_{target}.b.txt"), rhs())


@pytest.mark.parametrize("target", DENSE)
@pytest.mark.parametrize("source", DENSE)
def test_dense_pairs(sources, source, target):
    name = f"dense_{source}_to_{target}.{target}"
    sources("convert", f"dense_f8.{source}", name)
    got, b = sources.read(name)
    assert_same(got, dense())
    if source in HOLD_B and target in HOLD_B:
        assert_same(b, rhs())
    if source in HOLD_B and target not in HOLD_B:
        assert_same(np.loadtxt(sources / f"dense_{source}_to_{target}.b.txt"), rhs())


@pytest.mark.parametrize("source", DENSE)
def test_dense_becomes_sparse_in_svm(sources, source):
    sources("convert", f"dense_f8.{source}", f"from_{source}.svm")
    assert_same(sources.read(f"from_{source}.svm")[0], sparse())


@pytest.mark.parametrize("target", SPARSE)
def test_svm_of_a_dense_matrix_stays_sparse(sources, target):
    sources("convert", "rows.svm", f"rows_to.{target}")
    assert_same(sources.read(f"rows_to.{target}")[0], sparse())


@pytest.mark.parametrize("kind, source", [(kind, source) for kind in SINGLE for source in SINGLE[kind]])
def test_single_precision_stays(sources, kind, source):
    expected = {"sparse": sparse, "dense": dense}[kind]("f4")
    for target in SINGLE[kind]:
        name = f"{kind}_single_{source}_to.{target}"
        sources("convert", f"{kind}_f4.{source}", name)
        assert_same(sources.read(name)[0], expected)


@pytest.mark.parametrize("name", ["sparse_f4.mtx", "sparse_f4.mat", "sparse_f4.svm", "dense_f4.mtx", "dense_f4.csv"])
def test_single_precision_becomes_double_where_it_must(sources, name):
    got, _ = sources.read(name)
    assert got.dtype == "f8"
    assert_same_numbers(got, dense("f4"))


@pytest.fixture(scope="module")
def solved(shared):
    """The problem as .npz; its smallest objective by SciPy."""
    A, b = problem()
    save_npz(shared / "solve.npz", A, b)
    np.save(shared / "solve_b.npy", b)
    return shared, 0.5 * scipy.optimize.nnls(A, b)[1] ** 2


def check_solution(shared, objective, x):
    """By SciPy's answer, and by our certificate on the .npz."""
    A, b = problem()
    assert (x >= 0.0).all()
    assert 0.5 * np.sum((A @ x - b) ** 2) <= objective * (1 + 2e-8)
    np.save(shared / "check.npy", x)
    shared("verify", "solve.npz", "solve_b.npy", "check.npy", "--tol", "2e-8", "--quiet")


@pytest.mark.parametrize("kind, ending", [*(("sparse", ending) for ending in SPARSE), *(("dense", ending) for ending in DENSE)])
def test_the_solution_is_the_same_from_every_format(solved, kind, ending):
    shared, objective = solved
    A, b = problem()
    name = f"solve_{kind}.{ending}"
    shared.write(name, sp.csc_array(A) if kind == "sparse" else A, b)
    beside = [] if ending in HOLD_B else [f"solve_{kind}.b.txt"]
    shared("solve", name, *beside, "-o", "x.npy", "--tol", "1e-8", "--quiet", "--report", "report.json")
    with open(shared / "report.json") as file:
        report = json.load(file)
    assert report["certified"]
    assert (report["m"], report["n"]) == A.shape
    check_solution(shared, objective, np.load(shared / "x.npy"))


@pytest.mark.parametrize("name", ["x.npy", "x.txt", "x.csv", "x.tsv.gz", "x.mtx"])
def test_x_is_written_for_other_tools(solved, name):
    shared, objective = solved
    load = {"x.npy": np.load, "x.mtx": scipy.io.mmread}.get(name, np.loadtxt)
    shared("solve", "solve.npz", "-o", name, "--tol", "1e-8", "--quiet")
    check_solution(shared, objective, load(shared / name).ravel())


RHS = [
    "b.npy",
    "b.npz:target",
    "b.mtx",
    "b_sparse.mtx",
    "b.mat:target",
    "b.h5:/run/target",
    "b.parquet:target",
    "b.txt",
    "b_row.csv",
    "b.csv.zst",
    "b_labels.csv",
]


@pytest.fixture(scope="module")
def rhs_files(solved):
    """b alone, or among others, in files of every kind as other tools write them."""
    shared, objective = solved
    A, b = problem()
    np.save(shared / "only_A.npy", A)
    np.save(shared / "b.npy", b[:, None])
    np.savez(shared / "b.npz", target=b, other=b[:3])
    scipy.io.mmwrite(shared / "b.mtx", b[:, None])
    scipy.io.mmwrite(shared / "b_sparse.mtx", sp.coo_array(b[:, None]))
    scipy.io.savemat(shared / "b.mat", {"target": b, "other": b[:3]})
    with h5py.File(shared / "b.h5", "w") as file:
        file["run/target"], file["run/other"] = b, b[:3]
    pd.DataFrame({"target": b, "other": 1.0}).to_parquet(shared / "b.parquet")
    np.savetxt(shared / "b.txt", b)
    np.savetxt(shared / "b_row.csv", b[None, :], delimiter=",")
    pd.DataFrame({"target": b}).to_csv(shared / "b.csv.zst", index=False)
    pd.Series(b, name="target").to_csv(shared / "b_labels.csv")
    return shared, objective


@pytest.mark.parametrize("location", RHS)
def test_b_in_a_file_of_its_own(rhs_files, location):
    shared, objective = rhs_files
    shared("solve", "only_A.npy", location, "-o", "x.npy", "--tol", "1e-8", "--quiet")
    check_solution(shared, objective, np.load(shared / "x.npy"))


@pytest.fixture(scope="module")
def many(shared):
    """B with three columns in files of every kind, one X each; and the smallest objectives by SciPy."""
    A, b = problem()
    B = np.stack([b, np.abs(b), b[::-1]], axis=1)
    np.save(shared / "A.npy", A)
    np.save(shared / "B.npy", np.asfortranarray(B))
    np.savez(shared / "B.npz", Y=B, other=b)
    with gzip.open(shared / "B.mtx.gz", "wb") as file:
        scipy.io.mmwrite(file, sp.csc_array(B))
    scipy.io.savemat(shared / "B.mat", {"Y": B, "other": b})
    with h5py.File(shared / "B.h5", "w") as file:
        file.create_dataset("run/Y", data=B, compression="gzip")
    pd.DataFrame(B, columns=list("uvw")).to_parquet(shared / "B.parquet")
    np.savetxt(shared / "B.csv", B, delimiter=",")
    return shared, A, B, [0.5 * scipy.optimize.nnls(A, B[:, k])[1] ** 2 for k in range(3)]


@pytest.mark.parametrize("location", ["B.npy", "B.npz:Y", "B.mtx.gz", "B.mat:Y", "B.h5:/run/Y", "B.parquet", "B.csv"])
def test_several_right_hand_sides(many, location):
    shared, A, B, objectives = many
    shared("solve", "A.npy", location, "-o", "X.npy", "--tol", "1e-8", "--quiet")
    X = np.load(shared / "X.npy")
    assert X.shape == (12, 3)
    assert (X >= 0.0).all()
    assert (0.5 * np.sum((A @ X - B) ** 2, axis=0) <= np.multiply(objectives, 1 + 2e-8)).all()
