"""Records of a run keep what they do not know, and refuse what is of another kind, saying where."""

import json
from pathlib import Path

import pytest

from report_runs import latencies, store_run
from tautochrone.base.errors import DamagedError
from tautochrone.run.conditions import PlanCell, RunConditions
from tautochrone.run.manifest import Manifest
from tautochrone.run.records import Dropped, Event, Footer, Header
from tautochrone.run.store import Store


def test_what_is_not_known_is_kept_where_it_was(tmp_path: Path) -> None:
    around = {"added_later": {"a": [1]}, "deployment": {"name": "MI", "settings": [], "colour": "red"}}
    kept = store_run(
        Store(tmp_path), [latencies(1, 5_000, 9_000)], around=around, header_extra={"added_later": None}
    ).manifest
    again = Manifest.from_json(kept.to_json())
    assert again == kept
    assert again.conditions.deployment_name == "MI"
    assert json.loads(again.to_json())["conditions"] == {"load": "idle", **around}
    assert json.loads(again.to_json())["header"]["added_later"] is None


def test_a_real_time_core_is_told_beside_the_system(tmp_path: Path) -> None:
    told = {"system": {"name": "Linux", "release": "6.1.0", "core": "Cobalt 3.2.4"}}
    run = store_run(Store(tmp_path), [latencies(1, 5_000, 9_000)], header_extra=told)
    assert run.manifest.header.system.words == "Linux 6.1.0 with Cobalt 3.2.4"


def test_what_stood_in_for_a_system_is_told_beside_it() -> None:
    told = Header.of({"system": {"name": "Windows", "release": "10.0.19045", "emulator": "Wine 8.0"}})
    assert told.system.words == "Windows 10.0.19045 by Wine 8.0"


@pytest.mark.parametrize(
    "told",
    [
        {"plan": None, "load_reports": None, "answer": None},
        {
            "plan": {"cells": None, "title": None, "require": None},
            "deployment": {"name": "MI", "settings": None},
        },
        {"virtual": {"cpus": None}, "load_reports": [{"elapsed_ns": None}]},
    ],
)
def test_null_where_a_record_has_none_is_as_if_nothing_were_told(told: dict[str, object]) -> None:
    whole = {"load": "cpu", **told}
    conditions = RunConditions.of(whole)
    assert (conditions.load, conditions.plan, conditions.stored) == ("cpu", PlanCell(), whole)


def test_a_thread_of_which_nothing_was_obtained_is_read() -> None:
    source = {"source": 0, "name": "kernel", "requested": {"policy": "fifo"}, "obtained": None}
    assert Header.of({"sources": [source]}).sources[0].obtained == {}


@pytest.mark.parametrize(
    ("told", "where"),
    [
        ({"load": 7}, r"\$.load"),
        ({"plan": {"repetition": "1"}}, r"\$.plan.repetition"),
        ({"plan": {"repetition": True}}, r"\$.plan.repetition"),
        ({"deployment": {"settings": [{"requested": "1"}]}}, r"\$.deployment.settings"),
        ({"load_reports": [{"elapsed_ns": 2**63}]}, r"\$.load_reports"),
        ([], "object"),
    ],
)
def test_conditions_of_another_kind_are_refused_by_their_place(told: object, where: str) -> None:
    with pytest.raises(DamagedError, match=f"the run conditions can't be read: .*{where}"):
        RunConditions.of(told)


def test_what_a_feature_keeps_is_read_as_its_record() -> None:
    conditions = RunConditions.of({"mine": {"key": "k"}, "other": 1})
    assert conditions.told("mine", PlanCell) == PlanCell(key="k")
    assert conditions.told("yours", PlanCell) is None
    with pytest.raises(DamagedError, match="the condition 'other' can't be read"):
        conditions.told("other", PlanCell)


def test_settings_have_the_names_of_every_system_and_those_of_one() -> None:
    header = Header.of({"sources": [{"source": 3, "obtained": {"policy": "fifo", "cpu": 1, "slack": 0}}]})
    (source,) = header.sources
    assert (source.label, source.held_to, source.obtained.priority) == ("3", 1, None)
    assert source.obtained == {"policy": "fifo", "cpu": 1, "slack": 0}
    with pytest.raises(DamagedError, match=r"'cpu' is '1' - at `\$.sources\[0\].obtained`"):
        Header.of({"sources": [{"source": 0, "obtained": {"cpu": "1"}}]})


def test_an_event_tells_what_is_particular_about_it() -> None:
    event = Event.of({"event": "dropped", "source": 0, "rows": 3})
    assert event.told(Dropped) == Dropped(0, 3)
    with pytest.raises(DamagedError, match="the event 'dropped' can't be read"):
        Event.of({"event": "dropped", "source": 0, "rows": -3}).told(Dropped)


def test_a_clock_is_described_whole_or_not_at_all() -> None:
    assert Footer.of({"books": []}).clock.name is None
    with pytest.raises(DamagedError, match="a clock has a name and a cost"):
        Footer.of({"clock": {"name": "monotonic"}})


def test_a_period_of_its_own_goes_before_that_of_the_schedule() -> None:
    sources = [{"source": 0}, {"source": 1, "period_ns": 5}, {"source": 2, "period_ns": 0}]
    header = Header.of({"schedule": {"period_ns": 9}, "sources": sources})
    assert header.periods_ns == {0: 9, 1: 5}
    assert not header.is_about_a_loop
