"""A plan's word for a number of threads, on a real machine."""

from pathlib import Path

import pytest

from tautochrone.machine.facts import gather
from tautochrone.measure.cell import Cell
from tautochrone.measure.document.document import parse
from tautochrone.measure.document.expand import expand
from tautochrone.measure.execute import run_cell
from tautochrone.run.facts import Facts
from tautochrone.run.store import Store
from tautochrone.target.open import open_target

PLAN = """
[[experiment]]
name = "tire"
pace = "real-fast"
solver = "semaphore"
nodes = 400
threads = "2 per cpu"
policy = "other"
"""


@pytest.mark.slow
def test_a_real_tire_has_as_many_threads_as_its_word_says(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (point,) = expand(parse(PLAN, Path("plan.toml")))
    options = point.prepared.options.having({"count": 10, "no-memory-lock": True})
    with open_target("local") as target:
        facts = gather(target.files())
        cell = Cell("tire", options, "a tire", conditions=point.prepared.conditions)
        run = run_cell(cell, store, target, facts)
    allowed = Facts.from_table(run.manifest.facts).cpu.allowed_count
    assert allowed is not None
    assert run.manifest.header.stored["parameters"]["threads"] == 2 * allowed
    assert run.manifest.conditions.stored["team"]["threads"] == "2 per cpu"
