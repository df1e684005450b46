"""The verdict in words: a loop of this rate, on this CPU, run in this way.

The rule, stated so that anybody can apply it by hand: a rate is *missed* on a CPU if any cycle was skipped or
began a whole period late or more; it is *tight* if the worst start took more than half of the period;
otherwise it *holds*, as far as was measured. Nothing is said below `FEWEST_CYCLES` cycles, where samples were
lost, or where the run was cut off so that its misses are not known.

Of a loop that was measured with its own work, whole cycles are judged and not their starts: it is missed if
any cycle was skipped or was done at the next release or later, and tight above nine tenths of the period,
since no work comes on top.

Loads are judged together, because a loop has to hold under each of them. Everything else that differs
(period, policy, priority, way of waiting, kernel, machine) makes another loop.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from tautochrone.base.units import format_duration, format_rate
from tautochrone.base.words import capital
from tautochrone.judge.verdict_words import STARTS, WHOLE, Words
from tautochrone.statistics.quantiles import exceedance_bound

Standing = Literal["holds", "tight", "missed", "not shown"]
_WORST_FIRST: tuple[Standing, ...] = ("missed", "not shown", "tight", "holds")

FEWEST_CYCLES = 300
"""With so many, a flawless run leaves at most 1 in 100 cycles open at 95 % confidence."""

IDLE = "idle"
TIGHT_SHARE, TIGHT_SHARE_WITH_WORK = 0.5, 0.9
CONFIDENCE = 0.95


@dataclass(frozen=True)
class MeasuredLoop:
    """One source of one periodic run, reduced to what the verdict rests on.

    Attributes:
        where: what tells machines and kernels apart, such as the kernel's release; empty if there is one.
        way: how the loop ran, in words: policy, priority, and what is not usual.
        load: what ran beside it, in words; "idle" if nothing was started.
        completed: cycles that were served; each is a sample.
        missed: releases that were skipped; None if that is not known.
        dropped: samples that were taken and lost.
        overruns: cycles that began at or after the next release; None if that is not known.
        worst_ns: largest scheduling latency; None without samples.
        rested: those of `missed` that fell into a rest of a spinning thread.
        with_work: the loop did its own work, and each cycle was measured to the end of that: then `overruns`
            are cycles that were done at the next release or later, `worst_ns` is the longest from its release
            to its end, and `source` says in words what worked and where.
    """

    period_ns: int
    source: str
    cpu: int | None
    load: str
    completed: int
    missed: int | None
    dropped: int
    overruns: int | None
    worst_ns: int | None
    rested: int = 0
    way: str = ""
    where: str = ""
    with_work: bool = False

    @property
    def standing(self) -> Standing:
        """What this run shows by itself."""
        worst_ns = self.worst_ns or 0
        if self.missed or self.overruns or worst_ns >= self.period_ns:
            return "missed"
        unknown = self.missed is None or self.overruns is None
        if unknown or self.dropped or self.completed < FEWEST_CYCLES:
            return "not shown"
        share = TIGHT_SHARE_WITH_WORK if self.with_work else TIGHT_SHARE
        return "tight" if worst_ns > share * self.period_ns else "holds"

    @property
    def words(self) -> Words:
        """How its cycles are spoken of."""
        return WHOLE if self.with_work else STARTS


@dataclass(frozen=True)
class LoopVerdict:
    """What is said about one loop, over all loads that it ran beside.

    Attributes:
        worst_ns: largest scheduling latency over these runs, or longest whole cycle.
        left_ns: what remains of the period after the worst one; 0 if nothing does.
        samples: cycles that this rests on.
        conditions: how the loop ran, in words; where it ran, if there are several places.
        loads: each load with its own standing and worst latency.
        with_work: whole cycles were judged, not their starts.
        missed: of a loop with its work the deadlines that were missed; ``due``: all that there were.
    """

    rate_hz: float
    source: str
    cpu: int | None
    standing: Standing
    worst_ns: int
    left_ns: int
    samples: int
    sentence: str
    conditions: str = ""
    loads: tuple[tuple[str, Standing, int], ...] = field(default=())
    with_work: bool = False
    missed: int = 0
    due: int = 0


@dataclass(frozen=True)
class Verdict:
    """The answer: one headline, a line per loop, and what it does not say."""

    headline: str
    loops: tuple[LoopVerdict, ...]
    notes: tuple[str, ...]


def judge(loops: Iterable[MeasuredLoop]) -> Verdict:
    """Say what the measured loops show.

    Args:
        loops: any number, of any rates, CPUs, ways and loads.

    Returns:
        One line per loop, slowest rate first, and a headline over the rates.
    """
    ordered = sorted(loops, key=_identity)
    several_places = len({loop.where for loop in ordered}) > 1
    lines = tuple(_judge_one(list(group), several_places) for _, group in groupby(ordered, key=_identity))
    return Verdict(headline=_headline(lines), loops=lines, notes=_notes(ordered))


def wilks_share(samples: int, confidence: float = CONFIDENCE) -> float:
    """Share of cycles that may still lie above the largest of `samples`, at the given confidence.

    The distribution-free tolerance limit of Wilks (Annals of Mathematical Statistics 12, 1941): the largest
    of n independent samples covers at least the share (1 - confidence)^(1/n).
    """
    return exceedance_bound(samples, 0, confidence)


def _identity(loop: MeasuredLoop) -> tuple[int, str, str, int, str]:
    cpu = loop.cpu if loop.cpu is not None else -1
    return -loop.period_ns, loop.where, loop.way, cpu, loop.source


def _judge_one(loops: Sequence[MeasuredLoop], several_places: bool) -> LoopVerdict:
    first = loops[0]
    worst_ns = max((loop.worst_ns or 0 for loop in loops), default=0)
    standing = _worst_standing(loops)
    conditions = ", ".join(words for words in (first.where if several_places else "", first.way) if words)
    return LoopVerdict(
        rate_hz=1e9 / first.period_ns,
        source=first.source,
        cpu=first.cpu,
        standing=standing,
        worst_ns=worst_ns,
        left_ns=max(0, first.period_ns - worst_ns),
        samples=sum(loop.completed for loop in loops),
        sentence=f"{_subject(first, conditions)}: {_statement(loops, standing)}",
        conditions=conditions,
        loads=_by_load(loops),
        with_work=first.with_work,
        missed=sum((loop.missed or 0) + (loop.overruns or 0) for loop in loops),
        due=sum(loop.completed + (loop.missed or 0) for loop in loops),
    )


def _by_load(loops: Sequence[MeasuredLoop]) -> tuple[tuple[str, Standing, int], ...]:
    """Each load once, idle first, with the worst of its runs."""
    ordered = groupby(_loads_in_order(loops), key=lambda loop: loop.load)
    groups = [(load, list(group)) for load, group in ordered]
    return tuple(
        (load, _worst_standing(group), max(loop.worst_ns or 0 for loop in group)) for load, group in groups
    )


def _worst_standing(loops: Sequence[MeasuredLoop]) -> Standing:
    return min((loop.standing for loop in loops), key=_WORST_FIRST.index)


def _loads_in_order(loops: Sequence[MeasuredLoop]) -> list[MeasuredLoop]:
    return sorted(loops, key=lambda loop: (loop.load != IDLE, loop.load))


def _subject(loop: MeasuredLoop, conditions: str) -> str:
    rate = format_rate(1e9 / loop.period_ns)
    even = 10**9 % loop.period_ns == 0
    period = "" if even else f" (period {format_duration(loop.period_ns)})"
    if loop.with_work:
        what = f"A {rate} loop{period}, {loop.source}"
    else:
        what = f"A {rate} loop{period} on {f'CPU {loop.cpu}' if loop.cpu is not None else 'any CPU'}"
    return what + (f", {conditions}" if conditions else "")


def _statement(loops: Sequence[MeasuredLoop], standing: Standing) -> str:
    words = loops[0].words
    if standing == "missed":
        failed = [_failure(loop) for loop in _loads_in_order(loops) if loop.standing == "missed"]
        kept = [_beside(loop.load) for loop in _loads_in_order(loops) if loop.standing in ("holds", "tight")]
        also = f" {words.was_kept} {_list_words(kept)}." if kept else ""
        return f"{words.not_kept}. {' '.join(failed)}{also}"
    if standing == "not shown":
        (weak, *_) = [loop for loop in _loads_in_order(loops) if loop.standing == "not shown"]
        return f"not shown, because {_weakness(weak)}."
    period_ns = loops[0].period_ns
    hardest = max(loops, key=lambda loop: loop.worst_ns or 0)
    worst_ns = hardest.worst_ns or 0
    opening = f"{words.kept}, with little room," if standing == "tight" else words.kept
    # Said of one population, the run with the worst start: idle and loaded cycles are not alike.
    one_in = int(1 / wilks_share(hardest.completed))
    left = f"{format_duration(period_ns - worst_ns)} of each {format_duration(period_ns)}{words.left_for}"
    worst = words.worst(worst_ns)
    return (
        f"{opening} in all {sum(loop.completed for loop in loops):,} {words.cycles}. "
        f"{worst[0].upper()}{worst[1:]}, {_beside(hardest.load)}, which leaves {left}. "
        f"From the {hardest.completed:,} {words.cycles} there: at {CONFIDENCE:.0%} confidence, for this loop "
        f"by itself, fewer than 1 in {one_in:,} {words.is_later}."
    )


def _failure(loop: MeasuredLoop) -> str:
    worst = loop.words.worst(loop.worst_ns) if loop.worst_ns else "none was served"
    rests = f" ({loop.rested:,} of them while the spinning thread rested)" if loop.rested else ""
    counts = []
    if loop.missed is None:
        counts.append("how many releases were missed is not known, the run was cut off")
    else:
        released = loop.completed + loop.missed
        counts.append(f"{loop.missed:,} of {released:,} releases {_was(loop.missed)} missed{rests}")
    if loop.overruns:
        counts.append(f"{loop.overruns:,} {loop.words.overran}")
    return f"{capital(_beside(loop.load))}: {', '.join(counts)}; {worst}.{_bound(loop)}"


def _bound(loop: MeasuredLoop) -> str:
    """How many deadlines are missed at most, of a loop with its work; starts alone do not tell that."""
    if not loop.with_work or loop.missed is None or loop.overruns is None:
        return ""
    released, missed = loop.completed + loop.missed, loop.overruns + loop.missed
    share = exceedance_bound(released, missed, CONFIDENCE)
    return (
        f" That is {missed:,} of {released:,} deadlines; at {CONFIDENCE:.0%} confidence at most {share:.2%} "
        "of them are missed."
    )


def _weakness(loop: MeasuredLoop) -> str:
    place, cycles = _beside(loop.load), loop.words.cycles
    if loop.dropped:
        return f"{loop.dropped:,} samples were lost {place}"
    if loop.completed < FEWEST_CYCLES:
        return f"only {loop.completed:,} {cycles} were measured {place}"
    return f"the run {place} was cut off, and what it missed is not known"


def _beside(load: str) -> str:
    return "on the idle machine" if load == IDLE else f"beside the load {load}"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def _headline(lines: Sequence[LoopVerdict]) -> str:
    if not lines:
        return "Nothing periodic was measured, so nothing is said about a control loop."
    groups = groupby(lines, key=lambda line: (line.rate_hz, line.conditions, line.with_work))
    grouped = [list(group) for _, group in groups]
    several_ways = len({line.conditions for line in lines}) > 1
    return " ".join(_headline_of(group, several_ways) for group in grouped)


def _headline_of(lines: Sequence[LoopVerdict], name_conditions: bool) -> str:
    words = WHOLE if lines[0].with_work else STARTS
    rate = format_rate(lines[0].rate_hz)
    if name_conditions and lines[0].conditions:
        rate = f"{rate} ({lines[0].conditions})"
    standings = {standing: [line for line in lines if line.standing == standing] for standing in _WORST_FIRST}
    loads = {load for line in lines for load, _, _ in line.loads}
    only_idle = " on the idle machine" if loads == {IDLE} else ""
    phrases = {
        "holds": f"{words.held}{only_idle}",
        "tight": f"held with little room{only_idle}",
        "missed": f"was not kept{_kept_when_idle(standings['missed']) if words is WHOLE else ''}",
        "not shown": "was not shown",
    }
    if len(standings["holds"]) == len(lines):
        worst = words.worst(max(line.worst_ns for line in lines))
        return f"{rate} {phrases['holds']}{_by(lines)}; {worst}{_rarity(lines)}."
    parts = [
        f"{phrases[standing]}{_by(standings[standing])}"
        for standing in ("holds", "tight", "missed", "not shown")
        if standings[standing]
    ]
    kept = _kept_when_idle(standings["missed"]) if words is STARTS else _misses(standings["missed"])
    return f"{rate} {'; it '.join(parts)}{kept}."


def _by(lines: Sequence[LoopVerdict]) -> str:
    """Where the loops ran; of those with work, what it was."""
    if lines[0].with_work:
        return f": {_list_words([line.source for line in lines])}"
    return f" on {_cpus(lines)}"


def _rarity(lines: Sequence[LoopVerdict]) -> str:
    """How rare a late cycle is, where one loop was measured with its work, beside one load."""
    (first, *others) = lines
    if others or not first.with_work or len(first.loads) > 1:
        return ""
    one_in = int(1 / wilks_share(first.samples))
    return f"; at {CONFIDENCE:.0%} confidence fewer than 1 in {one_in:,} is late"


def _misses(missed: Sequence[LoopVerdict]) -> str:
    """How many, where one loop with its work missed some."""
    if len(missed) != 1:
        return ""
    return f"; {missed[0].missed:,} of {missed[0].due:,} deadlines {_was(missed[0].missed)} missed"


def _kept_when_idle(missed: Sequence[LoopVerdict]) -> str:
    """The first thing an engineer asks of a missed rate: was it kept on the idle machine?"""
    idle = [standing for line in missed for load, standing, _ in line.loads if load == IDLE]
    if not idle or len(idle) < len(missed):
        return ""
    if all(standing in ("holds", "tight") for standing in idle):
        return " under load (kept on the idle machine)"
    return ", not even on the idle machine" if all(standing == "missed" for standing in idle) else ""


def _cpus(lines: Sequence[LoopVerdict]) -> str:
    words = sorted({line.cpu for line in lines if line.cpu is not None})
    if len(words) < len(lines):
        return _list_words([line.source for line in lines])
    return ("CPU " if len(words) == 1 else "CPUs ") + _ranges(words)


def _ranges(numbers: Sequence[int]) -> str:
    """0, 1, 2, 5 as "0-2 and 5"; two in a row are listed."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    words = [
        word
        for run in runs
        for word in ([f"{run[0]}-{run[-1]}"] if len(run) > 2 else [str(number) for number in run])
    ]
    return _list_words(words)


def _list_words(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _notes(loops: Sequence[MeasuredLoop]) -> tuple[str, ...]:
    notes = list(dict.fromkeys(loop.words.meaning for loop in loops))
    notes.append(
        "A maximum of n cycles is not a worst case. The confidence takes the cycles as independent of each "
        "other, which "
        "neighbours are not quite, and as like those to come: measure longer, and under the load that you "
        "will have."
    )
    if loops and all(loop.load == IDLE for loop in loops):
        notes.append("Nothing ran beside the measurement: an idle machine flatters.")
    if any("policy other" in loop.way for loop in loops):
        notes.append("Policy other is that of an ordinary program; a real-time thread is served earlier.")
    return tuple(notes)
