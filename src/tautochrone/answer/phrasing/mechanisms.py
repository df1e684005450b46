"""What is said of the mechanisms of a system, and of priority inversion at its locks."""

from collections.abc import Sequence

from tautochrone.base.units import format_duration
from tautochrone.judge.inversion import LockVerdict, Standing, Story
from tautochrone.judge.mechanisms import Kind, Mechanism

_WHY_NOT: dict[Story, str] = {
    "impatient": "the high thread gave up although the low one came to run: give it more --patience",
    "early": "the middle thread had done its work before the high one asked for the lock",
    "late": "the lock was free again before the high thread came to ask for it",
    "shared": "the high thread had it before the low one gave it back, so it did not lock",
}
_KINDS: dict[Kind, tuple[str, str]] = {
    "switch": ("Switch between two equal threads", "What changing threads costs by itself (sched_yield)."),
    "handover": (
        "Mutex handover to a higher-priority thread",
        "What a lock costs that somebody waits for: unlock, switch, lock.",
    ),
    "wake": (
        "Semaphore wake-up, same CPU",
        "From the post to the first time stamp of the thread that waited.",
    ),
    "wake across": ("Semaphore wake-up, different CPU", "The same, and the wake-up of the other CPU."),
    "plain lock": ("Waiting for a plain mutex", ""),
    "inheriting lock": ("Waiting for an inheriting mutex", ""),
    "ceiling lock": ("Waiting for a ceiling mutex", ""),
}
_ABSENT = {"": "", "ended": "It ended before a sample was taken.", "unknown": "It was not measured."}


def what(one: Mechanism) -> str:
    """Return what the mechanism is."""
    return _KINDS[one.kind][0]


def why_not(one: Mechanism) -> str:
    """Return why it was not measured; empty if it was."""
    return one.told if one.absent == "told" else _ABSENT[one.absent]


def meaning(one: Mechanism) -> str:
    """Return what to make of it."""
    if one.lock is None:
        return _KINDS[one.kind][1]
    held, work = _of(one.critical_ns), _of(one.middle_ns)
    if one.lock.standing == "open":
        return (
            f"Open to priority inversion: beyond the critical section{held} the high-priority thread waited "
            f"for work{work} that has nothing to do with the lock."
        )
    if one.lock.standing == "safe":
        return f"Safe from priority inversion: bounded by the critical section{held}."
    return f"Not shown: {why_not_shown(one.lock) or 'the scenario did not come about'}."


def _of(duration_ns: int | None) -> str:
    return f" of {format_duration(duration_ns)}" if duration_ns is not None else ""


def why_not_shown(verdict: LockVerdict) -> str:
    """Return why repetitions show nothing; empty if all of them show something, and the same."""
    if not verdict.stories:
        return "nothing was recorded"
    why = [_WHY_NOT[story] for story in verdict.untold]
    if verdict.times_open and verdict.standing == "not shown":
        why.append(
            f"{verdict.times_open} of {verdict.times_shown} look open and the others safe, as where "
            "a higher priority had the high thread's CPU"
        )
    return "; ".join(why)


def locks_headline(verdicts: Sequence[LockVerdict]) -> str:
    """Return which locks are safe, in one line. A lock that stands alike on all CPUs is named once."""
    standings: dict[str, set[Standing]] = {}
    for one in verdicts:
        standings.setdefault(one.lock, set()).add(one.standing)
    groups: dict[Standing, list[str]] = {"safe": [], "open": [], "not shown": []}
    for one in verdicts:
        name = one.lock if len(standings[one.lock]) == 1 else f"{one.lock} ({one.where})"
        if name not in groups[one.standing]:
            groups[one.standing].append(name)
    if not groups["safe"] and not groups["open"]:
        return "Whether these locks are open to priority inversion was not shown."
    safe = f"Safe from priority inversion: {', '.join(groups['safe'])}."
    parts = [safe if groups["safe"] else "No lock measured here is safe from priority inversion."]
    parts += [f"Open to it: {', '.join(groups['open'])}."] if groups["open"] else []
    parts += [f"Not shown: {', '.join(groups['not shown'])}."] if groups["not shown"] else []
    return " ".join(parts)
