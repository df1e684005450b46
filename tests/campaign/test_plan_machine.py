"""A plan run goes on only on the machine that it was begun on, booted as it was then."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import streams
from report_runs import FACTS
from tautochrone.measure.campaign.agenda import make_agenda, other_system
from tautochrone.measure.document.document import parse
from tautochrone.run.store import Store

PLAN = """
repetitions = 2
[[experiment]]
name = "cyclic"
"""
QUIET = "quiet isolcpus=1"


def _facts(**kernel: str) -> dict[str, Any]:
    return {**FACTS, "kernel": {**FACTS.get("kernel", {}), "command_line": "quiet", **kernel}}


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
    plan = msgspec.to_builtins(begun.cell(begun.slots[0]).conditions.plan)
    with store.create("cyclic", "latency", {"plan": plan, "virtual": virtual}, _facts()) as writer:
        writer.append(streams.make_stream([np.arange(10_000, 11_000)]))
        writer.seal()
    assert other_system(make_agenda(document, store), store, {"local": _facts(**now)}, guests) == other
