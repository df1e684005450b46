"""A session with a guest: its time runs only while somebody waits, whatever the lab's own time does."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from guest_stand_in import StandInMachine
from tautochrone.base.errors import MeasuringError
from tautochrone.target.program import Message
from tautochrone.target.virtual import guest as guest_module
from tautochrone.target.virtual.gate import TimeGate
from tautochrone.target.virtual.guest import Guest, GuestProgram, ask


def begin() -> tuple[TimeGate, StandInMachine]:
    gate = TimeGate()
    return gate, StandInMachine(gate)


@pytest.fixture
def guest() -> Iterator[Guest]:
    session = Guest(begin, "lab:stand-in")
    yield session
    session.close()


def start(guest: Guest, *words: str) -> GuestProgram:
    return GuestProgram(guest, words, {})


def test_a_program_says_what_it_says_and_how_it_ended(guest: Guest) -> None:
    assert guest.boot_words()["uname"] == "Linux stand-in"
    program = start(guest, "say", "hello")
    assert program.read() == b"hello\n"
    assert program.read() == b""
    assert program.wait(1) == 0
    complaining = start(guest, "complain", "tauto-probe:", "warning:", "no")
    assert complaining.wait(1) == 0
    assert complaining.messages() == (Message("no", warning=""),)
    placed = GuestProgram(guest, ["environment"], {"TAUTO_THREADS_JOIN": "/sys/x"})
    assert placed.read() == b"TAUTO_THREADS_JOIN=/sys/x"


def test_what_is_written_arrives_whole_and_in_order(guest: Guest) -> None:
    program = start(guest, "echo")
    long = bytes(range(256)) * 20_000  # more than one request holds
    program.write(long)
    program.close_input()
    assert b"".join(iter(program.read, b"")) == long
    assert program.wait(1) == 0


def test_one_that_can_t_be_started_says_why(guest: Guest) -> None:
    program = start(guest, "nothing")
    assert program.read() == b""
    assert program.wait(1) == 127
    assert program.messages() == (Message("nothing can't be started: No such file or directory"),)


def test_time_runs_only_while_somebody_waits_and_patience_is_the_guests(guest: Guest) -> None:
    guest.boot_words()
    booted_ns = guest.clock_ns
    program = start(guest, "sleep", "60000000000")
    assert program.wait(0) is None
    time.sleep(0.05)
    assert (guest.clock_ns, guest.is_fresh) == (booted_ns, True)
    assert program.wait(50.0) is None  # in no time
    assert guest.clock_ns == booted_ns + 50_000_000_000
    assert program.wait(20.0) == 0
    assert guest.clock_ns == booted_ns + 60_000_000_000
    with pytest.raises(MeasuringError, match="did not end within 30 s"):
        ask(start(guest, "sleep", "60000000000"), "sleep", 30.0)


def test_a_signal_from_another_thread_ends_a_program_that_is_waited_for(guest: Guest) -> None:
    program = start(guest, "sleep", str(10**18))
    timer = threading.Timer(0.05, program.stop)
    timer.start()
    assert program.read() == b""
    assert program.wait(0) == -signal.SIGTERM
    timer.join()


def test_a_guest_that_dies_is_told_with_its_last_words_to_all_who_ask(guest: Guest) -> None:
    sleeping = start(guest, "sleep", "1000")
    start(guest, "die")
    for _ in range(2):
        with pytest.raises(MeasuringError, match="lab:stand-in has died; its console says last: no words"):
            sleeping.read()
    assert sleeping.wait(0) is None
    sleeping.release()


def test_one_that_hangs_is_switched_off_when_a_program_is_killed(
    guest: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guest_module, "_KILL_PATIENCE_S", 0.1)
    program = start(guest, "hang")
    timer = threading.Timer(0.1, program.kill)
    timer.start()
    with pytest.raises(MeasuringError, match="hangs, and was switched off"):
        program.read()
    timer.join()


def test_ctrl_c_leaves_the_conversation_whole(guest: Guest) -> None:
    program = start(guest, "sleep", str(10**18))

    def interrupt(_signal: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(20):
            with suppress(KeyboardInterrupt):  # it may come before this process reads
                signal.setitimer(signal.ITIMER_REAL, 0.003)
                program.read()
    finally:
        signal.signal(signal.SIGALRM, before)
    said = start(guest, "say", "still here")
    assert said.read() == b"still here\n"
