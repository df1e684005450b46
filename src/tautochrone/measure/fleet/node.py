"""One task of an array of Slurm, on the node: measures its case, and leaves its answer where tauto looks.

A task that is stopped leaves no answer: Slurm may have put it back into its queue, and runs it again then.
"""

import os
import pickle
import shutil
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from traceback import format_exc
from types import FrameType

from tautochrone.base.errors import TautoError
from tautochrone.measure.fleet.job import FleetJob
from tautochrone.measure.fleet.pickled import read_pickle
from tautochrone.measure.lab.jobs import Answer, JobFault, LostMachine, RefusedJob, SealedCell, Stopped, Taken
from tautochrone.run.folder import StoredRun


def main() -> None:
    """Do the task whose folder and index are this process's arguments."""
    folder, index = Path(sys.argv[1]), int(sys.argv[2])
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _on_signal)
    job: FleetJob = read_pickle(folder / f"task-{index}", "Type the same again.")
    job = replace(job, machine=replace(job.machine, name=os.environ["SLURMD_NODENAME"]))
    answer = _do(job)
    stopped = isinstance(answer, Stopped) or (
        isinstance(answer, SealedCell)
        and StoredRun.read(job.store / answer.run).manifest.ended == "interrupted"
    )
    for number in (signal.SIGINT, signal.SIGTERM):  # what is measured is brought home
        signal.signal(number, signal.SIG_IGN)
    home = folder / f"store-{index}"
    if job.store.exists() and job.store.resolve() != home.resolve():  # on a disk of the node's own
        shutil.copytree(job.store, home, dirs_exist_ok=True)
        shutil.rmtree(job.store)
        with suppress(OSError):  # other tasks of the array measure there, too
            job.store.parent.rmdir()
    if stopped:
        print("it was stopped", file=sys.stderr)
        return
    half = folder / f".answer-{index}"
    half.write_bytes(pickle.dumps(answer))
    half.rename(folder / f"answer-{index}")


def _do(job: FleetJob) -> Answer:
    try:
        while True:
            answer = job.do(lambda progress: print(progress.waiting) if progress.waiting else None)
            if not isinstance(answer, Taken):
                return RefusedJob(answer.error) if isinstance(answer, LostMachine) else answer
    except KeyboardInterrupt:
        return Stopped()
    except TautoError as error:
        print(f"{error} {error.advice}", file=sys.stderr)
        return RefusedJob(error)
    except Exception:
        print(format_exc(), file=sys.stderr)
        return RefusedJob(JobFault(format_exc()).as_error())


def _on_signal(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
