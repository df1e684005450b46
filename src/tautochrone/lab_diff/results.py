"""What is told of two virtual machines, whatever it is told in."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tautochrone.base.faults import Later, now
from tautochrone.base.units import format_duration
from tautochrone.judge.comparison.side import ComparedSide
from tautochrone.judge.late_causes import ComparedCauses, compared_causes
from tautochrone.lab_diff.calls import Name, Traced, name_of
from tautochrone.lab_diff.differences import Loop, SourceDifference
from tautochrone.lab_diff.question import SIDES, DiffQuestion
from tautochrone.lab_diff.window import IDLE, ReleaseWindow
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Manifest
from tautochrone.statistics.quantiles import CONFIDENCE

ARROW = " > "
_GIVES_UP_ITSELF = ("none", "voluntary")
"""The models under which the kernel is not preempted in its own code."""


def account(window: ReleaseWindow, preemption: str | None) -> Iterator[str]:
    """Say what the stacks tell of a release: three waits one after the other, and the longest explained.

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
    if window.cause in ("interrupts", "preemption") and window.task == IDLE:
        yield "The CPU was idle where the interrupt came: none of its own work held the thread up."
    elif window.cause == "interrupts":
        yield "Interrupts were off meanwhile: not even the timer's was taken."
    elif window.cause == "preemption":
        yield _why_not_preempted(window, preemption)


def _why_not_preempted(window: ReleaseWindow, preemption: str | None) -> str:
    itself = preemption in _GIVES_UP_ITSELF
    model = f"this kernel (preemption: {preemption})"
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
    """Return the name, and how it came to be called."""
    through = f", called through {ARROW.join(name.callers)}" if name.callers else ""
    if name.ns is None or name.of_ns is None or timed is None:
        return f"All of it passed inside {name.function}{through}."
    return (
        f"{name.function} took {format_duration(name.ns)} of the {format_duration(name.of_ns)} of release "
        f"{timed.window.number:,} of the run with timed calls{through}."
    )


NOT_THE_RESULT = (
    "A traced run executes more instructions, so it is not the plain run: its latencies explain, "
    "and the plain run's are the result."
)
SAME_INSTANT = (
    "Release k of one stands beside release k of the other: both machines were booted for it, were asked the "
    "same in the same order, and had their load running before release 0. Their clocks differ, since one "
    "kernel boots with fewer instructions than the other, and one load may be further than the other."
)

_LONGEST_NAME = 36


@dataclass(frozen=True)
class DiffResults:
    """Two machines, measured and compared.

    Attributes:
        loops: each loop of A beside that of B; it may fail for each who asks.
        stacks: by side, A or B, what the stacks tell of every release.
        timed: the slower one's worst release with timed calls.
        functions: whose calls were timed.
        lost: events of the traces for which the kernels had no room.
        not_traced: why there is no trace; empty: there is one, or nothing to look into.
    """

    question: DiffQuestion
    runs: tuple[StoredRun, StoredRun]
    loops: tuple[SourceDifference, ...] | Later[tuple[SourceDifference, ...]]
    stacks: Mapping[str, Sequence[ReleaseWindow]] = field(default_factory=dict)
    timed: Traced | None = None
    functions: tuple[str, ...] = ()
    lost: int = 0
    not_traced: str = ""

    @property
    def compared(self) -> tuple[SourceDifference, ...]:
        """Return each loop of A beside that of B."""
        return now(self.loops)

    @property
    def manifests(self) -> tuple[Manifest, Manifest]:
        """Return the manifests of A's run and of B's."""
        return self.runs[0].manifest, self.runs[1].manifest

    @property
    def worst(self) -> SourceDifference:
        """Return the loop that was served latest on either side; the only one where there is one CPU."""
        return max(self.compared, key=lambda one: max(one.a.worst_ns or 0, one.b.worst_ns or 0))

    @property
    def slower(self) -> str:
        """Return the side that was served latest."""
        return SIDES[0] if (self.worst.a.worst_ns or 0) >= (self.worst.b.worst_ns or 0) else SIDES[1]

    def name(self, side: str) -> str:
        """Name a machine as shortly as it is unmistakable; the whole name stands in the table of both."""
        question = self.question
        kernels_differ = question.a.kernel != question.b.kernel
        names = {one: question.address(one).kernel if kernels_differ else question.name(one) for one in SIDES}
        return f"machine {side}" if any(len(one) > _LONGEST_NAME for one in names.values()) else names[side]

    def loop(self, side: str) -> Loop:
        """Return the loop that was served latest, on one side."""
        return self.worst.a if side == SIDES[0] else self.worst.b

    @property
    def identical(self) -> bool:
        """Return whether every latency of every loop is the same."""
        return all(one.identical for one in self.compared)

    @property
    def differ(self) -> bool:
        """Return whether a release differs by more than the threshold."""
        return any(one.first is not None for one in self.compared)

    @cached_property
    def causes(self) -> ComparedCauses | None:
        """Return what makes cycles late on A and on B; None where a run does not tell."""
        a, b = (ComparedSide(self.name(side), (run,)) for side, run in zip(SIDES, self.runs, strict=True))
        return compared_causes(a, b, CONFIDENCE, void=False)

    def worst_window(self, side: str) -> ReleaseWindow | None:
        """Return the worst release of the run whose stacks were noted; None: there is none."""
        return max(self.stacks.get(side, ()), key=lambda one: one.latency_ns, default=None)

    @cached_property
    def named(self) -> Name | None:
        """Return what held the worst release of the slower machine up."""
        return name_of(self.worst_window(self.slower), self.timed, self.functions)

    @property
    def headline(self) -> str:
        """Return the answer, in one line."""
        question = self.question
        if self.identical:
            return f"{self.name('A')} and {self.name('B')} are the same to the nanosecond at every release"
        if not self.differ:
            apart = format_duration(self.worst.threshold_ns)
            both = f"{self.name('A')} and {self.name('B')}"
            return f"{question.load.name}: {both} are nowhere more than {apart} apart"
        worst = [
            f"{format_duration(ns)} on {self.name(side)}"
            for side in sorted(SIDES, key=lambda one: one != self.slower)
            if (ns := self.loop(side).worst_ns) is not None
        ]
        said = f"{question.load.name}: worst {', '.join(worst)}"
        return f"{said}: {self.named.function}" if self.named is not None else said

    def differences(self) -> Iterator[str]:
        """Say where the two differ, and by how much."""
        for one in self.compared:
            source = f"{one.a.source}: " if len(self.compared) > 1 else ""
            yield f"{source}{self._difference(one)}"

    def _difference(self, one: SourceDifference) -> str:
        threshold = format_duration(one.threshold_ns)
        if one.identical:
            return f"All {one.compared:,} releases have the same latency, to the nanosecond."
        if one.first is None:
            return (
                f"No release of {one.compared:,} differs by more than {threshold}; the largest difference is "
                f"{self._at(one, one.largest)}."
            )
        whole = f"of {one.compared:,} releases"
        so = f"So do {one.differing:,} {whole}" if one.differing > 1 else f"No other {whole} does"
        return (
            f"They first differ by more than {threshold} at release {one.first:,}{self._after(one)}: "
            f"{self._both(one, one.first)}. {so}."
        )

    def _after(self, one: SourceDifference) -> str:
        return f", {format_duration(one.first * one.a.period_ns)} after release 0" if one.first else ""

    def _at(self, one: SourceDifference, number: int | None) -> str:
        if number is None:
            return "not known"
        a_ns, b_ns = one.a.latency(number) or 0, one.b.latency(number) or 0
        return f"{format_duration(abs(a_ns - b_ns))}, at release {number:,} ({self._both(one, number)})"

    def _both(self, one: SourceDifference, number: int) -> str:
        return (
            f"{latency(one.a.latency(number))} on {self.name('A')}, "
            f"{latency(one.b.latency(number))} on {self.name('B')}"
        )

    def explanation(self) -> Iterator[str]:
        """Say what the kernel of the slower machine did while its worst release waited."""
        if self.not_traced:
            yield f"What held it up is not known: {self.not_traced}"
        window, plain_ns = self.worst_window(self.slower), self.loop(self.slower).worst_ns
        if window is None or plain_ns is None:
            return
        yield (
            f"{self.name(self.slower)} was measured again with stacks noted: the worst is then "
            f"{format_duration(window.latency_ns)} at release {window.number:,}; without, "
            f"{format_duration(plain_ns)} at release {self.loop(self.slower).worst:,}."
        )
        yield from account(window, self.preemption(self.slower))
        if self.named is not None:
            yield naming(self.named, self.timed)
        else:
            yield "No function of the kernel is known to have run for most of it."
        if self.lost:
            yield (
                f"The kernels had no room for {self.lost:,} events of their traces, the earliest ones: "
                "a shorter --duration has them all."
            )

    def preemption(self, side: str) -> str | None:
        """Return the model of a kernel, as it says itself."""
        return self.manifests[SIDES.index(side)].known.kernel.preemption or None


def latency(ns: int | None) -> str:
    """Say the latency of a release; a missed one has none."""
    return "missed" if ns is None else format_duration(ns)
