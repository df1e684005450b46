"""What this user may do here, found out by trying: real-time priority, locked memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from tautochrone.base.errors import MeasuringError, NotPermittedError, TautoError
from tautochrone.base.words import verb

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from tautochrone.experiments import Experiment, Options, Prepared
    from tautochrone.measure.cell import Cell
    from tautochrone.run.manifest import Warning as RunWarning
    from tautochrone.target.target import Target

_NO_BUDGET = (
    "Not even to root: the control group has no CPU time for real-time threads. Give it, and the groups "
    "above it, some: echo 900000 | sudo tee /sys/fs/cgroup/cpu/GROUP/cpu.rt_runtime_us; "
    "for Docker: --cpu-rt-runtime."
)

NOT_PERMITTED = "not-permitted"
"""Code of the warning of a run that was measured with less than it is by default."""


@dataclass(frozen=True)
class Permission:
    """What is permitted for a set of measurements.

    Attributes:
        fixed: the policy of fixed priorities that the system is measured with.
        has_budget: whether the control group may have real-time threads at all, as far as is known.
    """

    priority: bool
    memory_lock: bool
    fixed: str = "fifo"
    has_budget: bool = True

    @property
    def policy(self) -> str:
        """Return the policy that can be measured with."""
        return self.fixed if self.priority else "other"

    @property
    def lacking(self) -> str:
        """Return what is not permitted; empty: nothing."""
        missing = ("" if self.priority else "real-time priority", "" if self.memory_lock else "locked memory")
        return " and ".join(filter(None, missing))

    @property
    def instead(self) -> str:
        """Return how it is measured for want of it, and what that means for the numbers."""
        priority, memory = "ordinary priority", "pageable memory"
        if self.priority:
            return f"with {memory}: a page that is not in memory shows as latency"
        how = priority if self.memory_lock else f"{priority} and {memory}"
        return f"with {how}: the numbers are those of an ordinary program, not of a real-time one"

    def refusal(self, target: Target) -> str:
        """Return what is missing, how to get it, and how the measuring goes on without it; for people."""
        lines = "".join(f"  {line}\n" for line in self._limits)
        grant = (
            f" To grant it, {_where(target)}"
            "write into /etc/security/limits.d/realtime.conf, for a group you are in, and log in again:"
        )
        return (
            f"Not permitted to this user: {self.lacking}.{self._of_group and f' {self._of_group}'}"
            f"{grant if lines else ''}\n{lines}"
            f"Going on {self.instead}."
        )

    def caution(self) -> RunWarning:
        """Return the same as a warning of the run that was measured without it."""
        from tautochrone.run.manifest import Warning as RunWarning

        count = (self.priority, self.memory_lock).count(False)
        lines = ", ".join(self._limits)
        told = (
            self._of_group,
            f"As root it is; or write into /etc/security/limits.d/realtime.conf: {lines}." if lines else "",
        )
        return RunWarning(
            NOT_PERMITTED,
            f"{self.lacking} {verb(count, 'was')} not permitted to this user. It was measured {self.instead}",
            " ".join(filter(None, told)),
        )

    @property
    def _of_group(self) -> str:
        return "" if self.priority or self.has_budget else _NO_BUDGET

    @property
    def _limits(self) -> list[str]:
        lines = (
            "" if self.priority or self._of_group else "@realtime - rtprio 99",
            "" if self.memory_lock else "@realtime - memlock unlimited",
        )
        return [line for line in lines if line]


def _where(target: Target) -> str:
    """Return what the probe may be given where it stays; on another machine it goes after each use.

    Both capabilities, whichever is missing: setcap(8) takes away what it does not name.
    """
    from tautochrone.target.local import LocalTarget, find_probe

    if not isinstance(target, LocalTarget):
        return f"on {target.name} "
    return f"type\n  sudo setcap cap_sys_nice,cap_ipc_lock+ep {quote(str(find_probe().resolve()))}\nor "


def find_permission(target: Target) -> tuple[Permission, str]:
    """Return what is permitted, and words about what is missing and what happens instead.

    Where each alone is permitted and both together are not, all is taken as permitted: the probe says in its
    own words what stands against it.
    """
    if is_permitted(target, _trial(target.policy, memory_lock=True)):
        return Permission(True, True, target.policy), ""
    priority = is_permitted(target, _trial(target.policy, memory_lock=False))
    permission = Permission(
        priority=priority,
        memory_lock=is_permitted(target, _trial("other", memory_lock=True)),
        fixed=target.policy,
        has_budget=priority or _has_budget(target),
    )
    return permission, permission.refusal(target) if permission.lacking else ""


def permitted(target: Target, console: Console) -> Permission:
    """Return what is permitted, and say what is missing and what happens instead."""
    permission, refusal = find_permission(target)
    if refusal:
        console.print(refusal, style="yellow", highlight=False, markup=False, soft_wrap=True)
    return permission


def permitted_instead(
    experiment: Experiment, options: Options, target: Target, refused: NotPermittedError
) -> tuple[Prepared, Permission]:
    """Return what can be measured where real-time priority or locked memory is refused.

    Args:
        options: as a person gave them: a policy or a priority among them is a request, and is not replaced.
        refused: why it could not be measured as it is by default.

    Raises:
        NotPermittedError: it can't be measured with less either; why.
    """
    from tautochrone.measure.trial import refusal_of

    def why_not(less: Options) -> TautoError | None:
        prepared = experiment.prepare({**options, **less}, Path())
        return refusal_of(target, experiment.name, prepared.options, prepared.conditions)

    if not isinstance(why_not({}), NotPermittedError):
        raise refused  # it is not the probe that may not
    has_budget = _has_budget(target)
    for granted in ((True, False), (False, True), (False, False)):
        permission = Permission(*granted, has_budget=has_budget)
        less: Options = {
            **({} if permission.priority else {"policy": "other"}),
            **({} if permission.memory_lock else {"no-memory-lock": True}),
        }
        if not permission.priority and (_is_urgent(options) or not _has_ordinary(experiment)):
            continue
        if not set(experiment.known).issuperset(less):
            continue
        why = why_not(less)
        if why is None:
            return experiment.prepare({**options, **less}, Path()), permission
        if isinstance(why, NotPermittedError):
            refused = why  # what is lacking besides
    raise refused


def _has_budget(target: Target) -> bool:
    from tautochrone.machine.facts.confinement import rt_budget_us
    from tautochrone.machine.tree import Tree

    return rt_budget_us(Tree(target.files())) != 0


def _has_ordinary(experiment: Experiment) -> bool:
    return "policy" in experiment.table and "other" in experiment.table["policy"].choices


def _is_urgent(options: Options) -> bool:
    return not {"policy", "priority"}.isdisjoint(options)


def _trial(policy: str, *, memory_lock: bool) -> tuple[Cell, ...]:
    """Return what both the first answer and all experiments begin with."""
    from tautochrone.experiments import EXPERIMENTS
    from tautochrone.measure.first_answer import first_answer

    return tuple(
        cell
        for cell in first_answer(2, policy, memory_lock=memory_lock)
        if EXPERIMENTS[cell.experiment].can_be_ordinary
    )


def is_permitted(target: Target, cells: Iterable[Cell]) -> bool:
    """Return whether the probe may do what these cases ask for; it ends before it measures.

    What else may go wrong is not told here, but when it is measured.
    """
    trials = {(cell.experiment, *cell.options.words): cell for cell in cells}
    return not any(_is_refused(target, cell) for cell in trials.values())


def _is_refused(target: Target, cell: Cell) -> bool:
    from tautochrone.measure.trial import refusal_of

    try:
        return isinstance(refusal_of(target, cell.experiment, cell.options), NotPermittedError)
    except (OSError, MeasuringError):
        return False
