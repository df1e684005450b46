"""How often each cause made a cycle late, and what it would be worth without it."""

from pathlib import Path

import numpy as np
import pytest

from late_runs import TYPICAL_NS, by_interrupt, by_kworker, by_lower, mixed, scene, store_late
from report_runs import store_run
from tautochrone.judge.blame import blame_of, without_causes
from tautochrone.judge.late_causes import STRETCHES, LateCause, late_run
from tautochrone.judge.reduced import reduce_run
from tautochrone.run.store import Store

CARD: LateCause
KWORKER: LateCause
CARD, KWORKER = ("irq", "irq/34-eth0"), ("thread", "kworker")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_a_late_cycle_counts_for_the_cause_with_most_of_its_excess(store: Store) -> None:
    run = store_late(store, [*map(by_interrupt, range(100, 600, 50)), by_kworker(700), by_lower(800)])
    found = late_run(run)
    assert found is not None
    assert found.tally(0, [CARD]) == (10, 2_000)
    assert found.tally(0, [KWORKER]) == (1, 2_000)
    assert found.tally(100_000, [CARD, KWORKER]) == (10, 2_000)
    assert (found.threshold_ns, found.late, found.kept) == (30_000, 12, 12)


def test_stretches_have_every_cycle_and_every_late_one_once(store: Store) -> None:
    found = late_run(store_late(store, [*map(by_interrupt, range(0, 2_000, 100))]))
    assert found is not None
    parts = found.stretches(0, CARD)
    assert len(parts) == STRETCHES
    assert [sum(one) for one in zip(*parts, strict=True)] == [20, 2_000]
    assert max(late for late, _ in parts) == 2
    assert found.stretches_of_class(0, "irq") == parts
    assert sum(late for late, _ in found.stretches_of_class(0, None)) == 20
    assert sum(late for late, _ in found.stretches_of_class(0, "smi")) == 0


def test_where_not_all_late_cycles_were_kept_those_that_were_stand_for_their_share(store: Store) -> None:
    found = late_run(store_late(store, [*map(by_interrupt, range(100, 600, 50))], beyond=30))
    assert found is not None
    assert found.tally(0, [CARD]) == (10, 500)
    assert (found.late, found.kept) == (40, 10)


def test_a_share_becomes_the_latency_that_so_many_cycles_exceed(store: Store) -> None:
    late = [by_interrupt(100 + 50 * at, 100_000 + 1_000 * at) for at in range(10)]
    found = late_run(store_late(store, late, setup={"threshold_ns": None, "share": "99.8%"}))
    assert found is not None
    assert found.threshold_ns == sorted((one.latency_ns for one in late), reverse=True)[4 - 1]
    assert found.tally(found.threshold_ns, [CARD])[0] == 4


def test_runs_that_recorded_nothing_tell_nothing(store: Store) -> None:
    assert late_run(store_run(store, [np.arange(100)])) is None
    assert late_run(mixed(store, each=1, setup={"recorder": None, "why": "not permitted"})) is None


def test_a_run_without_a_late_cycle_has_none(store: Store) -> None:
    found = late_run(store_late(store, []))
    assert found is not None
    assert found.tally(found.threshold_ns, [CARD]) == (0, 2_000)


def test_without_a_cause_its_cycles_are_typical_and_the_others_stay(store: Store) -> None:
    run = store_late(store, [*map(by_interrupt, range(100, 600, 50)), by_kworker(700)])
    found = blame_of(run)
    assert found is not None
    reduced = reduce_run(run)
    card = without_causes(reduced, found, [CARD])
    assert card is not None
    assert card.late == 11
    assert card.late_without == 1
    assert card.largest_ns == (by_interrupt(0).latency_ns, by_kworker(0).latency_ns)
    both = without_causes(reduced, found, [KWORKER])
    assert both is not None
    assert both.largest_ns[1] == both.largest_ns[0]
    assert both.late_without == 10
    assert card.quantile_ns[1] <= card.quantile_ns[0]
    none = without_causes(reduced, found, [("smi", "")])
    assert none is not None
    assert none.quantile_ns[0] == none.quantile_ns[1] > TYPICAL_NS


def test_a_cycle_stays_late_that_still_reaches_the_threshold_without_a_cause(store: Store) -> None:
    """Also where it was the least late one; and so does each whose events were not kept."""
    both = scene(100).passes(1_500).timer().irq(200_000).irq(60_000, 35, "nvme").switch().passes(1_000)
    run = store_late(store, [both.late(100)], beyond=40)
    found = blame_of(run)
    assert found is not None
    one, other = (
        without_causes(reduce_run(run), found, causes) for causes in ([CARD], [CARD, ("irq", "irq/35-nvme")])
    )
    assert one is not None
    assert other is not None
    assert (one.late, one.late_without) == (41, 41)
    assert (other.late, other.late_without) == (41, 40)
