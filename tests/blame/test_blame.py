"""Late cycles with their events, stored with a run, and `tauto blame`, which tells what made them late."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import late_runs
from late_runs import (
    Late,
    by_interrupt,
    by_kworker,
    by_lower,
    by_nothing,
    mixed,
    store_late,
    stream_of,
    tables_of,
)
from real import tauto
from report_runs import FACTS, store_run
from schemas import valid
from tautochrone.answer import report
from tautochrone.answer.blame import section
from tautochrone.answer.charts.blame import StackFrame, flame, frames_of
from tautochrone.answer.charts.theme import PAGE
from tautochrone.answer.render import page, terminal
from tautochrone.base.errors import DamagedError
from tautochrone.judge.blame import BlamedRun, blame_of, recorded_cycles
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import RECOVERED
from tautochrone.run.store import Store
from tautochrone.statistics.blame import LateCycle, Part
from tautochrone.statistics.late_events import LateEvent


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def found_in(run: StoredRun) -> BlamedRun:
    found = blame_of(StoredRun.read(run.path))
    assert found is not None
    return found


def test_each_culprit_has_its_share(store: Store) -> None:
    found = found_in(mixed(store, each=25))
    shares = {(one.cause, one.actor): one for one in found.blame.causes}
    truth = {
        ("irq", "irq/34-eth0"): 200_000,
        ("thread", "kworker"): 90_000,
        ("not-preemptible", "stress-ng-cpu"): 60_000,
        ("unexplained", ""): 50_000,
    }

    assert found.blame.late == 100
    assert [(one.cause, one.actor) for one in found.blame.causes[:4]] == list(truth)
    for key, length in truth.items():
        assert shares[key].cycles == 25
        assert shares[key].excess_ns == pytest.approx(25 * length, rel=0.1)


def test_events_come_back_as_they_were_recorded(store: Store) -> None:
    """Also of two sources whose cycles take turns, and with names that are no text."""
    late = [by_interrupt(100), by_kworker(120), by_nothing(140)]
    late[1] = Late(late[1].number, late[1].latency_ns, late[1].events, source=1)
    run = store_late(store, late, sources=2)

    recorded = sorted(recorded_cycles(run), key=lambda one: one.release_ns)
    assert [one.source for one in recorded] == [0, 1, 0]
    assert [tuple(one.events) for one in recorded] == [tuple(one.events) for one in late]
    assert found_in(run).blame.typical_ns.keys() == {0, 1}


def test_cycles_are_behind_that_are_released_before_the_one_before_them_ended(store: Store) -> None:
    late = [by_lower(100, 1_400_000), by_lower(101, 400_000), by_lower(150), by_lower(101, 500_000)]
    late[3] = replace(late[3], source=1)
    recorded = recorded_cycles(store_late(store, late, sources=2))

    behind = [(one.source, one.behind_ns) for one in recorded]
    assert behind == [(0, None), (0, late[0].release_ns), (0, None), (1, None)]


@pytest.mark.parametrize(
    ("measure", "works", "begun"),
    [("latency_ns", False, False), ("response_ns", True, False), ("execution_ns", True, True)],
)
def test_cycles_end_with_the_work_where_their_measure_does(
    store: Store, measure: str, works: bool, begun: bool
) -> None:
    (one,) = recorded_cycles(store_late(store, [by_interrupt(100)], setup={"measure": measure}))

    assert (one.works, one.begun) == (works, begun)


@pytest.mark.slow
def test_typical_is_a_cycle_that_is_not_late(store: Store) -> None:
    """Although nearly all of them are."""
    late = [by_interrupt(number) for number in range(100, 1_900)]
    found = found_in(store_late(store, late))

    assert found.blame.typical_ns[0] == pytest.approx(late_runs.TYPICAL_NS, rel=0.05)
    assert found.blame.causes[0].share > 0.9


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"late_kept": 3}, "3 late cycles kept are stated"),
        ({"late_lost_events": 5}, "5 lost events are stated"),
        ({"late": 1}, "2 late cycles are kept, more than"),
    ],
)
def test_accounting_of_late_cycles_must_balance(store: Store, wrong: dict[str, int], said: str) -> None:
    late = [by_interrupt(100), by_kworker(120)]
    counts = {"late": 2, "late_kept": 2, "late_lost_events": 0, **wrong}
    with pytest.raises(DamagedError, match=said):
        store_late(store, late, books_extra={0: counts})


def test_events_that_are_not_in_the_stream_are_missed(store: Store) -> None:
    late = [by_interrupt(100)]
    cycles, (described, _) = tables_of(late)
    with pytest.raises(DamagedError, match="events of late cycles are stated"):
        store_late(store, late, tables=[cycles, (described, [])])


def test_a_run_that_was_cut_off_keeps_its_late_cycles(store: Store) -> None:
    late = [by_interrupt(100), by_kworker(120)]
    with store.create("cyclic", "cut", {}, FACTS) as writer:
        writer.append(stream_of(late, footer=False))
        run = writer.seal()

    assert run.manifest.state == RECOVERED
    found = found_in(run)
    assert found.blame.late == len(found.blame.cycles)


def test_a_cycle_whose_events_did_not_arrive_is_incomplete(store: Store) -> None:
    late = [by_interrupt(100), by_interrupt(120)]
    cycles, (described, events) = tables_of(late)
    run = store_late(store, late, tables=[cycles, (described, events[:1])], footer=False)
    found = found_in(run)

    assert [one.complete for one in found.blame.cycles] == [True, False]
    assert found.incomplete == 1


@pytest.mark.slow
def test_the_verb_tells_headline_causes_and_how_it_was_recorded(store: Store) -> None:
    mixed(store)
    told = tauto("blame", store=store.path)

    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("120 late cycles. 50 % (")
    assert "kworker: drm_fb_helper_damage_work" in told.stdout
    assert "real-time 95" in told.stdout
    assert "moved the median from 5.6 us to 6 us" in told.stdout
    assert "Not recorded: smi" in told.stdout


@pytest.mark.parametrize("width", [80, 100, 140])
def test_each_cause_is_a_line_of_a_terminal(store: Store, width: int) -> None:
    """With its whole name, whatever else has to be left out."""
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=True, color_system=None)
    terminal.show_blocks(console, [section.cause_table(found_in(mixed(store)))])
    lines = out.getvalue().splitlines()

    begins = ("irq/34-eth0 ", "kworker: drm_fb_helper_damage_work ", "stress-ng-cpu ", "unexplained ")
    for begin in begins:
        (line,) = [one for one in lines if one.startswith(begin)]
        assert "%" in line
    assert all("not preemptible" in one for one in lines if one.startswith("stress-ng-cpu"))


@pytest.mark.slow
def test_json_is_as_its_schema_says_and_sums_up(store: Store) -> None:
    mixed(store, each=5)
    answer = valid(tauto("blame", "--json", store=store.path).stdout)

    assert answer["late"] == answer["kept"] == len(answer["cycles"]) == 20
    for cycle in answer["cycles"]:
        assert sum(part["net_ns"] for part in cycle["parts"]) == cycle["latency_ns"]
    assert sum(cause["excess_ns"] for cause in answer["causes"]) == answer["excess_ns"]


@pytest.mark.slow
def test_a_page_has_both_charts(store: Store, tmp_path: Path) -> None:
    run = mixed(store, each=5)
    told = tauto("blame", "--out", str(tmp_path / "late.html"), store=store.path)

    assert told.returncode == 0, told.stderr
    for written in (tmp_path / "late.html", page.write(report.document([run]), tmp_path / "report.html")):
        text = written.read_text()
        assert "What made cycles late" in text
        assert '-blame"' in text
        assert "blame-cycles" in text


@pytest.mark.slow
def test_show_tells_it_in_short(store: Store) -> None:
    run = mixed(store, each=5)
    told = tauto("show", run.id, store=store.path).stdout

    assert "20 late cycles." in told
    assert f"tauto blame {run.id}" in told


def test_a_plain_run_has_nothing_to_tell(store: Store) -> None:
    store_run(store, [np.arange(4_000, 4_400)])
    told = tauto("blame", store=store.path)

    assert told.returncode == 2
    assert "recorded no late cycles" in told.stderr
    assert "--blame 50us" in told.stderr


@pytest.mark.slow
def test_without_a_recorder_it_says_why_and_what_the_probe_counted(store: Store) -> None:
    late = [Late(100, 90_000, ())]
    why = "reading kernel events is not permitted: CAP_PERFMON is missing"
    store_late(store, late, setup={"recorder": None, "why": why, "cost": None, "kinds": [], "missing": []})
    told = tauto("blame", store=store.path).stdout

    assert "1 late cycle. What made it late was not recorded." in told
    assert "CAP_PERFMON is missing" in told
    assert "lost its CPU 1 time" in told


@pytest.mark.slow
def test_a_run_without_a_late_cycle_says_so(store: Store) -> None:
    store_late(store, [])
    assert "No late cycle: none reached 30 us." in tauto("blame", store=store.path).stdout


@pytest.mark.slow
def test_what_was_lost_or_not_kept_is_told(store: Store) -> None:
    one = by_interrupt(100)
    store_late(store, [Late(100, one.latency_ns, one.events, lost=7), by_interrupt(130)], beyond=40)
    told = tauto("blame", store=store.path).stdout

    assert told.startswith("42 late cycles, of which 2 were kept. ")
    assert "2 of 42 late cycles were kept" in told
    assert "Events are missing in 1 late cycle: 7 lost, 0 beyond the most that are kept" in told


@pytest.mark.slow
def test_events_beyond_the_most_that_are_kept_of_a_cycle_are_counted(store: Store) -> None:
    """None of them is lost."""
    one, other = by_interrupt(100), by_interrupt(130)
    store_late(store, [replace(one, left_out=300), replace(other, left_out=50)])
    told = tauto("blame", store=store.path).stdout

    assert "Events are missing in 2 late cycles: 0 lost, 350 beyond the most that are kept" in told


@pytest.mark.slow
def test_where_no_cycle_was_beyond_a_share_it_says_from_when_on_cycles_are_judged(store: Store) -> None:
    store_late(store, [], samples=500, setup={"threshold_ns": None, "share": "99%"})
    told = tauto("blame", store=store.path).stdout

    assert told.startswith("No late cycle: none was beyond 99% of those before. The first 1,000 cycles of")


def test_events_of_the_future_do_no_harm(store: Store) -> None:
    late = by_interrupt(100)
    odd = (*late.events, LateEvent(late.release_ns + 2, 77, 1, 2, None, 3, "new"))
    found = found_in(store_late(store, [Late(100, late.latency_ns, odd)]))

    assert sum(part.net_ns for part in found.blame.cycles[0].parts) == late.latency_ns


@pytest.mark.slow
def test_a_share_is_told_as_it_was_asked_for(store: Store) -> None:
    mixed(store, each=3, setup={"threshold_ns": None, "share": "99.9%"})
    assert "longer than 99.9% of the cycles before it" in tauto("blame", store=store.path).stdout


@pytest.mark.slow
def test_late_cycles_are_exported_as_what_they_are(store: Store) -> None:
    run = mixed(store, each=3)
    samples = json.loads(tauto("export", run.id, "--json", store=store.path).stdout)["samples"]
    assert len(samples) == sum(book.recorded for book in run.manifest.books)


def test_stacks_stand_on_their_callers_and_are_as_wide_as_the_excess_in_them() -> None:
    def part(excess_ns: int, *stack: str) -> Part:
        return Part("switch-in", "not-preemptible", "backup", "", 120, ((0, excess_ns),), excess_ns, stack)

    parts = (part(60, "clear_page", "fault"), part(30, "lock", "fault"), part(5, "exit"), part(900))
    (thread,) = frames_of([LateCycle(0, 0, 1, 0, 995, 0, 0, parts)])

    assert (thread.name, thread.excess_ns) == ("backup (not preemptible)", 95)
    assert {name: one.excess_ns for name, one in thread.calls.items()} == {"fault": 90, "exit": 5}
    assert {name: one.excess_ns for name, one in thread.calls["fault"].calls.items()} == {
        "clear_page": 60,
        "lock": 30,
    }
    drawn = flame([thread])
    assert "fault > clear_page" in drawn.description
    assert drawn.height == 3 * flame([StackFrame("alone", "thread", 1)]).height


def test_a_name_in_a_stack_is_cut_where_its_frame_ends_however_wide_the_screen() -> None:
    both = [StackFrame("entry_SYSCALL_64_after_hwframe", "thread", share) for share in (70, 30)]
    specification = flame(both).specification(PAGE)
    (names,) = [layer for layer in specification["layer"] if layer["mark"]["type"] == "text"]
    rows = specification["datasets"][names["data"]["name"]]
    assert [row[names["encoding"]["text"]["field"]] for row in rows] == [both[0].name] * 2
    assert "width" in names["mark"]["limit"]["expr"]


@pytest.mark.slow
def test_late_cycles_are_figures(store: Store, tmp_path: Path) -> None:
    run = mixed(store, each=5)
    listed = tauto("figure", run.id, "--kind", "list", store=store.path).stdout
    assert "blame " in listed
    assert "blame-cycles" in listed
    assert "blame-stacks" not in listed  # there are none
    out = tmp_path / "causes.svg"
    told = tauto("figure", run.id, "--kind", "blame", "--out", str(out), store=store.path)
    assert told.returncode == 0, told.stderr
    assert "irq/34-eth0" in out.read_text()


@pytest.mark.slow
def test_parts_of_late_cycles_are_a_table(store: Store, tmp_path: Path) -> None:
    run = mixed(store, each=5)
    for kind in ("csv", "parquet"):
        told = tauto("export", run.id, "--late", f"--{kind}", "--out", str(tmp_path / kind), store=store.path)
        assert told.returncode == 0, told.stderr
    table = pq.read_table(tmp_path / "parquet")
    rows = table.to_pylist()
    text = list(csv.DictReader((tmp_path / "csv").read_text().splitlines()))

    assert [list(one) for one in text] == [table.column_names] * len(rows)
    assert [{name: "" if v is None else str(v).lower() for name, v in one.items()} for one in rows] == [
        {name: value.lower() for name, value in one.items()} for one in text
    ]
    parts = [(cycle, part) for cycle in found_in(run).blame.cycles for part in cycle.parts]
    assert [
        (one["release_ns"], one["phase"], one["cause"], one["actor"], one["start_ns"]) for one in rows
    ] == [(cycle.release_ns, part.phase, part.cause, part.actor, part.start_ns) for cycle, part in parts]
    by_cycle: dict[int, int] = {}
    for one in rows:
        by_cycle[one["cycle"]] = by_cycle.get(one["cycle"], 0) + one["net_ns"]
    assert by_cycle == {one["cycle"]: one["latency_ns"] for one in rows}
    assert len(by_cycle) == 20
    assert {f.name for f in table.schema if f.metadata[b"unit"] == b"ns"} == {
        name for name in table.column_names if name.endswith("_ns")
    }


@pytest.mark.slow
def test_a_run_without_blame_has_no_such_table(store: Store) -> None:
    store_run(store, [np.arange(4_000, 4_400)])
    told = tauto("export", "--late", "--csv", store=store.path)

    assert (told.returncode, told.stdout) == (2, "")
    assert "has no events of late cycles" in told.stderr
    assert "tauto blame --json" in tauto("export", "--late", "--json", store=store.path).stderr
