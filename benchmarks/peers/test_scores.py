"""How measurements become scores: failures, caps, the next tolerance, what is skipped."""
import pytest

import peers
import report
from solvers import PEERS


def results(ours, peer, gap=1e-6):
    entry = {"group": "p", "m": 1, "n": 1, "nnz": 1, "transpose_seconds": 0.5,
             "ours": {"runs": [{"tol": gap, "seconds": ours, "gap": None if ours is None else gap / 2}]},
             "peers": {"a": {"runs": peer, "status": "done"}}}
    return {"limit_seconds": 60.0, "gaps": [gap], "problems": {"p": entry}}


def one(ours, peer):
    return report.score(results(ours, peer))[0]


def test_a_run_counts_only_with_the_gap():
    runs = [{"seconds": 1.0, "gap": 1e-5}, {"seconds": 3.0, "gap": 1e-7}, {"seconds": None, "gap": None}]
    line = one(1.5, runs)
    assert line["best_peer_seconds"] == 3.0 and line["ratio"] == pytest.approx(2.0) and line["ours_over_transpose"] == 3.0


def test_who_fails_counts_as_the_limit():
    assert one(30.0, [{"seconds": None, "gap": None}])["ratio"] == pytest.approx(2.0)
    assert one(None, [{"seconds": 6.0, "gap": 1e-9}])["ratio"] == pytest.approx(0.1)


def test_a_peer_that_was_stopped_sooner_counts_as_its_own_limit():
    all_results = results(1.0, [{"seconds": None, "gap": None}])
    all_results["problems"]["p"]["peers"]["a"] |= {"status": "time limit", "limit_seconds": 10.0}
    assert report.score(all_results)[0]["ratio"] == pytest.approx(10.0)
    all_results["problems"]["p"]["peers"]["a"] |= {"status": "done", "not_tried": [1e-6]}
    assert report.score(all_results)[0]["ratio"] == pytest.approx(10.0)
    all_results["problems"]["p"]["peers"]["a"] |= {"status": "failed: needs a dense A", "not_tried": []}
    assert report.score(all_results)[0]["ratio"] == pytest.approx(60.0)


def test_ratios_are_capped_and_losses_are_listed():
    assert one(0.001, [{"seconds": 50.0, "gap": 1e-9}])["ratio"] == report.CAP
    summary = report.summarise([one(2.0, [{"seconds": 1.0, "gap": 1e-9}])], [1e-6])
    assert summary["below_0.9"] == 1 and summary["losses"][0][0] == "p"


def test_the_next_tolerance_aims_at_the_first_gap_missed():
    peer, wanted = PEERS["skglm"], [1e-4, 1e-6, 1e-10]
    assert peers.tighter(peer, 1e-3, 1e-3, False, wanted) == pytest.approx(1e-3 * 0.05)
    assert peers.tighter(peer, 1e-3, 5e-5, False, wanted) == pytest.approx(1e-3 * 0.01)
    assert peers.tighter(peer, 1e-3, 1e-11, False, wanted) is None
    assert peers.tighter(peer, peer.tightest, 1e-3, False, wanted) is None
    assert peers.tighter(PEERS["scipy-nnls"], None, 1e-3, True, wanted) is None


def test_what_timed_out_on_a_smaller_problem_is_not_tried():
    class Problem:
        family, size = "f", 10

    timed_out = {"status": "time limit", "runs": [{"gap": 1e-5}, {"gap": None}]}
    entries = {"small": {"family": "f", "size": 5, "peers": {"a": timed_out}}}
    assert peers.still_possible(entries, Problem, "a", [1e-4, 1e-6]) == [1e-4]
    assert peers.still_possible(entries, Problem, "b", [1e-4, 1e-6]) == [1e-4, 1e-6]
    entries["small"]["size"] = 10
    assert peers.still_possible(entries, Problem, "a", [1e-4, 1e-6]) == [1e-4, 1e-6]
