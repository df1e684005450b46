"""A hog takes most of every CPU, in bursts of uneven length: the noise of a machine that is shared.

Where priorities are permitted it stands above everything that is measured, so that it takes time as a busy
host takes it from a guest; elsewhere it is several ordinary processes. It ends by itself.

    python tests/support/hog.py --seconds 600 COMMAND ...

runs a command beside it.
"""

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

SHARE = 0.7
_SPELL_S = (0.002, 0.06)
"""A burst is this long: shorter and longer than the periods that tests measure with."""
_ORDINARY = 4
"""Processes for each CPU where priorities are not permitted: what is measured gets one part in five."""


@contextmanager
def hog(seconds: float, share: float = SHARE) -> Iterator[None]:
    """Take `share` of every CPU while the body runs, and for at most so many seconds."""
    processes = [
        subprocess.Popen(
            [sys.executable, __file__, "--seconds", str(seconds), "--share", str(share), "--cpu", str(cpu)],
            stdin=subprocess.DEVNULL,
        )
        for cpu in sorted(os.sched_getaffinity(0))
        for _ in range(1 if _may_be_urgent() else _ORDINARY)
    ]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _may_be_urgent() -> bool:
    before = (os.sched_getscheduler(0), os.sched_getparam(0))
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        return False
    os.sched_setscheduler(0, *before)
    return True


def _take(cpu: int, share: float, seconds: float) -> None:
    """Work in bursts on this CPU until the time is over or the parent has ended."""
    parent = os.getppid()
    os.sched_setaffinity(0, {cpu})
    urgent = _may_be_urgent()
    if urgent:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(os.sched_get_priority_max(os.SCHED_FIFO)))
    chance = random.Random(os.getpid())
    end = time.monotonic() + seconds
    while (now := time.monotonic()) < end and os.getppid() == parent:
        burst = chance.uniform(*_SPELL_S)
        while time.monotonic() < now + burst:
            pass
        if urgent:
            time.sleep(burst * (1 - share) / share)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, required=True, help="It ends after these at the latest.")
    parser.add_argument("--share", type=float, default=SHARE, help="Of every CPU, from 0 to 1.")
    parser.add_argument("--cpu", type=int, help="Take this one, and run no command.")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args(arguments)
    if given.cpu is not None:
        _take(given.cpu, given.share, given.seconds)
        return 0
    with hog(given.seconds, given.share), suppress(KeyboardInterrupt):
        return subprocess.run(given.command, check=False).returncode
    return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
