"""The undo journal on copied trees: a change is noted before it is made, and put back however it ends."""

import os
import signal
import stat
import time
from pathlib import Path

import pytest

from agents import Keep, RefusedError, keep, said_in_time
from keeper_trees import STEPS, journal_of, kill, make_tree, restore, snapshot
from real import wait_until


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_tree(tmp_path / "root")


# ---- The journal -------------------------------------------------------------


def test_every_change_is_put_back_last_first(root: Path) -> None:
    before = snapshot(root)
    with keep("--root", str(root)) as keeper:
        keeper.ask("begin", "MI")
        for step in STEPS:
            keeper.ask(*step)
        assert (root / "sys/cpu1/online").read_text() == "2\n"
        assert (root / "cgroup/tasks").read_text() == ""
        assert (root / "cgroup/house/inner/tasks").read_text() == "1\n22\n333\n"
        assert (root / "dev/latency").read_bytes() == b"\0\0\0\x14"
        assert (root / "sys/empty").read_text() == "words with spaces, and a %"
        assert keeper.ask("undo") == b""
        assert snapshot(root) == before
        assert not journal_of(root).exists()
        keeper.ask("begin", "again")
        assert keeper.ask("undo") == b""


def test_what_is_put_back_is_what_the_keeper_noted_whoever_has_its_name_by_now(root: Path) -> None:
    before = snapshot(root)
    with keep("--root", str(root)) as keeper:
        keeper.ask("begin", "MI")
        for step in STEPS:
            keeper.ask(*step)
        crafted = root / "crafted"
        header = journal_of(root).read_text().partition("\n")[0]
        crafted.write_text(f"{header}\nwrite /sys/cpu1/online crafted%0A\n")
        crafted.rename(journal_of(root))
        assert keeper.ask("undo") == b""
        assert snapshot(root) == before


@pytest.mark.slow
@pytest.mark.parametrize("end", ["hang up", "terminate", "interrupt", "silence"])
def test_whatever_ends_it_puts_everything_back(root: Path, end: str) -> None:
    before = snapshot(root)
    with keep("--root", str(root), *(["--patience", "10s"] if end == "silence" else [])) as keeper:
        keeper.ask("begin", "MI")
        for step in STEPS:
            keeper.ask(*step)
        if end == "hang up":
            keeper.hang_up()
        elif end != "silence":
            keeper.process.send_signal(signal.SIGTERM if end == "terminate" else signal.SIGINT)
        assert keeper.ended() == 0
        assert snapshot(root) == before
        assert not journal_of(root).exists()
        assert ("it heard nothing for 10000 ms" in keeper.messages) == (end == "silence")


@pytest.mark.slow
def test_signs_of_life_keep_it_and_a_starved_one_reads_before_it_judges(root: Path) -> None:
    for _ in range(5):
        with keep("--root", str(root), "--patience", "6s") as keeper:
            keeper.say("1 begin MI")
            in_time = said_in_time(keeper, 8, 0.8, within_s=5)
            keeper.process.send_signal(signal.SIGSTOP)
            in_time = in_time and said_in_time(keeper, 6, 1.1, within_s=5)
            last_s = time.monotonic()
            keeper.process.send_signal(signal.SIGCONT)
            time.sleep(0.4)
            lives = keeper.process.poll() is None
            in_time = in_time and time.monotonic() - last_s < 5
            assert lives or not in_time
            assert keeper.ended() == 0
            assert not journal_of(root).exists()
        if in_time:
            break
    assert in_time


@pytest.mark.slow
def test_a_peer_that_freezes_without_reading_is_silence_too(root: Path) -> None:
    """The keeper waits for a reader of its answers, not of its settings."""
    before = snapshot(root)
    with keep("--root", str(root), "--patience", "10s") as keeper:
        keeper.ask("begin", "MI")
        keeper.ask("write", "/sys/cpu1/online", "0")
        (root / "large").write_bytes(b"x" * 1_000_000)
        keeper.say("1 read /large")
        assert keeper.ended() == 0
        (root / "large").unlink()
        assert snapshot(root) == before


@pytest.mark.slow
@pytest.mark.parametrize("after", range(len(STEPS) + 1))
def test_a_keeper_killed_after_any_step_is_undone_by_another(root: Path, after: int) -> None:
    before = snapshot(root)
    with keep("--root", str(root)) as keeper:
        keeper.ask("begin", "MI")
        for step in STEPS[:after]:
            keeper.ask(*step)
        kill(keeper)
    with keep("--root", str(root)) as other:
        state = other.state()
        assert state is not None
        assert (state["name"], state["keeper"], state["left"]) == ("MI", None, False)
        with pytest.raises(RefusedError, match="killed"):
            other.ask("begin", "CHM")
        assert other.ask("restore") == b""
        assert other.state() is None
    assert snapshot(root) == before


@pytest.mark.slow
@pytest.mark.parametrize("count", range(1, len(STEPS) + 1))
def test_a_step_that_was_noted_but_never_made_is_undone_too(root: Path, count: int) -> None:
    """The journal of `count` steps beside the tree of fewer: as a kill between the two leaves it."""
    before = snapshot(root)
    with keep("--root", str(root)) as keeper:
        keeper.ask("begin", "MI")
        for step in STEPS[:count]:
            keeper.ask(*step)
        noted = journal_of(root).read_bytes()
        keeper.ask("undo")
        keeper.ask("begin", "MI")
        for step in STEPS[: count - 1]:
            keeper.ask(*step)
        kill(keeper)
    header = journal_of(root).read_bytes().splitlines(keepends=True)[0]
    journal_of(root).write_bytes(header + b"".join(noted.splitlines(keepends=True)[1:]))
    assert restore(root) == b""
    assert snapshot(root) == before


def test_the_journal_is_on_the_disk_before_the_change(root: Path) -> None:
    """A change that waits for a reader is in the journal already; killed there, it is undone."""
    os.mkfifo(root / "sys/fifo")
    with keep("--root", str(root)) as keeper:
        keeper.ask("begin", "MI")
        keeper.ask("write", "/sys/cpu1/online", "0")
        keeper.say("1 write /sys/fifo 5")
        wait_until(lambda: b"write /sys/fifo" in journal_of(root).read_bytes(), "it is noted")
        time.sleep(0.1)
        kill(keeper)
    (root / "sys/fifo").unlink()
    assert b"/sys/fifo" not in restore(root)  # it was made again, with what it held: nothing
    assert (root / "sys/cpu1/online").read_text() == "1\n"


@pytest.mark.slow
def test_a_keeper_killed_while_it_undoes_is_finished_by_another(root: Path) -> None:
    before = snapshot(root)
    for at in range(1, len(STEPS)):
        with keep("--root", str(root)) as keeper:
            keeper.ask("begin", "MI")
            for step in STEPS:
                keeper.ask(*step)
            keeper.say("1 undo")
            time.sleep(at * 0.0002)
            kill(keeper)
        assert restore(root) == b""
        assert snapshot(root) == before


def test_half_a_line_at_the_end_counts_for_nothing(root: Path) -> None:
    before = snapshot(root)
    with keep("--root", str(root)) as keeper:
        keeper.ask("begin", "MI")
        keeper.ask("write", "/sys/cpu1/online", "0")
        kill(keeper)
    with journal_of(root).open("ab") as journal:
        journal.write(b"write /sys/empty some")
    assert restore(root) == b""
    assert snapshot(root) == before


@pytest.mark.parametrize(
    "content", [b"", b"tautochrone-jour", b"not a journal at all\nwrite /x y\n", b"\0\0\n\n"]
)
def test_a_journal_without_a_first_line_is_nothing(root: Path, content: bytes) -> None:
    journal_of(root).parent.mkdir()
    journal_of(root).write_bytes(content)
    with keep("--root", str(root)) as keeper:
        assert keeper.state() is None
        keeper.ask("begin", "MI")
        assert keeper.ask("undo") == b""


def test_garbage_among_the_steps_is_told_and_the_rest_is_put_back(root: Path) -> None:
    with keep("--root", str(root)) as keeper:
        keeper.ask("begin", "MI")
        keeper.ask("write", "/sys/cpu1/online", "0")
        kill(keeper)
    with journal_of(root).open("ab") as journal:
        journal.write(
            b"write\nfrobnicate /x\nmove /cgroup/tasks /sys/empty x:y\nwrite /../etc/x 1\n\nwrite %G 1\n"
        )
    told = restore(root).splitlines()
    assert len(told) == 6
    assert (root / "sys/cpu1/online").read_text() == "1\n"
    assert not journal_of(root).exists()


def test_a_journal_of_an_earlier_start_of_the_system_is_void(root: Path) -> None:
    def forge() -> None:
        journal_of(root).parent.mkdir(exist_ok=True)
        journal_of(root).write_text(
            "tautochrone-journal 1 MI 2020-02-29T00:00:00Z 0000-another-boot 1 1\n"
            "write /sys/cpu1/online 5%0A\n"
        )

    before = snapshot(root)
    forge()
    with keep("--root", str(root)) as keeper:
        assert keeper.state() is None
        assert journal_of(root).exists(), "looking changes nothing"
        assert b"'MI', since 2020-02-29T00:00:00Z, was of an earlier start" in keeper.ask("restore")
        forge()
        assert b"was of an earlier start" in keeper.ask("begin", "CHM")
        keeper.ask("undo")
    assert snapshot(root) == before


def test_the_journal_is_its_owners_and_says_since_when(root: Path) -> None:
    with keep("--root", str(root)) as keeper:
        keeper.ask("begin", "my deployment")
        assert stat.S_IMODE(journal_of(root).stat().st_mode) == 0o600
        assert stat.S_IMODE(journal_of(root).parent.stat().st_mode) & 0o777 == 0o755
        state = keeper.state()
        assert state is not None
        assert state["name"] == "my deployment"
        assert state["keeper"] == keeper.process.pid
        since = time.mktime(time.strptime(state["since"], "%Y-%m-%dT%H:%M:%SZ")) - time.timezone
        assert abs(since - time.time()) < 60


# ---- Two keepers, leaving -----------------------------------------------------


def test_two_keepers_do_not_meet(root: Path) -> None:
    with keep("--root", str(root)) as first, keep("--root", str(root)) as second:
        first.ask("begin", "MI")
        for request in (("begin", "CHM"), ("restore",)):
            with pytest.raises(RefusedError, match="still at work"):
                second.ask(*request)
        with pytest.raises(RefusedError, match="EBUSY"):
            first.ask("restore")
        with pytest.raises(RefusedError, match="EBUSY"):
            first.ask("begin", "CHM")
        state = second.state()
        assert state is not None
        assert state["keeper"] == first.process.pid
        first.ask("undo")
        second.ask("begin", "CHM")


def test_what_is_left_stays_until_it_is_restored(root: Path) -> None:
    before = snapshot(root)
    with keep("--root", str(root)) as keeper:
        keeper.ask("begin", "MI")
        for step in STEPS:
            if step[0] != "hold":
                keeper.ask(*step)
        keeper.ask("leave")
        with pytest.raises(RefusedError):
            keeper.ask("write", "/sys/empty", "1")
        keeper.hang_up()
        assert keeper.ended() == 0
    assert (root / "sys/cpu1/online").read_text() == "2\n"
    with keep("--root", str(root)) as other:
        state = other.state()
        assert state is not None
        assert (state["keeper"], state["left"]) == (None, True)
        with pytest.raises(RefusedError, match="left in force"):
            other.ask("begin", "CHM")
        assert other.ask("restore") == b""
    assert snapshot(root) == before


def test_what_is_held_can_not_be_left(root: Path) -> None:
    with keep("--root", str(root)) as keeper:
        keeper.ask("begin", "MI")
        keeper.ask("hold", "/dev/latency", b"\x01\0\0\0")
        with pytest.raises(RefusedError, match="EBUSY"):
            keeper.ask("leave")
        assert keeper.ask("undo") == b""


def test_restore_without_a_journal_has_nothing_to_do(root: Path) -> None:
    assert restore(root) == b""


def test_a_folder_that_was_there_is_not_made_and_not_removed(root: Path) -> None:
    (root / "cgroup/house").mkdir()
    with keep("--root", str(root)) as keeper:
        keeper.ask("begin", "MI")
        with pytest.raises(RefusedError, match="EEXIST"):
            keeper.ask("mkdir", "/cgroup/house")
        assert keeper.ask("undo") == b""
    assert (root / "cgroup/house").is_dir()


@pytest.mark.slow
def test_what_can_not_be_put_back_is_told_or_kept_for_another_try(root: Path) -> None:
    def begin_and_spoil(keeper: Keep) -> None:
        keeper.ask("begin", "MI")
        keeper.ask("write", "/sys/cpu1/online", "0")
        keeper.ask("mkdir", "/cgroup/house")
        (root / "cgroup/house/stranger").touch()

    with keep("--root", str(root)) as keeper:
        begin_and_spoil(keeper)
        assert keeper.ask("undo") == b"rmdir /cgroup/house: the folder is not empty\n"
        assert keeper.state() is None
        (root / "cgroup/house/stranger").unlink()
        (root / "cgroup/house").rmdir()
        begin_and_spoil(keeper)
        keeper.hang_up()
        assert keeper.ended() == 0
    assert (root / "sys/cpu1/online").read_text() == "1\n"
    assert journal_of(root).read_text().splitlines()[1:] == ["rmdir /cgroup/house"]
    (root / "cgroup/house/stranger").unlink()
    assert restore(root) == b""
    assert not (root / "cgroup/house").exists()
