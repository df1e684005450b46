"""Giacomossi et al. (2026): what is known of it, its plans, and what is found of it among made-up runs."""

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from reproductions import Made, Samples, measured
from tautochrone.measure.document.document import read as read_plan
from tautochrone.papers.claims import ask
from tautochrone.papers.document import Paper, queries_of
from tautochrone.papers.measured import Measurements
from tautochrone.papers.quantities import statistic_of
from tautochrone.papers.studies import read
from tautochrone.run.conditions import VirtualMachine

US = 1_000
STRESS = "cpu+memory:bytes=256MB"


@pytest.fixture(scope="module")
def paper() -> Paper:
    return read("giacomossi2026")


def samples(median_ns: int, spread: float) -> Samples:
    return np.random.default_rng(1).lognormal(np.log(median_ns), spread, 10_000).astype(np.int64)


def scattered(found: Samples, latest_ns: int) -> Samples:
    """Late samples all over the run, each by another nanosecond."""
    found[::100] = latest_ns - np.arange(len(found[::100]))
    return found


def made(system: str, calm: Samples, stressed: Samples, other: Samples) -> list[Made]:
    real_time = [
        ("SCHED_FIFO", "priority", ("50", "99")),
        ("SCHED_RR", "priority", ("50", "99")),
        ("SCHED_DEADLINE", "runtime", ("400us", "800us")),
    ]
    return [
        Made("SCHED_OTHER", system, STRESS, repetitions=[[other]]),
        Made("arithmetic or memory beside it", system, "cpu", repetitions=[[calm]]),
        Made("arithmetic or memory beside it", system, "bandwidth", repetitions=[[stressed]]),
        *(
            Made(of, system, STRESS, options=((name, value),), repetitions=[[stressed]])
            for of, name, values in real_time
            for value in values
        ),
    ]


def answer(paper: Paper, measurements: Measurements, name: str) -> str:
    (claim,) = [one for one in paper.claims if one.name == name]
    (asked,) = ask(claim, measurements)
    return asked.finding.answer


def test_the_repositorys_numbers_are_those_that_the_abstract_rounds(paper: Paper) -> None:
    (table,) = paper.tables
    largest = {row.label: (one[0].value, one[3].value) for row, one in
               zip(table.rows, table.published["PREEMPT_RT"], strict=True)}  # fmt: skip
    assert largest.pop("SCHED_OTHER, nice 0")[1] == 9_015
    largest.pop("SCHED_OTHER, nice -19")
    assert max(stressed or 0 for _, stressed in largest.values()) == 225
    # What the note says of the abstract's two numbers.
    assert round(100 * (1 - 225 / 9_000), 1) == 97.5


def test_every_query_has_its_experiment_and_statistic(paper: Paper) -> None:
    for name in ("giacomossi2026", "giacomossi2026.quick"):
        document = read_plan(Path(str(files("tautochrone.papers") / f"{name}.plan.toml")))
        titles = {one.title for one in document.entries}
        specs = {spec for one in document.entries for spec in one.axes.get("loads", document.axes["loads"])}
        for query in queries_of(paper):
            assert query.of in titles
            assert any(query.load in (spec, spec.partition(":")[0]) for spec in specs), query
            assert query.statistic == "samples" or statistic_of(query.statistic), query


@pytest.mark.slow
def test_systems_as_the_abstract_has_them_bear_it_out(paper: Paper, tmp_path: Path) -> None:
    ordinary = made(
        "local",
        samples(20 * US, 0.3),
        scattered(samples(30 * US, 0.8), 9_500 * US),
        scattered(samples(90 * US, 0.9), 9_500 * US),
    )
    real_time = made("board-rt", samples(6 * US, 0.1), samples(12 * US, 0.4), samples(90 * US, 0.9))
    there = measured(tmp_path, [*ordinary, *real_time])
    assert {one.name: answer(paper, there, one.name) for one in paper.claims} == {
        "ordinary-passes-9ms": "yes",
        "ordinary-is-unsuitable": "yes",
        "real-time-keeps-225us": "yes",
        "real-time-cuts-the-worst": "yes",
        "real-time-varies-less": "yes",
        "direct-activation-is-earlier": "yes",
        "memory-makes-what-is-left": "yes",
    }


def test_what_the_hardware_does_is_not_asked_of_a_guest(paper: Paper, tmp_path: Path) -> None:
    there = measured(
        tmp_path, made("lab-rt", samples(6 * US, 0.1), samples(12 * US, 0.4), samples(90 * US, 0.9))
    )
    guests = tuple(replace(one, virtual=VirtualMachine()) for one in there.systems)
    (claim,) = [one for one in paper.claims if one.name == "memory-makes-what-is-left"]
    (asked,) = ask(claim, replace(there, systems=guests))
    assert (asked.finding.answer, asked.systems) == ("not asked", ("lab-rt",))
    assert "counts instructions" in asked.finding.evidence
    assert answer(paper, replace(there, systems=guests), "real-time-keeps-225us") == "yes"
