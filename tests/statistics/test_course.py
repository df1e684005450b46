"""What stands out in the course of a run is said in words, on the page and by `tauto show`."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from report_runs import store_run
from tautochrone.answer import composition, evidence
from tautochrone.answer.phrasing.course import clue, exactly, sentences
from tautochrone.judge.course import course_of
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

S, MS = 1_000_000_000, 1_000_000
FACTS = {"kernel": {"name": "Linux", "release": "6.1.0-rt", "tick_hz": 250}}


def body(rng: np.random.Generator, n: int = 12_000) -> np.ndarray:
    return np.exp(8.5 + 0.35 * rng.standard_normal(n))


@pytest.fixture(scope="module")
def eventful(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    """Two CPUs with a spike each second, one of which slows down after 8 s."""
    rng = np.random.default_rng(1)
    first, second = body(rng), body(rng)
    first[300::1_000] += 2e5
    second[300::1_000] += 1e5
    first[8_000:] *= 1.5
    return stored(tmp_path_factory.mktemp("store"), [first, second])


def stored(folder: Path, sources: list[np.ndarray], **options: object) -> StoredRun:
    whole = [values.astype(np.int64) for values in sources]
    return store_run(Store(folder), whole, facts=FACTS, rows_per_frame=4_096, **options)  # type: ignore[arg-type]


@pytest.mark.slow
def test_changes_periods_and_sources_together_are_said_with_their_numbers(eventful: StoredRun) -> None:
    change, spike, together, *_ = sentences(course_of(eventful))
    assert change.startswith("At 8.02 s, cpu0: the median rises from 4.")
    assert "(+50 %)" in change or "(+49 %)" in change
    assert spike.startswith(
        "A spike every 1.000 s, both sources: of the 12 largest samples (of cpu0), all come"
    )
    assert "in 12 of 12 periods" in spike
    assert "such as" in spike
    assert together.startswith("cpu0 and cpu1 have large samples at the same time: of the")


def test_nothing_found_is_said_with_what_would_not_have_been_seen(tmp_path: Path) -> None:
    (sentence,) = sentences(course_of(stored(tmp_path, [body(np.random.default_rng(2))])))
    assert sentence.startswith("No change, no period found in 12,000 samples; a change of the median below ")
    assert sentence.endswith(" % would not be seen.")


def test_a_level_that_wanders_is_said_to_hide_changes(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    level = np.repeat(np.exp(random.normal(0, 0.25, 48)), 250)
    (sentence,) = sentences(course_of(stored(tmp_path, [body(random) * level])))
    assert "; the level wanders so much that only changes of the median above " in sentence
    assert sentence.endswith(" % could be told from it.")


def test_too_few_samples_and_a_histogram_are_refused_with_the_reason(tmp_path: Path) -> None:
    few = sentences(course_of(stored(tmp_path, [body(np.random.default_rng(3), 300)])))
    assert few == [
        "300 samples are too few to search for changes and periods over time; 1,536 of one source are needed."
    ]
    kept = course_of(stored(tmp_path, [body(np.random.default_rng(3), 300)], histogram=True))
    assert kept.histogram
    (said,) = sentences(kept)
    assert "kept a histogram" in said
    assert sentences(course_of(stored(tmp_path, [np.empty(0)]))) == []


@pytest.mark.slow
def test_a_level_that_rises_throughout_is_one_sentence(tmp_path: Path) -> None:
    values = body(np.random.default_rng(4), 40_000) * np.linspace(1, 2, 40_000)
    said = sentences(course_of(stored(tmp_path, [values])))
    assert said[0].startswith("The median rises throughout, from ")
    assert not any("the median rises from" in sentence for sentence in said)


@pytest.mark.slow
def test_many_sources_need_few_sentences(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    sources = [body(rng, 8_000) for _ in range(12)]
    for values in sources[:9]:
        values[300::1_000] += 1e5
    said = sentences(course_of(stored(tmp_path, sources)))
    assert any("A spike every 1.000 s, 9 of 12 sources (cpu0, cpu1, cpu2, cpu3, …)" in one for one in said)
    assert any(one.startswith("9 of 12 sources (cpu0, cpu1, cpu2, cpu3, …) have large") for one in said)
    assert len(said) <= 8


@pytest.mark.slow
def test_the_figure_over_time_says_it_and_marks_it(eventful: StoredRun) -> None:
    seen = evidence.gather([eventful])
    figure = next(
        one for one in composition.compose(seen.measured[0], "m") if one.title == "When it was late"
    )
    assert any("A spike every 1.000 s" in note for note in figure.notes)
    assert any("dashed line" in sentence for sentence in figure.caption)
    marks = seen.measured[0].series[0].marks
    assert marks is not None
    assert [round(at) for at in marks.change_s] == [8]
    assert [round(level[2] / 1_000) for level in marks.level] == [5, 7]
    assert len(marks.spike_s) == 12


@pytest.mark.slow
def test_show_prints_it_and_gives_it_as_json(eventful: StoredRun) -> None:
    from tautochrone.cli.app import app

    store = ["--store", str(eventful.path.parent)]
    text = CliRunner().invoke(app, ["show", eventful.id, *store]).output
    assert "Over time:\nAt 8.02 s, cpu0: the median rises" in text
    told = json.loads(CliRunner().invoke(app, ["show", eventful.id, "--json", *store]).output)
    (over_time,) = told["measures"][0]["over_time"]
    first = over_time["sources"][0]
    assert first["changes"][0]["at_ns"] == pytest.approx(8 * S, abs=0.2 * S)
    assert first["periods"][-1]["period_ns"] == pytest.approx(S, rel=1e-3)
    assert over_time["together"][0]["first"] == "cpu0"
    assert len(over_time["sentences"]) >= 3


@pytest.mark.parametrize(
    ("period_ns", "error_ns", "release_ns", "tick_hz", "expected"),
    [
        (S, 100, MS, 250, "once a second"),
        (4 * MS, 100, MS, 250, "this kernel's tick has that period (CONFIG_HZ=250)"),
        (4 * MS, 100, MS, None, "a kernel's tick may have that period"),
        (4 * MS, 100, MS, 1_000, ""),
        (36 * MS, 100, 900_000, 250, "releases every 0.9 ms meet a tick of 4 ms"),
        (30 * S, 1_000, MS, 250, "whole seconds"),
        (30.5 * S, 1_000, MS, 250, ""),
        (S, 0.1 * S, MS, 250, ""),
    ],
)
def test_a_period_is_a_clue_where_something_is_known_to_have_it(
    period_ns: float, error_ns: float, release_ns: float, tick_hz: int | None, expected: str
) -> None:
    found = clue(period_ns, error_ns, release_ns, tick_hz)
    assert expected in found
    assert bool(found) == bool(expected)


@pytest.mark.parametrize(
    ("ns", "error_ns", "expected"),
    [
        (1e9, 100, "1.000 s"),
        (1.0003e9, 1e3, "1.0003 s"),
        (4e6, 10, "4.000 ms"),
        (99.8e6, 0.3e6, "99.8 ms"),
        (10e9, 1e6, "10.00 s"),
    ],
)
def test_a_period_has_as_many_digits_as_are_known(ns: float, error_ns: float, expected: str) -> None:
    assert exactly(ns, error_ns) == expected
