"""A plan carried out by Slurm: an array of jobs for each of its machines, and what came of them.

All that is known of an array lies in a folder that nodes and tauto see: what each task measures, its log,
its runs, and its answer, which is there once it has ended. So nobody asks an accounting database, and a tauto
that was killed finds its arrays again:

    STORE/.slurm/KEY OF THE PLAN/NAME OF THE ARRAY/array, task-0, store-0/, log-0, answer-0, task-1 …

A task's runs lie in a store of its own until tauto moves them, so nothing touches a run that a node measures.
Tasks and answers are pickles, which can make whoever reads them do anything: they are read only where nobody
else can have written them.
"""

import errno
import fcntl
import os
import pickle
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from tautochrone.base.errors import MeasuringError, StoreError, UsageError
from tautochrone.measure.campaign.agenda import Agenda
from tautochrone.measure.campaign.campaign import Campaign
from tautochrone.measure.campaign.carry_out import CampaignOutcome, Ledger
from tautochrone.measure.campaign.order import Slot, arrange
from tautochrone.measure.fleet.fleet import Fleet, FleetMachine
from tautochrone.measure.fleet.job import FleetJob
from tautochrone.measure.fleet.partition import read_partition
from tautochrone.measure.fleet.pickled import make_private, read_pickle
from tautochrone.measure.lab.jobs import Answer, RefusedJob, SealedCell
from tautochrone.run import files
from tautochrone.run.arrival import arriving
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

_LARGEST_ARRAY = 1000
"""One less than Slurm's usual MaxArraySize."""
_LOOK_S, _ASK_S, _GRACE_S, _END_S = 0.5, 3.0, 15.0, 60.0
_FOLDER, _ARRAY, _LOCK = ".slurm", "array", "lock"


@dataclass(frozen=True)
class Waiting:
    """How far the tasks of a machine are: how many run, and why the others do not yet, in Slurm's words."""

    running: int
    queued: int
    reason: str


@dataclass
class _Task:
    """One case as a task of an array."""

    slot: Slot
    machine: FleetMachine
    folder: Path
    index: int
    missing_since_s: float | None = None

    def file(self, kind: str) -> Path:
        return self.folder / f"{kind}-{self.index}"


@dataclass(frozen=True)
class _Array:
    """What `array` keeps of one: for whoever comes after a tauto that was killed."""

    campaign: Campaign
    slots: tuple[Slot, ...]
    machine: FleetMachine


def arrays_of(exchange: Path | None, store: Store, key: str) -> Path:
    """Return the folder of a plan's arrays; an exchange may be shared by several users and stores."""
    home = store.path.absolute()
    if exchange is None:
        return home / _FOLDER / key
    return exchange / f"{_FOLDER}-{os.geteuid()}" / f"{key}-{sha256(os.fsencode(home)).hexdigest()[:8]}"


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Have a plan's arrays for oneself; folders that are empty afterwards are removed.

    Raises:
        StoreError: another tauto has them, or somebody else could write there.
    """
    lock = folder / _LOCK
    with files.store_errors("measuring by Slurm", folder):
        for one in (folder.parent, folder):
            make_private(one)
        file = lock.open("w")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreError(
                f"Another tauto waits for Slurm's cases of this plan: {folder}",
                "Wait until it has ended, or stop it.",
            ) from error
        except OSError:
            pass  # a file system without locks
        try:
            yield
        finally:
            with suppress(OSError):
                lock.unlink()
                folder.rmdir()
                folder.parent.rmdir()


def continued(agenda: Agenda, folder: Path) -> Agenda:
    """Return the agenda of the latest plan run of which Slurm has cases, or has ended them meanwhile."""
    kept = [_read(one) for one in sorted(folder.glob(f"*/{_ARRAY}"))]
    if not kept or (agenda.continues and kept[-1].campaign.id <= agenda.campaign.id):
        return agenda
    campaign = replace(kept[-1].campaign, entries=())
    slots = arrange(list(agenda.points), agenda.document.repetitions, campaign.seed, agenda.document.order)
    return replace(agenda, campaign=campaign, slots=slots)


def forget(folder: Path) -> None:
    """End a plan's arrays, and remove what is known of them: all is measured anew."""
    for one in folder.glob("*/"):
        _slurm("scancel", f"--name={one.name}")
        shutil.rmtree(one, ignore_errors=True)


def _read(path: Path) -> _Array:
    found = read_pickle(
        path, f"End its jobs with `scancel --name={path.parent.name}`, and remove {path.parent}."
    )
    assert isinstance(found, _Array)
    return found


@dataclass
class SlurmRun:
    """Carries out what is left of an agenda.

    Attributes:
        folder: of the plan's arrays.
        tell: is told of each machine how many of its cases have ended, and what becomes of the others.
    """

    agenda: Agenda
    fleet: Fleet
    store: Store
    folder: Path
    command: tuple[str, ...]
    tell: Callable[[FleetMachine, int, Waiting], None]
    _tasks: list[_Task] = field(default_factory=list)
    _of_others: set[Path] = field(default_factory=set)
    _done: Counter[str] = field(default_factory=Counter)
    _ledger: Ledger = field(default_factory=lambda: Ledger({}))

    def carry_out(self) -> CampaignOutcome:
        """Submit what is not submitted yet, and wait for all. Ctrl-C ends the jobs; what is measured is kept.

        Raises:
            UsageError: Slurm is not there, or refuses what the fleet asks for.
            StoreError: folder or store can't be written.
        """
        outcome = self._ledger.outcome
        try:
            self._find()
            known = {(task.slot.key, task.slot.block) for task in self._tasks}
            self._submit([one for one in self.agenda.left if (one.key, one.block) not in known])
            self._wait(lambda: not self._tasks)
        except KeyboardInterrupt:
            outcome.stopped = True
            self._stop()
        except UsageError:  # of several machines one is refused, after others were submitted
            with suppress(UsageError):
                self._stop()
            raise
        else:
            self._clean()
        outcome.left = tuple(task.slot for task in self._tasks)
        return outcome

    def _find(self) -> None:
        """Find the arrays that an earlier tauto submitted; those of machines that the fleet lost stay."""
        left = {(slot.key, slot.block): slot for slot in self.agenda.left}
        for path in sorted(self.folder.glob(f"*/{_ARRAY}")):
            array = _read(path)
            for index, slot in enumerate(array.slots):
                task = _Task(slot, array.machine, path.parent, index)
                if array.campaign.id != self.agenda.campaign.id or not task.file("task").exists():
                    continue  # its answer was taken in
                if (mine := left.get((slot.key, slot.block))) is not None:
                    task.slot = mine
                    self._tasks.append(task)
                elif slot.key not in self.agenda.points:
                    self._of_others.add(path.parent)

    def _submit(self, slots: Sequence[Slot]) -> None:
        shares: dict[FleetMachine, list[Slot]] = {}
        for number, slot in enumerate(slots):
            able = self.fleet.of(self.agenda.points[slot.key].system)
            shares.setdefault(able[number % len(able)], []).append(slot)
        for machine, own in shares.items():
            for begin in range(0, len(own), _LARGEST_ARRAY):
                self._submit_array(machine, own[begin : begin + _LARGEST_ARRAY])

    def _submit_array(self, machine: FleetMachine, slots: Sequence[Slot]) -> None:
        name = f"tauto-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{token_hex(3)}"
        folder = self.folder / name
        # A task does not begin where tauto was called, and what the plan names lies beside the plan.
        document = replace(self.agenda.document, path=self.agenda.document.path.absolute())
        try:
            folder.mkdir(mode=0o700)
            for index, slot in enumerate(slots):
                job = FleetJob(
                    replace(machine, on="local"),
                    document,
                    self.agenda.points[slot.key],
                    self.agenda.cell(slot, self.command),
                    (self.fleet.scratch / name if self.fleet.scratch else folder) / f"store-{index}",
                )
                (folder / f"task-{index}").write_bytes(pickle.dumps(job))
            kept = _Array(replace(self.agenda.campaign, entries=()), tuple(slots), machine)
            (folder / _ARRAY).write_bytes(pickle.dumps(kept))
        except OSError as error:
            raise StoreError(f"{folder} can't be written: {error.strerror}", "Is there room?") from error
        python = shlex.quote(sys.executable)
        words = read_partition(machine.on)
        try:
            answer = _slurm(
                "sbatch", "--parsable", f"--job-name={name}", f"--array=0-{len(slots) - 1}", *words,
                f"--chdir={folder}", "--output=log-%a", "--open-mode=append",
                f"--wrap=exec {python} -m tautochrone.measure.fleet.node . $SLURM_ARRAY_TASK_ID",
            )  # fmt: skip
        except UsageError:
            shutil.rmtree(folder, ignore_errors=True)  # or the next tauto would wait for its cases
            raise
        if answer.returncode != 0:
            shutil.rmtree(folder, ignore_errors=True)
            said = answer.stderr.strip().splitlines()
            why = (
                re.sub("^sbatch: (error|fatal): ", "", said[-1]) if said else f"exit code {answer.returncode}"
            )
            raise UsageError(
                f"Slurm does not take the cases of {machine.name} ({machine.on}): {why}",
                "`sinfo` shows the partitions, their features and their nodes.",
            )
        self._tasks += [_Task(slot, machine, folder, index) for index, slot in enumerate(slots)]

    def _wait(self, ended: Callable[[], bool]) -> None:
        asked_s = 0.0
        while not ended():
            there = {path for one in {task.folder for task in self._tasks} for path in one.glob("answer-*")}
            for task in [one for one in self._tasks if one.file("answer") in there]:
                self._take_in(task)
            if time.monotonic() - asked_s >= _ASK_S:
                asked_s = time.monotonic()
                self._ask()
            if not ended():
                time.sleep(_LOOK_S)

    def _ask(self) -> None:
        """See what Slurm still has; a task that it has no more, and that left no answer, is lost."""
        names = {task.folder.name for task in self._tasks}
        if not names:
            return
        answer = _slurm(
            "squeue", "--noheader", "--array", f"--name={','.join(names)}", "--format=%j %K %t %r"
        )
        if answer.returncode != 0:
            return  # the controller is restarted, or busy: the next time
        states = {}
        for line in answer.stdout.splitlines():
            name, index, state, reason = [*line.split(maxsplit=3), "", "", ""][:4]
            states[name, index] = (state, reason)
        for machine in dict.fromkeys(task.machine for task in self._tasks):
            own = [task for task in self._tasks if task.machine == machine]
            found = [states.get((task.folder.name, str(task.index)), ("", "")) for task in own]
            running = sum(state in ("R", "CG", "CF") for state, _ in found)
            reasons = Counter(reason for state, reason in found if state == "PD")
            reason = reasons.most_common(1)[0][0] if reasons else ""
            self.tell(machine, self._done[machine.name], Waiting(running, len(own) - running, reason))
        for task in list(self._tasks):
            if (task.folder.name, str(task.index)) in states:
                task.missing_since_s = None
            elif task.missing_since_s is None:
                task.missing_since_s = time.monotonic()
            elif time.monotonic() - task.missing_since_s > _GRACE_S and not _has_answer(task):
                self._lose(task)

    def _lose(self, task: _Task) -> None:
        self._collect(task)
        self._tasks.remove(task)
        log = task.file("log").read_text(errors="replace").strip() if task.file("log").exists() else ""
        said = log.splitlines()[-1] if log else "it left no log"
        error = MeasuringError(
            f"its job of Slurm ended without an answer: {said}", f"See {task.file('log')}."
        )
        self._ledger.went_wrong(self.agenda.points[task.slot.key], task.slot, error)

    def _take_in(self, task: _Task) -> None:
        answer: Answer = read_pickle(task.file("answer"), "Remove it, and type the same again.")
        clash = self._collect(task)
        self._tasks.remove(task)
        point = self.agenda.points[task.slot.key]
        if clash is not None:
            self._ledger.went_wrong(point, task.slot, clash)
        elif isinstance(answer, SealedCell):
            self._done[task.machine.name] += 1
            self._ledger.measured(point, task.slot, StoredRun.read(self.store.path / answer.run))
        else:
            assert isinstance(answer, RefusedJob)  # a task that was stopped leaves none
            self._ledger.went_wrong(point, task.slot, answer.error)
        for kind in ("task", "answer"):
            task.file(kind).unlink(missing_ok=True)

    def _collect(self, task: _Task) -> MeasuringError | None:
        """Move the runs of a task into the store. Returns why one can't be: its id is another run's."""
        clash = None
        home = task.file("store")
        with files.store_errors("taking runs in", self.store.path):
            self.store.path.mkdir(parents=True, exist_ok=True)
            for run in sorted(home.glob("*/")):
                place = self.store.path / run.name
                if not place.exists():
                    self._move(run, place)
                elif _manifest(place) != _manifest(run):  # the same: tauto was killed while it moved it
                    clash = MeasuringError(f"another run has its id, {run.name}", "Type the same again.")
        shutil.rmtree(home, ignore_errors=True)
        return clash

    def _move(self, run: Path, place: Path) -> None:
        """Give a run its name in the store in one step; from another file system it is copied first."""
        try:
            run.rename(place)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            with arriving(self.store.path) as stage:
                shutil.copytree(run, stage / run.name)
                (stage / run.name).rename(place)

    def _stop(self) -> None:
        """End the jobs; those that run seal what they have, which is collected. What still runs is left."""
        with suppress(KeyboardInterrupt):
            arrays = {path.parent for path in self.folder.glob(f"*/{_ARRAY}")}  # also one not heard of yet
            names = {one.name for one in arrays - self._of_others}
            for name in names:
                _slurm("scancel", f"--name={name}")
            until_s = time.monotonic() + _END_S
            while self._has(names):
                if time.monotonic() >= until_s:
                    return
                time.sleep(_LOOK_S)
            for task in list(self._tasks):
                self._collect(task)
            self._clean()

    def _has(self, names: set[str]) -> bool:
        answer = _slurm("squeue", "--noheader", f"--name={','.join(names)}", "--format=%j")
        return bool(names) and (answer.returncode != 0 or bool(answer.stdout.strip()))

    def _clean(self) -> None:
        """Forget the arrays that have nothing more to tell; logs of what went wrong stay."""
        wrong = bool(self._ledger.outcome.unmeasured)
        for folder in set(self.folder.glob("*/")) - self._of_others:
            if wrong:
                (folder / _ARRAY).unlink(missing_ok=True)
            else:
                shutil.rmtree(folder, ignore_errors=True)


def _has_answer(task: _Task) -> bool:
    """A network's file system shows what a node wrote up to a minute late, unless we change the folder."""
    with suppress(OSError):
        (mark := task.folder / "looked").touch()
        mark.unlink()
    return task.file("answer").exists()


def _manifest(run: Path) -> bytes:
    with suppress(OSError):
        return (run / files.MANIFEST).read_bytes()
    return b""


def _slurm(*words: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of Slurm.

    Raises:
        UsageError: it is not there.
    """
    environment = {name: value for name, value in os.environ.items() if not re.match("S(BATCH|LURM)_", name)}
    try:
        return subprocess.run(
            words,
            env={**environment, **{k: v for k, v in os.environ.items() if k == "SLURM_CONF"}},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,  # Ctrl-C is for tauto: a job that sbatch hands in must be known
        )
    except OSError as error:
        why = (
            "is not on this machine"
            if isinstance(error, FileNotFoundError)
            else f"can't be run: {error.strerror}"
        )
        raise UsageError(
            f"Slurm's command {words[0]} {why}",
            "Run tauto where you type sbatch; on Debian the package is slurm-client.",
        ) from error
