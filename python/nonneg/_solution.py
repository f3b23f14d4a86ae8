"""What comes back: numbers with their proof."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from html import escape
from typing import Any, NamedTuple

import numpy as np

from nonneg._nonneg import Answer


class TraceRow(NamedTuple):
    """The state of a run at one check: what a callback sees. Numbers that are not known are None."""

    passes: float
    seconds: float
    objective: float | None
    lower_bound: float | None
    relative_gap: float | None
    natural_residual: float | None
    support: int
    restarts: int
    event: str


class Trace(Mapping):
    """What happened, one entry per check: ``trace["passes"]`` or ``trace.passes``. Numbers that are not known are NaN.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> trace = nonneg.solve(np.eye(2), [1.0, 2.0]).trace
    >>> list(trace)[:3]
    ['passes', 'seconds', 'objective']
    >>> trace.event[0], trace.event[-1]
    ('start', 'final')
    """

    def __init__(self, columns: Mapping[str, Any]):
        self._columns = dict(columns)

    def __reduce__(self):
        return Trace, (self._columns,)

    def __getitem__(self, name: str):
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __getattr__(self, name: str):
        if name.startswith("_") or name not in self._columns:
            raise AttributeError(f"the trace has no column {name!r}; it has {', '.join(TraceRow._fields)}")
        return self._columns[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._columns]

    def __repr__(self) -> str:
        return f"Trace({len(self['passes'])} checks, {', '.join(self)})"

    def rows(self) -> Iterator[TraceRow]:
        """Row by row."""
        return (TraceRow(*values) for values in zip(*(self[name] for name in TraceRow._fields), strict=True))

    def to_frame(self):
        """As a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(dict(self))


class Seconds(float):
    """All seconds of a run, with its parts: ``seconds.presolve``, ``seconds.solve``, ``seconds.certify``, ``seconds.total``;
    ``seconds["solve"]`` works too."""

    def __new__(cls, presolve: float, solve: float, certify: float, total: float):
        self = float.__new__(cls, total)
        self.__dict__ = {"presolve": presolve, "solve": solve, "certify": certify, "total": total}
        return self

    def __getitem__(self, part: str) -> float:
        return self.__dict__[part]

    def __reduce__(self):
        return Seconds, (self.presolve, self.solve, self.certify, self.total)


def within(gap: float) -> str:
    """A proved gap in words."""
    return f"within {gap:.1e} of the best possible, proved"


@dataclass(eq=False, repr=False)
class Certificate:
    """How good an x is, proved from the data. Numbers that are not known are None.

    Attributes
    ----------
    objective : float
        ``½‖Ax − b‖²`` plus penalties.
    residual_norm : float
        ``‖Ax − b‖``, with the weights where there are any.
    lower_bound : float
        Proved: no feasible x has a smaller objective.
    relative_gap : float
        Proved: ``(f(x) − f*) / |f*|`` is at most this, with ``f(x) = ½‖Ax‖² − bᵀAx`` plus penalties: |f*| is what the best x
        gains over x = 0 (with lower bounds: over x at its lower bounds).
    natural_residual : float
        Zero exactly at the optimum.
    relative_residual : float
        The natural residual over that of x = 0.
    support : int
        How many entries of x are not zero.
    dual : ndarray
        The dual point that proves the bound.
    """

    objective: float | None
    residual_norm: float | None
    lower_bound: float | None
    relative_gap: float | None
    natural_residual: float | None
    relative_residual: float | None
    support: int
    dual: np.ndarray | None = field(repr=False)

    @property
    def certified(self) -> bool:
        """Whether anything is proved about x."""
        return self.relative_gap is not None

    def __bool__(self) -> bool:
        raise TypeError("a certificate is neither true nor false: compare its relative_gap with what you need")

    def _words(self) -> str:
        if self.relative_gap is not None:
            return within(self.relative_gap)
        if self.relative_residual is not None:
            return f"natural residual {self.relative_residual:.1e} of that at x = 0, nothing proved"
        return "nothing proved"

    def _lines(self) -> list[tuple[str, str]]:
        lines = [("certificate", self._words())]
        if self.objective is not None:
            bound = "no lower bound is known" if self.lower_bound is None else f"proved ≥ {self.lower_bound:.6g}"
            lines.append(("objective", f"{self.objective:.6g}, {bound}"))
        if self.residual_norm is not None:
            lines.append(("‖Ax − b‖", f"{self.residual_norm:.6g}"))
        lines.append(("support", f"{self.support:,}"))
        return lines

    def __repr__(self) -> str:
        lines = self._lines()
        width = max(len(label) for label, _ in lines)
        return "\n".join([f"{type(self).__name__}:", *(f"  {label:<{width}}  {text}" for label, text in lines)])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(k)}</th><td style='text-align:left'>{escape(v)}</td></tr>"
            for k, v in self._lines()
        )
        return f"<table><caption>{type(self).__name__}</caption>{rows}</table>"


_STATUS = {
    "solved": "solved",
    "converged": "converged: the natural residual is small; no bound is proved (nothing is known to limit x)",
    "time_limit": "time limit",
    "pass_limit": "pass limit",
    "interrupted": "interrupted",
    "stalled": "stalled: rounding allows no more",
}


@dataclass(eq=False, repr=False)
class Solution(Certificate):
    """An answer with its certificate. Beside the attributes of :class:`Certificate`:

    Attributes
    ----------
    x : ndarray
        The answer.
    status : str
        ``"solved"``: certified to the tolerance. ``"converged"``: no certificate exists (A is signed, or columns are free), and
        the natural residual is below the tolerance. ``"time_limit"``, ``"pass_limit"``, ``"interrupted"``, ``"stalled"``: the
        best x so far.
    converged : bool
        Whether the tolerance was reached.
    certified : bool
        Whether that is proved.
    method : str
        What ran.
    passes : float
        The work, in passes over A.
    restarts : int
        How often SI-NNLS+ started again.
    dropped_columns : int
        Columns that were seen to be zero before anything was solved.
    signed : bool
        Whether A has a negative entry.
    seconds : Seconds
        All of them, with its parts as attributes.
    trace : Trace
        What happened on the way.
    """

    x: np.ndarray = field(kw_only=True)
    status: str = field(kw_only=True)
    method: str = field(kw_only=True)
    passes: float = field(kw_only=True)
    restarts: int = field(kw_only=True)
    dropped_columns: int = field(kw_only=True)
    signed: bool = field(kw_only=True)
    seconds: Seconds = field(kw_only=True)
    trace: Trace = field(kw_only=True, repr=False)

    @classmethod
    def _of(cls, x: np.ndarray, answer: Answer) -> Solution:
        """Of what the compiled part returns. Other attributes than x are made when somebody looks."""
        self = object.__new__(cls)
        self.__dict__ = {"x": x, "_answer": answer}
        return self

    def __getattr__(self, name: str):
        # Called for what is not there yet.
        here = self.__dict__
        answer = here.get("_answer")
        if answer is not None:
            if name == "trace":
                return here.setdefault("trace", Trace(answer.trace()))
            if "status" not in here:
                made = answer.fields()
                made["seconds"] = Seconds(*made["seconds"])
                here.update(made | here)
                if name in here:
                    return here[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        state = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in self.__dict__.items() if name != "_answer"} | state

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(field.name for field in fields(self))} - {"_answer"})

    @property
    def converged(self) -> bool:
        return self.status in ("solved", "converged")

    @property
    def certified(self) -> bool:
        return self.status == "solved"

    def _lines(self) -> list[tuple[str, str]]:
        (_, words), *rest = super()._lines()
        name = _STATUS.get(self.status, self.status)
        lines = [("status", name if self.status == "converged" else f"{name}: {words}"), *rest]
        lines[-1] = ("support", f"{self.support:,} of {self.x.size:,} columns")
        lines.append(("work", f"{self.passes:.1f} passes over A, {float(self.seconds):.3g} s ({self.method})"))
        return lines

    def plot(self, ax=None):
        """Draws the proved gap over the passes, with matplotlib; returns the axes."""
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots()
        trace = self.trace
        known = np.isfinite(trace["relative_gap"]) & (trace["relative_gap"] > 0)
        if known.any():
            ax.plot(trace["passes"][known], trace["relative_gap"][known], marker=".", label="proved relative gap")
        else:
            known = trace["natural_residual"] > 0
            ax.plot(trace["passes"][known], trace["natural_residual"][known], marker=".", label="natural residual")
        ax.set(yscale="log", xlabel="passes over A", title=f"{self.method}: {self._words()}")
        ax.legend()
        return ax
