"""`tauto run`: real plans of a few hundred milliseconds a cell; interrupted, killed, refused, failing."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from real import (
    PATIENCE_S,
    a_cpu,
    policy_options,
    skip_or_fail,
    start_tauto,
    tauto,
    wait_until,
)
from ssh_servers import free_port, ssh_server
from tautochrone.command.told import how_to_go_on
from tautochrone.measure.campaign.campaign import campaigns
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.local import find_probe


def policy() -> str:
    """For [defaults], as this user may have it."""
    words = policy_options()
    lock = "" if "--no-memory-lock" not in words else "no-memory-lock = true\n"
    return f'policy = "{words[1]}"\n{lock}'


def plan_text(
    repetitions: int = 2, duration: str = "300ms", loads: str = '"idle", "cpu:cpus=0"', more: str = ""
) -> str:
    return (
        f'title = "A small plan"\nrepetitions = {repetitions}\nloads = [{loads}]\n[defaults]\n{policy()}'
        f'[[experiment]]\nname = "cyclic"\ncpus = "{a_cpu()}"\nduration = "{duration}"\n'
        f'[[experiment]]\nname = "clock"\ncount = 300\nclocks = "monotonic"\n{more}'
    )


def write(folder: Path, text: str) -> str:
    path = folder / "small.plan.toml"
    path.write_text(text)
    return str(path)


def told(run: StoredRun) -> dict[str, Any]:
    found: dict[str, Any] = run.manifest.conditions.stored["plan"]
    return found


def slots(store: Path) -> Counter[tuple[str, int]]:
    """How often each cell and repetition is finished."""
    return Counter(
        (told(run)["cell"], told(run)["repetition"])
        for run in Store(store).runs()
        if run.manifest.state == "sealed" and run.manifest.ended == "complete"
    )


def report_of(text: str) -> Path:
    return Path(text.partition("Report: ")[2].splitlines()[0])


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.mark.slow
def test_every_cell_is_measured_in_every_repetition_and_one_report_has_them_all(
    tmp_path: Path, store: Path
) -> None:
    plan = write(tmp_path, plan_text())
    done = tauto("run", plan, store=store)

    assert done.returncode == 0, done.stderr
    runs = Store(store).runs()
    assert len(runs) == 8
    assert set(slots(store).values()) == {1}
    assert len({told(run)["campaign"] for run in runs}) == 1
    assert [told(run)["position"] for run in runs] == list(range(1, 9))
    assert [told(run)["block"] for run in runs] == [1] * 4 + [2] * 4
    loaded = [run for run in runs if run.manifest.conditions.stored["load"] != "idle"]
    assert len(loaded) == 4
    assert all(run.manifest.conditions.stored["load_reports"][0]["operations"] > 0 for run in loaded)
    page = report_of(done.stdout).read_text()
    for name in told(runs[0])["cells"].values():
        assert name in page
    for run in runs:
        assert run.id in page
    assert str(told(runs[0])["seed"]) in page
    assert "Scheduling latency" in done.stdout

    again = tauto("run", plan, store=store)
    assert again.returncode == 0, again.stderr
    assert "finished" in again.stdout
    assert len(Store(store).runs()) == 8

    more = tauto("run", plan, "--repetitions", "3", store=store)
    assert more.returncode == 0, more.stderr
    assert len(Store(store).runs()) == 12
    assert set(slots(store).values()) == {1}
    assert len(campaigns(Store(store))) == 1

    anew = tauto("run", plan, "--again", "--repetitions", "1", "--json", store=store)
    assert anew.returncode == 0, anew.stderr
    assert len(campaigns(Store(store))) == 2
    table = json.loads(anew.stdout)
    assert {row["load"] for row in table["tables"][0]["rows"]} == {"idle", "cpu:cpus=0"}
    assert not table["lacking"]

    out = tmp_path / "written anew.html"
    written = tauto("report", told(runs[0])["campaign"], "--out", str(out), store=store)
    assert written.returncode == 0, written.stderr
    assert runs[0].id in out.read_text()


@pytest.mark.slow
def test_a_plan_that_was_killed_goes_on_with_the_same_cells_and_measures_none_twice(
    tmp_path: Path, store: Path
) -> None:
    plan = write(tmp_path, plan_text(duration="700ms"))
    whole = json.loads(tauto("run", plan, "--dry-run", "--json", store=store).stdout)
    wanted = Counter((cell["cell"], cell["block"]) for cell in whole["cells"])
    lab = start_tauto("run", plan, store=store)
    try:
        wait_until(lambda: sum(slots(store).values()) >= 3, "three cells are finished")
    finally:
        lab.kill()
        lab.communicate(timeout=PATIENCE_S)
    before = [run.id for run in Store(store).runs() if run.manifest.ended == "complete"]
    assert 3 <= len(before) < 8

    left = json.loads(tauto("run", plan, "--dry-run", "--json", store=store).stdout)
    assert sum(cell["run"] is not None for cell in left["cells"]) == len(before)
    done = tauto("run", plan, store=store)

    assert done.returncode == 0, done.stderr
    assert slots(store) == wanted
    complete = [run for run in Store(store).runs() if run.manifest.ended == "complete"]
    assert [run.id for run in complete][: len(before)] == before
    assert len({told(run)["campaign"] for run in complete}) == 1
    assert len({told(run)["seed"] for run in complete}) == 1
    assert [told(run)["position"] for run in complete] == list(range(1, 9))


@pytest.mark.slow
def test_ctrl_c_keeps_the_cell_ends_the_plan_and_says_how_to_go_on(tmp_path: Path, store: Path) -> None:
    plan = write(
        tmp_path,
        f'title = "Three"\norder = "listed"\n[defaults]\n{policy()}'
        '[[experiment]]\nname = "clock"\ncount = 300\n'
        f'[[experiment]]\nname = "cyclic"\ncpus = "{a_cpu()}"\nduration = ["60s", "61s"]\n',
    )
    lab = start_tauto("run", plan, store=store)
    try:
        wait_until(
            lambda: any(path.stat().st_size > 3000 for path in store.glob("*-cyclic-*/stream.tauto")),
            "samples of the second cell reach the store",
        )
        lab.send_signal(signal.SIGINT)
        out, complaint = lab.communicate(timeout=PATIENCE_S)
    except BaseException:
        lab.kill()
        lab.communicate()
        raise
    assert lab.returncode == 130, complaint
    runs = Store(store).runs()
    assert [run.manifest.ended for run in runs] == ["complete", "interrupted"]
    assert "2 of 3 cases are left" in complaint
    assert f"tauto run {plan}" in complaint
    lacking = out[out.index("What was not measured") :]
    assert lacking.count("Not measured yet: it was stopped before.") == 2
    assert "duration 61s" in report_of(out).read_text()


def test_who_began_anew_goes_on_without_beginning_anew_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["tauto", "run", "my plan.toml", "--again"])
    assert how_to_go_on() == "To go on, type the same without --again: tauto run 'my plan.toml'"
    sys.argv.remove("--again")
    assert how_to_go_on() == "To go on, type the same again: tauto run 'my plan.toml'"


@pytest.mark.slow
def test_a_dry_run_shows_the_order_and_the_time_and_touches_nothing(tmp_path: Path, store: Path) -> None:
    plan = write(tmp_path, plan_text(duration="1min"))
    shown = tauto("run", plan, "--dry-run", "--seed", "5", store=store)
    assert shown.returncode == 0, shown.stderr
    assert "4 cases in 2 repetitions" in shown.stdout
    assert "The rest takes about 4 min" in shown.stdout
    assert "ends at" in shown.stdout
    table = json.loads(tauto("run", plan, "--dry-run", "--json", "--seed", "5", store=store).stdout)
    assert [cell["position"] for cell in table["cells"]] == list(range(1, 9))
    assert table["seed"] == 5
    assert 240 < table["expected_s"] < 270
    other = tauto("run", plan, "--dry-run", "--json", "--seed", "5", "--load", "memory", store=store)
    assert {cell["load"] for cell in json.loads(other.stdout)["cells"]} == {"memory"}
    assert not store.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "line", "words"),
    [
        ('period = "5"\n', 10, "not a duration"),
        ('overrun = "skipp"\n', 10, "Did you mean 'skip'?"),
        ("priority = 1000\n", 10, "1000"),
        ("count = 5\nperiod = '0ns'\n", 11, "period"),
    ],
)
def test_a_value_that_the_probe_refuses_is_told_with_its_line_before_anything_is_measured(
    tmp_path: Path, store: Path, option: str, line: int, words: str
) -> None:
    text = (
        'title = "Wrong"\n\n\n\n\n\n[[experiment]]\nname = "cyclic"\n'
        f'policy = "{policy_options()[1]}"\n{option}'
    )
    refused = tauto("run", write(tmp_path, text), store=store)
    assert refused.returncode == 2, refused.stdout
    assert f"small.plan.toml:{line}: " in refused.stderr
    assert words in refused.stderr
    assert not list(store.glob("*"))


@pytest.mark.slow
def test_a_value_that_a_load_refuses_is_told_with_its_line(tmp_path: Path, store: Path) -> None:
    text = 'loads = [\n"idle",\n"memory:bytes=everything"]\n[[experiment]]\nname = "clock"\n'
    refused = tauto("run", write(tmp_path, text), store=store)
    assert refused.returncode == 2, refused.stdout
    assert "small.plan.toml:3: " in refused.stderr
    assert "everything" in refused.stderr
    assert not list(store.glob("*"))


@pytest.mark.slow
def test_an_unknown_option_is_told_without_a_probe(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = write(tmp_path, plan_text().replace("duration =", "durration ="))
    monkeypatch.setenv("TAUTO_PROBE", "/nowhere")
    refused = tauto("run", plan, store=store)
    assert refused.returncode == 2
    assert "'durration'" in refused.stderr
    assert "Did you mean 'duration'?" in refused.stderr


@pytest.mark.slow
def test_what_this_machine_does_not_have_is_told_and_the_rest_is_measured(
    tmp_path: Path, store: Path
) -> None:
    """A program that is not installed can't load, whatever else can be measured."""
    plan = write(tmp_path, plan_text(loads='"idle", "command:no-such-program-here"'))
    done = tauto("run", plan, store=store)
    assert set(slots(store).values()) == {1}
    assert len(slots(store)) == 4, done.stdout
    lacking = done.stdout[done.stdout.index("What was not measured") :]
    assert lacking.count("command:no-such-program-here") >= 2
    assert "command:no-such-program-here" in report_of(done.stdout).read_text()


@pytest.mark.slow
def test_a_cell_that_fails_is_an_exit_code_and_is_measured_again_next_time(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "probe"
    broken.write_text(
        "#!/bin/sh\n"
        'case "$*" in *no-output*) ;; *"--count 300"*)\n'
        f'if mkdir {tmp_path}/once 2>/dev/null; then {find_probe()} "$@" | head -c 3000; exit 1; fi;; esac\n'
        f'exec {find_probe()} "$@"\n'
    )
    broken.chmod(0o755)
    monkeypatch.setenv("TAUTO_PROBE", str(broken))
    plan = write(tmp_path, plan_text(loads='"idle"', repetitions=1))
    failed = tauto("run", plan, store=store)
    assert failed.returncode == 1, failed.stderr
    assert "clocks" in failed.stdout[failed.stdout.index("What was not measured") :]
    assert sum(slots(store).values()) == 1

    mended = tauto("run", plan, store=store)
    assert mended.returncode == 0, mended.stderr
    assert sum(slots(store).values()) == 2
    assert "Not measured" not in mended.stdout


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Makes the probe run as a user who may do nothing."""
    if os.geteuid() != 0:
        skip_or_fail("needs root, to become somebody else")
    places = tempfile.mkdtemp(dir="/var/tmp")  # whoever that is must be able to reach the probe
    own = Path(places)
    own.chmod(0o755)
    shutil.copy(find_probe(), own / "real")
    probe = own / "probe"
    nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups"
    probe.write_text(f'#!/bin/sh\nexec prlimit --rtprio=0 --memlock=65536 {nobody} {own}/real "$@"\n')
    probe.chmod(0o755)
    monkeypatch.setenv("TAUTO_PROBE", str(probe))
    yield
    shutil.rmtree(own)


@pytest.mark.slow
def test_who_may_measure_nothing_is_told_what_is_missing(tmp_path: Path, store: Path, nobody: None) -> None:
    text = '[[experiment]]\nname = "cyclic"\npolicy = "fifo"\nduration = "300ms"\n'
    refused = tauto("run", write(tmp_path, text), store=store)
    assert refused.returncode == 3, refused.stderr
    assert "setcap" in refused.stderr
    assert ": no-memory-lock. " in refused.stderr
    assert "into the plan" in refused.stderr
    assert Store(store).runs() == []


@pytest.mark.slow
def test_who_may_measure_some_of_it_measures_that(tmp_path: Path, store: Path, nobody: None) -> None:
    text = (
        '[defaults]\nno-memory-lock = true\nduration = "300ms"\n'
        '[[experiment]]\nname = "cyclic"\npolicy = ["fifo", "other"]\n'
    )
    done = tauto("run", write(tmp_path, text), store=store)
    assert done.returncode == 0, done.stderr
    assert [told(run)["options"]["policy"] for run in Store(store).runs()] == ["other"]
    lacking = done.stdout[done.stdout.index("What was not measured") :]
    assert "policy fifo" in lacking
    assert "setcap" in lacking


@pytest.mark.slow
def test_a_campaign_that_is_not_there_is_told(store: Path) -> None:
    refused = tauto("report", "plan-2020", store=store)
    assert refused.returncode == 4
    assert "no plan run" in refused.stderr


@pytest.mark.slow
def test_a_report_that_can_not_be_written_is_told_before_measuring(tmp_path: Path, store: Path) -> None:
    refused = tauto(
        "run", write(tmp_path, plan_text()), "--out", str(tmp_path / "no" / "r.html"), store=store
    )
    assert refused.returncode == 4
    assert not store.exists()


@pytest.mark.slow
def test_two_at_once_are_refused(tmp_path: Path, store: Path) -> None:
    plan = write(tmp_path, plan_text(duration="60s", loads='"idle"', repetitions=1))
    lab = start_tauto("run", plan, store=store)
    try:
        wait_until(lambda: any(store.glob("*/stream.tauto")), "a cell is begun")
        wait_until(
            lambda: tauto("run", plan, "--dry-run", store=store).returncode == 4, "the other one is seen"
        )
        refused = tauto("run", plan, store=store)
    finally:
        lab.send_signal(signal.SIGINT)
        try:
            lab.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            lab.kill()
            lab.communicate()
    assert refused.returncode == 4
    assert "being measured" in refused.stderr


@pytest.mark.slow
def test_two_systems_are_measured_side_by_side_and_one_that_does_not_answer_is_told(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "server"
    folder.mkdir()
    with ssh_server("openssh", folder) as server:
        monkeypatch.setenv("HOME", str(server.home))
        monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
        nowhere = f"ssh:127.0.0.1:{free_port()}"
        plan = write(
            tmp_path,
            f'systems = ["local", "{server.where}", "{nowhere}"]\n[defaults]\n{policy()}'
            f'[[experiment]]\nname = "cyclic"\ncpus = "{a_cpu()}"\nduration = "300ms"\n'
            'loads = ["idle", "cpu"]\n',
        )
        done = tauto("run", plan, store=store)
    assert done.returncode == 0, done.stderr
    runs = Store(store).runs()
    assert Counter(told(run)["system"] for run in runs) == {"local": 2, server.where: 2}
    assert {run.manifest.conditions.stored["target"] for run in runs} == {"local", server.where}
    lacking = done.stdout[done.stdout.index("What was not measured") :]
    assert lacking.count(nowhere) >= 2
    page = report_of(done.stdout).read_text()
    assert server.where in page
    assert nowhere in page
