"""Real boards over SSH, alone and as a fleet; one dead, taken, added, cut off; tauto killed in the middle."""

import json
import os
import pickle
import signal
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fleets import Boards, boards
from real import PATIENCE_S, a_cpu, only_run, policy_options, start_tauto, tauto, wait_until
from ssh_servers import claim_of
from streams import make_stream
from tautochrone.base.errors import StoreError, TautoError, UsageError
from tautochrone.machine.settings import NotPutBackError
from tautochrone.measure.campaign.agenda import make_agenda
from tautochrone.measure.campaign.carry_out import CampaignOutcome
from tautochrone.measure.document.document import read as read_plan
from tautochrone.measure.execute import (
    CellProgress,
    CodeDidNotBeginError,
    ProbeDidNotMeasureError,
    ProbeFailedError,
)
from tautochrone.measure.fleet.fleet import FleetMachine, on_fleet, read_fleet
from tautochrone.measure.fleet.job import _recover, _recovered
from tautochrone.measure.fleet.pickled import read_pickle
from tautochrone.measure.fleet.side_by_side import _MOST_REACHED, Listeners, SideBySide
from tautochrone.measure.fleet.slurm import alone, arrays_of
from tautochrone.measure.lab.jobs import RefusedJob, SealedCell
from tautochrone.run import files
from tautochrone.run.catalogue import catalogue
from tautochrone.run.store import Store
from tautochrone.target.local import find_agent

NAMES = ("board1", "board2", "board3")
Measured = Counter[tuple[str, str, int]]


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Boards]:
    with boards(tmp_path, NAMES) as found:
        for name, value in found.environment.items():
            monkeypatch.setenv(name, value)
        yield found


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def plan(folder: Path, duration: str = "200ms", repetitions: int = 1, periods: str = '"1ms", "2ms"') -> str:
    words = policy_options()
    lock = "no-memory-lock = true\n" if "--no-memory-lock" in words else ""
    path = folder / "small.plan.toml"
    path.write_text(
        f'title = "Boards"\nrepetitions = {repetitions}\n[defaults]\npolicy = "{words[1]}"\n{lock}'
        f'[[experiment]]\nname = "cyclic"\ncpus = "{a_cpu()}"\n'
        f'duration = "{duration}"\nperiod = [{periods}]\n'
    )
    return str(path)


@contextmanager
def claim(board: Path) -> Iterator[int]:
    """Have a board, whose files are there, as somebody else has; yields the process that has it."""
    process = subprocess.Popen(
        [find_agent(), "claim"],
        env=os.environ | {"TAUTO_CLAIM": claim_of(board)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        while (line := process.stdout.readline()) != b"claimed\n":
            assert line.startswith(b"taken")
        yield process.pid
    finally:
        process.kill()  # as a crash: the kernel takes the claim back
        process.communicate()


def measured(store: Path) -> Measured:
    """How often each case and repetition is complete, by the machine that measured it."""
    return Counter(
        (entry.conditions.target or "", entry.conditions.plan.cell, entry.conditions.plan.repetition)
        for entry in catalogue(Store(store))
        if entry.ended == "complete"
    )


def on(found: Measured) -> Counter[str]:
    return Counter({name: sum(n for key, n in found.items() if key[0] == name) for name, _, _ in found})


@pytest.mark.slow
def test_a_dead_board_is_quarantined_and_later_only_its_cases_are_measured(
    fleet: Boards, store: Path, tmp_path: Path
) -> None:
    file, small = fleet.file([*NAMES[:2], "board4"]), plan(tmp_path)
    ended = tauto("run", small, "--fleet", file, store=store)
    assert ended.returncode == 1, ended.stderr
    assert "board4 is in quarantine: board4: no machine of this name is known." in ended.stderr
    first = measured(store)
    assert on(first) == {"ssh:board1": 2, "ssh:board2": 2}
    assert all(word in ended.stdout for word in ("board1", "board2", "Machine board4 is in quarantine"))
    with (fleet.home / ".ssh" / "config").open("a") as config:  # it is switched on
        third = fleet.servers["board3"]
        config.write(
            f"Host board4\n  HostName {third.host}\n  Port {third.port}\n  "
            f"IdentityFile {third.home}/.ssh/id_ed25519\n  UserKnownHostsFile {third.home}/.ssh/known_hosts\n"
        )
    ended = tauto("run", small, "--fleet", file, store=store)
    assert ended.returncode == 0, ended.stderr
    assert measured(store) - first == measured(store) - (measured(store) & first)
    assert on(measured(store)) == {"ssh:board1": 2, "ssh:board2": 2, "ssh:board4": 2}


@pytest.mark.slow
def test_a_board_that_is_named_twice_is_told_by_its_other_name_and_not_by_our_own_claim(
    fleet: Boards, store: Path, tmp_path: Path
) -> None:
    config = fleet.home / ".ssh" / "config"
    config.write_text(config.read_text().replace("Host board1\n", "Host board1 twin\n"))
    ended = tauto("run", plan(tmp_path), "--on", "ssh:board1", "--on", "ssh:twin", store=store)
    assert ended.returncode == 0, ended.stderr
    assert "is the same machine as ssh:board1" in " ".join(ended.stdout.split())
    assert "claimed by" not in ended.stdout
    ended = tauto("run", plan(tmp_path), "--fleet", fleet.file(["board1", "twin"]), store=store)
    assert ended.returncode == 0, ended.stderr  # each case waits for the claim of the other name
    assert on(measured(store)) == {"ssh:board1": 4, "ssh:twin": 2}


@pytest.mark.slow
def test_any_free_machine_measures_each_case_once_and_one_that_another_has_is_left_alone(
    fleet: Boards, store: Path, tmp_path: Path
) -> None:
    file, small = fleet.file(NAMES), plan(tmp_path, repetitions=2)
    with claim(tmp_path / "board2"):
        ended = tauto("run", small, "--fleet", f"{file},tag=all,place=any", "--json", store=store)
    assert ended.returncode == 0, ended.stderr
    found = measured(store)
    assert len({key[1:] for key in found}) == sum(found.values()) == 4
    assert set(on(found)) == {"ssh:board1", "ssh:board3"}
    rows = [row for table in json.loads(ended.stdout)["tables"] for row in table["rows"]]
    assert {one["node"] for row in rows for one in row["repetitions"]} == {"board1", "board3"}
    one = plan(tmp_path, periods='"4ms"')
    assert tauto("run", one, "--fleet", f"{file},tag=board2-only", store=store).returncode == 0
    assert on(measured(store))["ssh:board2"] == 1


@pytest.mark.slow
def test_another_board_is_measured_alone_and_one_that_is_gone_is_no_part_of_the_answer(
    fleet: Boards, store: Path, tmp_path: Path
) -> None:
    small = plan(tmp_path)
    assert tauto("run", small, "--fleet", fleet.file(["board1", "board4"]), store=store).returncode == 1
    first = measured(store)
    assert on(first) == {"ssh:board1": 2}
    for names in (["board2"], ["board1", "board2"]):  # board4, which did not answer, is gone for good
        ended = tauto("run", small, "--fleet", fleet.file(names), "--json", store=store)
        assert ended.returncode == 0, ended.stderr
        answer = json.loads(ended.stdout)
        assert answer["lacking"] == []
        assert {row["system"] for table in answer["tables"] for row in table["rows"]} == set(names)
        assert first <= measured(store)
        assert on(measured(store)) == {"ssh:board1": 2, "ssh:board2": 2}
    assert len({entry.plan for entry in catalogue(Store(store))}) == 1
    report = tmp_path / "all.html"  # the latest run knows of board2 alone
    assert tauto("report", "plan-latest", "--out", str(report), store=store).returncode == 0
    assert all(name in report.read_text() for name in ("board1", "board2"))


def single(duration: str) -> tuple[str, ...]:
    return (
        "probe", "cyclic", "--on", "ssh:board1", "--cpus", a_cpu(), "--duration", duration, *policy_options()
    )  # fmt: skip


@pytest.mark.slow
def test_a_board_is_measured_on_by_one_at_a_time_and_free_again_when_that_one_is_killed(
    fleet: Boards, store: Path, tmp_path: Path
) -> None:
    running = start_tauto(*single("10min"), store=store)
    wait_until(lambda: any(Store(store).folders()) or running.poll() is not None, "it measures")
    second = tauto(*single("100ms"), store=tmp_path / "second")
    running.kill()
    running.communicate()
    assert second.returncode == 2
    assert "ssh:board1 is claimed by process " in second.stderr
    assert f" there, of user {os.getuid()} from {fleet.servers['board1'].host}, since 2" in second.stderr
    assert not any(Store(tmp_path / "second").folders())
    with claim(tmp_path / "board1") as holder:
        refused = tauto("run", plan(tmp_path), "--on", "ssh:board1", store=store)
    assert refused.returncode == 2
    assert f"ssh:board1 is claimed by process {holder} there" in refused.stderr
    ended = tauto(*single("100ms"), store=tmp_path / "third")
    assert ended.returncode == 0, ended.stderr
    assert "unclaimed" not in only_run(tmp_path / "third").manifest.conditions.stored


@pytest.mark.slow
@pytest.mark.usefixtures("fleet")
def test_a_board_that_can_not_be_claimed_is_measured_and_its_run_says_so(store: Path, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as squatter:
        squatter.bind("\0" + claim_of(tmp_path / "board1"))  # and does not listen
        ended = tauto(*single("100ms"), store=store)
    assert ended.returncode == 0, ended.stderr
    assert "obody else was kept from measuring on ssh:board1" in " ".join(ended.stdout.split())
    assert "can't be claimed" in only_run(store).manifest.conditions.stored["unclaimed"]


@pytest.mark.slow
def test_what_was_measured_before_tauto_was_killed_is_not_measured_again(
    fleet: Boards, store: Path, tmp_path: Path
) -> None:
    arguments = ("run", plan(tmp_path, repetitions=2), "--fleet", fleet.file(NAMES[:2]))
    killed = start_tauto(*arguments, store=store)
    wait_until(
        lambda: sum(measured(store).values()) >= 2 or killed.poll() is not None, "two cases are complete"
    )
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    before = measured(store)
    wait_until(lambda: not any(one.state == "measuring" for one in catalogue(Store(store))), "workers end")
    ended = tauto(*arguments, store=store)
    assert ended.returncode == 0, ended.stderr
    found = measured(store)
    assert before <= found
    assert set(found.values()) == {1}
    assert on(found) == {"ssh:board1": 4, "ssh:board2": 4}


@pytest.mark.slow
def test_a_board_that_is_cut_off_in_the_middle_comes_back_and_its_case_is_measured(
    fleet: Boards, store: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "recovered"
    file = fleet.file(NAMES[:2], of_each=f'recover = "touch {mark}"\n')
    running = start_tauto("run", plan(tmp_path, "2s", periods='"1ms"'), "--fleet", file, store=store)
    wait_until(lambda: any(one.name.count("cyclic") for one in Store(store).folders()), "a case is measured")
    wait_until(lambda: len(fleet.servers["board1"].sessions()) >= 1, "board1 is measured on")
    fleet.servers["board1"].kill_sessions(signal.SIGKILL)
    _, said = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 0, said
    assert mark.exists()
    assert on(measured(store)) == {"ssh:board1": 1, "ssh:board2": 1}


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_measured_and_says_how_to_go_on(
    fleet: Boards, store: Path, tmp_path: Path
) -> None:
    running = start_tauto(
        "run", plan(tmp_path, "30s"), "--fleet", fleet.file(NAMES[:1]), "--json", store=store
    )
    wait_until(lambda: any(Store(store).folders()), "a case is measured")
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 130, said
    assert "To go on, type the same again" in said


MACHINE = '[[machine]]\nname = "a"\non = "local"\ntags = ["rt"]\n'
MISTAKES = {
    "": "there is no machine in it",
    '[[machine]]\non = "local"\n': ":1: this machine has no 'name'",
    '[[machine]]\nname = "a"\n': ":1: this machine has no 'on'",
    '[[machine]]\nname = "a b"\non = "local"\n': ":2: 'a b' can't name a machine",
    '[[machine]]\nname = "any"\non = "local"\n': ":2: 'any' can't name a machine",
    '[[machine]]\nname = "a"\non = "board"\n': ":3: board: no such kind of machine",
    '[[machine]]\nname = "a"\non = "slurm:rt,x=y"\n': ":3: slurm:rt,x=y: there is no option 'x'",
    '[[machine]]\nname = "a"\non = "slurm:rt,node=n[1-3]"\n': ":3: slurm:rt,node=n[1-3]: these are several",
    MACHINE + MACHINE: ":6: two machines are called 'a'",
    MACHINE + "taggs = 1\n": ":5: 'taggs' means nothing in a machine",
    'place = "some"\n' + MACHINE: ":1: 'place' is 'some'",
    'patience = "soon"\n' + MACHINE: ":1: ",
    MACHINE.replace('["rt"]', '"rt"'): ":4: 'tags' is not a list of words",
    MACHINE + '[[machine]]\nname = "b"\non = "slurm:"\n': "b is Slurm's and others are not",
    MACHINE + '[[machine]]\nname = "b"\non = "lab:debian-rt"\n': "b is a guest that runs on this machine",
}
CHOICES = {
    "tag=tr": "no machine of these has the tag 'tr'",
    "place=all": "a place is 'each' or 'any', not 'all'",
    "rt": "'rt' chooses nothing",
}


@pytest.mark.parametrize(
    ("text", "choice", "said"),
    [*((text, "", said) for text, said in MISTAKES.items()), *((MACHINE, *one) for one in CHOICES.items())],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, text: str, choice: str, said: str) -> None:
    path = tmp_path / "fleet.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        read_fleet(f"{path},{choice}".rstrip(","))
    assert said in str(error.value)


def test_a_dry_run_shows_the_cases_of_each_machine(tmp_path: Path, store: Path) -> None:
    path = tmp_path / "fleet.toml"
    path.write_text(MACHINE + MACHINE.replace('"a"', '"b"'))
    ended = tauto("run", plan(tmp_path), "--fleet", f"{path},tag=rt", "--dry-run", "--json", store=store)
    told = json.loads(ended.stdout)
    assert Counter(cell["system"] for cell in told["cells"]) == {"a": 2, "b": 2}
    one_by_one_s = sum(cell["expected_s"] for cell in told["cells"])
    assert told["expected_s"] == pytest.approx(one_by_one_s / 2, abs=0.2)  # side by side


def test_few_machines_are_reached_at_once(tmp_path: Path) -> None:
    """Fifty that are reached at once would each take longer than it may, and be taken for dead."""
    path, store = tmp_path / "fleet.toml", Store(tmp_path / "store")
    path.write_text("".join(MACHINE.replace('"a"', f'"a{at}"') for at in range(_MOST_REACHED + 5)))
    fleet = read_fleet(str(path))
    agenda = make_agenda(on_fleet(read_plan(Path(plan(tmp_path))), fleet), store)
    side_by_side = SideBySide(agenda, fleet, store, (), Listeners(*(4 * [lambda *_: None])))
    begun = list(side_by_side)
    assert len(begun) == _MOST_REACHED
    side_by_side.hear(begun[0][0][0], CellProgress(0.0, waiting="reaching the machine", reaching=True))
    assert list(side_by_side) == []
    side_by_side.hear(begun[0][0][0], CellProgress(0.0))
    assert len(list(side_by_side)) == 1


def test_a_case_that_is_stopped_on_its_machine_twice_is_given_up(tmp_path: Path) -> None:
    """A board that a case makes shut down in order stops the probe by a signal, each time."""
    path, store = tmp_path / "fleet.toml", Store(tmp_path / "store")
    path.write_text(MACHINE)
    with store.create("cyclic", "a test") as run:
        run.append(make_stream([range(1000, 1100)], footer=False))
        stopped = SealedCell(run.seal("interrupted").id, stopped=True)
    outcome, tried = carried_out(tmp_path, store, path, stopped, '"1ms"')
    (given_up,) = outcome.unmeasured
    assert (tried, given_up.failed, outcome.left) == (2, True, ())
    assert "It was stopped" in given_up.why


def carried_out(
    folder: Path, store: Store, fleet_file: Path, always: object, periods: str
) -> tuple[CampaignOutcome, int]:
    """What came of a plan whose cases all end like this, and how often one was tried."""
    fleet = read_fleet(str(fleet_file))
    agenda = make_agenda(on_fleet(read_plan(Path(plan(folder, periods=periods))), fleet), store)
    side_by_side = SideBySide(agenda, fleet, store, (), Listeners(*(4 * [lambda *_: None])))
    tried = 0

    class Always:
        stopped = False

        def do(self, jobs: Any, _watch: Any) -> Iterator[Any]:
            nonlocal tried
            while (found := next(jobs, None)) is not None:
                tried += 1
                assert tried <= 2
                yield found[0], always

    return side_by_side.carry_out(Always()), tried  # type: ignore[arg-type]


def test_a_machine_that_stays_changed_is_left_alone_and_what_it_measured_counts(tmp_path: Path) -> None:
    path, store = tmp_path / "fleet.toml", Store(tmp_path / "store")
    path.write_text(MACHINE)
    error = NotPutBackError("the governor could not be put back")
    with store.create("cyclic", "a test") as run:
        run.append(make_stream([range(1000, 1100)]))
        error.run = run.seal().id
    told = pickle.loads(pickle.dumps(RefusedJob(error)))
    outcome, tried = carried_out(tmp_path, store, path, told, '"1ms", "2ms"')
    assert (tried, [run.id for run in outcome.runs]) == (1, [error.run])
    (lacking,) = outcome.unmeasured  # the other case
    assert "could not be put back" in lacking.why


@pytest.mark.parametrize(
    "error",
    [
        ProbeFailedError("the clock stood still", "Mend it.", about="period"),
        ProbeDidNotMeasureError("there is no memory"),
        CodeDidNotBeginError("it crashed", "See its log."),
        UsageError("no such CPU", "Take another.", about="cpus"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_went_wrong_on_a_machine_is_told_as_it_was_there(error: TautoError) -> None:
    told = pickle.loads(pickle.dumps(error))
    assert type(told) is type(error)
    assert (str(told), vars(told)) == (str(error), vars(error))


def test_pickles_of_others_are_not_read_and_arrays_belong_to_one_tauto(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    folder = arrays_of(tmp_path / "shared", store, "key")
    assert folder != arrays_of(tmp_path / "shared", Store(tmp_path / "another"), "key")
    with alone(folder):
        (task := folder / "array").write_bytes(pickle.dumps("a task"))
        assert read_pickle(task, "") == "a task"
        with pytest.raises(StoreError, match="Another tauto"), alone(folder):
            pass
        task.unlink()
    assert not folder.parent.exists()
    folder.parent.mkdir(mode=0o777)
    folder.parent.chmod(0o777)
    with pytest.raises(StoreError, match="others can write there"), alone(folder):
        pass


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a file to another user, which root alone can")
def test_a_pickle_of_another_user_is_not_read(tmp_path: Path) -> None:
    (task := tmp_path / "task-0").write_bytes(pickle.dumps("a task"))
    os.chown(task, 65534, 65534)
    with pytest.raises(StoreError, match="not this user's"):
        read_pickle(task, "")


def test_a_recover_command_that_does_not_end_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    held = tmp_path / "held"
    said = _recover(f"exec 9>{held}; flock 9; sleep 3600 & wait", 1.0)  # sleep holds the lock, too
    assert said == "; its recover command did not end within 1 s"
    wait_until(lambda: not files.is_locked(held), "what it started has ended")
    assert _recover("echo off >&2; exit 3", PATIENCE_S) == "; its recover command ended with exit code 3: off"
    assert _recover("echo off >&2", PATIENCE_S) == ""


def test_a_place_of_labgrid_is_released_when_its_power_cycle_does_not_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it would stay acquired by this user, and be refused to us until somebody releases it."""
    place, program = tmp_path / "acquired", tmp_path / "labgrid-client"
    program.write_text(
        f'#!/bin/sh\ncase "$3" in\n'
        f'acquire) if [ -e {place} ]; then echo "You have already acquired place b." >&2; exit 1; fi\n'
        f": >{place} ;;\n"
        f"release) rm {place} ;;\npower) [ -e {place} ] && exec sleep 3600 ;;\nesac\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("TAUTO_LABGRID_CLIENT", str(program))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for _ in range(2):
        said = _recovered(FleetMachine("board", "labgrid:b"), 1.0)
        assert said == "; its recover command did not end within 1 s"
        assert not place.exists()
    place.touch()  # by hand, or by somebody else
    assert "already acquired" in _recovered(FleetMachine("board", "labgrid:b"), 1.0)
    assert place.exists()
