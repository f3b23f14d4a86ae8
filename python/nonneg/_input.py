"""What users have, as the compiled part takes it: converted once, copied only where the layout asks for it."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from nonneg._nonneg import Matrix, is_ready


def to_matrix(A: Any, name: str = "A") -> Matrix:
    """A as a checked matrix, `name` in messages.

    No copy for float64 and float32 in CSC, CSR or Fortran order; anything else is converted once, at the price of one copy.
    """
    try:
        matrix = A if isinstance(A, Matrix) else Matrix.ready(A)
        return _converted(A, name) if matrix is None else matrix
    except ValueError as error:
        message = str(error)
        if name != "A" and message.startswith("A: "):
            raise ValueError(f"{name}: {message[3:]}") from None
        raise


def _converted(A: Any, name: str) -> Matrix:
    if is_sparse(A):
        return _from_sparse(A, name)
    array = to_array(A, name)
    if array.ndim != 2:
        raise ValueError(f"{name} has the shape {array.shape}, expected two dimensions (rows and columns)")
    if array.dtype != np.float32:
        array = np.asarray(array, dtype=np.float64)
    flags = array.flags
    if not ((flags.f_contiguous or flags.c_contiguous) and flags.aligned):
        array = np.array(array, order="F")
    return Matrix.dense(array)


def is_sparse(A: Any) -> bool:
    """Whether it is one of SciPy's sparse matrices or arrays, without importing SciPy."""
    return hasattr(A, "tocsc") and hasattr(A, "format")


def _from_sparse(A: Any, name: str) -> Matrix:
    if len(A.shape) != 2:
        raise ValueError(f"{name} has the shape {A.shape}, expected two dimensions (rows and columns)")
    if A.format not in ("csc", "csr"):
        A = A.tocsc()
    _check_kind(A.dtype, name)
    if A.dtype not in (np.float32, np.float64) or not A.dtype.isnative:
        A = A.astype(np.float64)
    make = Matrix.csc if A.format == "csc" else Matrix.csr
    return make(*A.shape, _indices(A.indptr), _indices(A.indices), np.require(A.data, requirements=["C", "A"]))


def _indices(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind not in "iu":
        raise TypeError(f"A has indices of the type {values.dtype}, expected integers")
    if values.dtype not in (np.int32, np.int64) or not values.dtype.isnative:
        values = values.astype(np.int64)
    return np.require(values, requirements=["C", "A"])


def to_array(values: Any, name: str) -> np.ndarray:
    """Numbers as an array of a real type: NumPy, pandas, polars, anything with ``__array__`` or DLPack, or lists."""
    if hasattr(values, "sparse") and hasattr(values, "dtypes") and hasattr(values.sparse, "to_dense"):
        values = values.sparse.to_dense()  # pandas with sparse columns
    if not isinstance(values, np.ndarray):
        if hasattr(values, "__array__"):
            values = np.asarray(values)
        elif hasattr(values, "__dlpack__"):
            values = np.from_dlpack(values)
        elif hasattr(values, "to_numpy"):
            values = values.to_numpy()
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{name} is a masked array with values missing: fill them, or leave the rows out")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is no array of numbers: {error}") from None
    _check_kind(array.dtype, name)
    if array.dtype == object:
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name} holds objects that are no real numbers: {error}") from None
        except OverflowError as error:
            raise ValueError(f"{name} holds numbers that do not fit float64: {error}") from None
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array


def _check_kind(dtype: np.dtype, name: str) -> None:
    if dtype.kind == "c":
        raise TypeError(f"{name} is complex; non-negative least squares is about real numbers (stack real and imaginary parts)")
    if dtype.kind not in "biufO":
        raise TypeError(f"{name} has the type {dtype}, expected real numbers")


def to_vector(values: Any, name: str) -> np.ndarray:
    """A contiguous 1-D array of float64; a single column or row counts as one."""
    if is_ready(values):
        return values
    if is_sparse(values):
        values = values.toarray()
    array = to_array(values, name)
    if array.ndim == 2 and 1 in array.shape:
        array = array.ravel()
    if array.ndim != 1:
        hint = " (for many right-hand sides: solve_many)" if name == "b" and array.ndim == 2 else ""
        raise ValueError(f"{name} has the shape {array.shape}, expected one dimension{hint}")
    array = np.ascontiguousarray(array, dtype=np.float64)
    return array if array.flags.aligned else array.copy()


def to_bounds(values: Any, name: str) -> float | np.ndarray:
    """A number for all columns, or one for each."""
    if is_sparse(values) or np.ndim(values) > 0:
        return to_vector(values, name)
    return to_number(values, name)


def to_number(value: Any, name: str) -> float:
    """One real number."""
    if type(value) is float:
        return value
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} is {value!r}, expected a number")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r}, expected a number") from None
    except OverflowError:
        raise ValueError(f"{name} is {value!r}, which does not fit float64") from None


def to_name(value: Any, name: str) -> str:
    """One of some names; which ones the compiled part knows."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}, expected a name")
    return value


def to_integer(value: Any, name: str, least: int, most: int = 2**63 - 1) -> int:
    """One integer within limits."""
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}, expected an integer") from None
    if number < least:
        raise ValueError(f"{name} is {value}, expected at least {least}")
    if number > most:
        raise ValueError(f"{name} is {value}, expected at most {most}")
    return number


def to_columns(values: Any, total: int, name: str) -> list[int]:
    """Numbers of columns, from 0, or one flag for each column."""
    array = np.atleast_1d(np.asarray(values))
    if array.ndim != 1:
        raise ValueError(f"{name} has the shape {array.shape}, expected one dimension")
    if array.dtype == bool:
        if array.size != total:
            raise ValueError(f"{name} has {array.size} flags, expected {total} (one per column of A)")
        return np.flatnonzero(array).tolist()
    if array.size == 0:
        return []
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} has the type {array.dtype}, expected numbers of columns or one flag per column")
    if array.min() < 0 or array.max() >= total:
        wrong = array[(array < 0) | (array >= total)][0]
        raise ValueError(f"{name} names column {wrong}, but A has {total} columns, the first being 0")
    return array.tolist()
