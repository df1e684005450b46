"""With whose rights probe and agent work, and where the probe writes: its caller alone chooses that."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from real import PATIENCE_S, skip_or_fail
from tautochrone.target.local import find_agent, find_probe

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


def lent_to_nobody(folder: Path, capability: str, program: Path | None = None) -> Path:
    """A copy of the probe, or of this program, with this capability from its file."""
    needs_root()
    original = program or find_probe()
    copy = folder / original.name
    shutil.copyfile(original, copy)
    copy.chmod(0o755)
    lent = subprocess.run(
        ["setcap", f"{capability}+ep", str(copy)], capture_output=True, text=True, check=False
    )
    if lent.returncode != 0:
        skip_or_fail(f"file capabilities can't be given here: {lent.stderr.strip()}")
    return copy


def set_user_id(folder: Path, program: Path) -> Path:
    """A copy of this program that runs with the rights of its owner, root."""
    needs_root()
    if os.statvfs(folder).f_flag & os.ST_NOSUID:
        skip_or_fail("set-user-ID has no effect there")
    copy = folder / program.name
    shutil.copyfile(program, copy)
    copy.chmod(0o6755)
    return copy


def as_nobody(
    *command: str | Path, asked: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command, input=asked, capture_output=True, timeout=PATIENCE_S, check=False, user=NOBODY, group=NOBODY,
        extra_groups=[], env=os.environ | environment, cwd="/",
    )  # fmt: skip


# ---- Rights of the program's file ------------------------------------------------------


AGENTS = [
    ("keep",),
    ("guard", "--", "true"),
    ("load", "cpu", "--duration", "10ms"),
    ("guest",),
    ("--help",),
]


def refuses_lent_rights(agent: Path) -> None:
    for words in AGENTS:
        refused = as_nobody(agent, *words, asked=b"1 state\n")
        assert (refused.returncode, refused.stdout) == (3, b""), words
        said = refused.stderr.decode()
        assert said.startswith("tauto-agent: this file has rights of its own (setcap, set-user-ID)")
        assert said.count("\n") == 2
        assert f"sudo setcap -r {agent}" in said


@pytest.mark.slow
@pytest.mark.parametrize("capability", ["cap_sys_nice", "cap_dac_override", "cap_net_bind_service"])
def test_an_agent_with_rights_of_its_file_does_nothing(shared: Path, capability: str) -> None:
    """A crafted journal would else repin anybody's threads: the right to raise priorities does."""
    refuses_lent_rights(lent_to_nobody(shared, capability, find_agent()))


@pytest.mark.slow
def test_a_set_user_id_agent_does_nothing(shared: Path) -> None:
    agent = set_user_id(shared, find_agent())
    refuses_lent_rights(agent)
    agent.chmod(0o755)
    assert as_nobody(agent, "keep", "--journal", shared / "none", asked=b"1 state\n").returncode == 0


@pytest.mark.slow
def test_a_probe_with_rights_of_its_file_writes_nowhere_its_caller_may_not(shared: Path) -> None:
    probe = lent_to_nobody(shared, "cap_dac_override")
    private = shared / "private"
    private.write_text("as it was")
    private.chmod(0o600)
    measured = as_nobody(probe, "period", "--count", "5", "--policy", "other", "--no-memory-lock",
                         TAUTO_THREADS_JOIN=str(private))  # fmt: skip
    assert (measured.returncode, private.read_text()) == (0, "as it was")


@pytest.mark.slow
def test_a_probe_gives_its_files_rights_back_before_it_sets_the_tracer_up(shared: Path) -> None:
    """Its file may write into tracefs, its caller may not."""
    lent = lent_to_nobody(shared, "cap_dac_override,cap_sys_admin")
    unlent = shared / "unlent"
    shutil.copyfile(lent, unlent)  # without the capabilities
    unlent.chmod(0o755)
    with_them, without = (
        as_nobody(probe, "timerlat", "--count", "5", "--no-memory-lock") for probe in (lent, unlent)
    )
    assert without.returncode != 0
    assert (with_them.returncode, with_them.stderr) == (without.returncode, without.stderr)


@pytest.mark.slow
def test_a_probe_under_a_guard_has_its_own_rights_from_its_file(shared: Path) -> None:
    probe = lent_to_nobody(shared, "cap_sys_nice")
    agent = shared / "tauto-agent"
    shutil.copyfile(find_agent(), agent)
    agent.chmod(0o755)
    nothing_yet, speaker = os.pipe()  # an input that has ended would be a connection that is cut
    try:
        measured = subprocess.run(
            ["prlimit", "--rtprio=0", agent, "guard", "--", probe, "period", "--count=5", "--no-memory-lock"],
            stdin=nothing_yet, capture_output=True, timeout=PATIENCE_S, check=False,
            user=NOBODY, group=NOBODY, extra_groups=[],
        )  # fmt: skip
    finally:
        os.close(nothing_yet)
        os.close(speaker)
    assert measured.returncode == 0, measured.stderr


@pytest.mark.slow
def test_a_set_user_id_probe_writes_as_its_caller(shared: Path) -> None:
    probe = set_user_id(shared, find_probe())
    out = shared / "out"
    measured = as_nobody(probe, *CLOCK, "--out", out)
    assert measured.returncode == 0, measured.stderr
    assert (out.stat().st_uid, out.stat().st_gid) == (NOBODY, NOBODY)


@pytest.mark.slow
def test_a_set_user_id_middleware_program_writes_as_its_caller(shared: Path) -> None:
    program = set_user_id(shared, find_probe().with_name("tauto-middleware-tcp"))
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
