"""What is said about loops: a sentence for each, and a headline over all."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from tautochrone.answer.phrasing.requirement import share_words
from tautochrone.base.units import format_duration, format_rate
from tautochrone.base.words import capital, listed, plural, upper_first, verb
from tautochrone.judge.verdict import (
    FEWEST_CYCLES,
    IDLE,
    WORST_FIRST,
    LoopOutcome,
    LoopVerdict,
    MeasuredLoop,
    Standing,
    Verdict,
    loads_in_order,
    wilks_share,
)
from tautochrone.statistics.quantiles import CONFIDENCE, exceedance_bound


@dataclass(frozen=True)
class _Words:
    """The phrases that differ: of loops whose starts were measured, and of those with their work."""

    cycles: str
    kept: str
    not_kept: str
    was_kept: str
    held: str
    worst_is: str
    left_for: str
    is_later: str
    overran: str
    meaning: str

    def worst(self, ns: int) -> str:
        """Say what ends a sentence about the worst of them."""
        return self.worst_is.format(format_duration(ns))


_STARTS = _Words(
    cycles="cycles",
    kept="kept its rate",
    not_kept="did not keep its rate",
    was_kept="It was kept",
    held="held in every cycle",
    worst_is="the worst start was {} late",
    left_for=" for the work",
    is_later="starts later than that",
    overran="came a whole period late or more",
    meaning="This covers the start of each cycle. Add your own worst-case execution time.",
)
_WHOLE = _Words(
    cycles="steps",
    kept="met every deadline",
    not_kept="did not meet every deadline",
    was_kept="Every deadline was met",
    held="held in every step",
    worst_is="the longest took {}",
    left_for="",
    is_later="takes longer than that",
    overran="ended at the next release or later",
    meaning="This is the whole of each step, from its release to its end; its deadline is the next release.",
)


def _words_of(loop: MeasuredLoop | LoopVerdict) -> _Words:
    return _WHOLE if loop.with_work else _STARTS


def sentence(line: LoopVerdict) -> str:
    """Return what is said about one loop."""
    return f"{_subject(line.runs[0], conditions(line))}: {_statement(line.runs, line.standing)}"


def conditions(line: LoopVerdict) -> str:
    """Return where a loop ran, if there are several places, and how."""
    return ", ".join(filter(None, (line.where, way(line.way))))


_WAITS = {
    "spin": "polling the clock",
    "hybrid": "polling the clock shortly before each release",
    "timer": "waiting for a periodic timer",
}


def way(one: LoopOutcome) -> str:
    """Return how a loop ran: policy and priority always, the rest where it is not usual."""
    said = (
        " ".join(filter(None, ("policy", one.policy, one.priority))) if one.policy else "",
        _WAITS.get(one.wait, ""),
        f"overruns: {one.overrun}" if one.overrun else "",
        "memory not locked" if one.unlocked else "",
        f"idle CPUs held to {one.wake_limit_us} us" if one.wake_limit_us else "",
        f"deployment {one.deployment}" if one.deployment else "",
    )
    return ", ".join(filter(None, said))


def notes(verdict: Verdict) -> tuple[str, ...]:
    """Return what must be said with it."""
    loops = [loop for line in verdict.loops for loop in line.runs]
    found = list(dict.fromkeys(_words_of(loop).meaning for loop in loops))
    found.append(
        "A maximum is not a worst case: later cycles can be later. Measure longer, under your own load."
    )
    if loops and all(loop.load == IDLE for loop in loops):
        found.append("Measured without a load: expect larger latencies under one.")
    if any(loop.way.policy == "other" for loop in loops):
        found.append("Policy other is that of an ordinary program; a real-time thread is served earlier.")
    return tuple(found)


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
    words = _words_of(loops[0])
    if standing == "missed":
        failed = [_failure(loop) for loop in loads_in_order(loops) if loop.standing == "missed"]
        kept = [_beside(loop.load) for loop in loads_in_order(loops) if loop.standing in ("holds", "tight")]
        also = f" {words.was_kept} {listed(kept)}." if kept else ""
        return f"{words.not_kept}. {' '.join(failed)}{also}"
    if standing == "not shown":
        (weak, *_) = [loop for loop in loads_in_order(loops) if loop.standing == "not shown"]
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
        f"{upper_first(worst)}, {_beside(hardest.load)}, which leaves {left}. "
        f"From the {hardest.completed:,} {words.cycles} there: at {CONFIDENCE:.0%} confidence, for this loop "
        f"by itself, fewer than 1 in {one_in:,} {words.is_later}."
    )


def _failure(loop: MeasuredLoop) -> str:
    worst = _words_of(loop).worst(loop.worst_ns) if loop.worst_ns else "none was served"
    rests = f" ({loop.rested:,} of them while the spinning thread rested)" if loop.rested else ""
    counts = []
    if loop.missed is None:
        why = "the run was cut off" if loop.cut_off else "the tool that measured does not count them"
        counts.append(f"how many releases were missed is not known, {why}")
    else:
        released = loop.completed + loop.missed
        counts.append(f"{loop.missed:,} of {released:,} releases {verb(loop.missed, 'was')} missed{rests}")
    if loop.overruns:
        counts.append(f"{loop.overruns:,} {_words_of(loop).overran}")
    return f"{capital(_beside(loop.load))}: {', '.join(counts)}; {worst}.{_bound(loop)}"


def _bound(loop: MeasuredLoop) -> str:
    """Return how many deadlines a loop with its work misses at most; starts alone do not tell that."""
    if not loop.with_work or loop.missed is None or loop.overruns is None:
        return ""
    released, missed = loop.completed + loop.missed, loop.overruns + loop.missed
    share = exceedance_bound(released, missed, CONFIDENCE)
    return (
        f" That is {missed:,} of {released:,} deadlines; at {CONFIDENCE:.0%} confidence at most "
        f"{share_words(share, at_most=True)} of those to come."
    )


def _weakness(loop: MeasuredLoop) -> str:
    place, cycles = _beside(loop.load), _words_of(loop).cycles
    if loop.dropped:
        return f"{plural(loop.dropped, 'sample')} {verb(loop.dropped, 'was')} lost {place}"
    if loop.completed < FEWEST_CYCLES:
        return f"only {loop.completed:,} {cycles} were measured {place}"
    if loop.cut_off:
        return f"the run {place} was cut off, and what it missed is not known"
    return f"what the run {place} missed is not known: the tool that measured does not count it"


def _beside(load: str) -> str:
    return "without a load" if load == IDLE else f"beside the load {load}"


def headline(verdict: Verdict) -> str:
    """Return the answer over all rates."""
    lines = verdict.loops
    if not lines:
        return "Nothing periodic was measured, so nothing is said about a control loop."
    groups = groupby(lines, key=lambda line: (line.rate_hz, line.where, line.way, line.with_work))
    grouped = [list(group) for _, group in groups]
    several_ways = len({conditions(line) for line in lines}) > 1
    return " ".join(_headline_of(group, several_ways) for group in grouped)


def _headline_of(lines: Sequence[LoopVerdict], name_conditions: bool) -> str:
    words = _words_of(lines[0])
    rate = format_rate(lines[0].rate_hz)
    if name_conditions and (how := conditions(lines[0])):
        rate = f"{rate} ({how})"
    standings = {standing: [line for line in lines if line.standing == standing] for standing in WORST_FIRST}
    loads = {load for line in lines for load, _, _ in line.loads}
    only_idle = " without a load" if loads == {IDLE} else ""
    phrases = {
        "holds": f"{words.held}{only_idle}",
        "tight": f"held with little room{only_idle}",
        "missed": f"did not hold{_kept_when_idle(standings['missed']) if words is _WHOLE else ''}",
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
    kept = _kept_when_idle(standings["missed"]) if words is _STARTS else _misses(standings["missed"])
    return f"{rate} {'; it '.join(parts)}{kept}."


def _by(lines: Sequence[LoopVerdict]) -> str:
    """Return where the loops ran; of those with work, what it was."""
    if lines[0].with_work:
        return f": {listed([line.source for line in lines])}"
    return f" on {_cpus(lines)}"


def _rarity(lines: Sequence[LoopVerdict]) -> str:
    """Return how rare a late cycle is, where one loop was measured with its work, beside one load."""
    (first, *others) = lines
    if others or not first.with_work or len(first.loads) > 1:
        return ""
    one_in = int(1 / wilks_share(first.samples))
    return f"; at {CONFIDENCE:.0%} confidence fewer than 1 in {one_in:,} is late"


def _misses(missed: Sequence[LoopVerdict]) -> str:
    """Return how many, where one loop with its work missed some."""
    if len(missed) != 1:
        return ""
    return f"; {missed[0].missed:,} of {missed[0].due:,} deadlines {verb(missed[0].missed, 'was')} missed"


def _kept_when_idle(missed: Sequence[LoopVerdict]) -> str:
    """Return the first thing an engineer asks of a missed rate: was it kept without a load?"""
    idle = [standing for line in missed for load, standing, _ in line.loads if load == IDLE]
    if not idle or len(idle) < len(missed):
        return ""
    if all(standing in ("holds", "tight") for standing in idle):
        return " under load (kept without one)"
    return ", not even without a load" if all(standing == "missed" for standing in idle) else ""


def _cpus(lines: Sequence[LoopVerdict]) -> str:
    words = sorted({line.cpu for line in lines if line.cpu is not None})
    if len(words) < len(lines):
        return listed([line.source for line in lines])
    return ("CPU " if len(words) == 1 else "CPUs ") + _ranges(words)


def _ranges(numbers: Sequence[int]) -> str:
    """Write 0, 1, 2, 5 as "0-2 and 5"; two in a row are listed."""
    words: list[str] = []
    for _, group in groupby(enumerate(numbers), key=lambda one: one[1] - one[0]):
        run = [str(number) for _, number in group]
        words += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else run
    return listed(words)
