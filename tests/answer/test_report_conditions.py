"""What a report says of machine, deployment and loads; and that runs of different ones are never mixed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from report_runs import idle_and_loaded, latencies, store_run
from tautochrone.answer import conclusion, conditions, evidence, report, show
from tautochrone.answer.document import Grounds, Notices
from tautochrone.answer.foot import audit_runs, foot
from tautochrone.answer.labels import label_runs
from tautochrone.answer.phrasing import verdict as verdicts
from tautochrone.answer.render import page as document_page
from tautochrone.answer.render import terminal
from tautochrone.judge.interrupt import judge_interrupt
from tautochrone.judge.verdict import judge_runs
from tautochrone.machine.deployment import Deployment, Obtained, as_condition
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Warning as RunWarning
from tautochrone.run.store import Store

GOT = Obtained("c-states", "0us", "any", "0us")
LACKED = Obtained("governor", "performance", None, None, "this machine has none")
SIDE_EFFECT = Obtained("workqueues", None, "0-1", "0")
BOARD = {"target": "ssh:root@board"}

COMMS = {
    "load": "comms",
    "name": "comms",
    "asked": "comms --cpus 0",
    "cpus": "0",
    "operations": 20_000,
    "unit": "exchanges",
    "bytes": 2_400_000_000,
    "elapsed_ns": 2_000_000_000,
    "cpu_time_ns": 1_000_000_000,
    "threads": 2,
    "requested_bits_per_s": 2_000_000,
    "message_bytes": 60_000,
}


def under(name: str, *obtained: Obtained) -> dict[str, Any]:
    deployment = Deployment(name, "one CPU kept free", origin="delgado2020, Table 1", measure="1", load="0")
    return {"deployment": as_condition(deployment, obtained)}


def a_run(store: Store, **around: Any) -> StoredRun:
    return store_run(store, [latencies(1, 4_000, 42_000)], around=around)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def shown(run: StoredRun) -> str:
    console = Console(width=200, record=True, force_terminal=False)
    with console.capture() as text:
        terminal.show(console, show.document(evidence.gather([run]), whole=not console.is_terminal))
    return text.get()


def test_loops_under_other_deployments_or_on_other_machines_are_judged_apart(store: Store) -> None:
    runs = [
        a_run(store, load="idle"),
        a_run(store, load="comms"),
        a_run(store, load="idle", **under("MI", GOT)),
        a_run(store, load="comms", **under("MI", GOT)),
        a_run(store, load="idle", **under("MI", GOT, LACKED)),
        a_run(store, load="idle", **BOARD),
    ]

    verdict = judge_runs(runs)

    assert verdict is not None
    assert [len(loop.loads) for loop in verdict.loops] == [2, 2, 1, 1]
    said = [verdicts.sentence(loop) for loop in verdict.loops]
    assert sum("deployment MI" in one for one in said) == 2
    assert sum("deployment MI in part" in one for one in said) == 1
    assert sum("ssh:root@board" in one for one in said) == 1


def test_interrupts_under_other_deployments_are_no_pair(store: Store) -> None:
    plain, placed, far = a_run(store), a_run(store, **under("MI", GOT)), a_run(store, **BOARD)

    ways = {judge_interrupt(run).way for run in (plain, placed, far)}

    assert len(ways) == 3


def test_labels_name_what_differs(store: Store) -> None:
    runs = [a_run(store), a_run(store, **under("MI", GOT)), a_run(store, **under("HM", GOT), **BOARD)]

    labels = label_runs([run.manifest for run in runs])

    assert "MI" in labels[1]
    assert "HM" in labels[2]
    assert "ssh:root@board" in labels[2]
    assert "MI" not in labels[0]


def test_a_deployment_is_shown_as_asked_for_and_as_obtained(store: Store) -> None:
    text = shown(a_run(store, **under("MI", GOT, LACKED, SIDE_EFFECT), **BOARD))

    lines = {line.split()[0]: line.split() for line in text.splitlines() if line.strip()}
    assert lines["c-states"] == ["c-states", "any", "0us", "0us", "yes"]
    assert lines["governor"] == ["governor", "N/A", "performance", "N/A", "no"]
    assert lines["workqueues"] == ["workqueues", "0-1", "-", "0", "-"]
    assert "this machine has none" in text
    assert "deployment MI in part" in text
    assert "on ssh:root@board" in text
    assert "Measured on CPUs 1; loads on CPUs 0." in text


def test_loads_are_shown_with_what_they_did(store: Store) -> None:
    text = shown(a_run(store, load="comms", load_reports=[COMMS]))

    row = next(line for line in text.splitlines() if line.startswith("comms "))
    assert row.split() == ["comms", "0", "2", "20", "k", "10", "k", "1.2", "GB/s", "50%", "2", "s"]
    assert "operations are exchanges" in text
    assert "requested 2 Mbit/s" in text


@pytest.mark.slow
def test_a_report_of_an_older_run_has_no_more_than_it_knows(store: Store) -> None:
    old = {"load": "cpu", "elapsed_ns": 10**9, "cpu_time_ns": 10**9, "threads": 2, "operations": 5}
    text = shown(a_run(store, load="cpu", load_reports=[old]))

    row = next(line for line in text.splitlines() if line.startswith("cpu "))
    assert row.split()[:3] == ["cpu", "N/A", "2"]
    assert "50%" in row


def test_what_a_load_is_called_and_ran_keeps_its_letters(store: Store) -> None:
    ran = {**COMMS, "name": "command:/opt/MyApp", "command": ["/opt/MyApp", "--Fast", "A b"]}
    run = a_run(store, load="command:/opt/MyApp", load_reports=[ran])
    (grid,) = conditions.loads([run.manifest], [""])
    assert grid.rows[0][0].shown == "command:/opt/MyApp"
    assert any("it ran /opt/MyApp --Fast 'A b'" in note for note in grid.notes)


def test_counts_of_one_load_all_have_their_thousands_set_apart(store: Store) -> None:
    counted = {**COMMS, "methods": {"gcd": 17_190, "crc": 5_947, "hanoi": 0}}
    (grid,) = conditions.loads([a_run(store, load="cpu", load_reports=[counted]).manifest], [""])
    assert any("methods gcd 17,190, crc 5,947" in note for note in grid.notes)


@pytest.mark.slow
def test_the_page_has_both_tables_and_says_whose_they_are(store: Store) -> None:
    runs = [
        a_run(store, load="comms", load_reports=[COMMS], **under("MI", GOT)),
        a_run(store, load="idle", **BOARD),
    ]

    html = document_page.text(
        report.of_evidence(
            evidence.gather(runs),
            report.BesideRuns(judge_runs(runs), audit_runs([one.manifest for one in runs])),
        )
    )

    assert "Deployment MI: one CPU kept free" in html
    assert "What the loads did" in html
    assert "deployment MI" in html
    assert "ssh:root@board" in html


def test_one_deployment_of_several_runs_is_shown_once(store: Store) -> None:
    runs = [a_run(store, load=load, **under("MI", GOT)) for load in ("idle", "comms", "cpu")]
    manifests = [run.manifest for run in runs]

    (grid,) = conditions.deployments(manifests, ["a", "b", "c"])
    assert not any(note.startswith("Of ") for note in grid.notes)
    mixed = [*manifests, a_run(store).manifest]
    (grid,) = conditions.deployments(mixed, ["a", "b", "c", "d"])
    assert "Of a, b, c." in grid.notes


def test_the_conclusion_says_under_what_it_was_measured(store: Store) -> None:
    runs = [a_run(store, **under("MI", GOT), **BOARD)]
    console = Console(width=200)
    with console.capture() as text:
        terminal.show(console, conclusion.conclusion(runs, judge_runs(runs), ()))

    assert "Measured on ssh:root@board, under the deployment MI." in text.get()
    assert conditions.sentence([a_run(store).manifest]) == ""


def test_machines_of_one_kind_are_audited_apart(store: Store) -> None:
    near, far = a_run(store), a_run(store, **BOARD)

    assert len(audit_runs([near.manifest, far.manifest])) == 2
    assert np.all(near.values() == far.values())


def test_a_warning_names_a_run_once_also_where_its_place_is_called_as_it_is(tmp_path: Path) -> None:
    warned, other = (run.manifest for run in idle_and_loaded(tmp_path))
    warned = replace(warned, warnings=(RunWarning("hot", "it was hot", "Cool it."),))
    places = ((warned.id, ""), ("MI", ""))
    parts = foot(Grounds(manifests=(warned, other), places=places, commands=("tauto select",)))
    (notices,) = (one for one in parts[0].blocks.get() if isinstance(one, Notices))
    assert notices.entries[0].runs == warned.id
