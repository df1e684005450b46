"""Runs of a guest that repeat one another count once, whoever judges them; runs of a machine never do."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streams
import tautochrone as tc
from report_runs import FACTS
from tautochrone.experiments.requirement import parse
from tautochrone.judge.comparison.compare import compare, compare_pairs
from tautochrone.judge.comparison.side import ComparedSide
from tautochrone.judge.requirement.judge import judge
from tautochrone.run.folder import StoredRun
from tautochrone.run.repeated import each_once
from tautochrone.run.store import Store

SAMPLES = 2_000
COUNTED: dict[str, Any] = {"virtual": {"machine": "abc", "shift": 1, "repeatable": True}}


def measure(folder: Path, median_ns: int = 5_000, **conditions: Any) -> StoredRun:
    samples = np.random.default_rng(1).lognormal(np.log(median_ns), 0.2, SAMPLES).astype(np.int64)
    with Store(folder).create("cyclic", "latency", {"load": "idle", **conditions}, FACTS) as writer:
        writer.append(streams.make_stream([samples]))
        return writer.seal()


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        (COUNTED, COUNTED, 1),
        (COUNTED, {"virtual": {"machine": "abd", "shift": 1}}, 2),
        (COUNTED, {**COUNTED, "load": "cpu"}, 2),
        ({**COUNTED, "code": {"sha256": "1"}}, {**COUNTED, "code": {"sha256": "2"}}, 2),
        (COUNTED, {**COUNTED, "median_ns": 5_001}, 1),  # a busy host may move it by some ns
        ({"virtual": {"machine": "abc"}}, {"virtual": {"machine": "abc"}}, 2),  # its time is the host's
        ({}, {}, 2),
    ],
)
def test_what_is_the_same_on_a_guest_whose_time_is_counted_is_one_run(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], kept: int
) -> None:
    runs = [measure(tmp_path, **one) for one in (first, second)]
    assert each_once(runs) == runs[:kept]


OTHER = {"virtual": {**COUNTED["virtual"], "machine": "abd", "kernel": "debian:rt"}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "judged", "compared"),
    [
        (COUNTED, OTHER, 1, 1),
        (COUNTED, COUNTED, 1, 3),  # two versions of a program on one guest
        ({}, {}, 3, 3),
    ],
)
def test_a_requirement_and_a_comparison_rest_on_no_sample_twice(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], judged: int, compared: int
) -> None:
    sides = [
        tuple(measure(tmp_path, median_ns, **conditions) for _ in range(3))
        for median_ns, conditions in ((5_000, first), (5_100, second))
    ]
    (line,) = judge(parse("latency p99 < 1ms"), sides[0]).lines
    assert line.samples == judged * SAMPLES
    a, b = (ComparedSide(name, runs) for name, runs in zip("AB", sides, strict=True))
    for found in (compare([a, b], tests=False), compare_pairs([("case", a, b)])):
        (pair,) = found.pairs
        assert [len(one.runs) for one in (pair.first, pair.second)] == [compared] * 2


@pytest.mark.slow
def test_a_notebook_selects_from_a_plan_run_without_its_repetitions(tmp_path: Path) -> None:
    """As `tauto select` does: three repetitions of a guest would make a small difference a sure one."""
    for deployment, median_ns in (("M", 9_000), ("MI", 8_900)):
        for repetition in (1, 2, 3):
            plan = {"campaign": "plan-20260101T000000Z-0000", "cell": deployment, "repetition": repetition}
            named = {"name": deployment, "settings": []}
            measure(tmp_path, median_ns, plan=plan, deployment=named, **COUNTED)
    (selection,) = tc.select("plan-latest", store=tmp_path).result.selections
    assert [len(one.runs) for one in selection.candidates] == [1, 1]
