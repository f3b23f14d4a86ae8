import io
import itertools
import json
import os
import re
import subprocess

import numpy as np
import pytest
import scipy.sparse as sp


class Nonneg:
    """The command, run in a folder of its own: names of files are those in it."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.numbers = itertools.count()

    def __truediv__(self, name):
        return str(self.folder / name)

    def bytes_of(self, name):
        return (self.folder / name).read_bytes()

    def put(self, name, data):
        (self.folder / name).write_bytes(data)

    def run(self, arguments, status=0, stdin=None):
        """What it printed, and its messages."""
        command = [self.binary, *map(str, arguments)]
        done = subprocess.run(command, cwd=self.folder, input=stdin, capture_output=True, timeout=60)
        message = done.stderr.decode()
        assert done.returncode == status, f"exit status {done.returncode}: {' '.join(command[1:])}\n{message}"
        return done.stdout.decode(), message

    def __call__(self, *arguments, status=0, stdin=None):
        """Returns what it printed, or its message where it is to fail."""
        printed, message = self.run(arguments, status, stdin)
        return message if status else printed

    def message_of(self, *arguments):
        return self.run(arguments)[1]

    def read(self, location, *options):
        """A and b (or None) as `convert` reads them; `info` must say the same."""
        name = f"read_{next(self.numbers)}.npz"
        self("convert", location, name, "--quiet", *options)
        A, b = load_npz(self / name)
        info = json.loads(self("info", location, "--json", *options))
        assert (info["m"], info["n"]) == A.shape
        assert (info["kind"], info["dtype"]) == ("sparse columns" if sp.issparse(A) else "dense columns", str(A.dtype))
        assert info["has_rhs"] == (b is not None)
        assert info["nonzeros"] == (A.count_nonzero() if sp.issparse(A) else np.count_nonzero(A))
        if not re.search(r"\.(csv|tsv|txt|svm|libsvm)(\.|$)", location):  # these have no header
            header = json.loads(self("info", location, "--header", "--json", *options))
            assert (header["m"], header["n"]) == A.shape
        return A, b

    def write(self, name, A, b=None):
        """Has `convert` write A, and b where it is given; returns the path."""
        source = f"source_{next(self.numbers)}.npz"
        save_npz(self / source, A, b)
        self("convert", source, name, "--quiet")
        return self / name


def save_npz(path, A, b=None):
    """As SciPy saves a sparse A or NumPy a dense one; b beside it."""
    arrays = {} if b is None else {"b": b}
    if not sp.issparse(A):
        np.savez(path, A=A, **arrays)
        return
    buffer = io.BytesIO()
    sp.save_npz(buffer, A)
    with np.load(io.BytesIO(buffer.getvalue())) as saved:
        np.savez(path, **saved, **arrays)


def load_npz(path):
    """A and b (or None) as SciPy and NumPy load them."""
    with np.load(path) as arrays:
        A = sp.load_npz(path) if "format" in arrays else arrays["A"]
        return A, arrays.get("b")


@pytest.fixture(scope="session")
def binary():
    path = os.environ.get("NONNEG_BIN")
    if not path:
        pytest.exit("set the environment variable NONNEG_BIN to the nonneg binary that is to be tested", returncode=2)
    path = os.path.abspath(path)
    if not os.access(path, os.X_OK):
        pytest.exit(f"NONNEG_BIN: there is no program {path}", returncode=2)
    return path


@pytest.fixture
def nonneg(binary, tmp_path):
    return Nonneg(binary, tmp_path)


@pytest.fixture(scope="module")
def shared(binary, tmp_path_factory):
    """As nonneg, with one folder for all tests of a file."""
    return Nonneg(binary, tmp_path_factory.mktemp("shared"))
