"""The compiled part. Not for users: it checks little and converts nothing."""

from collections.abc import Callable
from typing import Any

import numpy as np

METHODS: list[str]
STATUSES: list[str]
__version__: str

def is_ready(array: object) -> bool: ...

class Matrix:
    @staticmethod
    def ready(array: object) -> Matrix | None: ...
    @staticmethod
    def dense(array: np.ndarray) -> Matrix: ...
    @staticmethod
    def csc(rows: int, cols: int, pointers: np.ndarray, indices: np.ndarray, values: np.ndarray) -> Matrix: ...
    @staticmethod
    def csr(rows: int, cols: int, pointers: np.ndarray, indices: np.ndarray, values: np.ndarray) -> Matrix: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def nnz(self) -> int: ...
    @property
    def copied(self) -> bool: ...

class Answer:
    def fields(self) -> dict[str, Any]: ...
    def trace(self) -> dict[str, Any]: ...

class Prepared:
    def __init__(self, matrix: Matrix, weights: np.ndarray | None = None, l2: float = 0.0) -> None: ...
    @property
    def matrix(self) -> Matrix: ...

def nnls(a: Any, b: Any, max_iterations: int | None) -> tuple[np.ndarray, float, bool] | None: ...
def solve(
    source: Matrix | Prepared, parts: dict[str, Any], settings: dict[str, Any], callback: Callable[..., Any] | None = None
) -> tuple[np.ndarray, Answer]: ...
def solve_many(
    a: Matrix,
    b: Matrix,
    settings: dict[str, Any],
    weights: np.ndarray | None = None,
    upper: float | np.ndarray | None = None,
    l1: float = 0.0,
    l2: float = 0.0,
    sum_to_one: bool = False,
) -> dict[str, Any]: ...
def nmf(
    v: Matrix,
    rank: int,
    method: str,
    start: str,
    tol: float,
    max_iter: int,
    l1: float,
    l2: float,
    seed: int,
    time_limit: float | None = None,
    threads: int | None = None,
) -> dict[str, Any]: ...
def seconds_in_rust(source: Matrix | Prepared, parts: dict[str, Any], rounds: int, repeats: int) -> float: ...
def verify(source: Matrix | Prepared, parts: dict[str, Any], x: np.ndarray) -> dict[str, Any]: ...
