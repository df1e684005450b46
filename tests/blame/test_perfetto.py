"""`tauto export --perfetto`: late cycles as trace events, every slice within another one or apart."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from in_process import tauto
from late_runs import Late, by_interrupt, by_kworker, mixed, scene, store_late
from report_runs import store_run
from tautochrone.run.store import Store

PHASES = {"M", "X", "b", "e", "i", "C"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def exported(store: Store, tmp_path: Path) -> dict[str, Any]:
    out = tmp_path / "late.json"
    ended = tauto("export", "--perfetto", "--out", str(out), store=store.path)
    assert (ended.code, ended.err) == (0, "")
    told: dict[str, Any] = json.loads(out.read_text())
    return told


def slices(told: dict[str, Any], track: str) -> list[dict[str, Any]]:
    return [one for one in told["traceEvents"] if one["ph"] == "X" and one["cat"] == track]


def see_nested(events: list[dict[str, Any]]) -> None:
    """See that slices of each track lie within each other or apart, in the order of time."""
    tracks: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for one in events:
        if one["ph"] == "X":
            begin = round(one["ts"] * 1000)
            tracks[one["tid"]].append((begin, begin + round(one["dur"] * 1000)))
    assert tracks
    for own in tracks.values():
        around: list[int] = []
        for begin, end in sorted(own, key=lambda one: (one[0], -one[1])):
            assert end > begin
            while around and around[-1] <= begin:
                around.pop()
            assert not around or end <= around[-1]
            around.append(end)


@pytest.mark.slow
def test_every_late_cycle_is_there_with_parts_that_sum_to_its_latency(store: Store, tmp_path: Path) -> None:
    run = mixed(store)
    told = exported(store, tmp_path)
    assert told["otherData"]["run"] == run.id
    events = told["traceEvents"]
    assert {one["ph"] for one in events} <= PHASES
    see_nested(events)
    by_cycle: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for one in events:
        if one["ph"] in "be":
            by_cycle[one["id"]].append(one)
    assert len(by_cycle) == 120
    for own in by_cycle.values():
        begin, *parts, end = own
        latency = begin["args"]["latency_ns"]
        assert round((end["ts"] - begin["ts"]) * 1000) == latency
        assert sum(begin["args"]["causes_ns"].values()) == latency
        lengths = [
            round((after["ts"] - before["ts"]) * 1000)
            for before, after in zip(parts[::2], parts[1::2], strict=True)
        ]
        assert sum(lengths) == latency


def test_threads_and_interrupts_stand_in_tracks_of_their_cpu(store: Store, tmp_path: Path) -> None:
    store_late(store, [by_interrupt(100), by_kworker(200)])
    told = exported(store, tmp_path)
    names = {one["args"]["name"] for one in told["traceEvents"] if one["name"] == "process_name"}
    assert names == {"CPU 0"}
    assert {one["name"] for one in slices(told, "Interrupts")} == {"local timer", "irq/34-eth0"}
    (card,) = (one for one in slices(told, "Interrupts") if one["name"] == "irq/34-eth0")
    assert card["dur"] == 200
    assert {"idle", "tauto-probe", "kworker/0:1H"} <= {one["name"] for one in slices(told, "Threads")}
    (item,) = slices(told, "Work items")
    assert (item["name"], item["dur"]) == ("drm_fb_helper_damage_work", 90)
    assert {one["name"] for one in told["traceEvents"] if one["ph"] == "i"} == {"wakes tauto-probe"}


def test_events_that_two_late_cycles_share_stand_there_once(store: Store, tmp_path: Path) -> None:
    """The second one is released while the first one is still late."""
    first = scene(100).passes(1_500).timer().irq(1_500_000).passes(1_500).switch().late(100)
    from_release = first.release_ns + 1_000_000
    shared = tuple(one for one in first.events if one.time_ns >= from_release)
    second = Late(101, 700_000, (first.events[0], *shared))
    store_late(store, [first, second], overrun="replay")
    told = exported(store, tmp_path)
    see_nested(told["traceEvents"])
    assert [one["dur"] for one in slices(told, "Interrupts") if one["name"] == "irq/34-eth0"] == [1_500]


def test_an_interrupt_without_its_end_ends_with_the_cycle(store: Store, tmp_path: Path) -> None:
    whole = by_interrupt(100)
    cut = Late(100, 100_000, [one for one in whole.events if one.time_ns <= whole.release_ns + 100_000])
    store_late(store, [cut])
    told = exported(store, tmp_path)
    see_nested(told["traceEvents"])
    (card,) = (one for one in slices(told, "Interrupts") if one["name"] == "irq/34-eth0")
    assert round((card["ts"] + card["dur"]) * 1000) == cut.release_ns + 100_000


def test_a_run_without_events_is_refused_with_what_to_do(store: Store, tmp_path: Path) -> None:
    store_run(store, [range(100)])
    ended = tauto("export", "--perfetto", store=store.path)
    assert ended.code == 2
    assert "--blame" in ended.err
    mixed(store, each=1, setup={"recorder": None, "why": "not permitted"})
    assert tauto("export", "--perfetto", store=store.path).code == 2


def test_it_goes_to_the_standard_output_and_is_one_format_alone(store: Store) -> None:
    mixed(store, each=1)
    ended = tauto("export", "--perfetto", store=store.path)
    assert ended.code == 0
    assert json.loads(ended.out)["displayTimeUnit"] == "ns"
    assert tauto("export", "--perfetto", "--csv", store=store.path).code == 2
    assert tauto("export", "--perfetto", "--kept", store=store.path).code == 2
