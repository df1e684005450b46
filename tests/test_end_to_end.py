"""The whole way on this machine: the command, the probe, the store, the report. And what a kill leaves."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forks import Started
from real import (
    PATIENCE_S,
    a_cpu,
    children,
    mount_small_disk,
    only_run,
    policy_options,
    sealed,
    skip_or_fail,
    start_tauto,
    tauto,
    wait_until,
)
from streams import make_stream
from tautochrone.run.store import Store
from tautochrone.target.local import find_probe


def measure(store: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return tauto("probe", "cyclic", "--cpus", a_cpu(), *policy_options(), *arguments, store=store)


def start_measuring(store: Path, *arguments: str) -> tuple[Started, int]:
    """The lab, and its probe, once samples are on the disk."""
    lab = start_tauto("probe", "cyclic", "--cpus", a_cpu(), *policy_options(), *arguments, store=store)
    wait_until(lambda: stream_bytes(store) > 3000, "samples reach the store")
    (probe,) = children(lab.pid)
    return lab, probe


def stream_bytes(store: Path) -> int:
    return sum(path.stat().st_size for path in store.glob("*/stream.tauto"))


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


@pytest.mark.slow
def test_measure_list_show_export_report(tmp_path: Path) -> None:
    measured = measure(tmp_path, "--count", "600", "--overrun", "replay")  # none is missed, however late
    assert measured.returncode == 0, measured.stderr
    run = only_run(tmp_path)
    assert run.manifest.parameters["count"] == 600
    assert run.manifest.facts["kernel"]["release"] == os.uname().release
    assert run.manifest.conditions.stored["load"] == "idle"
    assert "probe cyclic" in run.manifest.typed

    listed = json.loads(tauto("list", "--json", store=tmp_path).stdout)["runs"]
    assert [row["id"] for row in listed] == [run.manifest.id]

    shown = tauto("show", store=tmp_path)
    assert run.manifest.id in shown.stdout
    assert "The accounting balances" in shown.stdout

    exported = tauto("export", run.manifest.id[:20], "--csv", store=tmp_path)
    header, *rows = exported.stdout.splitlines()
    assert "latency_ns" in header.split(",")
    assert len(rows) == run.manifest.books[0].recorded

    page = tmp_path / "page.html"
    assert tauto("report", "latest", "--out", str(page), store=tmp_path).returncode == 0
    assert run.manifest.id in page.read_text()
    for kind in ("histogram", "cumulative", "time", "cpus"):
        figure = tmp_path / f"{kind}.svg"
        done = tauto("figure", "latest", "--kind", kind, "--out", str(figure), store=tmp_path)
        assert done.returncode == 0, done.stderr
        assert figure.stat().st_size > 1000


@pytest.mark.slow
def test_the_first_answer_measures_judges_and_reports(tmp_path: Path) -> None:
    answered = tauto("--duration", "2s", store=tmp_path)
    assert answered.returncode == 0, answered.stderr
    assert "1 kHz" in answered.stdout
    assert "Report: " in answered.stdout
    report = Path(answered.stdout.partition("Report: ")[2].splitlines()[0])
    assert "A 1 kHz loop on CPU" in report.read_text().replace("\N{NO-BREAK SPACE}", " ")
    runs = Store(tmp_path).runs()
    experiments = [run.manifest.experiment for run in runs]
    assert experiments[:4] == ["clock", "cyclic", "cyclic", "cyclic"]
    loads = [run.manifest.conditions.stored["load"] for run in runs]
    assert loads[:4] == ["idle", "idle", "cpu+memory", "cpu+memory"]
    assert set(loads[4:]) <= {"idle"}
    for run in runs[2:4]:
        assert all(report["operations"] > 0 for report in run.manifest.conditions.stored["load_reports"])
    for run in runs:
        assert all(not book.problems() for book in run.manifest.books)
    if policy_options() == ["--policy", "fifo"]:
        assert experiments[4:] == ["switch", "response", "inversion"]
        assert "7 of 7 mechanisms were measured" in answered.stdout
        assert "Safe from priority inversion" in report.read_text()


@pytest.mark.slow
def test_a_first_answer_that_is_stopped_says_what_it_did_not_measure(tmp_path: Path) -> None:
    lab = start_tauto("--duration", "200s", store=tmp_path)
    wait_until(
        lambda: any(path.parent.name.count("cyclic") for path in tmp_path.glob("*/stream.tauto")), "1 kHz"
    )
    wait_until(lambda: stream_bytes(tmp_path) > 3000, "samples reach the store")
    lab.send_signal(signal.SIGINT)
    out, complaint = lab.communicate(timeout=PATIENCE_S)
    assert lab.returncode == 130, complaint
    stopped = out.index("Stopped early.")
    assert stopped < out.index("Report: ")
    said = out[stopped:].splitlines()[0]
    assert "in part only: scheduling latency, 1 kHz, idle" in said
    assert "Not measured: scheduling latency, 1 kHz, load cpu+memory; scheduling latency, 10 kHz" in said


@pytest.fixture
def restricted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Path]]:
    """Makes the probe run as a user who may do nothing but what these options of setpriv(1) give him."""
    if os.geteuid() != 0:
        skip_or_fail("needs root to become a user who may do little")
    folder = Path(tempfile.mkdtemp())  # pytest's own are private
    folder.chmod(0o755)
    copy = Path(shutil.copy(find_probe(), folder / "tauto-probe"))
    copy.chmod(0o755)

    def make(options: str) -> Path:
        wrapper = folder / "wrapper"
        nobody = f"setpriv --reuid 65534 --regid 65534 --clear-groups {options}"
        wrapper.write_text(f'#!/bin/sh\nexec prlimit --rtprio=0 --memlock=65536 {nobody} {copy} "$@"\n')
        wrapper.chmod(0o755)
        monkeypatch.setenv("TAUTO_PROBE", str(wrapper))
        return wrapper

    yield make
    shutil.rmtree(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "lacking", "policy", "is_locked"),
    [
        ("", "real-time priority and locked memory", "other", False),
        pytest.param("ipc_lock", "real-time priority", "other", True, marks=pytest.mark.long),
        ("sys_nice", "locked memory", "fifo", False),
    ],
)
def test_a_first_answer_without_permission_goes_on_with_what_is_permitted(
    tmp_path: Path,
    restricted: Callable[[str], Path],
    given: str,
    lacking: str,
    policy: str,
    is_locked: bool,
) -> None:
    probe = restricted(f"--inh-caps +{given} --ambient-caps +{given}" if given else "")
    tried = subprocess.run([probe, "services"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        skip_or_fail(f"needs to give a user {given}: {tried.stderr.strip()}")
    answered = tauto("--duration", "2s", store=tmp_path)
    assert answered.returncode == 0, answered.stderr
    assert f"Not permitted to this user: {lacking}." in answered.stdout
    assert f"sudo setcap cap_sys_nice,cap_ipc_lock+ep {probe}" in answered.stdout
    assert "--policy" not in answered.stdout
    assert "PATH-OF" not in answered.stdout
    mechanisms = ["switch", "response", "inversion"] if policy == "fifo" else []
    runs = Store(tmp_path).runs()
    assert [run.manifest.experiment for run in runs] == ["clock", "cyclic", "cyclic", "cyclic", *mechanisms]
    assert [run.manifest.parameters["policy"] for run in runs[1:]] == [policy] * (len(runs) - 1)
    assert [run.manifest.parameters["memory_lock"] for run in runs] == [is_locked] * len(runs)
    assert ("0 of 7 mechanisms were measured" in answered.stdout) == (policy != "fifo")
    page = Path(answered.stdout.partition("Report: ")[2].splitlines()[0]).read_text()
    assert "is not permitted to this user" in page or policy == "fifo"


@pytest.mark.slow
def test_a_default_that_is_not_permitted_is_done_without_and_a_request_is_refused(
    tmp_path: Path, restricted: Callable[[str], Path]
) -> None:
    probe = restricted("")
    few = ["--period", "1ms", "--count", "20"]
    for arguments, policy in (
        (["cyclic", *few], "other"),
        (["cyclic", "--policy", "other", *few], "other"),
        (["interrupt", "--without-handler", *few], "other"),
        (["clock", "--count", "100"], None),
    ):
        done = tauto("probe", *arguments, store=tmp_path)
        assert done.returncode == 0, done.stderr
        assert f"sudo setcap cap_sys_nice,cap_ipc_lock+ep {probe}" in done.stderr
        manifest = Store(tmp_path).open("latest").manifest
        assert (manifest.parameters.get("policy"), manifest.parameters["memory_lock"]) == (policy, False)
        (warning,) = [one for one in manifest.warnings if one.code == "not-permitted"]
        assert "locked memory" in warning.text
        assert ("real-time priority" in warning.text) == ("--policy" not in arguments and policy == "other")
    runs = len(Store(tmp_path).runs())
    for arguments, why in (
        (["cyclic", "--policy", "fifo", *few], "policy fifo with priority 90 is not permitted"),
        (["cyclic", "--priority", "5", *few], "policy fifo with priority 5 is not permitted"),
        (["inversion", "--count", "1"], "policy fifo with priority 90 is not permitted"),
        (["interrupt", *few], "--without-handler measures"),
    ):
        refused = tauto("probe", *arguments, store=tmp_path)
        assert (refused.returncode, refused.stdout) == (3, "")
        assert why in refused.stderr
        assert "PATH-OF" not in refused.stderr
        assert f"+ep {probe.parent}/tauto-probe;" in refused.stderr or "CAP_BPF" in refused.stderr
    assert len(Store(tmp_path).runs()) == runs


@pytest.mark.slow
def test_a_grid_that_is_not_permitted_says_at_once_all_that_it_takes_and_what_works(
    tmp_path: Path, restricted: Callable[[str], Path]
) -> None:
    probe = restricted("")
    grid = ["tire", "map", "--step", "10ms", "--duration", "100ms", "--nodes", "100", "--threads", "1"]
    refused = tauto(*grid, store=tmp_path)
    assert refused.returncode == 3
    for words in (
        f"setcap cap_sys_nice,cap_ipc_lock+ep {probe.parent}/tauto-probe;",
        "@realtime - rtprio 99",
        "@realtime - memlock unlimited",
        "--no-memory-lock",
        "--policy other",
    ):
        assert words in refused.stderr
    done = tauto(*grid, "--no-memory-lock", "--policy", "other", store=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_limit_on_locked_memory_is_named(restricted: Callable[[str], Path]) -> None:
    refused = subprocess.run([restricted(""), "clock"], capture_output=True, text=True, check=False)
    assert refused.returncode == 3
    assert "RLIMIT_MEMLOCK (ulimit -l) is 64 KiB" in refused.stderr


@pytest.mark.slow
def test_an_interrupt_seals_what_was_measured(tmp_path: Path) -> None:
    lab, probe = start_measuring(tmp_path, "--duration", "100s")
    lab.send_signal(signal.SIGINT)
    out, _ = lab.communicate(timeout=PATIENCE_S)
    assert lab.returncode == 130
    assert not is_alive(probe)
    run = only_run(tmp_path)
    assert run.manifest.state == "sealed"
    assert run.manifest.ended == "interrupted"
    assert any(warning.code == "cut-short" for warning in run.manifest.warnings)
    assert run.manifest.id in out


@pytest.mark.slow
def test_a_killed_probe_leaves_a_run_of_its_whole_frames(tmp_path: Path) -> None:
    lab, probe = start_measuring(tmp_path, "--duration", "100s")
    os.kill(probe, signal.SIGKILL)
    _, complaint = lab.communicate(timeout=PATIENCE_S)
    assert lab.returncode == 1
    assert "the probe failed" in complaint
    run = only_run(tmp_path)
    assert run.manifest.state == "recovered"
    assert run.manifest.id in complaint
    assert len(run.values()) == run.manifest.books[0].recorded > 0
    assert any(warning.code == "cut-off" for warning in run.manifest.warnings)
    shown = tauto("show", store=tmp_path)
    assert shown.returncode == 0
    assert "cut off" in shown.stdout


@pytest.mark.slow
def test_a_killed_lab_takes_its_probe_along_and_its_run_is_recovered(tmp_path: Path) -> None:
    lab, probe = start_measuring(tmp_path, "--duration", "100s")
    lab.kill()
    lab.communicate(timeout=PATIENCE_S)
    wait_until(lambda: not is_alive(probe), "the probe notices that nobody reads")
    assert Store(tmp_path).runs() == []
    recovered = tauto("recover", store=tmp_path)
    assert recovered.returncode == 0, recovered.stderr
    run = only_run(tmp_path)
    assert run.manifest.state == "recovered"
    assert len(run.values()) > 0
    assert stream_bytes(tmp_path) == 0


@pytest.mark.slow
def test_the_next_tauto_recovers_what_a_killed_one_left(tmp_path: Path) -> None:
    lab, _ = start_measuring(tmp_path, "--duration", "100s")
    lab.kill()
    lab.communicate(timeout=PATIENCE_S)
    assert measure(tmp_path, "--count", "100").returncode == 0
    assert sorted(run.manifest.state for run in Store(tmp_path).runs()) == ["recovered", "sealed"]


@pytest.mark.slow
def test_a_killed_lab_takes_its_loads_along(tmp_path: Path) -> None:
    lab = start_tauto(
        "probe", "cyclic", *policy_options(), "--duration", "100s", "--load", "cpu+memory", store=tmp_path
    )
    wait_until(lambda: stream_bytes(tmp_path) > 3000, "samples reach the store")
    started = children(lab.pid)
    assert len(started) == 3
    lab.kill()
    lab.communicate(timeout=PATIENCE_S)
    wait_until(lambda: not any(is_alive(pid) for pid in started), "probe and loads end")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MB."""
    place = mount_small_disk(tmp_path, "size=2m")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.slow
def test_a_full_disk_ends_the_run_with_a_message_and_keeps_what_is_whole(small_disk: Path) -> None:
    assert measure(small_disk, "--count", "200").returncode == 0
    full = measure(small_disk, "--period", "20us", "--duration", "30s")
    assert full.returncode == 4
    assert "recover" in full.stderr
    assert "Traceback" not in full.stderr
    assert [run.manifest.parameters["count"] for run in Store(small_disk).runs()] == [200]
    subprocess.run(["mount", "-o", "remount,size=40m", str(small_disk)], check=True)
    assert tauto("recover", store=small_disk).returncode == 0
    _, recovered = Store(small_disk).runs()
    assert recovered.manifest.state == "recovered"
    assert len(recovered.values()) > 10_000


@pytest.mark.slow
def test_a_store_that_can_not_be_written_is_told_before_measuring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = tmp_path / "probe"
    probe.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    probe.chmod(0o755)
    options = policy_options()
    monkeypatch.setenv("TAUTO_PROBE", str(probe))
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    refused = tauto("probe", "cyclic", *options, "--duration", "30s", store=in_the_way / "runs")
    assert refused.returncode == 4
    assert "--store" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (tmp_path / "started").exists()


@pytest.mark.slow
def test_the_store_may_be_named_before_or_after_the_experiment(tmp_path: Path) -> None:
    options = ("--count", "20", "--cpus", a_cpu(), *policy_options())
    for number, words in enumerate(
        (
            ["--store", "{}", "probe", "cyclic"],
            ["probe", "--store", "{}", "cyclic"],
            ["probe", "cyclic", "--store", "{}"],
        )
    ):
        place = tmp_path / str(number)
        named = [word.format(place) for word in words]
        assert tauto(*named, *options, store=tmp_path / "elsewhere").returncode == 0
        assert only_run(place).manifest.experiment == "cyclic"
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.slow
@pytest.mark.parametrize("verb", [["show"], ["report", "latest"], ["figure", "latest"], ["export", "--csv"]])
def test_a_damaged_run_is_told_by_every_verb(tmp_path: Path, verb: list[str]) -> None:
    run = sealed(make_stream([[1, 2, 3]]), tmp_path)
    content = json.loads((run.path / "run.json").read_text())
    del content["header"]["sources"][0]["source"]
    (run.path / "run.json").write_text(json.dumps(content))
    name = [word.replace("latest", run.id) for word in verb]
    named = name if run.id in name else [*name, run.id]
    ended = (
        tauto(*named, "--out", str(tmp_path / "x.svg"), store=tmp_path)
        if verb[0] == "figure"
        else tauto(*named, store=tmp_path)
    )
    assert ended.returncode == 5
    assert "is damaged" in ended.stderr
    assert "fault in tauto" not in ended.stderr


@pytest.mark.slow
def test_a_refusal_of_the_probe_is_told_once_and_leaves_nothing(tmp_path: Path) -> None:
    refused = tauto("probe", "cyclic", "--period", "5", store=tmp_path)
    assert refused.returncode == 2
    assert "not a duration" in refused.stderr
    assert list(tmp_path.iterdir()) == []
    unknown = tauto("probe", "cyclic", "--load", "gravity", store=tmp_path)
    assert unknown.returncode == 2
    assert "cpu+memory" in unknown.stderr


@pytest.mark.slow
def test_progress_is_silent_when_nobody_watches(tmp_path: Path) -> None:
    measured = measure(tmp_path, "--duration", "3s")
    assert measured.stderr == ""
    assert "\x1b" not in measured.stdout
