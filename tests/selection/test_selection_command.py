"""`tauto select` as a person types it: what it prints, its JSON, its page, its figures, its refusals."""

import json
from pathlib import Path

import pytest

from golden.record import RUNS
from real import tauto
from selection_runs import deployed, latencies
from tautochrone.answer.render import page
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.selection.answer import document
from tautochrone.selection.judge import select

CELLS = {"aaaa": "latency, 1ms, idle, M", "bbbb": "latency, 1ms, idle, MI"}


def planned(store: Store, cell: str, repetition: int, seed: int, median_ns: float) -> StoredRun:
    name = CELLS[cell].rpartition(", ")[2]
    plan = {
        "title": "Two", "campaign": "plan-20260101T000000Z-0000", "key": "k", "cell": cell,
        "repetition": repetition, "block": repetition, "position": repetition, "repetitions": 2, "seed": 9,
        "order": "random", "heading": "latency", "varied": [], "options": {}, "system": "local",
        "deployment": name, "cells": CELLS,
    }  # fmt: skip
    values = latencies(seed, median_ns, count=1_000)
    return deployed(store, name, values, conditions={"plan": plan}, title=CELLS[cell])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    store = Store(folder)
    for seed, (cell, repetition) in enumerate((cell, number) for cell in CELLS for number in (1, 2)):
        planned(store, cell, repetition, seed, 20_000 if cell == "aaaa" else 5_000)
    return folder


@pytest.mark.slow
def test_a_campaign_is_selected_from_in_the_terminal_and_as_json(folder: Path) -> None:
    said = tauto("select", "plan-latest", store=folder)
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith("In these runs MI is best")
    assert "\nWhich deployment? Scheduling latency\n" in said.stdout
    assert "Chi-square test against M, as Table 4 of delgado2020" in said.stdout
    done = tauto("select", "plan-latest", "--json", "--metric", "median", store=folder)
    told = json.loads(done.stdout)
    (one,) = told["selections"]
    assert (one["by"], one["reference"], one["metric"], one["best"]) == ("deployment", "M", "median", ["MI"])
    assert [len(candidate["runs"]) for candidate in one["candidates"]] == [2, 2]
    assert one["candidates"][1]["chi_square"]["rejected"] is True
    assert one["candidates"][1]["kolmogorov_smirnov"]["statistic"] > 0.9
    assert one["candidates"][1]["differences"][0]["difference_ns"] < 0


@pytest.mark.slow
def test_the_page_has_the_answer_the_tables_and_the_figures(folder: Path) -> None:
    text = page.text(document(select(Store(folder).runs()), ["tauto", "select"]))
    for words in (
        "In these runs MI is best", "as Table 4 of delgado2020", "Quantiles against those of M",
        "The latest of each", "selection-0-qq-0", "selection-0-top",
        *(run.id for run in Store(folder).runs()),
    ):  # fmt: skip
        assert words in text


@pytest.mark.slow
def test_the_page_and_figures_are_written_where_asked(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    done = tauto("select", "plan-latest", "--out", str(out), store=folder)
    assert str(out) in done.stdout
    assert out.stat().st_size > 100_000
    drawing = tmp_path / "qq.svg"
    done = tauto("figure", "plan-latest", "--kind", "qq", "--out", str(drawing), store=folder)
    assert done.returncode == 0, done.stderr
    assert "<svg" in drawing.read_text()
    beside = tauto("select", "plan-latest", "--out", str(tmp_path / "no" / "page.html"), store=folder)
    assert beside.returncode == 4


@pytest.mark.slow
@pytest.mark.parametrize("runs", [["20261123T183132Z"], ["20261123T183132Z", "20261123T183202Z"]])
def test_the_top_of_interrupt_runs_is_their_own(tmp_path: Path, runs: list[str]) -> None:
    store, drawing = RUNS / "experiments", tmp_path / "top.svg"
    kinds = tauto("figure", *runs, "--kind", "list", store=store).stdout.splitlines()
    (top,) = [line for line in kinds if line.split()[0] == "top"]
    assert "Interrupt and preemption latency" in top
    done = tauto("figure", *runs, "--kind", "top", "--out", str(drawing), store=store)
    assert done.returncode == 0, done.stderr
    assert "interrupt latency (t1)" in drawing.read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["latest"], 2, "Name two or more runs, or a plan run"),
        (["latest", "latest"], 2, "is named twice"),
        (["plan-nope"], 4, "There is no plan run 'plan-nope'"),
        (["latest", "latest~3", "--per", "0"], 2, "--per 0"),
    ],
)
def test_mistakes_are_told_with_what_to_do(folder: Path, arguments: list[str], code: int, words: str) -> None:
    done = tauto("select", *arguments, store=folder)
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
