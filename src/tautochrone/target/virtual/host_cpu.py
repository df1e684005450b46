"""One CPU of the host for each QEMU that counts instructions, so that its threads keep their order.

When the virtual CPUs are idle, QEMU 7.2 moves the clock in its main thread, which then looks once more. If
that look is late, it may fall into an instant in which the other thread has put a CPU to rest and has not
told yet how many instructions it had executed, or is half through its round over several CPUs; then the clock
moves too far, or another CPU has the next turn. On one CPU of the host, where no thread that wakes cuts in,
the look is over before the other thread goes on. Only a host that takes the CPU away just then can spoil it.
"""

import errno
import itertools
import os
import random
import socket
from contextlib import suppress


class HostCpu:
    """A CPU of the host that no other QEMU of any lab on this machine has, as long as there are enough."""

    def __init__(self, pid: int) -> None:
        """Give it to a process that was just started, and has one thread yet."""
        self._claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        with suppress(OSError):  # it only makes disorder rarer
            os.sched_setaffinity(pid, {self._claimed()})
            os.sched_setscheduler(pid, os.SCHED_BATCH, os.sched_param(0))

    def close(self) -> None:
        """Let go of it."""
        self._claim.close()

    def _claimed(self) -> int:
        """The least taken one. A claim is a name in memory, which ends with whoever made it."""
        cpus = sorted(os.sched_getaffinity(0))
        random.shuffle(cpus)
        for turn in itertools.count():
            for cpu in cpus:
                try:
                    self._claim.bind(f"\0tautochrone-host-cpu-{cpu}-{turn}")
                except OSError as error:
                    if error.errno != errno.EADDRINUSE:
                        raise
                else:
                    return cpu
        raise AssertionError("not reached")
