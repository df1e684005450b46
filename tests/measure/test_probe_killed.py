"""A probe that somebody kills in the middle of a run: what was measured is kept, and the end is told."""

import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from real import PATIENCE_S, a_cpu, descendants, only_run, policy_options, start_tauto, tauto, wait_until
from tautochrone.run.store import Store
from tautochrone.target.local import find_probe

pytestmark = pytest.mark.slow

_MANY = 3_000
"""Bytes of a stream in which there are samples."""


def is_probe(pid: int) -> bool:
    with suppress(OSError):  # it has just ended
        return Path(f"/proc/{pid}/exe").resolve() == find_probe().resolve()
    return False


def measures(store: Path) -> bool:
    with suppress(OSError):  # it has just been sealed
        return any(path.stat().st_size > _MANY for path in store.glob("*-cyclic-*/stream.tauto"))
    return False


def killed_while_measuring(store: Path, how: signal.Signals, *arguments: str) -> tuple[int, str, str]:
    """Exit code and both outputs of a tauto whose first probe is ended once there are samples."""
    lab = start_tauto(*arguments, store=store)
    try:
        wait_until(lambda: measures(store), "samples reach the store")
        (probe,) = filter(is_probe, descendants(lab.pid))
        os.kill(probe, how)
        out, err = lab.communicate(timeout=PATIENCE_S)
    except BaseException:
        lab.kill()
        lab.communicate()
        raise
    return lab.returncode, out, err


LOOP = ("--period", "1ms", "--count", "600000")


@pytest.mark.parametrize("beside", [(), ("--load", "cpu")], ids=["alone", "beside a load"])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSEGV])
def test_what_was_measured_before_it_was_killed_is_kept(
    tmp_path: Path, how: signal.Signals, beside: Sequence[str]
) -> None:
    code, _, err = killed_while_measuring(tmp_path, how, "probe", "cyclic", *policy_options(), *LOOP, *beside)
    run = only_run(tmp_path)
    assert code == 1, err
    assert f"ended by signal {how.value}" in err
    assert f"tauto show {run.id}" in err
    assert "Traceback" not in err
    manifest = run.manifest
    assert manifest.state == "recovered"
    for book in manifest.books:
        assert book.recorded > 0
    assert not (run.path / "stream.tauto").exists()
    told = tauto("show", run.id, store=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "cut off" in told.stdout


def test_a_case_whose_probe_was_killed_costs_the_plan_that_case_only(tmp_path: Path) -> None:
    policy = policy_options()
    lock = "no-memory-lock = true\n" if "--no-memory-lock" in policy else ""
    plan = tmp_path / "two.toml"
    plan.write_text(
        f'title = "Two"\norder = "listed"\n[[experiment]]\nname = "cyclic"\npolicy = "{policy[1]}"\n{lock}'
        f'cpus = "{a_cpu()}"\nperiod = ["1ms", "2ms"]\nduration = "8s"\n'
    )
    page = tmp_path / "page.html"
    store = tmp_path / "store"
    code, out, err = killed_while_measuring(store, signal.SIGKILL, "run", str(plan), "--out", str(page))
    assert code == 1, (out, err)
    states = [run.manifest.state for run in Store(store).runs()]
    assert sorted(states) == ["recovered", "sealed"]
    assert "ended by signal 9" in " ".join(out.split())
    assert page.read_text().rstrip().endswith("</html>")
    again = tauto("run", str(plan), "--out", str(page), store=store)
    assert again.returncode == 0, again.stderr


def test_the_first_answer_keeps_its_verdict_when_a_probe_is_killed(tmp_path: Path) -> None:
    store, page = tmp_path / "store", tmp_path / "page.html"
    words = ("answer", "--duration", "4s", "--out", str(page))
    code, out, err = killed_while_measuring(store, signal.SIGKILL, *words)
    assert code in (1, 6, 7), (out, err)
    assert "Traceback" not in err
    assert "ended by signal 9" in " ".join(f"{out} {err}".split())
