"""A plan run goes on only on the machine that it was begun on, booted as it was then."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import in_process
import streams
from report_runs import FACTS
from tautochrone.machine.facts import gather
from tautochrone.measure.campaign.agenda import Agenda, make_agenda, other_system
from tautochrone.measure.campaign.order import Slot
from tautochrone.measure.document.document import parse
from tautochrone.papers.studies import plan_of
from tautochrone.run.store import Store

PLAN = """
repetitions = 2
[[experiment]]
name = "cyclic"
"""
QUIET = "quiet isolcpus=1"


def _facts(**kernel: str) -> dict[str, Any]:
    return {**FACTS, "kernel": {**FACTS.get("kernel", {}), "command_line": "quiet", **kernel}}


def _measure(
    agenda: Agenda, slots: Sequence[Slot], store: Store, conditions: dict[str, Any], facts: dict[str, Any]
) -> None:
    for slot in slots:
        plan = msgspec.to_builtins(agenda.cell(slot).conditions.plan)
        with store.create("cyclic", "latency", {"plan": plan, **conditions}, facts) as writer:
            writer.append(streams.make_stream([np.arange(10_000, 11_000)]))
            writer.seal()


@pytest.mark.parametrize(
    ("virtual", "now", "guests", "other"),
    [
        (None, {}, {}, None),
        (None, {"release": "6.12.0"}, {}, "local"),
        (None, {"command_line": QUIET}, {}, "local"),
        ({"machine": "abc"}, {}, {"local": "abc"}, None),
        ({"machine": "abc"}, {"command_line": QUIET}, {"local": "abc"}, None),  # a deployment's own
        ({"machine": "abc"}, {}, {"local": "abd"}, "local"),  # with another QEMU
    ],
)
def test_a_machine_that_changed_is_not_measured_as_the_same(
    tmp_path: Path, virtual: Any, now: dict[str, str], guests: dict[str, str], other: str | None
) -> None:
    store, document = Store(tmp_path), parse(PLAN, tmp_path / "p.plan.toml")
    begun = make_agenda(document, store)
    _measure(begun, begun.slots[:1], store, {"virtual": virtual}, _facts())
    assert other_system(make_agenda(document, store), store, {"local": _facts(**now)}, guests) == other


@pytest.mark.slow
@pytest.mark.parametrize("is_here", [True, False])
@pytest.mark.parametrize("is_paper", [True, False])
def test_a_plan_that_another_kernel_has_finished_is_not_finished_here(
    tmp_path: Path, is_here: bool, is_paper: bool
) -> None:
    path, store = tmp_path / "p.plan.toml", Store(tmp_path / "store")
    path.write_text(PLAN)
    document = plan_of("laurich2004", quick=True) if is_paper else parse(PLAN, path)
    begun, here = make_agenda(document, store), gather()
    kernel = here["kernel"] if is_here else {**here["kernel"], "release": "2.6.32"}
    _measure(begun, begun.slots, store, {}, {**here, "kernel": kernel})
    command = ("reproduce", "laurich2004", "--quick") if is_paper else ("run", str(path))
    shown = in_process.tauto(*command, "--dry-run", store=store.path)
    assert shown.code == 0, shown.err
    count = len(begun.slots)
    assert (f"{count} of {count} finished" in shown.out) == is_here
    assert ("beginning anew" in shown.err) == (not is_here)
