"""Processes beside the lab, as many as there are cores to use: jobs go to whoever is free."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from types import FrameType
from typing import Any, TypeVar

from tautochrone.base.errors import MeasuringError
from tautochrone.measure.execute import CellProgress
from tautochrone.measure.lab.jobs import STOP, Answer, JobFault, JobProgress, LabJob, RefusedJob, Stopped

_WORKER = "from tautochrone.measure.lab.worker import main; main()"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_MOST_SIGNALS = 3  # the first ends what is measured early, the second at once, the third the processes
_PATIENCE_S = 30.0  # for who was told to end, before it is killed

_T = TypeVar("_T")


class Worker:
    """One process. It has a session of its own: a Ctrl-C reaches it through the lab alone."""

    def __init__(self) -> None:
        """Start it."""
        ours, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _WORKER, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        self.connection = ours

    @property
    def lives(self) -> bool:
        """Return whether it can be given something to do."""
        return self._process.poll() is None

    def tell(self, what: LabJob | str | None) -> None:
        """A job, or `STOP`; None: there are no more."""
        with suppress(OSError):  # it has ended, which is seen when its answer is read
            self.connection.send(what)

    def read(self) -> JobProgress | Answer | None:
        """Return what it says next; None: it has ended."""
        try:
            said: JobProgress | Answer = self.connection.recv()
        except (EOFError, OSError):
            self._process.wait()
            return None
        return said

    def kill(self) -> None:
        """At once."""
        self._process.kill()

    def end(self, until_s: float) -> None:
        """Wait until it has ended; one that does not until then, on the monotonic clock, is killed."""
        self.connection.close()
        try:
            self._process.wait(max(0.0, until_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Crew:
    """Does jobs, several at once. What comes of one depends on no other.

    While the block lasts, SIGINT and SIGTERM end all jobs that are being done, and no other one is begun.

    Attributes:
        size: how many jobs are done at once.
        stopped: whether a signal came.
    """

    def __init__(self, size: int) -> None:
        """Nobody is started before there is something to do."""
        self.size = size
        self.stopped = False
        self._idle: list[Worker] = []
        self._busy: dict[Connection, tuple[Worker, Any]] = {}
        self._before: dict[signal.Signals, Any] = {}
        self._signals = 0
        self._signalled, self._alarm = os.pipe()

    def __enter__(self) -> "Crew":
        """From now on signals are its own."""
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        """All end. Whoever still does something is stopped as by Ctrl-C; what was measured is kept."""
        for worker in self._idle:
            worker.tell(None)
        until_s = time.monotonic() + _PATIENCE_S
        for worker in (*self._idle, *(worker for worker, _ in self._busy.values())):
            worker.end(until_s)
        while self._before:
            signal.signal(*self._before.popitem())
        os.close(self._signalled)
        os.close(self._alarm)

    def do(
        self, jobs: Iterator[tuple[_T, LabJob]], watch: Callable[[_T, CellProgress], None] = lambda *_: None
    ) -> Iterator[tuple[_T, Answer]]:
        """Do all jobs; yields each with its answer as it ends.

        A job is taken from the iterator when somebody is free for it, and when what was yielded before has
        been taken in.

        Args:
            jobs: each with what it is known by.
            watch: called with the progress of one.
        """
        self._begin(jobs)
        while self._busy:
            ready = wait([*self._busy, self._signalled])
            if self._signalled in ready:
                self._stop()
            for connection in [one for one in self._busy if one in ready]:
                worker, known = self._busy[connection]
                said = worker.read()
                if isinstance(said, JobProgress):
                    watch(known, said.progress)
                    continue
                del self._busy[connection]
                yield known, self._heard(worker, said)
            self._begin(jobs)

    def _heard(self, worker: Worker, said: Answer | None) -> Answer:
        """Return its answer; whoever gave one is free again."""
        if isinstance(said, JobFault):
            worker.end(0.0)
            return RefusedJob(said.as_error())
        if said is not None:
            self._idle.append(worker)
            return said
        worker.connection.close()
        if self.stopped:
            return Stopped()
        return RefusedJob(MeasuringError("The process that measured it was ended", "Measure it again."))

    def _begin(self, jobs: Iterator[tuple[_T, LabJob]]) -> None:
        """Give everybody who is free something to do, unless it is to stop."""
        while len(self._busy) < self.size and not self.stopped:
            found = next(jobs, None)
            if found is None:
                return
            known, job = found
            self._idle = [worker for worker in self._idle if worker.lives]
            worker = self._idle.pop() if self._idle else Worker()
            self._busy[worker.connection] = worker, known
            worker.tell(job)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.stopped = True
        os.write(self._alarm, b".")

    def _stop(self) -> None:
        self._signals += len(os.read(self._signalled, 64))
        for worker, _ in self._busy.values():
            if self._signals < _MOST_SIGNALS:
                worker.tell(STOP)
            else:
                worker.kill()
