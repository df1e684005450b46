"""The verdict in words: a loop of this rate, on this CPU.

The rule, stated so that anybody can apply it by hand: a rate is *missed* on a CPU if any cycle was skipped or
began a whole period late or more; it is *tight* if the worst start took more than half of the period;
otherwise it *holds*, as far as was measured. Below `FEWEST_CYCLES` cycles nothing is said.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from tautochrone.units import format_duration, format_rate

Standing = Literal["holds", "tight", "missed", "not shown"]

FEWEST_CYCLES = 300
"""With fewer, even a flawless run leaves more than 1 in 100 cycles open at 95 % confidence."""

IDLE = "idle"
TIGHT_SHARE = 0.5
CONFIDENCE = 0.95


@dataclass(frozen=True)
class MeasuredLoop:
    """One source of one periodic run, reduced to what the verdict rests on.

    Attributes:
        load: what ran beside it, in words; "idle" if nothing was started.
        worst_ns: largest scheduling latency; None without samples.
        lost: releases that no sample speaks for: skipped ones and dropped samples.
        overruns: cycles that began at or after the next release.
    """

    period_ns: int
    source: str
    cpu: int | None
    load: str
    completed: int
    missed: int
    dropped: int
    overruns: int
    worst_ns: int | None
    rested: int = 0


@dataclass(frozen=True)
class LoopVerdict:
    """What is said about one rate on one CPU, over all runs that measured it.

    Attributes:
        worst_ns: largest scheduling latency over these runs.
        left_ns: what remains of the period after the worst start; 0 if nothing does.
        samples: cycles that this rests on.
    """

    rate_hz: float
    source: str
    cpu: int | None
    standing: Standing
    worst_ns: int
    left_ns: int
    samples: int
    sentence: str


@dataclass(frozen=True)
class Verdict:
    """The answer: one headline, a line per rate and CPU, and what it does not say."""

    headline: str
    loops: tuple[LoopVerdict, ...]
    notes: tuple[str, ...]


def judge(loops: Iterable[MeasuredLoop]) -> Verdict:
    """Say what the measured loops show.

    Args:
        loops: any number, of any rates, CPUs and loads.

    Returns:
        One line per rate and source, slowest rate first, and a headline over the rates.
    """
    ordered = sorted(
        loops, key=lambda loop: (-loop.period_ns, loop.cpu if loop.cpu is not None else -1, loop.source)
    )
    lines = tuple(
        _judge_one(list(group))
        for _, group in groupby(ordered, key=lambda loop: (loop.period_ns, loop.source))
    )
    return Verdict(headline=_headline(lines), loops=lines, notes=_notes(ordered))


def wilks_share(samples: int, confidence: float = CONFIDENCE) -> float:
    """Share of cycles that may still lie above the largest of `samples`, at the given confidence.

    The distribution-free tolerance limit of Wilks (Annals of Mathematical Statistics 12, 1941): the largest
    of n independent samples covers at least the share (1 - confidence)^(1/n).
    """
    return float(1.0 - (1.0 - confidence) ** (1.0 / samples))


def _judge_one(loops: Sequence[MeasuredLoop]) -> LoopVerdict:
    first = loops[0]
    completed = sum(loop.completed for loop in loops)
    measured = [loop.worst_ns for loop in loops if loop.worst_ns is not None]
    worst_ns = max(measured, default=0)
    late = sum(loop.overruns for loop in loops)
    missed = sum(loop.missed for loop in loops)
    standing: Standing
    if missed or late:
        standing = "missed"
    elif completed < FEWEST_CYCLES or any(loop.dropped for loop in loops):
        standing = "not shown"
    elif worst_ns > TIGHT_SHARE * first.period_ns:
        standing = "tight"
    else:
        standing = "holds"
    return LoopVerdict(
        rate_hz=1e9 / first.period_ns,
        source=first.source,
        cpu=first.cpu,
        standing=standing,
        worst_ns=worst_ns,
        left_ns=max(0, first.period_ns - worst_ns),
        samples=completed,
        sentence=_sentence(loops, standing, worst_ns, completed, missed, late),
    )


def _sentence(
    loops: Sequence[MeasuredLoop], standing: Standing, worst_ns: int, completed: int, missed: int, late: int
) -> str:
    period_ns = loops[0].period_ns
    where = f"CPU {loops[0].cpu}" if loops[0].cpu is not None else "any CPU"
    subject = f"A {format_rate(1e9 / period_ns)} loop on {where}"
    hardest = max(loops, key=lambda loop: (loop.missed + loop.overruns, loop.worst_ns or 0))
    beside = f"beside the load {hardest.load}" if hardest.load != IDLE else "on the idle machine"
    if standing == "not shown":
        dropped = sum(loop.dropped for loop in loops)
        why = f"{dropped:,} samples were lost" if dropped else f"only {completed:,} cycles were measured"
        return f"{subject}: not shown, because {why}."
    if standing == "missed":
        rested = sum(loop.rested for loop in loops)
        rests = f" ({rested:,} of them while the spinning thread rested)" if rested else ""
        return (
            f"{subject}: did not keep its rate. Of {completed + missed:,} releases {missed:,} were "
            f"missed{rests} "
            f"and {late:,} came a whole period late or more, most of them {beside}; the worst start was "
            f"{format_duration(worst_ns)} late."
        )
    opening = "kept its rate, with little room," if standing == "tight" else "kept its rate"
    # Said of one population, the run with the worst start: idle and loaded cycles are not alike.
    one_in = int(1 / wilks_share(hardest.completed))
    return (
        f"{subject}: {opening} in all {completed:,} cycles. The worst start was "
        f"{format_duration(worst_ns)} late, "
        f"{beside}, which leaves {format_duration(period_ns - worst_ns)} of each "
        f"{format_duration(period_ns)} for "
        f"the work. From the {hardest.completed:,} cycles there: at {CONFIDENCE:.0%} confidence, fewer "
        "than 1 in "
        f"{one_in:,} starts later than that."
    )


def _headline(lines: Sequence[LoopVerdict]) -> str:
    if not lines:
        return "Nothing periodic was measured, so nothing is said about a control loop."
    said = [_headline_for_rate(list(group)) for _, group in groupby(lines, key=lambda line: line.rate_hz)]
    return " ".join(said)


def _headline_for_rate(lines: Sequence[LoopVerdict]) -> str:
    rate = format_rate(lines[0].rate_hz)
    by_standing = {
        standing: [line for line in lines if line.standing == standing]
        for standing in ("holds", "tight", "missed", "not shown")
    }
    phrases = {
        "holds": "held in every cycle",
        "tight": "held, but with little room,",
        "missed": "was not kept",
        "not shown": "was not shown",
    }
    if len(by_standing["holds"]) == len(lines):
        worst_ns = max(line.worst_ns for line in lines)
        worst = format_duration(worst_ns)
        return f"{rate} held in every cycle on {_cpus(lines)}; the worst start was {worst} late."
    parts = [f"{phrases[standing]} on {_cpus(some)}" for standing, some in by_standing.items() if some]
    return f"{rate} {'; it '.join(parts)}."


def _cpus(lines: Sequence[LoopVerdict]) -> str:
    numbers = [line.cpu for line in lines]
    if any(number is None for number in numbers):
        return "any CPU"
    if len(numbers) > 4:
        return f"{len(numbers)} CPUs"
    return ("CPU " if len(numbers) == 1 else "CPUs ") + _list_words([str(number) for number in numbers])


def _list_words(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _notes(loops: Sequence[MeasuredLoop]) -> tuple[str, ...]:
    notes = [
        "This is the start of each cycle only: add the time your own work takes, at its worst.",
        "A maximum of n cycles is not a worst case. The confidence assumes that the cycles measured are "
        "like those "
        "to come; measure longer, and under the load that you will have.",
    ]
    if loops and all(loop.load == IDLE for loop in loops):
        notes.append("Nothing ran beside the measurement: an idle machine flatters.")
    return tuple(notes)
