"""What runs are known by when they stand for election: where, under what and how each was measured."""

from collections.abc import Mapping, Sequence

from tautochrone.answer.phrasing.blame import recorded_from
from tautochrone.base.errors import UsageError
from tautochrone.base.units import format_duration
from tautochrone.judge.middleware_setting import as_obtained
from tautochrone.run.conditions import LOCAL
from tautochrone.run.folder import StoredRun

AS_IS = "as-is"
RUN = "run"
"""The axis of runs that differ in nothing: each stands for itself."""

AXES = ("deployment", "system", "kernel", "machine", "load")
"""The axes that every run has, in the order in which one is chosen where several differ."""

ASKED = ("load", "period")
"""What is asked of the machine: where these differ, times differ for that reason alone."""

BOARD = ("system", "machine")
"""What tells machines apart: how each was reached or is called, and its model of CPU."""

_NOT_TRAITS = {  # how long, how it was kept, what a watchdog allows; the period is told apart
    "count", "warmup", "ring_rows", "duration_ns", "period_ns", "budget_ns", "record", "drain", "blame",
    "blame_recorder",
}  # fmt: skip


def traits_of(run: StoredRun) -> dict[str, str]:
    """Return what a run may be told from others by: names as ``--by`` takes them, and words for people.

    A parameter that the run does not have is left out.
    """
    manifest = run.manifest
    conditions, header = manifest.conditions, manifest.header
    kernel = manifest.kernel
    found = {
        "deployment": conditions.deployment_name or AS_IS,
        "system": manifest.machine_name or LOCAL,
        "kernel": " ".join(part for part in (kernel.release, kernel.preemption) if part),
        "machine": manifest.known.cpu.model or "",
        "load": conditions.load or "idle",
    }
    periods = sorted(set(header.periods_ns.values()))
    if periods:
        found["period"] = ", ".join(map(format_duration, periods))
    if (setup := header.blame) is not None:
        found["blame"] = recorded_from(setup)  # it costs time in every cycle
    parameters = as_obtained(manifest)
    for name, value in parameters.items():
        if value is not None and name not in _NOT_TRAITS and not _is_nested(value):
            found[_axis(name)] = _words(name, value)
    return found


def axis_of(typed: str, there: Sequence[Mapping[str, str]]) -> str:
    """Return the axis that a person named.

    Raises:
        UsageError: no run has such a trait.
    """
    known = list(dict.fromkeys(name for one in there for name in one))
    name = _axis(typed.strip().replace("-", "_"))
    if name in known or name == RUN:
        return name
    differing = [axis for axis in known if differs(axis, there)]
    named = ", ".join([*differing, RUN])
    raise UsageError(f"--by {typed}: the runs have nothing of that name", f"They differ in: {named}.")


def differs(axis: str, there: Sequence[Mapping[str, str]]) -> bool:
    """Return whether not all of these runs are alike in it."""
    return len({one.get(axis, "") for one in there}) > 1


def block_of(run: StoredRun) -> int:
    """Return the repetition of its plan run in which a run was measured; 0 without one."""
    return run.manifest.conditions.plan.repetition


def _axis(parameter: str) -> str:
    return parameter.removesuffix("_ns")


def _is_nested(value: object) -> bool:
    listed = isinstance(value, (list, tuple)) and any(isinstance(one, (Mapping, list)) for one in value)
    return listed or isinstance(value, Mapping)


def _words(name: str, value: object) -> str:
    if name.endswith("_ns") and isinstance(value, int):
        return format_duration(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
