"""What this user may do here, found out by trying: real-time priority, locked memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tautochrone.errors import MeasuringError, NotPermittedError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tautochrone.plan.cell import Cell
    from tautochrone.target.target import Target


@dataclass(frozen=True)
class Permission:
    """What is permitted for a set of measurements."""

    priority: bool
    memory_lock: bool

    def refusal(self, target: Target, instead: str) -> str:
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
        where = _where(target, capabilities)
        return (
            f"Not permitted to this user: {' and '.join(lacking)}. To grant it, {where}"
            "write into /etc/security/limits.d/realtime.conf, for a group you are in, and log in again:\n"
            f"{lines}\n"
            f"Going on {instead}."
        )


def _where(target: Target, capabilities: list[str]) -> str:
    """What the probe itself may be given, where it stays; on another machine it is gone after each use."""
    from tautochrone.target.local import LocalTarget, find_probe

    if not isinstance(target, LocalTarget):
        return f"on {target.name} "
    return f"type\n  sudo setcap {','.join(capabilities)}+ep {find_probe().resolve()}\nor "


def find_permission(target: Target) -> tuple[Permission, str]:
    """What is permitted, and, where that is not all, words about what is missing and what happens instead.

    Where each alone is permitted and both together are not, all is taken as permitted: the probe says in its
    own words what stands against it.
    """
    if is_permitted(target, _trial("fifo", memory_lock=True)):
        return Permission(True, True), ""
    permission = Permission(
        priority=is_permitted(target, _trial("fifo", memory_lock=False)),
        memory_lock=is_permitted(target, _trial("other", memory_lock=True)),
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
    return permission, permission.refusal(target, instead) if instead else ""


def _trial(policy: str, *, memory_lock: bool) -> tuple[Cell, ...]:
    """What both the first answer and all experiments begin with."""
    from tautochrone.plan.first_answer import first_answer

    return tuple(
        cell
        for cell in first_answer(2, policy, memory_lock=memory_lock)
        if cell.experiment in ("clock", "cyclic")
    )


def is_permitted(target: Target, cells: Iterable[Cell]) -> bool:
    """Whether the probe may do what these cells ask for. It starts its threads and ends before it measures.

    What else may go wrong is not told here, but when it is measured.
    """
    trials = dict.fromkeys((cell.experiment, *cell.arguments) for cell in cells)
    return not any(_is_refused(target, arguments) for arguments in trials)


def _is_refused(target: Target, arguments: tuple[str, ...]) -> bool:
    from tautochrone.plan.trial import refusal_of

    try:
        return isinstance(refusal_of(target, arguments), NotPermittedError)
    except (OSError, MeasuringError):
        return False
