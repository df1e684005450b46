"""Runs that an older version stored: `tests/data/schema_1` has two, without most facts of the machine."""

import json
import shutil
from pathlib import Path

import pytest

from real import tauto
from tautochrone.base.errors import DamagedError
from tautochrone.run.catalogue import catalogue
from tautochrone.run.manifest import SCHEMA, upgraded
from tautochrone.run.store import Store

OLD = Path(__file__).parents[1] / "data" / "schema_1"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return Path(shutil.copytree(OLD, tmp_path / "store"))


def test_a_run_of_the_first_schema_is_read_as_one_of_today(old: Path) -> None:
    loop, clock = sorted((run.manifest for run in Store(old).runs()), key=lambda one: one.id)
    assert [one.experiment for one in (loop, clock)] == ["cyclic", "clock"]
    assert {one.schema for one in (loop, clock)} == {SCHEMA}
    assert loop.command[:5] == ("tauto", "probe", "cyclic", "--count", "100")
    assert loop.asked("--title") == "a loop"
    (report,) = loop.conditions.load_reports
    assert report.options["period"] == "10ms"


def test_what_was_read_is_written_as_one_of_today(old: Path) -> None:
    for run in Store(old).runs():
        stored = json.loads(run.manifest.to_json())
        assert stored["schema"] == SCHEMA
        assert isinstance(stored["conditions"]["command"], list)
        assert upgraded(stored) == stored


def test_old_runs_are_listed_with_their_conditions(old: Path) -> None:
    for entry in catalogue(Store(old)):
        assert entry.state == "sealed"
        assert entry.conditions.command is not None


@pytest.mark.slow
@pytest.mark.parametrize("verb", [("show",), ("show", "--json"), ("tail",), ("list",)])
def test_an_old_run_is_shown(old: Path, verb: tuple[str, ...]) -> None:
    name, *options = verb
    (loop,) = (path.name for path in old.iterdir() if "cyclic" in path.name)
    shown = tauto(name, *([loop] if name != "list" else []), *options, store=old)
    assert shown.returncode == 0, shown.stderr
    assert "latency" in shown.stdout or "a loop" in shown.stdout


@pytest.mark.parametrize("schema", [0, SCHEMA + 1, True, "1", None])
def test_a_schema_that_nobody_knows_is_refused(schema: object) -> None:
    with pytest.raises(DamagedError, match=f"has schema {schema}"):
        upgraded({"schema": schema})
