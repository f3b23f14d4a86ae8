"""The problems: real files from a folder, and generated families, written once and reused.

Every problem has A >= 0. Sparse ones are one .npz (SciPy's CSC keys, and b); dense ones are two .npy files, A in
Fortran order. A generated problem depends on its name and seed only.
"""
import os
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import scipy.sparse as sp


@dataclass
class Problem:
    name: str            # unique; names a file
    family: str          # solvers that time out on a small member are not run on larger ones
    size: int            # orders the members of a family, and the whole run: about the number of nonzeros
    seed: int | None     # None: real data
    files: list = field(default_factory=list)     # what the nonneg command is given
    make: object = None

    @property
    def group(self):
        """The name without the seed: the line of the table."""
        return self.name if self.seed is None else self.name.rsplit("-s", 1)[0]

    def write(self):
        """Makes the files unless they exist. Written aside and renamed, so that a broken run leaves no half file."""
        if self.make is None or all(f.exists() for f in self.files):
            return
        rng = np.random.default_rng([zlib.crc32(self.group.encode()), self.seed])
        A, b = self.make(rng)
        b = np.ascontiguousarray(b, dtype=np.float64)
        if sp.issparse(A):
            A = sp.csc_matrix(A)
            A.sum_duplicates()
            A.eliminate_zeros()
            index = np.int32 if max(A.nnz, *A.shape) < 2**31 else np.int64
            part = self.files[0].with_suffix(".part.npz")
            np.savez(part, format=b"csc", shape=np.array(A.shape), data=A.data, b=b,
                     indices=A.indices.astype(index), indptr=A.indptr.astype(index))
            os.replace(part, self.files[0])
        else:
            for file, array in zip(self.files, (np.asfortranarray(A), b)):
                part = file.with_suffix(".part.npy")
                np.save(part, array)
                os.replace(part, file)


def load(files):
    """A (CSC or Fortran-ordered dense, float64) and b."""
    if len(files) == 2:
        return np.asfortranarray(np.load(files[0]), dtype=np.float64), np.load(files[1])
    A = sp.csc_matrix(sp.load_npz(files[0]), dtype=np.float64)
    A.sort_indices()
    if A.nnz < 2**31 and A.indices.dtype != np.int32:      # some peers take 32-bit indices only
        A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)
    with np.load(files[0]) as z:
        return A, np.asarray(z["b"], dtype=np.float64).ravel()


# ---------------------------------------------------------------------------------------------- the families

def text(rng, documents, words, length):
    """tf-idf of documents with Zipf words and twenty topics; b = ±1, fourteen topics against six."""
    zipf = 1.0 / (np.arange(words) + 2.7)
    common = np.cumsum(zipf / zipf.sum())
    topics = 20
    special = rng.integers(50, words, size=(topics, 300))              # the words that a topic prefers
    weight = np.cumsum(1.0 / (np.arange(300) + 5.0))
    topic = rng.integers(topics, size=documents)
    counts = np.maximum(5, rng.poisson(rng.gamma(3.0, length / 3.0, size=documents) * 1.35))   # words repeat
    row = np.repeat(np.arange(documents), counts)
    word = np.minimum(np.searchsorted(common, rng.random(len(row))), words - 1)
    of_topic = rng.random(len(row)) < 0.2
    pick = np.minimum(np.searchsorted(weight / weight[-1], rng.random(of_topic.sum())), 299)
    word[of_topic] = special[topic[row[of_topic]], pick]
    A = sp.csc_matrix((np.ones(len(row)), (row, word)), shape=(documents, words))
    A.sum_duplicates()
    present = np.diff(A.indptr)
    idf = np.log((1.0 + documents) / (1.0 + present)) + 1.0
    A.data = (1.0 + np.log(A.data)) * np.repeat(idf, present)
    norm = np.sqrt(np.asarray(A.multiply(A).sum(axis=1)).ravel())
    A = sp.csc_matrix(sp.diags(1.0 / np.where(norm > 0, norm, 1.0)) @ A)
    b = np.where(topic < 0.7 * topics, 1.0, -1.0)
    b[rng.random(documents) < 0.05] *= -1
    return A, b


def uniform(rng, m, n):
    """Uniform [0,1), half of the columns planted; the noise is 2 % of b, far above what one column adds."""
    A = np.asfortranarray(rng.random((n, m)).T)
    x = rng.exponential(size=n) * (rng.random(n) < 0.5)
    b = A @ x
    return A, b + 0.02 * b.mean() * rng.standard_normal(m)


def peaks(rng, m, n):
    """A dictionary of Gaussians, five widths at each centre, and a noisy mixture of a few of them."""
    widths = np.array([0.002, 0.004, 0.008, 0.016, 0.032])
    centres = np.linspace(0.0, 1.0, n // 5)
    t = np.linspace(0.0, 1.0, m)
    A = np.empty((m, n), order="F")
    for j in range(n):
        A[:, j] = np.exp(-0.5 * ((t - centres[j // 5]) / widths[j % 5]) ** 2)
    x = np.zeros(n)
    x[rng.choice(n, n // 20, replace=False)] = rng.exponential(size=n // 20) + 0.1
    b = A @ x
    return A, b + 0.01 * b.max() * rng.standard_normal(m)


def blur(rng, side):
    """A Gaussian point-spread function (σ = 2, cut at 3σ) over stars and a few soft blobs."""
    sigma, radius = 2.0, 6
    v, u = np.meshgrid(np.arange(side), np.arange(side), indexing="ij")
    rows, cols, vals = [], [], []
    for dv in range(-radius, radius + 1):
        for du in range(-radius, radius + 1):
            if dv * dv + du * du > radius * radius:
                continue
            ok = (v + dv >= 0) & (v + dv < side) & (u + du >= 0) & (u + du < side)
            cols.append((v[ok] * side + u[ok]))
            rows.append((v[ok] + dv) * side + u[ok] + du)
            vals.append(np.full(ok.sum(), np.exp(-0.5 * (dv * dv + du * du) / sigma**2) / (2 * np.pi * sigma**2)))
    A = sp.csc_matrix((np.concatenate(vals), (np.concatenate(rows), np.concatenate(cols))), shape=(side**2, side**2))
    image = np.zeros((side, side))
    stars = side * side // 100
    image[rng.integers(side, size=stars), rng.integers(side, size=stars)] = 1.0 + 10.0 * rng.pareto(2.0, size=stars)
    for _ in range(4):
        cv, cu, r = rng.random() * side, rng.random() * side, side * (0.02 + 0.04 * rng.random())
        image += np.exp(-0.5 * ((v - cv) ** 2 + (u - cu) ** 2) / r**2)
    b = A @ image.ravel()
    return A, b + 0.05 * b.mean() * rng.standard_normal(side**2)


def tomography(rng, side, angles):
    """Parallel beam: the length of every ray in every pixel (Siddon), a phantom of ellipses, 1 % noise."""
    half, grid = side / 2.0, np.arange(side + 1) - side / 2.0
    detectors = int(np.ceil(side * np.sqrt(2.0)))
    offsets = np.arange(detectors) - (detectors - 1) / 2.0
    rows, cols, vals = [], [], []
    for k in range(angles):
        theta = np.pi * (k + 0.37) / angles                            # never along an axis
        d = np.array([np.cos(theta), np.sin(theta)])
        p = offsets[:, None] * np.array([-d[1], d[0]])                 # a point of every ray
        cuts = np.hstack([(grid - p[:, :1]) / d[0], (grid - p[:, 1:]) / d[1]])
        cuts.sort(axis=1)
        length, middle = np.diff(cuts, axis=1), 0.5 * (cuts[:, 1:] + cuts[:, :-1])
        i = np.floor(p[:, :1] + middle * d[0] + half).astype(int)
        j = np.floor(p[:, 1:] + middle * d[1] + half).astype(int)
        ok = (length > 1e-9) & (i >= 0) & (i < side) & (j >= 0) & (j < side)
        rows.append((k * detectors + np.nonzero(ok)[0]).astype(np.int32))
        cols.append((i[ok] * side + j[ok]).astype(np.int32))
        vals.append(length[ok])
    A = sp.csc_matrix((np.concatenate(vals), (np.concatenate(rows), np.concatenate(cols))),
                      shape=(angles * detectors, side**2))
    v, u = np.meshgrid(*[(np.arange(side) + 0.5) / side * 2 - 1] * 2, indexing="ij")
    image = np.zeros((side, side))
    for _ in range(10):
        cv, cu = 0.6 * (2 * rng.random(2) - 1)
        rv, ru = 0.05 + 0.3 * rng.random(2)
        turn = np.pi * rng.random()
        a, c = np.cos(turn) * (v - cv) + np.sin(turn) * (u - cu), np.cos(turn) * (u - cu) - np.sin(turn) * (v - cv)
        image[(a / rv) ** 2 + (c / ru) ** 2 < 1] += 0.2 + rng.random()
    image[v**2 + u**2 > 0.9] = 0.0
    b = A @ image.ravel()
    return A, b + 0.01 * b.max() * rng.standard_normal(len(b))


def counts(rng, m, n, density):
    """Poisson counts with very unequal rows and columns, b the counts of a mixture."""
    row = rng.gamma(0.7, size=m) + 0.02
    col = rng.gamma(0.7, size=n) + 0.02
    total = int(m * n * density * 1.05)               # the busy places are hit more than once
    i = rng.choice(m, size=total, p=row / row.sum())
    j = rng.choice(n, size=total, p=col / col.sum())
    A = sp.csc_matrix((np.ones(total), (i, j)), shape=(m, n))
    x = rng.exponential(size=n) * (rng.random(n) < 0.1)
    return A, rng.poisson(A @ x).astype(float)


def near_duplicates(rng, m, n):
    """Every column four times, with relative noise of 1e-6: nearly the same answer in very many ways."""
    base = rng.random((n // 4, m)) * (rng.random((n // 4, m)) < 0.5)
    A = np.empty((m, n), order="F")
    for j in range(n):
        A[:, j] = base[j % (n // 4)] * (1.0 + 1e-6 * rng.standard_normal(m))
    x = rng.exponential(size=n) * (rng.random(n) < 0.1)
    b = A @ x
    return A, b + 0.05 * b.mean() * rng.standard_normal(m)


def scaled(rng, m, n, density):
    """Columns times 10^U(-12,12): the same problem in other units, which a solver should not notice."""
    scale = 10.0 ** rng.uniform(-12, 12, size=n)
    if density < 1:
        A = sp.random(m, n, density, format="csc", random_state=rng)
    else:
        A = rng.random((m, n))
    x = rng.exponential(size=n) * (rng.random(n) < 0.3)
    b = A @ x
    b = b + 0.1 * b.mean() * rng.standard_normal(m)
    return (sp.csc_matrix(A @ sp.diags(scale)) if density < 1 else np.asfortranarray(A * scale)), b


FAMILIES = [   # name, family, dense?, about how many entries, maker
    ("peaks-1000x600", "peaks", True, 600_000, lambda r: peaks(r, 1000, 600)),
    ("tomography-64", "tomography", False, 340_000, lambda r: tomography(r, 64, 60)),
    ("blur-64", "blur", False, 460_000, lambda r: blur(r, 64)),
    ("scaled-sparse-5000x2000", "scaled-sparse", False, 500_000, lambda r: scaled(r, 5000, 2000, 0.05)),
    ("counts-20000x5000", "counts", False, 1_000_000, lambda r: counts(r, 20000, 5000, 0.01)),
    ("blur-100", "blur", False, 1_100_000, lambda r: blur(r, 100)),
    ("scaled-dense-2000x1000", "scaled-dense", True, 2_000_000, lambda r: scaled(r, 2000, 1000, 1)),
    ("text-20000x10000", "text", False, 1_900_000, lambda r: text(r, 20000, 10000, 100)),
    ("tomography-128", "tomography", False, 2_700_000, lambda r: tomography(r, 128, 120)),
    ("uniform-2000x1500", "uniform", True, 3_000_000, lambda r: uniform(r, 2000, 1500)),
    ("uniform-1000x4000", "uniform-wide", True, 4_000_000, lambda r: uniform(r, 1000, 4000)),
    ("near-duplicates-3000x2000", "near-duplicates", True, 6_000_000, lambda r: near_duplicates(r, 3000, 2000)),
    ("text-50000x200000", "text", False, 7_000_000, lambda r: text(r, 50000, 200000, 150)),
    ("blur-256", "blur", False, 7_300_000, lambda r: blur(r, 256)),
    ("peaks-4000x3000", "peaks", True, 12_000_000, lambda r: peaks(r, 4000, 3000)),
    ("uniform-5000x5000", "uniform", True, 25_000_000, lambda r: uniform(r, 5000, 5000)),
    ("tomography-512", "tomography", False, 30_000_000, lambda r: tomography(r, 512, 60)),
]


def generated(folder, seeds):
    for name, family, dense, size, make in FAMILIES:
        for seed in seeds:
            stem = f"{name}-s{seed}"
            files = [f"{stem}.A.npy", f"{stem}.b.npy"] if dense else [f"{stem}.npz"]
            yield Problem(stem, family, size, seed, [Path(folder) / f for f in files], make)


def real(folder):
    for file in sorted(Path(folder).glob("*.npz")):
        with np.load(file) as z:
            if "indices" in z and "b" in z:
                yield Problem(file.stem, file.stem, len(z["indices"]), None, [file])


def all_problems(cache, data, seeds):
    """Small to large, so that an interrupted run has seen as many problems as possible."""
    folder = Path(cache) / "problems"
    folder.mkdir(parents=True, exist_ok=True)
    found = list(generated(folder, seeds)) + (list(real(data)) if data else [])
    return sorted(found, key=lambda p: (p.size, p.name))
