"""The search of `tauto check`: trials of rates, of work, or of instances, and what each shows.

A trial is met if no more of its releases missed their deadline than the requirement allows in that time, on
every CPU: for `1 per hour` and a trial of some seconds that is none. The longer trial at the end is judged by
the requirement itself. Where it is not met, further ones follow, and the first that is met is the answer: so
that they err together no more often than the confidence allows, the first may err half as often as that, and
each further one half as often as the one before.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from tautochrone.base.errors import UsageError
from tautochrone.base.units import format_duration, format_rate
from tautochrone.base.words import plural
from tautochrone.check.question import CheckQuestion, cell_of
from tautochrone.judge.requirement.judge import Judgement, judge
from tautochrone.measure import bracketing
from tautochrone.measure.bracketing import Bracketing
from tautochrone.measure.cell import Cell, Load
from tautochrone.measure.trials import Begin, TrialSite, make_trials
from tautochrone.run.folder import StoredRun

Purpose = Literal["bracket", "narrow", "confirm"]
End = Literal["found", "top", "none", "unfinished"]

CONFIRM: Purpose = "confirm"


@dataclass(frozen=True)
class Try:
    """A trial to be made of a rung."""

    rung: int
    purpose: Purpose


@dataclass(frozen=True)
class TriedRung:
    """A trial that was made, and whether it was met."""

    rung: int
    purpose: Purpose
    met: bool


@dataclass(frozen=True)
class _Rungs:
    """The ladder: from the lowest rung to the highest, in strides that double until there is a bracket."""

    most: int
    start: int
    least: int = 0
    stride: int = 1

    def up(self, met: int, tried: int) -> int:
        return min(self.most, met + (self.stride << (tried - 1)))

    def down(self, too_much: int, tried: int) -> int:
        return max(0, too_much - (self.stride << (tried - 1)))

    def middle(self, met: int, too_much: int) -> int:
        return (met + too_much) // 2

    def is_close(self, met: int, too_much: int) -> bool:
        return too_much - met <= 1


class SearchCourse:
    """The course of a search over rungs 0 to ``rungs - 1``, the higher the harder."""

    def __init__(self, rungs: int, start: int, tried: Sequence[TriedRung], stride: int = 1) -> None:
        """Look at the trials so far, in the order in which they were made.

        Args:
            stride: by so many rungs it goes from the first to the second one.
        """
        self._ladder = _Rungs(rungs - 1, start, stride=stride)
        self._last = next((one for one in reversed(tried) if one.purpose != CONFIRM), None)
        short = [bracketing.ShortTrial(one.rung, one.met) for one in tried if one.purpose != CONFIRM]
        self._short = Bracketing(self._ladder, short, misses=2)
        self._long = [one for one in tried if one.purpose == CONFIRM]

    @property
    def met(self) -> int | None:
        """Return the highest rung that was met in a short trial, below all that are too high."""
        return self._short.met_below(self.too_high)

    @property
    def too_high(self) -> int | None:
        """Return the lowest rung that is too high: not met twice in short trials, or once in a long one."""
        failed = [one.rung for one in self._long if not one.met]
        return min(failed if self._short.too_much is None else [*failed, self._short.too_much], default=None)

    @property
    def confirmed(self) -> int | None:
        """Return the rung that was met in a long trial."""
        return max((one.rung for one in self._long if one.met), default=None)

    def next(self) -> Try | End:
        """Return what to try next, or how the search ended."""
        if self._last is not None and not self._long and self._short.missed_once:
            return Try(self._last.rung, self._last.purpose)
        if self.confirmed is not None:
            return "top" if self.confirmed == self._ladder.most else "found"
        if self.too_high == 0:
            return "none"
        if self._long:  # the highest that was met in short ones was not met in a long one
            return Try(max(0, self._long[-1].rung - (1 << (len(self._long) - 1))), CONFIRM)
        step = self._short.next()
        if step is None:
            return "none"
        return Try(step.at, CONFIRM if step.purpose == "decide" else step.purpose)


Kind = Literal["rate", "work", "instances"]
KINDS: tuple[Kind, ...] = ("rate", "work", "instances")

_MOST_INSTANCES = 64

_FINE, _STRIDE = 48, 8
"""Rates in each decade for the user's own code, each about 5 % above the one before; and the first stride."""

_STEPS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
_SLOWEST_HZ, _FASTEST_HZ = 1.0, 50_000.0
_PARTS = 20  # of the deadline, or of a shorter period: the resolution of work
_CROWDED = 1.0  # of a CPU, by the work alone
_NS_PER_S = 1_000_000_000
_TRIALS = 30  # a short trial is so small a part of the whole time
_SHORTEST_S = 1.0
_FEWEST = 20  # releases of a trial
_LONGEST_PART = 10  # of the time, that a trial of so few takes at most
_CONFIRM_SHARE = 5
_CONFIRMATIONS = 3  # that are made, whatever time is left


@dataclass(frozen=True)
class Trial(TriedRung):
    """What one run of the search showed: it is met if no more were missed than allowed, on each CPU.

    Attributes:
        missed: deadlines, of all CPUs.
    """

    value: float
    run: StoredRun
    releases: int
    missed: int
    worst_ns: int | None
    judgement: Judgement
    question: CheckQuestion


@dataclass
class Search:
    """One search; its trials grow while it goes on.

    Attributes:
        rungs: the ladder, ascending, in Hz, in ns of work, or in instances.
        start: the rung to begin with.
        seconds: all trials take about so long at most.
        trial_s: how long a short one takes; more, where that is too few releases.
        confirm_s: how long the one at the end takes.
    """

    kind: Kind
    question: CheckQuestion
    rungs: tuple[float, ...]
    start: int
    seconds: float
    trial_s: float
    confirm_s: float
    trials: list[Trial] = field(default_factory=list)
    stopped: bool = False

    @property
    def course(self) -> SearchCourse:
        """Return where it stands."""
        is_fine = self.kind == "rate" and self.question.code is not None
        return SearchCourse(len(self.rungs), self.start, self.trials, _STRIDE if is_fine else 1)

    @property
    def end(self) -> End:
        """Return how it ended."""
        found = self.course.next()
        return "unfinished" if isinstance(found, Try) else found

    @property
    def best(self) -> Trial | None:
        """Return the longer trial that was met, of the highest rung; None: there is none."""
        met = [one for one in self.trials if one.purpose == CONFIRM and one.met]
        return max(met, key=lambda one: one.rung, default=None)

    @property
    def above(self) -> Trial | None:
        """Return the trial that shows the lowest rung that is too high; of several that with most misses."""
        too_high = self.course.too_high
        failed = [one for one in self.trials if one.rung == too_high and not one.met]
        return max(failed, key=lambda one: one.missed, default=None)

    def question_at(self, wanted: Try) -> CheckQuestion:
        """Return what a trial asks."""
        value = self.rungs[wanted.rung]
        if self.kind == "rate":
            asked = self.question.at(period_ns=round(_NS_PER_S / value))
        elif self.kind == "work":
            asked = self.question.at(work_ns=round(value))
        else:
            asked = self.question.of_instances(round(value))
        seconds = self.trial_s
        if wanted.purpose == CONFIRM:
            seconds, requirement = self.confirm_s, asked.requirement
            asked = replace(asked, requirement=replace(requirement, confidence=self._surer()))
        seconds = max(seconds, _FEWEST / asked.rate_hz)
        return replace(asked, duration_ns=max(round(seconds * 1000), 1) * 1_000_000)

    def shown(self, value: float) -> str:
        """Return a rung in words."""
        if self.kind == "instances":
            return plural(round(value), "instance")
        return format_rate(value) if self.kind == "rate" else format_duration(value)

    @property
    def wanted(self) -> float:
        """Return what it began with, in its own unit."""
        return _wanted(self.kind, self.question)

    def next(self, spent_s: float) -> Try | None:
        """Return the next trial; None: it ended, or there is no time for more."""
        wanted = self.course.next()
        if not isinstance(wanted, Try):
            return None
        left_s = self.seconds - spent_s
        if wanted.purpose == CONFIRM:
            return wanted if left_s > 0 or self._confirmations() < _CONFIRMATIONS else None
        if left_s - self.confirm_s < self.question_at(wanted).duration_ns / _NS_PER_S and self.trials:
            met = self.course.met
            return None if met is None or self._confirmations() else Try(met, CONFIRM)
        return wanted

    def _surer(self) -> float:
        """Return the confidence of the next longer trial."""
        may_err: float = (1 - self.question.requirement.confidence) / 2 ** (1 + self._confirmations())
        return 1 - may_err

    def _confirmations(self) -> int:
        return sum(one.purpose == CONFIRM for one in self.trials)


def search_of(kind: Kind, question: CheckQuestion, seconds: float, *, duration_given: bool) -> Search:
    """Return a search that has not begun.

    Args:
        duration_given: whether the question's duration is that of the longer trial; otherwise that is a
            fifth of the time.
    """
    confirm_s = question.duration_ns / _NS_PER_S if duration_given else seconds / _CONFIRM_SHARE
    if 2 * confirm_s > seconds:
        raise UsageError(
            f"--within {seconds:g}s: the longer trial takes {confirm_s:g} s, and may have to be made again",
            "Give more with --within, or a shorter --duration.",
        )
    slowest_hz = _FEWEST * _LONGEST_PART / seconds
    if question.rate_hz < slowest_hz:
        raise UsageError(
            f"--within {seconds:g}s: trials of {format_rate(question.rate_hz)} would have too few releases",
            f"Give at least {slowest_hz * seconds / question.rate_hz:.0f} seconds.",
        )
    rungs = works(question) if kind == "work" else tuple(map(float, range(1, _MOST_INSTANCES + 1)))
    if kind == "rate":
        rungs = tuple(one for one in rates(question) if one >= slowest_hz)
    if not rungs:
        raise UsageError(*_no_rate(question, slowest_hz, seconds))
    wanted = _wanted(kind, question)
    start = max((at for at, value in enumerate(rungs) if value <= wanted * (1 + 1e-9)), default=0)
    return Search(kind, question, rungs, start, seconds, max(_SHORTEST_S, seconds / _TRIALS), confirm_s)


def _wanted(kind: Kind, question: CheckQuestion) -> float:
    if kind == "instances":
        return float(question.instances)
    return question.rate_hz if kind == "rate" else float(question.work_ns or 0)


def _no_rate(question: CheckQuestion, slowest_hz: float, seconds: float) -> tuple[str, str]:
    """Return what is wrong where nothing can be tried, and what to do."""
    work = format_duration(question.work_ns or 0)
    slowest = max(slowest_hz, _SLOWEST_HZ)
    return (
        f"--search rate: no rate to try of at least {format_rate(slowest)} leaves a CPU time for {work} of "
        "work",
        f"Give it less work, or more than --within {seconds:g}s.",
    )


def rates(question: CheckQuestion) -> tuple[float, ...]:
    """Return the rates to choose from, in Hz: preferred numbers, as far as the work leaves a CPU for them.

    How long the user's own code takes is what is asked, so its rates are closer together: E48.
    """
    decades = (10.0**power for power in range(5))
    steps = _STEPS if question.code is None else [round(10 ** (one / _FINE), 2) for one in range(_FINE)]
    found = [
        round(step * decade, 6)
        for decade in decades
        for step in steps
        if _SLOWEST_HZ <= step * decade <= _FASTEST_HZ
    ]
    work_s = (question.work_ns or 0) / _NS_PER_S
    return tuple(
        one for one in found if one * work_s < _CROWDED and (question.of_its_own or work_s < 1 / one)
    )


def works(question: CheckQuestion) -> tuple[float, ...]:
    """Return the work to choose from, in ns: twentieths of the deadline, or of a shorter period."""
    part = min(question.deadline_ns, question.period_ns) / _PARTS
    return tuple(part * at for at in range(1, _PARTS))


def make_search(
    search: Search,
    load: Load,
    cpu: int,
    site: TrialSite,
    begin: Begin,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Make the trials, until the search ended, the time is over, or somebody stopped it."""
    began_s = clock()

    def wanted() -> Iterator[tuple[Cell, Callable[[StoredRun], None]]]:
        while (one := search.next(clock() - began_s)) is not None:
            asked = search.question_at(one)
            cell = cell_of(
                asked,
                load,
                cpu,
                site.command,
                search=search.kind,
                purpose=one.purpose,
                trial=len(search.trials) + 1,
            )
            yield cell, partial(take, one, asked)

    def take(one: Try, asked: CheckQuestion, run: StoredRun) -> None:
        search.trials.append(trial_of(search, one, asked, run))

    search.stopped = not make_trials(wanted(), site, begin)


def trial_of(search: Search, wanted: Try, asked: CheckQuestion, run: StoredRun) -> Trial:
    """Return what a run shows."""
    judgement = judge(asked.requirement, [run], counted=True)
    lines = judgement.lines
    met = bool(lines) and all(
        line.samples > 0 and line.later <= (line.allowed or 0.0) * line.samples for line in lines
    )
    return Trial(
        rung=wanted.rung,
        value=search.rungs[wanted.rung],
        purpose=wanted.purpose,
        run=run,
        releases=sum(line.samples for line in lines),
        missed=sum(line.later for line in lines),
        worst_ns=max((line.worst_ns for line in lines if line.worst_ns is not None), default=None),
        met=met and judgement.standing != "does not hold",
        judgement=judgement,
        question=asked,
    )
