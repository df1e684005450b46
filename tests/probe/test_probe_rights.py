"""With whose rights the probe does things, and where it writes: nobody else chooses that for its caller."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from real import PATIENCE_S, skip_or_fail
from tautochrone.target.local import find_probe

NOBODY = 65534
CLOCK = ("clock", "--count", "10", "--no-memory-lock", "--clocks", "monotonic")


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder where everybody may make names, as /tmp is; pytest's own are private."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


def needs_root() -> None:
    if os.geteuid() != 0:
        skip_or_fail("needs root to become another user")


def lent_to_nobody(folder: Path, capability: str) -> Path:
    """A copy of the probe, with this capability from its file."""
    needs_root()
    copy = folder / "tauto-probe"
    shutil.copyfile(find_probe(), copy)
    copy.chmod(0o755)
    lent = subprocess.run(
        ["setcap", f"{capability}+ep", str(copy)], capture_output=True, text=True, check=False
    )
    if lent.returncode != 0:
        skip_or_fail(f"file capabilities can't be given here: {lent.stderr.strip()}")
    return copy


def as_nobody(
    *command: str | Path, asked: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command, input=asked, capture_output=True, timeout=PATIENCE_S, check=False, user=NOBODY, group=NOBODY,
        extra_groups=[], env=os.environ | environment, cwd="/",
    )  # fmt: skip


# ---- Rights of the program's file ------------------------------------------------------


@pytest.mark.slow
def test_a_crafted_journal_repins_nobody_elses_threads(shared: Path) -> None:
    """The capability that measuring needs lets a process set the CPUs of any other one."""
    probe = lent_to_nobody(shared, "cap_sys_nice")
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        skip_or_fail("needs two CPUs")
    with subprocess.Popen(["sleep", "1000"]) as victim:
        try:
            start = Path(f"/proc/{victim.pid}/stat").read_text().rpartition(")")[2].split()[19]
            boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
            journal = shared / "journal"
            journal.write_text(
                f"tautochrone-journal 1 crafted 2026-01-01T00:00:00Z {boot} 1 1\n"
                f"affinity {victim.pid} {victim.pid} {start} {cpus[1]}\n"
            )
            os.chown(journal, NOBODY, NOBODY)
            journal.chmod(0o600)
            restored = as_nobody(probe, "keep", "--journal", journal, asked=b"1 state\n2 restore\n")
            assert restored.returncode == 0, restored.stderr
            assert b'"crafted"' in restored.stdout  # looking is allowed
            assert f"affinity {victim.pid}".encode() in restored.stdout.partition(b"2 ok")[2]
            assert os.sched_getaffinity(victim.pid) == set(cpus)
        finally:
            victim.kill()


@pytest.mark.slow
def test_a_guard_writes_nowhere_its_caller_may_not(shared: Path) -> None:
    probe = lent_to_nobody(shared, "cap_dac_override")
    private = shared / "private"
    private.write_text("as it was")
    private.chmod(0o600)
    refused = as_nobody(probe, "guard", "--join", private, "--", "true")
    assert (refused.returncode, private.read_text()) == (3, "as it was")
    assert b"can't be put there" in refused.stderr
    measured = as_nobody(probe, "period", "--count", "5", "--policy", "other", "--no-memory-lock",
                         TAUTO_THREADS_JOIN=str(private))  # fmt: skip
    assert (measured.returncode, private.read_text()) == (0, "as it was")


@pytest.mark.slow
def test_what_a_guard_starts_has_its_own_rights_from_its_file(shared: Path) -> None:
    probe = lent_to_nobody(shared, "cap_sys_nice")
    nothing_yet, speaker = os.pipe()  # an input that has ended would be a connection that is cut
    try:
        measured = subprocess.run(
            ["prlimit", "--rtprio=0", probe, "guard", "--", probe, "period", "--count=5", "--no-memory-lock"],
            stdin=nothing_yet, capture_output=True, timeout=PATIENCE_S, check=False,
            user=NOBODY, group=NOBODY, extra_groups=[],
        )  # fmt: skip
    finally:
        os.close(nothing_yet)
        os.close(speaker)
    assert measured.returncode == 0, measured.stderr


@pytest.mark.slow
def test_a_set_user_id_probe_starts_nothing_as_that_user(shared: Path) -> None:
    needs_root()
    if os.statvfs(shared).f_flag & os.ST_NOSUID:
        skip_or_fail("set-user-ID has no effect there")
    probe = shared / "tauto-probe"
    shutil.copyfile(find_probe(), probe)
    probe.chmod(0o6755)
    made = shared / "made"
    # A load ends with its input, so that is held open for longer than it lasts.
    held_open = 'sleep 3 | "$0" load command --duration 2s -- touch "$1"'
    loaded = as_nobody("sh", "-c", held_open, probe, made)
    assert loaded.returncode == 0, loaded.stderr
    out = shared / "out"
    measured = as_nobody(probe, *CLOCK, "--out", out)
    assert measured.returncode == 0, measured.stderr
    assert [(path.stat().st_uid, path.stat().st_gid) for path in (made, out)] == [(NOBODY, NOBODY)] * 2


@pytest.mark.slow
def test_a_set_user_id_middleware_program_writes_as_its_caller(shared: Path) -> None:
    needs_root()
    if os.statvfs(shared).f_flag & os.ST_NOSUID:
        skip_or_fail("set-user-ID has no effect there")
    program = shared / "tauto-middleware-tcp"
    shutil.copyfile(find_probe().with_name(program.name), program)
    program.chmod(0o6755)
    out = shared / "out"
    measured = as_nobody(
        program, "latency", "--calls", "5", "--policy", "other", "--no-memory-lock", "--out", out
    )
    assert measured.returncode == 0, measured.stderr
    assert (out.stat().st_uid, out.stat().st_gid) == (NOBODY, NOBODY)


# ---- Where it writes -------------------------------------------------------------------


def link_to_empty(path: Path) -> None:
    (path.parent / "precious").touch()
    path.symlink_to("precious")


def link_to_nothing(path: Path) -> None:
    path.symlink_to("nothing")


def second_name(path: Path) -> None:
    (path.parent / "precious").touch()
    path.hardlink_to(path.parent / "precious")


def listening_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def block_device(path: Path) -> None:
    needs_root()
    os.mknod(path, 0o60600, os.makedev(7, 200))


def anothers_file(path: Path) -> None:
    needs_root()
    path.touch()
    os.chown(path, NOBODY, NOBODY)


@pytest.mark.parametrize(
    ("there", "reason"),
    [
        (lambda path: path.write_bytes(b"samples"), "holds data"),
        (Path.mkdir, "it is a folder"),
        (link_to_empty, "it is a link"),
        (link_to_nothing, "it is a link"),
        (second_name, "has other names too"),
        (listening_socket, "a disk or a socket"),
        (block_device, "a disk or a socket"),
        (anothers_file, "belongs to another user"),
    ],
)
def test_nothing_is_written_to_what_others_may_have_put_there(
    shared: Path, there: Callable[[Path], object], reason: str
) -> None:
    out = shared / "out"
    there(out)
    before = {path.name: path.lstat().st_size for path in shared.iterdir()}
    refused = written_to(str(out))
    assert refused.returncode == 2
    assert reason.encode() in refused.stderr
    assert {path.name: path.lstat().st_size for path in shared.iterdir()} == before


def written_to(out: str, **options: int) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [str(find_probe()), *CLOCK, "--out", out], capture_output=True, timeout=PATIENCE_S, check=False,
        pass_fds=options.values(),
    )  # fmt: skip


def test_new_and_empty_files_pipes_and_what_is_open_take_the_stream(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    for out in (tmp_path / "new", empty):
        assert written_to(str(out)).returncode == 0
        assert out.read_bytes().startswith(b"TAUF")
    assert written_to("/dev/null").returncode == 0
    for standard in ("-", "/dev/stdout", "/dev/fd/1"):
        assert written_to(standard).stdout.startswith(b"TAUF")
    with (tmp_path / "open").open("w+b") as file:
        assert written_to(f"/dev/fd/{file.fileno()}", file=file.fileno()).returncode == 0
        assert file.read().startswith(b"TAUF")
        assert written_to(f"/dev/fd/{file.fileno()}", file=file.fileno()).returncode == 2
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["head", "--bytes=4", str(pipe)], stdout=subprocess.PIPE) as reader:
        written_to(str(pipe))  # who reads less than all is a reader that went away
        assert reader.communicate(timeout=PATIENCE_S)[0] == b"TAUF"
    assert written_to("/dev/fd/99").returncode in (2, 3)
