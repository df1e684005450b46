"""The guard on the real program: whoever it watches over ends with the one who speaks to it."""

import os
import signal
import time
from pathlib import Path

import pytest

from agents import Agent, agent, best_of_three, said_in_time, seconds_until
from real import tauto_agent, wait_until
from tautochrone.target.local import find_agent, find_probe

PROMISE_S = 2.0
# Ignores SIGTERM; so do two others in sessions of their own, one of which has lost its parent.
STUBBORN = """
trap '' TERM
setsid sh -c 'trap "" TERM
    (setsid sh -c "trap \\"\\" TERM; echo lost; sleep 1000" & )
    echo left; sleep 1000' &
echo first
sleep 1000
"""


def stubborn(*options: str) -> Agent:
    started = Agent("guard", *options, "--", "sh", "-c", STUBBORN)
    assert {started.output.readline() for _ in range(3)} == {b"first\n", b"left\n", b"lost\n"}
    wait_until(lambda: len(started.living()) >= 5, "all of it runs")
    return started


def gone(started: Agent) -> bool:
    started.process.poll()
    return started.living() == []


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -SEGV $$", 139)])
def test_the_exit_code_is_the_commands(script: str, code: int) -> None:
    with agent("guard", "--patience", "30s", "--", "sh", "-c", script) as guard:
        assert guard.ended() == code


def test_output_and_messages_are_the_commands() -> None:
    with agent("guard", "--", "sh", "-c", "echo out; echo words >&2") as guard:
        assert guard.output.read() == b"out\n"
        assert guard.messages == "words\n"


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- >&- 2>&-"])
def test_it_ends_also_where_its_own_files_were_closed(closed: str) -> None:
    """A pipe of its own would else get the number, and be closed again as input or output of the command."""
    inner = f'"$0" guard -- true {closed}; echo $?'
    with agent("guard", "--", "sh", "-c", inner, str(find_agent())) as guard:
        assert guard.ended() == 0
        assert guard.output.read() in (b"0\n", b"143\n")  # 143: its input is over before the command is


def test_what_can_not_be_started_is_told() -> None:
    for arguments, code, words in [
        (["--", "tauto-no-such-program"], 1, "can't be started: no such file"),
        (
            ["--join", "/no/such/tasks", "--", "true"],
            1,
            "--join /no/such/tasks: the command can't be put there",
        ),
        (["--join"], 2, "--join needs a file"),
        (["--patience", "5", "--", "true"], 2, "not a duration"),
        (["--patience", "5s"], 2, "needs a command"),
        (["--patience", "9223372036854775807ns", "--", "true"], 2, "it would end after the clock does"),
        (["--"], 2, "needs a command"),
    ]:
        answer = tauto_agent("guard", *arguments)
        assert (answer.returncode, answer.stdout) == (code, "")
        assert words in answer.stderr
    assert "--join FILE" in tauto_agent("guard", "--help").stdout


def test_it_joins_every_file_before_the_command_begins(tmp_path: Path) -> None:
    files = [tmp_path / "one", tmp_path / "two"]
    for file in files:
        file.touch()
    with agent(
        "guard", "--join", str(files[0]), f"--join={files[1]}", "--", "cat", *map(str, files)
    ) as guard:
        assert guard.output.read() == b"00"
        assert guard.ended() == 0


def test_stop_lets_the_command_end_in_its_own_way() -> None:
    script = "trap 'echo footer; exit 4' TERM; echo begun; while :; do sleep 0.02; done"
    with agent("guard", "--", "sh", "-c", script) as guard:
        assert guard.output.readline() == b"begun\n"
        guard.say("stop")
        assert guard.output.read() == b"footer\n"
        assert guard.ended() == 4


def test_stop_twice_ends_a_probe_that_still_writes_its_footer() -> None:
    with agent("guard", "--", *probe_command("cyclic", "--duration", "60s", "--out", "-")) as guard:
        assert guard.output.read(4096)
        guard.say("stop")
        assert guard.output.read()  # to its end
        assert guard.ended() == 0


def test_close_ends_the_commands_input_only() -> None:
    with agent("guard", "--", "sh", "-c", "cat; echo report; sleep 0.3; exit 5") as guard:
        guard.say("close")
        assert guard.output.read() == b"report\n"
        assert guard.ended() == 5


def test_kill_ends_what_ignores_everything_else() -> None:
    guard = stubborn()
    try:
        guard.say("stop")
        time.sleep(0.2)
        assert len(guard.living()) >= 4
        guard.say("kill")
        assert guard.ended() == 137
        assert guard.living() == []
    finally:
        guard.clear()


@pytest.mark.slow
def test_unknown_and_endless_lines_are_no_orders() -> None:
    with agent("guard", "--", "sh", "-c", "sleep 0.5; exit 3") as guard:
        for line in ("stopp", "KILL", "x" * 20000, "\0stop", "close the door"):
            guard.say(line)
        assert guard.ended() == 3


def cut_by_hanging_up(guard: Agent) -> None:
    guard.hang_up()


def cut_by_silence(guard: Agent) -> None:
    """Nothing more is written; the pipe stays open."""


def cut_by_killing(guard: Agent) -> None:
    guard.process.kill()


def cut_by_a_signal(guard: Agent) -> None:
    guard.process.terminate()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cut", "options"),
    [
        (cut_by_hanging_up, []),
        (cut_by_hanging_up, ["--patience", "30s"]),
        (cut_by_silence, ["--patience", "500ms"]),
        (cut_by_killing, []),
        (cut_by_a_signal, []),
    ],
    ids=["end of input", "end of input with patience", "silence", "guard killed", "guard terminated"],
)
def test_nothing_is_left_two_seconds_after_a_cut(cut: object, options: list[str]) -> None:
    assert callable(cut)

    def attempt() -> float:
        guard = stubborn(*options)
        try:
            cut(guard)
            return seconds_until(lambda: gone(guard), "nothing is left")
        finally:
            guard.clear()

    assert best_of_three(attempt) < PROMISE_S


@pytest.mark.slow
def test_a_peer_that_freezes_with_the_output_full_is_a_cut_too() -> None:
    """The command waits in write(2) for a reader; the pipe of the guard's input stays open."""
    with agent("guard", "--patience", "500ms", "--", "sh", "-c", "trap '' TERM; yes") as guard:
        assert guard.output.read(2) == b"y\n"
        wait_until(lambda: gone(guard), "nothing is left")


def test_a_probe_that_is_cut_off_writes_its_footer_if_it_can(tmp_path: Path) -> None:
    stream = tmp_path / "stream"
    with agent("guard", "--", *probe_command("cyclic", "--duration", "60s", "--out", str(stream))) as guard:
        wait_until(lambda: stream.exists() and stream.stat().st_size > 0, "it measures")
        guard.hang_up()
        assert guard.ended() == 0
        assert b'"ended"' in stream.read_bytes()


@pytest.mark.slow
def test_lines_keep_it_alive_and_their_end_does_not() -> None:
    for _ in range(5):
        with agent("guard", "--patience", "6s", "--", "sleep", "1000") as guard:
            if in_time := said_in_time(guard, 8, 0.8, within_s=5):
                assert guard.process.poll() is None
            assert guard.ended() == 143
        if in_time:
            break
    assert in_time


@pytest.mark.slow
def test_a_starved_guard_reads_before_it_judges() -> None:
    """Stopped for longer than its patience while lines wait, it goes on; then silence ends it."""
    for _ in range(5):
        with agent("guard", "--patience", "6s", "--", "sleep", "1000") as guard:
            guard.say()
            os.kill(guard.process.pid, signal.SIGSTOP)
            in_time = said_in_time(guard, 6, 1.1, within_s=5)
            last_s = time.monotonic()
            os.kill(guard.process.pid, signal.SIGCONT)
            time.sleep(0.4)
            lives = guard.process.poll() is None
            in_time = in_time and time.monotonic() - last_s < 5
            assert lives or not in_time
            assert guard.ended() == 143
        if in_time:
            break
    assert in_time


@pytest.mark.slow
def test_it_sleeps_while_nothing_happens() -> None:
    """So that it does not disturb what is measured beside it."""
    with agent("guard", "--patience", "30s", "--", "sleep", "1000") as guard:
        wait_until(lambda: len(guard.living()) == 3, "guard, warden and command run")

        def sleeps() -> bool:
            before = switches(guard)
            time.sleep(1.0)
            return switches(guard) == before

        wait_until(sleeps, "all of them sleep")


def switches(guard: Agent) -> list[str]:
    return [
        line
        for pid in guard.living()
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith("voluntary_ctxt_switches")
    ]


def probe_command(*arguments: str) -> list[str]:
    return [str(find_probe()), *arguments, "--policy", "other", "--no-memory-lock"]
