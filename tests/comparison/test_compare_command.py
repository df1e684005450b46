"""``tauto compare``: what its sides may be, its exit codes, and what it writes."""

import json
import subprocess
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from real import tauto
from report_runs import FACTS, store_run
from tautochrone.answer.render import page, terminal
from tautochrone.comparison.answer import document
from tautochrone.judge.comparison.compare import Comparison, compare
from tautochrone.judge.comparison.side import ComparedSide
from tautochrone.run.store import Store

_KEYS = {"idle": "0a0a0a0a0a0a", "loaded": "0b0b0b0b0b0b", "idle, MI": "0c0c0c0c0c0c"}


def _values(seed: int, scale: float = 1.0) -> Any:
    return (np.random.default_rng(seed).lognormal(np.log(20_000), 0.3, 400) * scale).astype(np.int64)


def _campaign(store: Store, name: str, scale: float, cells: tuple[str, ...]) -> None:
    """One of two repetitions of each cell."""
    for seed, cell in enumerate(cells * 2):
        plan = {
            "campaign": name,
            "cell": _KEYS[cell],
            "repetition": seed // len(cells) + 1,
            "cells": {_KEYS[one]: f"latency, {one}" for one in cells},
        }
        store_run(store, [_values(seed, scale)], cell, around={"plan": plan}, facts=FACTS)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    place = Store(folder)
    for seed in range(3):
        store_run(place, [_values(seed)])
    for seed in range(3, 6):
        store_run(place, [_values(seed, 2.0)], "cpu")
    _campaign(place, "plan-20251231T000000Z-cccc", 1.0, ("idle", "idle, MI"))
    _campaign(place, "plan-20260101T000000Z-aaaa", 1.0, ("idle", "loaded"))
    _campaign(place, "plan-20260102T000000Z-bbbb", 3.0, ("loaded",))
    return folder


@pytest.fixture(scope="module")
def sides(store: Path) -> tuple[str, str]:
    """Three fast runs and three slow ones, by their ids."""
    ids = [run.id for run in Store(store).runs()][:6]
    return ",".join(ids[:3]), ",".join(ids[3:])


def _compare(store: Path, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = tauto("compare", *arguments, store=store)
    assert "Traceback" not in done.stderr
    assert done.returncode == code, done.stderr
    return done


@pytest.mark.slow
def test_conditions_come_first_then_numbers_then_gates(store: Path, sides: tuple[str, str]) -> None:
    said = _compare(store, *sides, "--fail-on", "p50 +10%", code=6).stdout
    places = [
        said.index(part)
        for part in ("B (cpu) is worse than A (idle)", "What differs in the conditions", "\nmedian")
    ]
    assert places == sorted(places)
    assert "only the load differs" in said
    assert said.splitlines()[-1].startswith("p50 +10% does not hold (cpu0): +")


@pytest.mark.slow
def test_gates_are_told_to_programs_that_test(store: Path, sides: tuple[str, str], tmp_path: Path) -> None:
    junit, summary = tmp_path / "gates.xml", tmp_path / "gates.md"
    gates = (
        "--fail-on",
        "p50 +10%",
        "--fail-on",
        "max +5s",
        "--junit",
        str(junit),
        "--markdown",
        str(summary),
    )
    _compare(store, *sides, *gates, code=6)
    assert 'tests="2" failures="1"' in junit.read_text()
    assert "**1 does not hold, 1 holds.**" in summary.read_text()


@pytest.mark.slow
def test_what_cannot_be_shown_either_way_fails_only_when_strict(store: Path, sides: tuple[str, str]) -> None:
    runs = sides[0].split(",")[:2]
    said = _compare(store, *runs, "--no-history", "--fail-on", "p50 +1%").stdout
    assert "p50 +1% could not be shown either way" in said
    _compare(store, *runs, "--no-history", "--fail-on", "p50 +1%", "--strict", code=7)


@pytest.mark.slow
def test_a_row_is_a_line_of_80_columns_and_a_reason_is_said_once(store: Path) -> None:
    runs = Store(store).runs()
    found = compare([ComparedSide("A", (runs[0],)), ComparedSide("B", (runs[1],))])
    text = StringIO()
    terminal.show(Console(file=text, width=80, force_terminal=True, color_system=None), document(found))
    rows = text.getvalue().splitlines()
    (median,) = [row for row in rows if row.startswith("median")]
    assert median.split()[-2:] == ["not", "shown"]
    assert "ratio" not in text.getvalue()
    assert text.getvalue().count("samples of each side.") == 1
    assert "p is adjusted for all" not in text.getvalue()


@pytest.mark.slow
def test_everything_is_there_for_programs(store: Path, sides: tuple[str, str]) -> None:
    told = json.loads(_compare(store, *sides, "--json").stdout)
    assert [one["fact"] for one in told["conditions"]] == ["load"]
    (pair,) = told["pairs"]
    assert pair["comparison"] == "of one thing"
    median = pair["measures"][0]["sources"][0]["metrics"][0]
    assert median["verdict"] == "worse"
    assert median["low"] < median["difference"] < median["high"]
    assert median["basis"] == "repetitions"


@pytest.mark.slow
def test_campaigns_are_compared_cell_by_cell(store: Path) -> None:
    said = _compare(store, "plan-20260101", "plan-latest").stdout
    assert "Only in plan-20260101T000000Z-aaaa: latency, idle." in said
    assert "latency, loaded" in said
    assert said.splitlines()[0] == "1 case against plan-20260101T000000Z-aaaa: worse in latency, loaded"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["0b0b", "latency, loaded", "LOADED"])
def test_a_cell_is_named_by_its_key_its_name_or_a_part_of_it(store: Path, name: str) -> None:
    told = json.loads(_compare(store, f"plan-20260101/{name}", "plan-latest/0b0b0b0b0b0b", "--json").stdout)
    assert [len(one["runs"]) for one in told["sides"]] == [2, 2]


@pytest.mark.slow
def test_a_name_that_goes_on_in_another_cell_means_the_one_that_ends_with_it(store: Path) -> None:
    said = _compare(store, "plan-20251231/idle", "plan-20251231/IDLE, mi", "--json").stdout
    first, second = (set(one["runs"]) for one in json.loads(said)["sides"])
    assert (len(first), len(second), first & second) == (2, 2, set())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("latest",), 2, "One side can't be compared"),
        (("latest", "latest"), 2, "is named twice"),
        (("latest", "nosuch"), 4, "There is no run 'nosuch'"),
        (("latest,", "latest~1"), 2, "names an empty run"),
        (("plan-latest", "latest"), 2, "is a plan run, and 'latest' is not"),
        (("plan-20260101/nosuch", "latest"), 4, "There is no case 'nosuch'"),
        (("plan-20260101/latency", "latest"), 4, "2 cases of plan-20260101T000000Z-aaaa are meant"),
        (("plan-latest", "plan-latest"), 2, "is named twice"),
        (("latest", "latest~1", "--fail-on", "p99 10%"), 2, "can't be read"),
        (("latest", "latest~1", "--junit", "x.xml"), 2, "there is none"),
        (("latest", "latest~1", "--out", "/nosuch/x.html"), 4, "there is no folder /nosuch"),
        (("latest", "latest~1", "--measure", "response"), 2, "no measure 'response' in common"),
    ],
)
def test_a_mistake_is_told_in_two_lines(
    store: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    done = _compare(store, *arguments, code=code)
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_an_empty_store_is_told(tmp_path: Path) -> None:
    assert "There are no runs" in _compare(tmp_path / "none", "latest", "latest~1", code=4).stderr


def _found(store: Path, sides: tuple[str, str]) -> Comparison:
    place = Store(store)
    runs = [tuple(place.open(name) for name in side.split(",")) for side in sides]
    return compare([ComparedSide("A", runs[0]), ComparedSide("B", runs[1])], gates=["p50 +10%"])


@pytest.mark.slow
def test_a_terminal_of_80_columns_cuts_no_number(store: Path, sides: tuple[str, str]) -> None:
    text = StringIO()
    console = Console(file=text, width=80, force_terminal=True, color_system=None)
    terminal.show(console, document(_found(store, sides)))
    assert max(map(len, text.getvalue().splitlines())) <= 80
    assert "…" not in text.getvalue()


@pytest.mark.slow
def test_the_page_is_one_file_with_its_charts(store: Path, sides: tuple[str, str]) -> None:
    text = page.text(document(_found(store, sides), command=("tauto", "compare", "A", "B")))
    order = [text.index(f'id="{part}"') for part in ("gates", "changes", "numbers", "figures")]
    assert order == sorted(order)
    for chart in ("compare-0-ratio-0", "compare-0-histogram-0", "compare-0-top-0"):
        assert f'id="{chart}"' in text
        assert f'"{chart}":' in text
    assert "http://" not in text.partition("<script")[0]
