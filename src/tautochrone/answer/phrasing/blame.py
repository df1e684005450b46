"""What is said of late cycles and of what made them late."""

from collections.abc import Iterator

from tautochrone.base.units import format_duration, format_percent
from tautochrone.base.words import plural, upper_first, verb
from tautochrone.judge.blame import BlamedRun, WithoutCauses
from tautochrone.run.records import BlameSetup
from tautochrone.statistics.blame import Cause, CauseShare, Part

CLASSES: dict[Cause, str] = {
    "nmi": "NMI",
    "irq": "interrupt",
    "softirq": "softirq",
    "thread": "other thread",
    "not-preemptible": "not preemptible",
    "interrupts-off": "interrupts off",
    "idle-exit": "exit from idle",
    "frequency": "frequency change",
    "smi": "SMI",
    "steal": "hypervisor (steal)",
    "fault": "page fault",
    "stopped": "stopped or throttled",
    "work": "own work",
    "unexplained": "unexplained",
}
"""What the classes of causes are called."""

_SHOWN_FIRST = 3
_LEAST_SHARE = 0.01
_FIRST_NICE, _DEADLINE = 100, -1
_NICE_0 = 120
_HIGHEST_RT = 99


def name(one: CauseShare | Part) -> str:
    """Return what a cause is called: ``irq/34-eth0``, ``kworker: drm_fb_helper_damage_work``."""
    functions = one.functions[:1] if isinstance(one, CauseShare) else (one.function,)
    return name_of(one.cause, one.actor, next(iter(functions), ""))


def name_of(cause: Cause, actor: str, function: str = "") -> str:
    """Return what the cause of this class, actor and function is called."""
    if cause in ("not-preemptible", "interrupts-off") and actor:
        return f"{actor} ({CLASSES[cause]})"
    if cause == "softirq":
        return f"softirq {actor}"
    if cause in ("idle-exit", "frequency") and actor:
        return f"{CLASSES[cause]} ({actor})"
    if not actor:
        return CLASSES[cause]
    return f"{actor}: {function}" if function and actor == "kworker" else actor


def actor(one: CauseShare) -> str:
    """Return who it is, for a place where the class stands beside it."""
    told = one.cause in ("not-preemptible", "interrupts-off", "idle-exit", "frequency", "softirq")
    return one.actor if told and one.actor else name(one)


def policy(priority: int | None) -> str:
    """Return the urgency of a thread: ``real-time 50``, ``nice 0``; empty: not known."""
    if priority is None:
        return ""
    if priority <= _DEADLINE:
        return "deadline"
    return f"real-time {_HIGHEST_RT - priority}" if priority < _FIRST_NICE else f"nice {priority - _NICE_0}"


def percent(share: float) -> str:
    """Return a share without decimals: ``61 %``."""
    rounded = round(share * 100)
    if rounded == 100 and share < 1 - 1e-9:
        return ">99 %"
    return "<1 %" if share > 0 and not rounded else f"{rounded} %"


def interval(one: CauseShare) -> str:
    """Return the interval of a share: ``52 to 69 %``; empty where there is none."""
    if one.lower is None or one.upper is None:
        return ""
    return f"{round(one.lower * 100)} to {round(one.upper * 100)} %"


def headline(found: BlamedRun) -> str:
    """Return how many cycles were late, and the causes with the most excess."""
    late, setup = found.blame.late, found.setup
    if not late and setup.threshold_ns is not None:
        return f"No late cycle: none reached {format_duration(setup.threshold_ns)}."
    if not late:
        return (
            f"No late cycle: none was beyond {setup.share or 'the share asked for'} of those before. "
            "The first 1,000 cycles of each source are not judged."
        )
    cycles, kept = plural(late, "late cycle"), len(found.blame.cycles)
    if not found.recorded:
        return f"{cycles}. What made {'it' if late == 1 else 'them'} late was not recorded."
    said = f"{cycles}, of which {kept:,} {verb(kept, 'was')} kept." if kept < late else f"{cycles}."
    causes = [one for one in found.blame.causes if one.cause != "unexplained"]
    telling = [one for one in causes[:_SHOWN_FIRST] if one.share >= _LEAST_SHARE]
    if not found.blame.excess_ns:
        return f"{said} None took longer than a typical one."
    unexplained = found.blame.share_of("unexplained")
    parts = [_share_words(one, first=at == 0) for at, one in enumerate(telling)]
    if not parts:
        return f"{said} {percent(unexplained)} of the excess is unexplained."
    return f"{said} {', '.join(parts)}; {percent(unexplained)} unexplained."


def _share_words(one: CauseShare, *, first: bool) -> str:
    within = interval(one)
    said = f"{percent(one.share)}{f' ({within})' if within else ''}"
    return f"{said}{' of the excess is' if first else ''} {name(one)}"


def of_a_million(share: float | None) -> str:
    """Return how many of a million cycles a share is."""
    if not share:
        return "N/A" if share is None else "none"
    return f"{share * 1e6:,.0f}" if share >= 1e-4 else f"{share * 1e6:.3g}"


def recorded_from(setup: BlameSetup) -> str:
    """Return how late cycles were recorded: ``from 50 us on, by bpf``."""
    late = f"beyond {setup.share}"
    if setup.threshold_ns is not None:
        late = f"from {format_duration(setup.threshold_ns)} on"
    return f"{late}, by {setup.recorder}" if setup.recorder else f"{late}, without a recorder"


def late_is(setup: BlameSetup) -> str:
    """Return which cycles are late."""
    if setup.threshold_ns is not None:
        return f"Late is what took {format_duration(setup.threshold_ns)} or longer."
    return f"Late is what took longer than {setup.share} of the cycles before it."


def excess_is(found: BlamedRun) -> str:
    """Return what the excess is measured from."""
    typical = sorted(found.blame.typical_ns.values())
    if not typical:
        return ""
    ends = [format_duration(one) for one in (typical[0], typical[-1])]
    said = ends[0] if ends[0] == ends[1] else " to ".join(ends)
    return f"The excess of a cycle is what it took longer than a typical one ({said})."


def how_recorded(found: BlamedRun) -> Iterator[str]:
    """Yield how the events were recorded, what that cost, and what is missing."""
    setup, kept = found.setup, len(found.blame.cycles)
    if setup.recorder is None:
        yield upper_first(f"{setup.why or 'no recorder was there'}.")
        yield from _counted(found)
        return
    yield _cost(setup)
    if kept < found.blame.late:
        rest = "the first ones, and each that was the worst so far"
        yield f"{kept:,} of {found.blame.late:,} late cycles {verb(kept, 'was')} kept: {rest}."
    if found.incomplete:
        left_out = sum(one.left_out for one in found.blame.cycles)
        yield (
            f"Events are missing in {plural(found.incomplete, 'late cycle')}: {found.lost_events:,} lost, "
            f"{left_out:,} beyond the most that are kept of a cycle."
        )
    if setup.why:
        yield f"A better recorder is not used: {setup.why}."
    if setup.missing:
        lacking = (
            f"{one.name.replace('_', ' ')}{f' ({one.why})' if one.why else ''}" for one in setup.missing
        )
        yield f"Not recorded: {'; '.join(lacking)}."
    if found.no_symbols:
        yield f"Functions have no names: {found.no_symbols}."


def _cost(setup: BlameSetup) -> str:
    cost = setup.cost
    if cost is None:
        return f"Recorded by {setup.recorder}; what that costs was not measured."
    changed = [format_duration(cost.median_without_ns), format_duration(cost.median_with_ns)]
    rare = ""
    if cost.p99_with_ns is not None and cost.p99_without_ns is not None:
        rare = f", 99 % from {format_duration(cost.p99_without_ns)} to {format_duration(cost.p99_with_ns)}"
    return (
        f"Recorded by {setup.recorder}, which moved the median from {changed[0]} to {changed[1]}{rare}, "
        "measured before the run."
    )


def _counted(found: BlamedRun) -> Iterator[str]:
    counted = found.counted
    parts = [
        f"lost its CPU {plural(counted.preempted, 'time')}" if counted.preempted else "",
        f"had {plural(counted.faults, 'page fault')}" if counted.faults else "",
    ]
    told = [one for one in parts if one]
    if told:
        yield f"Around late cycles the thread {' and '.join(told)}."
    if counted.steal_ns:
        yield f"Around late cycles the hypervisor took {format_duration(counted.steal_ns)} from the CPU."


def without(one: WithoutCauses) -> str:
    """Return what a distribution would be without some causes, beside what it was."""
    quantile, largest = (
        f"{format_duration(was)} → {format_duration(becomes)}"
        for was, becomes in (one.quantile_ns, one.largest_ns)
    )
    late = f"{one.late:,} → {one.late_without:,} late cycles"
    return f"Without that, by estimate: {late}, {one.q * 100:g} % within {quantile}, largest {largest}"


def confidence(found: BlamedRun) -> str:
    """Return at what confidence intervals are."""
    return format_percent(found.blame.confidence)
