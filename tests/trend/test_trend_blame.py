"""`tauto trend blame irq`: the share of cycles that a class of causes made late, run after run."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from in_process import tauto
from late_runs import Late, by_interrupt, by_lower, store_late
from report_runs import store_run
from schemas import valid
from tautochrone.base.errors import UsageError
from tautochrone.run.store import Store
from tautochrone.trend.judge import Trend, trend
from tautochrone.trend.record import measures, records
from tautochrone.trend.values import parse_metric


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def on_day(store: Store, day: int, culprit: Callable[[int], Late], times: int, **options: object) -> None:
    run = store_late(store, [culprit(100 + 1_800 * at // times) for at in range(times)], **options)
    path = run.path / "run.json"
    manifest = json.loads(path.read_text())
    manifest["created"] = f"2026-11-{day:02d}T08:00:00.000+00:00"
    path.write_text(json.dumps(manifest))


def seen(store: Store, metric: str) -> Trend:
    found = records(store)
    return trend(found, parse_metric(metric, measures(found)))


@pytest.mark.slow
def test_each_run_has_the_share_of_its_cycles_that_the_class_made_late(store: Store) -> None:
    on_day(store, 1, by_interrupt, 20)
    on_day(store, 2, by_lower, 30)
    (line,) = seen(store, "blame irq").lines
    assert [one.value.value for one in line.points] == [0.01, 0.0]
    for one in line.points:
        value = one.value
        assert value.low is not None
        assert value.high is not None
        assert value.low <= (value.value or 0) <= value.high
    (line,) = seen(store, "blame").lines
    assert [one.value.value for one in line.points] == [0.01, 0.015]


@pytest.mark.slow
def test_runs_that_were_recorded_otherwise_or_not_at_all_stand_in_no_common_line(store: Store) -> None:
    on_day(store, 1, by_interrupt, 20)
    on_day(store, 2, by_interrupt, 20, setup={"threshold_ns": 80_000})
    on_day(store, 3, by_interrupt, 20, setup={"recorder": "bpf"})
    store_run(store, [range(5_000, 7_000)], period_ns=1_000_000)
    assert len(seen(store, "latency median").lines) == 4
    found = seen(store, "blame irq")
    assert len(found.lines) == 3
    assert found.without == 1


@pytest.mark.slow
def test_a_lasting_change_is_found_and_said(store: Store) -> None:
    for day in range(1, 13):
        on_day(store, day, by_interrupt, 4 + day % 3 if day < 7 else 40 + day % 5)
    ended = tauto("trend", "blame", "irq", store=store.path)
    assert ended.code == 0, ended.fault or ended.err
    assert "irq rose from" in ended.out.lower()
    ended = tauto("trend", "blame irq", "--json", store=store.path)
    answer = valid(ended.out)
    assert answer["unit"] == "share of cycles"
    assert len(answer["lines"][0]["steps"]) == 1


def test_a_class_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match="'interrupts' is no class of causes") as refused:
        parse_metric("blame interrupts", ["latency_ns"])
    assert "interrupts-off" in refused.value.advice
    assert parse_metric("blame interrupts off", ["latency_ns"]).cause == "interrupts-off"
