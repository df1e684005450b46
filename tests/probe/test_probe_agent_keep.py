"""The keeper of settings as one speaks to it: what it reads, what it refuses, what it says to garbage."""

import os
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents import RefusedError, keep
from keeper_trees import make_tree, snapshot
from real import tauto_agent
from tautochrone.target.local import find_agent


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_tree(tmp_path / "root")


# ---- Looking ------------------------------------------------------------------


@pytest.mark.slow
def test_files_are_read_whole_whatever_size_they_claim(root: Path) -> None:
    with keep() as keeper:
        assert keeper.ask("read", "/proc/version") == Path("/proc/version").read_bytes()
        assert keeper.ask("read", "/sys/devices/system/cpu/possible").endswith(b"\n")
        assert len(keeper.ask("read", "/proc/kallsyms")) > 100_000
    with keep("--root", str(root)) as keeper:
        assert keeper.ask("read", "/sys/thp/enabled") == b"always [madvise] never\n"
        assert keeper.ask("read", "/sys/empty") == b""


def test_names_and_kinds(root: Path) -> None:
    (root / "sys/link").symlink_to("cpu1")
    with keep("--root", str(root) + "/") as keeper:
        assert set(keeper.ask("names", "/sys").split()) == {b"cpu1/", b"thp/", b"empty", b"link/"}
        assert [keeper.ask("kind", path) for path in ("/sys/empty", "/sys", "/sys/link", "/nothing")] == [
            b"file",
            b"folder",
            b"folder",
            b"none",
        ]


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (("read", "/nothing"), "ENOENT"),
        (("read", "/sys"), "EISDIR"),
        (("names", "/sys/empty"), "ENOTDIR"),
        (("read", "sys/empty"), "EINVAL"),
        (("read", "/sys/../../passwd"), "EINVAL"),
        (("read", "/sys/.."), "EINVAL"),
        (("read", "/" + "x" * 5000), "ENAMETOOLONG"),
        (("read", "/sys/em\0pty"), "EINVAL"),
        (("read",), "EINVAL"),
        (("read", "/sys/empty", "x"), "EINVAL"),
        (("reed", "/sys/empty"), "EINVAL"),
        (("write", "/sys/empty", "1"), "EINVAL"),
        (("undo",), "EINVAL"),
        (("leave",), "EINVAL"),
    ],
)
def test_what_can_not_be_done_is_an_error_with_words(
    root: Path, request_: tuple[str, ...], error: str
) -> None:
    with keep("--root", str(root)) as keeper:
        with pytest.raises(RefusedError) as refused:
            keeper.ask(*request_)
        assert refused.value.name == error
        assert len(refused.value.words) > 5
        assert keeper.ask("kind", "/sys") == b"folder"


def test_an_endless_file_and_one_without_a_writer_do_not_hold_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with keep() as keeper:
        with pytest.raises(RefusedError, match="EFBIG"):
            keeper.ask("read", "/dev/zero")
        assert keeper.ask("read", str(tmp_path / "fifo")) == b""


def test_requests_may_be_written_all_at_once(root: Path) -> None:
    with keep("--root", str(root)) as keeper:
        keeper.input.write(b"".join(b"r%d read /sys/cpu1/online\n\n" % i for i in range(1000)))
        for i in range(1000):
            assert keeper.answer() == (f"r{i}", "ok", "1\n")


@pytest.mark.slow
def test_answers_that_wait_for_their_reader_are_not_lost() -> None:
    """Far more than a pipe holds, and the input has ended by the time they are read."""
    with keep("--patience", "20s") as keeper:
        keeper.input.write(b"".join(b"%d read /proc/kallsyms\n" % i for i in range(3)))
        keeper.hang_up()
        time.sleep(0.3)
        answers = [keeper.answer() for _ in range(3)]
        assert [answer[0] for answer in answers] == ["0", "1", "2"]
        assert all(len(answer[2]) > 100_000 for answer in answers)
        assert keeper.ended() == 0


# ---- Garbage, and too little permission -----------------------------------------


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"1", "1 error EINVAL"),
        (b" ", "- error EINVAL"),
        (b"1  read", "1 error EINVAL"),
        (b"1 read %", "1 error EINVAL"),
        (b"1 read %2", "1 error EINVAL"),
        (b"1 read %zz", "1 error EINVAL"),
        (b"%zz read /", "- error EINVAL"),
        (b"1 2 3 4 5 6 7 8 9 10", "1 error EINVAL"),
        (b"1 read /" + b"x" * 2_000_000, "- error E2BIG"),
        (b"\xff\xfe\x00 read /", "- error EISDIR"),
        (b"a%20b kind /", "a%20b ok"),
    ],
)
def test_a_line_that_is_no_request_is_answered(line: bytes, said: str) -> None:
    with keep() as keeper:
        keeper.input.write(line + b"\n")
        assert " ".join(keeper.answer()[:-1]) == said
        assert keeper.ask("kind", "/") == b"folder"


_names = st.sampled_from(
    ["read", "names", "kind", "begin", "write", "mkdir", "move", "hold", "affinities", "state"]
)
_words = st.one_of(
    st.sampled_from(
        ["/sys/empty", "/cgroup/tasks", "/cgroup/new", "/", "", "%", "/cgroup/new/tasks", "/dev/latency"]
    ),
    st.text(max_size=12),
)
_lines = st.one_of(
    st.binary(max_size=60).filter(lambda line: b"\n" not in line),
    st.tuples(_names, st.lists(_words, max_size=4)).map(
        lambda request: " ".join(["7", request[0], *(_encoded(word) for word in request[1])]).encode()
    ),
)


def _encoded(word: str) -> str:
    return "".join(f"%{byte:02X}" for byte in word.encode("utf-8", "surrogatepass")) or "%"


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(_lines, max_size=30))
def test_whatever_it_is_told_it_answers_and_undoes(root: Path, lines: list[bytes]) -> None:
    before = snapshot(root)
    with keep("--root", str(root)) as keeper:
        keeper.ask("begin", "fuzz")
        for line in lines:
            keeper.input.write(line + b"\n")
            if line:
                assert len(keeper.answer()) >= 3
        assert keeper.ask("undo") == b""
    assert snapshot(root) == before


def test_refusals_of_its_options() -> None:
    for arguments, words in [
        (["--journal", "here"], "name it from the root"),
        (["--journal", "/a/../b"], "name it from the root"),
        (["--root", "/" + "x" * 5000], "too long"),
        (["--patience", "x"], "not a duration"),
        (["more"], "no such option"),
    ]:
        answer = tauto_agent("keep", *arguments)
        assert answer.returncode == 2
        assert words in answer.stderr


def test_a_journal_that_can_not_be_written_is_told(tmp_path: Path) -> None:
    with keep(journal=tmp_path / "no" / "such" / "folder" / "journal") as keeper:
        with pytest.raises(RefusedError, match="can't be made: no such file or folder") as refused:
            keeper.ask("begin", "MI")
        assert refused.value.name == "ENOENT"
        assert keeper.state() is None


def test_without_permission_everything_is_refused_with_words() -> None:
    refused = unprivileged_answers(become_nobody if os.geteuid() == 0 else lambda: None)
    assert refused["read /etc/shadow"] == "EACCES"
    assert refused["begin MI"] in ("EACCES", "ENOENT")
    assert refused["state"] == "ok"


def become_nobody() -> None:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


def unprivileged_answers(before: Callable[[], None]) -> dict[str, str]:
    """What the keeper says to each request; the journal is where it usually is."""
    requests = ["read /etc/shadow", "begin MI", "state", "restore"]
    environment = {name: value for name, value in os.environ.items() if name != "TAUTO_JOURNAL"}
    answered = subprocess.run(
        [str(find_agent()), "keep"],
        input="".join(f"{i} {request}\n" for i, request in enumerate(requests)).encode(),
        capture_output=True,
        env=environment,
        preexec_fn=before,
        check=False,
    )
    assert answered.returncode == 0, answered.stderr
    found = {}
    for line in answered.stdout.decode().splitlines():
        words = line.split()
        with suppress(ValueError, IndexError):
            if words[1] in ("ok", "error"):
                found[requests[int(words[0])]] = "ok" if words[1] == "ok" else words[2]
    return found
