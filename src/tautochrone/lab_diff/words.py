"""What is said of one late release, in sentences."""

from collections.abc import Iterator

from tautochrone.base.units import format_duration
from tautochrone.lab_diff.naming import Name, Traced
from tautochrone.lab_diff.window import IDLE, Window

ARROW = " > "
_GIVES_UP_ITSELF = ("none", "voluntary")
"""The models under which the kernel is not preempted in its own code."""


def account(window: Window, preemption: str | None) -> Iterator[str]:
    """What the stacks tell of a release: three waits one after the other, and the longest explained.

    Args:
        preemption: the kernel's model, as it calls it; None: not known.
    """
    waking_ns, switch_ns, after_ns = window.before_waking_ns, window.before_switch_ns, window.after_switch_ns
    if waking_ns is None or switch_ns is None or after_ns is None:
        yield f"Release {window.number:,} has no events in the trace: what held it up is not known."
        return
    yield (
        f"Of the {format_duration(window.latency_ns)} of release {window.number:,}, "
        f"{format_duration(waking_ns)} passed until the timer's interrupt made the thread ready, "
        f"{format_duration(switch_ns)} until the CPU went to it, "
        f"and {format_duration(after_ns)} until its first time stamp."
    )
    if window.cause == "interrupts":
        yield "Interrupts were off meanwhile: not even the timer's was taken."
    elif window.cause == "preemption":
        yield _why_not_preempted(window, preemption)


def _why_not_preempted(window: Window, preemption: str | None) -> str:
    itself = preemption in _GIVES_UP_ITSELF
    model = f"this kernel (preemption: {preemption})"
    if window.task == IDLE:
        return "The CPU was idle where the interrupt came: none of its own work held the thread up."
    if window.held:
        sections = "a section" if window.held == 1 else f"{window.held} sections"
        after = f" For how long is not known; elsewhere {model} is not preempted, either." if itself else ""
        return f"Where the interrupt came, {window.task} was in {sections} that forbade preemption.{after}"
    after = (
        f": {model} is not preempted in its own code, it gives the CPU up only where it chooses to"
        if itself
        else ""
    )
    return f"Where the interrupt came, {window.task} was in no section that forbade preemption{after}."


def naming(name: Name, timed: Traced | None) -> str:
    """The name, and how it came to be called."""
    through = f", called through {ARROW.join(name.callers)}" if name.callers else ""
    if name.ns is None or name.of_ns is None or timed is None:
        return f"All of it passed inside {name.function}{through}."
    return (
        f"{name.function} took {format_duration(name.ns)} of the {format_duration(name.of_ns)} of release "
        f"{timed.window.number:,} of the run with timed calls{through}."
    )
