"""Stores are brought together: each run once, whole, and nothing replaced; over SSH as in folders."""

import io
import os
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import in_process
from real import skip_or_fail, start_tauto, tauto, wait_until
from schemas import valid
from ssh_servers import SshServer, ssh_server
from streams import make_stream
from tautochrone.merging.far import _ADMIT, _send
from tautochrone.merging.places import FolderPlace
from tautochrone.run.arrival import ARRIVING
from tautochrone.run.folder import StoredRun
from tautochrone.run.remarks import Remarks, write_remarks
from tautochrone.run.store import Store


def filled(folder: Path, runs: int, first: int = 5_000) -> Store:
    """A store of runs that differ."""
    store = Store(folder)
    for number in range(runs):
        with store.create("cyclic", "scheduling latency", {"load": "idle"}) as run:
            run.append(make_stream([[first + number, 7_000, 6_000]]))
            run.seal()
    return store


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """Where a path is short enough for a socket; pytest's own are not."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def content(store: Path) -> dict[str, bytes]:
    """Every file of every run, and nothing that is none."""
    return {
        str(path.relative_to(store)): path.read_bytes()
        for path in sorted(store.rglob("*"))
        if path.is_file() and path.parent != store
    }


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    with ssh_server("openssh", tmp_path_factory.mktemp("far")) as running:
        yield running


@pytest.fixture
def ssh(server: SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The system's ssh with the keys of the server's user; the address of the server."""
    program = tmp_path / "bin" / "ssh"
    program.parent.mkdir()
    keys = server.home / ".ssh"
    program.write_text(
        f"#!/bin/sh\nexec {shutil.which('ssh')} -F /dev/null -i {keys}/id_ed25519 "
        f'-o UserKnownHostsFile={keys}/known_hosts -o IdentityAgent=none "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return server.where


@pytest.fixture
def busybox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A machine that has nothing but busybox, behind a stand-in for ssh; its address."""
    if (program := shutil.which("busybox")) is None:
        skip_or_fail("needs busybox")
    far, here = tmp_path / "far", tmp_path / "here"
    for folder in (far, here):
        folder.mkdir()
    subprocess.run([program, "--install", "-s", str(far)], check=True)
    (here / "ssh").write_text(
        '#!/bin/sh\nfor last; do :; done\ncase "$*" in *"-O exit"*) exit 0;; esac\n'
        f'PATH={far} exec {far}/sh -c "$last"\n'
    )
    (here / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{here}:{os.environ['PATH']}")
    return "ssh:board"


@pytest.fixture(params=["folder", "ssh", "busybox"])
def other(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    """Another store of three runs, one of them with a tag, and how it is named."""
    place = tmp_path / "other place"
    store = filled(place, 3)
    write_remarks(store.folders()[0], Remarks(("before",), "ours"))
    if request.param == "folder":
        return str(place), place
    return f"{request.getfixturevalue(request.param)}:{place}", place


@pytest.mark.slow
def test_a_store_is_merged_once_and_again_changes_nothing(other: tuple[str, Path], tmp_path: Path) -> None:
    name, place = other
    own = filled(tmp_path / "own", 2, first=50_000)
    before = content(own.path)

    first = in_process.tauto("store", "merge", name, "--json", store=own.path)
    merged = content(own.path)
    again = in_process.tauto("store", "merge", name, store=own.path)

    assert (first.code, again.code) == (0, 0), first.err + again.err
    assert len(valid(first.out)["stores"][0]["new"]) == 3
    assert merged == before | content(place)
    assert content(own.path) == merged
    assert "0 new runs; 3 runs there already" in again.out
    assert not list(own.path.glob(".*"))


@pytest.mark.slow
def test_two_stores_are_synchronized_both_ways(other: tuple[str, Path], tmp_path: Path) -> None:
    name, place = other
    own = filled(tmp_path / "own", 2, first=50_000)
    union = content(own.path) | content(place)

    ended = in_process.tauto("store", "sync", name, "--json", store=own.path)

    assert ended.code == 0, ended.err
    assert [len(one["new"]) for one in valid(ended.out)["stores"]] == [3, 2]
    assert content(own.path) == content(place) == union
    assert not list(place.glob(".*"))


@pytest.mark.slow
def test_only_whole_runs_arrive_and_conflicts_are_told(other: tuple[str, Path], tmp_path: Path) -> None:
    name, place = other
    own = Store(tmp_path / "own")
    known, damaged, good = Store(place).folders()
    shutil.copytree(known, own.path / known.name)
    manifest = own.path / known.name / "run.json"
    manifest.write_text(manifest.read_text().replace("scheduling", "Scheduling"))
    (damaged / "samples.parquet").write_bytes(b"PAR1 no more")
    unfinished = Store(place).create("cyclic", "being measured")  # held by us
    before = content(own.path)

    ended = in_process.tauto("store", "merge", name, "--json", store=own.path)
    unfinished.discard()

    (told,) = valid(ended.out)["stores"]
    assert ended.code == 5
    assert told["conflicts"] == [known.name]
    assert [one["run"] for one in told["refused"]] == [damaged.name]
    assert told["incomplete"] == [unfinished.path.name]
    assert told["new"] == [good.name]
    assert {path: bytes_ for path, bytes_ in content(own.path).items() if good.name not in path} == before

    if "ssh:" in name:  # nor does it go there
        shutil.rmtree(own.path / known.name)
        shutil.copytree(damaged, own.path / (odd := f"{damaged.name}-here"))
        pushed = in_process.tauto("store", "sync", name, "--json", store=own.path)
        assert [one["run"] for one in valid(pushed.out)["stores"][1]["refused"]] == [odd]
        assert not (place / odd).exists()
        shutil.rmtree(own.path / odd)
        shutil.copytree(known, own.path / known.name, dirs_exist_ok=True)
        manifest.write_text(manifest.read_text().replace("scheduling", "Scheduling"))

    shutil.rmtree(damaged)
    assert in_process.tauto("store", "merge", name, store=own.path).code == 4


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_whole_runs_and_the_same_command_goes_on(
    ssh: str, tmp_path: Path, short_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(short_folder))
    place, own = filled(tmp_path / "there", 30).path, tmp_path / "own"
    for delay in (0.0, 0.02, 0.05):
        process = start_tauto("store", "merge", f"{ssh}:{place}", store=own)
        wait_until(
            lambda process=process: any(own.glob(f"{ARRIVING}*")) or process.poll() is not None,
            "runs are on their way",
        )
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        for run in Store(own).folders():
            StoredRun.read(run)
    for left in short_folder.iterdir():
        os.utime(left, (0, 0))  # an old one is nobody's who begins just now

    ended = tauto("store", "merge", f"{ssh}:{place}", store=own)

    assert ended.returncode == 0, ended.stderr
    assert content(own) == content(place)
    assert not list(own.glob(".*"))
    assert not list(short_folder.iterdir())


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("merge", "ssh:"), 2, "not an address of a store"),
        (("merge", "nowhere"), 4, "There is no store nowhere"),
        (("sync", "."), 2, "is the store itself"),
        (("sync", "lab@rack:/srv/runs"), 2, "is written ssh:lab@rack:/srv/runs"),
        (("merge", "ssh:nobody@127.0.0.1:1:/runs"), 2, "can't be reached"),
    ],
)
def test_a_store_that_is_none_is_refused(
    words: tuple[str, ...], code: int, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = in_process.tauto("store", *words, store=tmp_path)
    assert ended.code == code
    assert told in ended.err


def test_a_store_that_can_not_be_looked_at_is_told(tmp_path: Path) -> None:
    """Of another user's folder it is not told whether it is there; nor of a name that is too long."""
    refused = in_process.tauto("store", "merge", str(tmp_path / ("x" * 300)), store=tmp_path)
    assert (refused.code, "the name is too long" in refused.err) == (4, True), refused.err


def test_a_run_is_no_store(tmp_path: Path) -> None:
    (run,) = filled(tmp_path / "there", 1).folders()
    ended = in_process.tauto("store", "merge", str(run), store=tmp_path / "own")
    assert ended.code == 2
    assert f"Name the store that it lies in: {tmp_path / 'there'}." in ended.err


@pytest.mark.slow
def test_a_far_store_that_is_not_there_is_no_store_without_runs(busybox: str, tmp_path: Path) -> None:
    """A mistyped path must not look like a store of which all runs are here."""
    own, far = filled(tmp_path / "own", 1), tmp_path / "other"
    ended = in_process.tauto("store", "merge", f"{busybox}:{far}", store=own.path)
    assert (ended.code, str(far) in ended.err) == (4, True), ended.err
    ended = in_process.tauto("store", "sync", f"{busybox}:{far}", store=own.path)
    assert ended.code == 0, ended.err
    assert content(far) == content(own.path)
    (tmp_path / "file").touch()
    ended = in_process.tauto("store", "sync", f"{busybox}:{tmp_path / 'file'}", store=own.path)
    assert ended.code == 4, ended.err


def test_what_changes_on_its_way_does_not_arrive(tmp_path: Path) -> None:
    """A bit that turns between the two stores is found by the hash, whatever the file."""
    place, own = FolderPlace(filled(tmp_path / "there", 1).path), FolderPlace(tmp_path / "own")
    runs = place.listing().runs
    hashes = place.hashes(runs)
    for run, name in hashes:
        with own.receiving(0) as stage:
            place.bring(runs, stage)
            file = stage / run / name
            turned = bytearray(file.read_bytes())
            turned[len(turned) // 2] ^= 1
            file.write_bytes(turned)
            arrived, refused = own.admit(stage, runs, hashes)
        assert (arrived, list(refused)) == ([], [run])
        assert content(own.path) == {}


def test_files_that_are_sent_belong_to_whoever_receives_them(tmp_path: Path) -> None:
    place = FolderPlace(filled(tmp_path / "there", 1).path)
    _send(stream := io.BytesIO(), place.path, place.listing().runs)
    with tarfile.open(fileobj=io.BytesIO(stream.getvalue())) as archive:
        assert {(one.uid, one.gid, one.uname, one.gname) for one in archive} == {(0, 0, "", "")}


def test_of_two_that_bring_the_same_run_at_once_one_does(tmp_path: Path) -> None:
    """The other brings it between the look whether it is there and the step that gives it its name."""
    (tmp_path / "stage" / "run").mkdir(parents=True)
    script = f"store={tmp_path}; stage=stage; {_ADMIT.replace('|| {', '|| { mkdir run;')}"
    ended = subprocess.run(["sh", "-c", script], input="run\n", capture_output=True, text=True, check=True)
    assert (ended.stdout, list((tmp_path / "run").iterdir())) == ("", [])
