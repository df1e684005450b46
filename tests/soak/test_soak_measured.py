"""Soaks that are really measured: closed terminals, kills, loads in turn, and an end."""

from collections.abc import Callable
from pathlib import Path

import pytest

from real import is_gone
from real_soaks import balanced, killed, probe_of, soaking, tauto, until
from tautochrone.judge.soak import soak_of
from tautochrone.run import files
from tautochrone.run.intervals import Following
from tautochrone.run.recover import recover
from tautochrone.run.store import Store

pytestmark = pytest.mark.slow


def test_a_killed_terminal_ends_no_soak_and_stop_completes_it(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with soaking(store, "--load", "1s:cpu:cpus=0,1s:idle") as (typed, _, folder):
        typed.kill()
        typed.wait()
        before = Following(folder)
        seen = len(before.new())
        until(lambda: len(before.new()) > 0)
        shown = tauto(store, "show", folder.name)
        assert shown.returncode == 0, shown.stderr
        assert "measuring" in shown.stdout
        assert "Over the hours" in shown.stdout
        assert tauto(store, "soak", "stop").returncode == 0
        assert not files.is_locked(folder / files.RAW_STREAM)
    run = balanced(folder)
    assert run.manifest.state == "sealed"
    found = soak_of(run)
    assert found is not None
    assert len(found.sources[0].end_s) > seen
    assert {turn.load for turn in found.turns} == {"cpu:cpus=0", "idle"}


def end_of_the_probe(folder: Path, typed: int, keeper: int) -> None:
    del typed, keeper
    killed(probe_of(folder))


def end_of_all(folder: Path, typed: int, keeper: int) -> None:
    probe = probe_of(folder)
    killed(typed, keeper, probe)
    until(lambda: is_gone(probe))


@pytest.mark.parametrize("end", [end_of_the_probe, end_of_all])
def test_a_killed_probe_costs_the_interval_that_was_open_and_what_lacks_is_counted(
    tmp_path: Path, end: Callable[[Path, int, int], None]
) -> None:
    store = tmp_path / "store"
    with soaking(store) as (typed, keeper, folder):
        whole = Following(folder).new()
        end(folder, typed.pid, keeper)
        typed.wait()
        if end is end_of_all:  # nobody is there to tell, and what it had told is fetched
            assert tauto(store, "soak", "resume").returncode == 1
    recover(Store(store))
    run = balanced(folder)
    assert run.manifest.state == "recovered"
    kept = sum(one.recorded for one in whole)
    assert run.manifest.books[0].recorded >= kept > 0
    texts = {one.code: one.text for one in run.manifest.warnings}
    assert "last seen at" in texts["cut-off"]
    lacking = int(texts["soak-gap"].partition(" lack: ")[2].partition(" ")[0].replace(",", ""))
    assert lacking + (run.manifest.books[0].released or 0) == 3_600_000 // 5


def test_a_refusal_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    refused = tauto(tmp_path / "store", "soak", "cyclic", "--for", "1h", "--every", "1s", "--cpus", "9999")
    assert refused.returncode == 2
    assert "9999" in refused.stderr
    assert not (tmp_path / "store").exists() or not Store(tmp_path / "store").folders()
    none = tauto(tmp_path / "store", "soak", "stop")
    assert none.returncode == 2
    assert "No soak is measured" in none.stderr
