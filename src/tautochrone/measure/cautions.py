"""What the lab itself knows to limit a run's meaning: its warnings.

Pure functions over what the probe said, its header and footer. What loads do has `loads.cautions`.
"""

from collections.abc import Iterable, Iterator, Sequence

from tautochrone.base.units import format_duration, format_limit
from tautochrone.base.words import plural
from tautochrone.machine.facts.cpus import count_system_management_interrupts
from tautochrone.machine.tree import Files, Tree
from tautochrone.measure.lab.preemption import other_than_asked
from tautochrone.run.facts import Facts
from tautochrone.run.manifest import PROBE
from tautochrone.run.manifest import Warning as RunWarning
from tautochrone.run.records import Clock, Footer, Header, Process, Thread
from tautochrone.target.program import Message
from tautochrone.target.target import Target

_THROTTLE_MARGIN = 0.9
_RULER_CHANGE, _RULER_DIFFERENCE = 2.0, 1.25
_MOST_NAMES = 3
_WINDOWS_REAL_TIME = 16
"""The lowest priority of the class REALTIME of Windows."""
REAL_TIME = ("fifo", "rr")
CUT_SHORT = "cut-short"
"""Code of the warning of a run that is shorter than planned."""


def cautions_of_facts(facts: Facts) -> list[RunWarning]:
    """Return what is known before the start: a kernel that does not preempt as it was booted to."""
    words = other_than_asked(facts)
    return [RunWarning("not-obtained", words, "The numbers hold for what was obtained.")] if words else []


def caution_of_claim(target: Target) -> tuple[RunWarning, ...]:
    """Return what is known where the machine could not be claimed."""
    words = f"nobody else was kept from measuring on {target.name} meanwhile: {target.unclaimed}"
    advice = "See to it that nobody else measures there."
    return (RunWarning("not-claimed", words, advice),) if target.unclaimed else ()


def cautions_of_probe(messages: Iterable[Message]) -> list[RunWarning]:
    """Return the probe's own warnings as warnings of the run."""
    return [
        RunWarning(f"{PROBE}-{one.warning}" if one.warning else PROBE, one.text)
        for one in messages
        if one.warning is not None
    ]


def cautions_of_stream(header: Header, footer: Footer) -> list[RunWarning]:
    """What header and footer show: an emulator, settings that were not obtained, throttling that can bite, a
    ruler that changed, a run that ended early."""
    return [
        *_emulated(header),
        *_without_real_time(header),
        *_not_obtained(header),
        *_throttling(header, footer),
        *_changed_ruler(header, footer),
        *_ended_early(footer),
    ]


def _emulated(header: Header) -> list[RunWarning]:
    system = header.system
    if not system.emulator:
        return []
    return [
        RunWarning(
            "emulated",
            f"{system.emulator} stood in for {system.name}: these times say nothing about {system.name}",
            f"The run shows that the probe works. Measure on {system.name} itself.",
        )
    ]


def _without_real_time(header: Header) -> list[RunWarning]:
    """Windows: priorities below 16 are of an ordinary class, and its system changes them as it likes."""
    ranked = [one for one in header.sources if one.obtained.policy in REAL_TIME]
    low = [one.label for one in ranked if (one.obtained.priority or 0) < _WINDOWS_REAL_TIME]
    if header.system.name != "Windows" or not low:
        return []
    return [
        RunWarning(
            "no-real-time-class",
            f"{_names(low)}: measured in the priority class HIGH, for this user may not have REALTIME",
            "Run the probe as administrator.",
        )
    ]


def _not_obtained(header: Header) -> list[RunWarning]:
    differing: dict[tuple[str, str, str], list[str]] = {}
    pairs: list[tuple[str, Process | Thread]] = [("the process", header.process)]
    for source in header.sources:
        pairs.append((source.label, source))
        pairs += [(f"{source.label}, thread {one.role}", one) for one in source.partners]
    for who, pair in pairs:
        for name, wanted in pair.requested.items():
            got = pair.obtained.get(name)
            if wanted is not None and got not in (wanted, None):
                key = (_words(name), _show(name, wanted), _show(name, got))
                differing.setdefault(key, []).append(who)
    return [
        RunWarning(
            "not-obtained",
            f"{_names(who)}: {name} was asked to be {wanted}, but the system says {got}",
            "The numbers hold for what was obtained.",
        )
        for (name, wanted, got), who in differing.items()
    ]


def _names(who: Sequence[str]) -> str:
    """Return all of a few, the first of many."""
    if len(who) <= _MOST_NAMES:
        return "; ".join(who)
    return f"{who[0]} and {len(who) - 1} more"


def _words(name: str) -> str:
    return name.removesuffix("_ns").removesuffix("_us").replace("_", " ")


def _show(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    scale = 1000 if name.endswith("_us") else int(name.endswith("_ns"))
    return format_limit(value * scale) if scale and isinstance(value, int) else str(value)


def _throttling(header: Header, footer: Footer) -> list[RunWarning]:
    """RT throttling can bite when a real-time thread uses nearly the share that the system grants."""
    throttling_ns, periods = header.process.obtained.throttling_ns, header.periods_ns
    if throttling_ns is None:
        return []
    runtime_ns, window_ns = throttling_ns
    granted = runtime_ns / window_ns
    policies = {one.source: one.obtained.policy for one in header.sources}
    for book in footer.books or ():
        releases = (book.released or 0) + (book.warmup or 0)  # its CPU time is that of both
        lasted_ns = releases * periods.get(book.source, 0)
        used = (book.cpu_time_ns or 0) / lasted_ns if lasted_ns else 0.0
        if policies.get(book.source) in REAL_TIME and used > _THROTTLE_MARGIN * granted:
            share = f"{format_duration(runtime_ns)} in every {format_duration(window_ns)}"
            return [
                RunWarning(
                    "rt-throttling",
                    f"a measuring thread used {min(used, 1.0):.0%} of its CPU; the system may stop real-time "
                    f"threads beyond {share}, or for ordinary threads that starve",
                    "Such stops show as latency and missed releases of tens of milliseconds. To do without "
                    "them: sysctl kernel.sched_rt_runtime_us=-1 (from Linux 6.12 on also the fair server, "
                    "/sys/kernel/debug/sched/fair_server/cpuN/runtime), and put it back afterwards.",
                )
            ]
    return []


def _changed_ruler(header: Header, footer: Footer) -> list[RunWarning]:
    """Clocks that cost another time after the run than before it, or on one CPU than on another."""
    after = {one.source: one.clock for one in footer.clocks}
    pairs = [(one.label, one.clock, after[one.source]) for one in header.sources if one.source in after]
    changed = [one for one in pairs or [("", header.clock, footer.clock)] if _differ(one[1], one[2])]
    found = []
    if changed:
        who, first, last = max(changed, key=lambda one: _ratio(one[1], one[2]))
        where = f"{_names([name for name, *_ in changed])}: " if who else ""
        worst = f", of {who}," if len(changed) > 1 else ""
        found.append(
            RunWarning(
                "clock-cost-changed",
                f"{where}one reading of the clock{worst} cost {first.cost_ns} ns before the run and "
                f"{last.cost_ns} ns after it",
                "The CPU frequency or the clock source changed meanwhile, or the CPU was shared.",
            )
        )
    own = [(one.label, one.clock) for one in header.sources if one.clock.cost_ns]
    if own:
        fast, slow = (pick(own, key=lambda one: one[1].cost_ns or 0) for pick in (min, max))
        if _differ(fast[1], slow[1]):
            found.append(
                RunWarning(
                    "clocks-differ",
                    f"one reading of the clock costs {fast[1].cost_ns} ns for {fast[0]} and "
                    f"{slow[1].cost_ns} ns for {slow[0]}",
                    "Their CPUs differ in kind or frequency; each latency contains the cost of its own.",
                )
            )
    steps = sorted((one.step_ns, label) for label, one in own if one.step_ns)
    if steps and steps[-1][0] >= _RULER_CHANGE * steps[0][0]:
        found.append(
            RunWarning(
                "clock-steps-differ",
                f"the clock steps by {steps[0][0]} ns for {steps[0][1]} and by {steps[-1][0]} ns for "
                f"{steps[-1][1]}",
                "A time is known to one step of the clock that took it.",
            )
        )
    return found


def _ratio(one: Clock, other: Clock) -> float:
    low, high = sorted((one.cost_ns or 0, other.cost_ns or 0))
    return high / low if low else 1.0


def _differ(one: Clock, other: Clock) -> bool:
    """Return whether two costs are apart by more than their noise, or, where that is not known, by much."""
    low, high = sorted((one, other), key=lambda clock: clock.cost_ns or 0)
    if low.cost_upper_ns is None or high.cost_lower_ns is None:
        return _ratio(low, high) >= _RULER_CHANGE
    return _ratio(low, high) >= _RULER_DIFFERENCE and low.cost_upper_ns < high.cost_lower_ns


def _ended_early(footer: Footer) -> list[RunWarning]:
    words = {
        "interrupted": "the run was ended by hand or by a signal",
        "overrun": "the run ended at the first overrun, as it was asked to",
        "watchdog": "the watchdog ended the run: a measuring thread ran past its budget without sleeping",
        "failed": "the run failed",
    }
    if footer.ended not in words:
        return []
    why = f" ({footer.reason.rstrip('.')})" if footer.reason else ""
    return [RunWarning(CUT_SHORT, f"{words[footer.ended]}{why}; it is shorter than planned")]


# System management interrupts.

SMIS = "smis"
"""Name of the condition, and code of the warning."""

_COUNTER_VALUES = 1 << 32


class SmiCounter:
    """Counts from its beginning on, where the processor counts and the counter may be read."""

    def __init__(self, files: Files, facts: Facts) -> None:
        """Begin.

        Args:
            files: the machine's.
            facts: about it; they say whether the counter can be read.
        """
        readable = facts.firmware.smi_count is not None
        self._tree = Tree(files) if readable else None
        self._first = self._count()

    def since(self) -> int | None:
        """Return how many there were since the beginning; None: not known."""
        last = self._count()
        return None if last is None or self._first is None else (last - self._first) % _COUNTER_VALUES

    def _count(self) -> int | None:
        return None if self._tree is None else count_system_management_interrupts(self._tree)


def caution_of_smis(count: int | None) -> Iterator[RunWarning]:
    """A warning if there were any: each stops all CPUs, for tens of microseconds to milliseconds."""
    if count:
        came = plural(count, "system management interrupt")
        yield RunWarning(
            SMIS,
            f"{came} came while this was measured",
            "The firmware stops all CPUs for each, and the kernel can't see it. Look in the firmware's "
            "settings for power management, USB legacy support and error reporting.",
        )
