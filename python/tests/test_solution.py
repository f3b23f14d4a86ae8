"""What comes back can be printed, drawn, stored and copied."""

import copy
import dataclasses
import html
import pickle
import re

import matplotlib
import numpy as np
import pytest
from common import endless, text_like, uniform
from numpy.testing import assert_array_equal

import nonneg

COLUMNS = ["passes", "seconds", "objective", "lower_bound", "relative_gap", "natural_residual", "support", "restarts", "event"]
PROVED = re.compile(r"within \d\.\de[-+]\d\d of the best possible, proved")


def solved(**options):
    return nonneg.solve(*text_like(), method="si-nnls", **options)


def signed():
    return nonneg.solve(*endless())


def test_trace_has_the_columns_of_the_contract():
    trace = solved().trace
    assert list(trace) == COLUMNS == list(nonneg.TraceRow._fields)
    assert len(trace) == len(COLUMNS)
    lengths = {len(trace[name]) for name in trace}
    assert len(lengths) == 1 and lengths.pop() >= 2
    for name in COLUMNS[:6]:
        assert trace[name].dtype == np.float64
    for name in ("support", "restarts"):
        assert trace[name].dtype == np.int64
    assert all(isinstance(event, str) for event in trace["event"])


def test_trace_columns_are_attributes_too():
    trace = solved().trace
    assert trace.passes is trace["passes"]
    assert {"passes", "event", "rows", "to_frame"} <= set(dir(trace))
    with pytest.raises(AttributeError, match="speed"):
        _ = trace.speed
    with pytest.raises(KeyError, match="speed"):
        trace["speed"]


def test_trace_goes_forward():
    solution = solved(tol=1e-9)
    trace = solution.trace
    assert (np.diff(trace.passes) >= 0).all() and (np.diff(trace.seconds) >= 0).all() and (np.diff(trace.restarts) >= 0).all()
    assert trace.event[0] == "start" and trace.event[-1] == "final" and trace.event[1:-1].count("final") == 0
    assert trace.relative_gap[-1] == solution.relative_gap
    assert trace.support[-1] == solution.support and trace.restarts[-1] == solution.restarts
    assert trace.passes[-1] == solution.passes


def test_unknown_numbers_of_a_trace_are_nan():
    trace = signed().trace
    assert np.isnan(trace.relative_gap).all() and np.isnan(trace.lower_bound).all()
    assert np.isfinite(trace.natural_residual).all()


def test_trace_rows():
    trace = solved().trace
    rows = list(trace.rows())
    assert len(rows) == len(trace.passes)
    assert isinstance(rows[0], nonneg.TraceRow) and rows[-1].event == "final"
    assert [row.passes for row in rows] == list(trace.passes)


def test_trace_to_frame():
    frame = solved().trace.to_frame()
    assert list(frame.columns) == COLUMNS and frame["event"].iloc[-1] == "final"


def test_trace_repr():
    solution = solved()
    assert f"{len(solution.trace.passes)} checks" in repr(solution.trace)


def test_repr_of_a_solution_says_what_is_proved():
    solution = solved()
    text = repr(solution)
    assert text == str(solution)
    assert text.startswith("Solution:")
    assert PROVED.search(text)
    assert "solved" in text and "40 columns" in text and "passes over A" in text and "si-nnls" in text
    assert max(map(len, text.splitlines())) < 100
    assert "0x" not in text


def test_repr_of_a_signed_solution_claims_nothing():
    text = repr(signed())
    assert "converged" in text and "no bound is proved" in text and "within" not in text


def test_html_says_the_same():
    solution = solved()
    page = solution._repr_html_()
    assert page.startswith("<table") and page.endswith("</table>") and page.count("<tr>") == page.count("</tr>") >= 4
    text = html.unescape(re.sub("<[^>]*>", " ", page))
    assert PROVED.search(text)
    for line in repr(solution).splitlines()[1:]:
        assert line.split("  ")[-1] in text


def test_certificate_fields_can_be_listed():
    """Made when somebody looks, but named before, for tables, logs and completion."""
    names = {"x", "status", "relative_gap", "objective", "dual", "passes", "seconds", "trace"}
    assert names <= {field.name for field in dataclasses.fields(solved())}
    assert names <= set(dir(solved())) and "_answer" not in dir(solved())
    assert names <= set(dataclasses.asdict(solved()))
    with pytest.raises(AttributeError, match="no attribute 'y'"):
        solved().y  # noqa: B018


def same(a, b):
    assert type(a) is type(b)
    assert_array_equal(a.dual, b.dual)
    for name in (
        "objective",
        "residual_norm",
        "lower_bound",
        "relative_gap",
        "natural_residual",
        "relative_residual",
        "support",
    ):
        assert getattr(a, name) == getattr(b, name)
    assert repr(a) == repr(b)
    if isinstance(a, nonneg.Solution):
        assert_array_equal(a.x, b.x)
        assert a.status == b.status and a.certified == b.certified and a.method == b.method
        assert a.seconds == b.seconds and a.seconds.solve == b.seconds.solve
        assert list(a.trace.event) == list(b.trace.event)
        for name in COLUMNS[:-1]:
            assert_array_equal(a.trace[name], b.trace[name])


def verified():
    return nonneg.verify(*uniform(), np.zeros(30))


@pytest.mark.parametrize("make", [solved, signed, verified])
def test_copies_are_the_same(make):
    value = make()
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        same(pickle.loads(pickle.dumps(value, protocol)), value)
    same(copy.copy(value), value)
    same(copy.deepcopy(value), value)


def test_a_deep_copy_shares_nothing():
    value = solved()
    other = copy.deepcopy(value)
    other.x[:] = -1.0
    other.trace.passes[:] = -1.0
    assert (value.x >= 0.0).all() and (value.trace.passes >= 0.0).all()


def test_plot_draws_the_proved_gap():
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    solution = solved()
    axes = solution.plot()
    (line,) = axes.get_lines()
    assert_array_equal(line.get_xdata(), solution.trace.passes)
    assert_array_equal(line.get_ydata(), solution.trace.relative_gap)
    assert axes.get_yscale() == "log" and axes.get_xlabel() and "si-nnls" in axes.get_title()
    assert axes.get_legend() is not None
    axes.figure.canvas.draw()
    plt.close("all")


def test_plot_into_given_axes():
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    _, axes = plt.subplots()
    assert solved().plot(axes) is axes
    assert solved().plot(ax=axes) is axes
    assert len(axes.get_lines()) == 2
    axes.figure.canvas.draw()
    plt.close("all")


@pytest.mark.parametrize("make", [signed, lambda: nonneg.solve(np.eye(2), [-1.0, -1.0])], ids=["signed", "zero"])
def test_plot_without_a_proved_gap_to_draw(make):
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    axes = make().plot()
    axes.figure.canvas.draw()
    plt.close("all")
