"""What this user may do here, found out by trying: real-time priority, locked memory."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tautochrone.errors import NotPermittedError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tautochrone.plan.cell import Cell

_TRIAL_LASTS_LONGEST_S = 30.0
_NO_OUTPUT = "/dev/null/no-output"
"""Can't be opened by anybody. The probe opens its output last, after all that can be refused, so nothing is
measured and nothing is left."""


@dataclass(frozen=True)
class Permission:
    """What is permitted for a set of measurements."""

    priority: bool
    memory_lock: bool

    def refusal(self, probe: Path, instead: str) -> str:
        """What is missing, how to get it, and ``instead`` of what the measuring goes on; for people."""
        lacking, capabilities, limits = [], [], []
        if not self.priority:
            lacking.append("real-time priority")
            capabilities.append("cap_sys_nice")
            limits.append("@realtime - rtprio 99")
        if not self.memory_lock:
            lacking.append("locked memory")
            capabilities.append("cap_ipc_lock")
            limits.append("@realtime - memlock unlimited")
        lines = "\n".join(f"  {line}" for line in limits)
        return (
            f"Not permitted to this user: {' and '.join(lacking)}. To grant it, type\n"
            f"  sudo setcap {','.join(capabilities)}+ep {probe.resolve()}\n"
            "or write into /etc/security/limits.d/realtime.conf, for a group you are in, and log in again:\n"
            f"{lines}\n"
            f"Going on {instead}."
        )


def find_permission(probe: Path) -> tuple[Permission, str]:
    """What is permitted, and, where that is not all, words about what is missing and what happens instead.

    Where each alone is permitted and both together are not, all is taken as permitted: the probe says in its
    own words what stands against it.
    """
    if is_permitted(probe, _trial("fifo", memory_lock=True)):
        return Permission(True, True), ""
    permission = Permission(
        priority=is_permitted(probe, _trial("fifo", memory_lock=False)),
        memory_lock=is_permitted(probe, _trial("other", memory_lock=True)),
    )
    instead = {
        (
            False,
            False,
        ): "with ordinary priority and pageable memory: the numbers below are those of an ordinary "
        "program, not of a real-time one",
        (False, True): "with ordinary priority: the numbers below are those of an ordinary program, not of a "
        "real-time one",
        (True, False): "with pageable memory: a page that is not in memory shows as latency",
    }.get((permission.priority, permission.memory_lock))
    return permission, permission.refusal(probe, instead) if instead else ""


def _trial(policy: str, *, memory_lock: bool) -> tuple[Cell, ...]:
    """What both the first answer and all experiments begin with."""
    from tautochrone.plan.first_answer import first_answer

    return tuple(
        cell
        for cell in first_answer(2, policy, memory_lock=memory_lock)
        if cell.experiment in ("clock", "cyclic")
    )


def is_permitted(probe: Path, cells: Iterable[Cell]) -> bool:
    """Whether the probe may do what these cells ask for. It starts its threads and ends before it measures.

    What else may go wrong is not told here, but when it is measured.
    """
    trials = dict.fromkeys((cell.experiment, *cell.arguments) for cell in cells)
    return not any(_is_refused(probe, arguments) for arguments in trials)


def _is_refused(probe: Path, arguments: tuple[str, ...]) -> bool:
    try:
        ended = subprocess.run(
            [str(probe), *arguments, "--out", _NO_OUTPUT],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_TRIAL_LASTS_LONGEST_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == NotPermittedError.exit_code
