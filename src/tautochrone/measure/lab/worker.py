"""A process beside the lab that does one job after the other, each in its main thread.

Measuring holds SIGINT and SIGTERM, which only a main thread can do, so each case that is measured at the same
time as another one needs a process of its own. Where the lab is gone, the job is ended as by a signal: what
was measured is sealed, and what was started ends.
"""

import os
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread
from traceback import format_exc
from types import FrameType

from tautochrone.base.errors import TautoError
from tautochrone.measure.execute import CellProgress
from tautochrone.measure.lab.jobs import STOP, Answer, JobFault, JobProgress, LabJob, RefusedJob, Stopped

_Jobs = SimpleQueue[LabJob | None]


def main() -> None:
    """Do what comes through the connection whose descriptor is this process's argument."""
    _Worker(Connection(int(sys.argv[1]))).work()


class _Worker:
    """Answers through a connection.

    Attributes:
        doing: whether there is a job that a signal can stop.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._jobs: _Jobs = SimpleQueue()
        self.doing = False

    def work(self) -> None:
        """Until there are no more jobs."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        Thread(target=self._receive, daemon=True).start()
        while (job := self._jobs.get()) is not None:
            answer = self._answer(job)
            self._tell(answer)

    def _answer(self, job: LabJob) -> Answer:
        try:
            self.doing = True
            try:
                return job.do(self._show)
            finally:
                self.doing = False
        except KeyboardInterrupt:
            return Stopped()
        except TautoError as error:
            return RefusedJob(error)
        except Exception:
            return JobFault(format_exc())

    def _show(self, progress: CellProgress) -> None:
        self._tell(JobProgress(progress))

    def _tell(self, what: JobProgress | Answer) -> None:
        with suppress(OSError):  # the lab is gone: what is measured is sealed all the same
            self._connection.send(what)

    def _receive(self) -> None:
        """Jobs, with None as the last of them; where the lab ends without it, this process is stopped."""
        try:
            while (said := self._connection.recv()) is not None:
                if said == STOP:
                    os.kill(os.getpid(), signal.SIGINT)
                else:
                    self._jobs.put(said)
        except Exception:  # the lab is gone, or what it says can't be read
            os.kill(os.getpid(), signal.SIGTERM)
        self._jobs.put(None)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        if self.doing:
            raise KeyboardInterrupt
