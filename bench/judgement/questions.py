"""What each verb is asked of data whose truth is known, and how often its answer is falsely sure.

A question is one function of a random generator that says how the answer came out. Those whose truth is just
at the border count how often it is falsely sure; those that are amply true count how often that is shown.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Literal

import numpy as np

from judgement.kinds import ALIKE, KINDS, Alike, Kind, Random
from tautochrone.experiments.requirement import Requirement, parse
from tautochrone.judge.comparison.gate import judge as judge_gate
from tautochrone.judge.comparison.gate import parse as parse_gate
from tautochrone.judge.comparison.metric import SourcePart, quantile_metric
from tautochrone.judge.reduced import Reduced
from tautochrone.judge.requirement.evidence import SeenSource
from tautochrone.judge.requirement.of_share import count
from tautochrone.judge.requirement.share import ANY_LOOK, CountedShare
from tautochrone.statistics.course.change_points import change_points_of
from tautochrone.statistics.difference.between_runs import of_runs
from tautochrone.statistics.difference.ranking import holm
from tautochrone.statistics.reduction import reduce
from tautochrone.statistics.sequential import evidence_of_change
from tautochrone.statistics.tails.tail import analyse, chance
from tautochrone.trend.judge import ALPHA, FEWEST, LEAST_EFFECT, SHORTEST

Came = Literal["sure", "open", "refused"]
"""It said what is falsely, or rightly, sure; or left it open; or refused to say anything."""

CONFIDENCE = 0.95
PERIOD_NS = 1_000_000
_BEYOND = 5.0  # times as many samples as measured: so rare is what the tail is asked about


@dataclass(frozen=True)
class Question:
    """A question with known truth.

    Attributes:
        verb: whose answer it is; ``name``: of what.
        false: whether being sure is wrong here.
        bound: the share of sure answers that is stated: at most, where it is wrong; else at least.
    """

    verb: str
    name: str
    false: bool
    bound: float
    ask: Callable[[Random], Came]


def questions() -> Iterator[Question]:
    """All of them, those of one verb together."""
    yield from _extrapolated()
    yield from _counted()
    yield from _lost()
    yield from _repeated()
    yield from _watched()
    yield from _compared()
    yield from _selected()
    yield from _over_nights()


def _extrapolated() -> Iterator[Question]:
    for n in (20_000, 100_000):
        for kind in KINDS:
            most = 0.1 if kind.worst else 0.05
            yield Question(
                "check, extrapolated", f"{n:,} of {kind.name}", True, most, partial(_by_tail, kind, n, 1.0)
            )
        for kind in KINDS:
            if not kind.worst:
                ask = partial(_by_tail, kind, n, 20.0)
                yield Question(
                    "check, extrapolated", f"{n:,} of {kind.name}, 20 times rarer", False, 0.0, ask
                )


def _by_tail(kind: Kind, n: int, rarer: float, random: Random) -> Came:
    """Whether at most 1 in 5 n is later than a limit that exactly so many pass, or fewer."""
    law = kind.of(n)
    allowed = 1 / (_BEYOND * n)
    limit_ns = round(law.level(allowed / rarer))
    values = law.draw(random, n)
    if values.max() > limit_ns:
        return "open"
    tail = analyse(reduce(np.arange(n) * PERIOD_NS, values), CONFIDENCE)
    found = chance(tail, limit_ns)
    if found is None:
        return "refused"
    return "sure" if found.high <= allowed else "open"


def _counted() -> Iterator[Question]:
    for alike in ALIKE:
        for sure in ("holds", "does not hold"):
            ask = partial(_by_count, alike, 1.0, sure)
            yield Question("check, counted", f"{alike.name}, at the limit: {sure}", True, 0.1, ask)
        ask = partial(_by_count, alike, 1 / 3, "holds")
        yield Question("check, counted", f"{alike.name}, three times rarer: holds", False, 0.0, ask)


_SHARE = 1 / 200
_COUNTED = parse("latency above 1ms <= 1 in 200")


def _by_count(alike: Alike, times: float, sure: str, random: Random) -> Came:
    """Whether at most 1 in 200 is late, where it is so many times as many, of 20,000."""
    n, late = 20_000, _SHARE * times
    values = np.round(1e6 + 2e5 * (np.log(random.random(n)) - math.log(late)) * -1).astype(np.int64)
    values = alike.arranged(random, np.maximum(values, 1))
    return _said(count(_COUNTED, [_seen(values)]), sure, _SHARE)


def _said(found: CountedShare, sure: str, share: float) -> Came:
    if sure == "holds":
        return "sure" if found.high(CONFIDENCE) <= share else "open"
    return "sure" if found.low(CONFIDENCE) > share else "open"


def _seen(values: np.ndarray, missed: int = 0) -> SeenSource:
    reduction = reduce(np.arange(len(values)) * PERIOD_NS, values)
    reduced = Reduced(0, "cpu0", reduction.counts, reduction, PERIOD_NS, missed)
    return SeenSource(None, "cpu0", reduced, PERIOD_NS, PERIOD_NS, missed, 0, known=True)  # type: ignore[arg-type]


def _lost() -> Iterator[Question]:
    for size in (1, 5, 20):
        ask = partial(_of_lost, size)
        yield Question("check, counted", f"lost {size} at a time, at the limit: holds", True, 0.1, ask)


_MISSES: Requirement = parse("misses <= 1 in 200")


def _of_lost(size: int, random: Random) -> Came:
    """Whether at most 1 in 200 is missed, where stalls take so many releases along."""
    n = 20_000
    stalls = int(random.poisson(_SHARE * n / (size + 1)))
    values = (5_000 + random.exponential(4_000, n - stalls * size)).astype(np.int64)
    at = random.choice(len(values), stalls, replace=False)
    values[at] = size * PERIOD_NS + 5_000
    return _said(count(_MISSES, [_seen(values, stalls * size)]), "holds", _SHARE)


def _repeated() -> Iterator[Question]:
    for runs in (3, 5, 10):
        for spread in (0.0, 0.3, 0.5, 1.0, 1.5):
            name = f"{runs} repetitions, SD {spread:g}"
            ask = partial(_of_repetitions, runs, spread, 1.0)
            yield Question("check, repeated", f"{name}: holds", True, 0.05, ask)
        ask = partial(_of_repetitions, runs, 0.3, 1 / 5)
        yield Question(
            "check, repeated", f"{runs} repetitions, SD 0.3, five times rarer: holds", False, 0.4, ask
        )


def _of_repetitions(runs: int, spread: float, times: float, random: Random) -> Came:
    """Whether at most 1 in 200 is late, where runs differ: the logarithms of their shares so much."""
    n = 8_000
    shares = _SHARE * times * np.exp(spread * random.normal(size=runs) - spread**2 / 2)
    late = random.binomial(n, np.minimum(shares, 1.0))
    seen = [_seen(random.permutation(np.repeat([5_000, 2_000_000], [n - one, one]))) for one in late]
    return _said(count(_COUNTED, seen), "holds", _SHARE)


def _watched() -> Iterator[Question]:
    for sure in ("holds", "does not hold"):
        for size in (1, 5):
            ask = partial(_of_watching, sure, size, 1.0)
            name = f"late {size} at a time, 50 looks from 100 to 100,000, at the limit: {sure}"
            yield Question("check, until settled", name, True, 0.07, ask)
    ask = partial(_of_watching, "holds", 1, 1 / 5)
    yield Question("check, until settled", "five times rarer: holds", False, 0.95, ask)


def _of_watching(sure: str, size: int, times: float, random: Random) -> Came:
    """Whether it is ever said that at most 1 in 200 is late, or more, by who looks again and again."""
    looks = np.unique(np.geomspace(100, 100_000, 50).astype(int))
    events = np.cumsum(random.binomial(np.diff(looks, prepend=0), _SHARE * times / size))
    for n, seen in zip(looks.tolist(), events.tolist(), strict=True):
        effect = float(size)
        found = CountedShare(n, size * seen, 0, effect, seen, effect, rule=ANY_LOOK)
        if _said(found, sure, _SHARE) == "sure":
            return "sure"
    return "open"


def _compared() -> Iterator[Question]:
    for runs in (1, 2, 3):
        for groups in (0, 6):
            for spread in (0.05, 0.12, 0.3, 0.5):
                against = f"{runs} against {runs}, SD {spread:g}, {groups} groups known"
                ask = partial(_of_sides, runs, spread, groups, 1.0)
                yield Question("compare", f"{against}: different", True, 0.1, ask)
            ask = partial(_of_sides, runs, 0.12, groups, 2.0)
            yield Question(
                "compare", f"{runs} against {runs}, SD 0.12, {groups} groups known, twice", False, 0.0, ask
            )


def _of_sides(runs: int, spread: float, groups: int, times: float, random: Random) -> Came:
    """Whether quantiles of runs of two sides are said to differ; how runs of other groups differ is known."""
    first, second = (20_000 * np.exp(spread * random.normal(size=runs)) for _ in range(2))
    found = of_runs(first, times * second, history=_history(random, spread, groups))
    if found is None:
        return "open"
    return "sure" if found.p <= 1 - CONFIDENCE else "open"


def _history(random: Random, spread: float, groups: int) -> list[list[float]]:
    return [
        (9_000 * np.exp(spread * math.exp(0.5 * random.normal()) * random.normal(size=3))).tolist()
        for _ in range(groups)
    ]


def _selected() -> Iterator[Question]:
    for spread in (0.05, 0.3, 0.5):
        ask = partial(_of_candidates, spread)
        yield Question("select", f"4 candidates of 3 runs, SD {spread:g}: any different", True, 0.1, ask)


def _of_candidates(spread: float, random: Random) -> Came:
    """Whether any two of four equal candidates are told apart."""
    sides = [(20_000 * np.exp(spread * random.normal(size=3))).tolist() for _ in range(4)]
    p = []
    for pair in combinations(range(4), 2):
        others = [side for at, side in enumerate(sides) if at not in pair]
        found = of_runs(*(sides[at] for at in pair), history=others)
        p.append(1.0 if found is None else found.p)
    return "sure" if min(holm(p)) <= 1 - CONFIDENCE else "open"


def _over_nights() -> Iterator[Question]:
    for kind, draw in (("normal", "normal"), ("heavy", "standard_t")):
        yield Question(
            "trend", f"60 nights of {kind} values: changed", True, 0.05, partial(_of_nights, draw, 0.0)
        )
    yield Question(
        "trend", "60 nights, 2 SD from the 41st on: changed", False, 0.5, partial(_of_nights, "normal", 2.0)
    )
    for runs in (1, 3):
        ask = partial(_of_gate, runs)
        yield Question(
            "compare --fail-on", f"30 nights of {runs} runs each, SD 0.2: ever broken", True, 0.07, ask
        )


def _of_nights(draw: str, shift: float, random: Random) -> Came:
    """Whether some night from the 12th on a change is shown."""
    values = random.standard_t(3, size=60) if draw == "standard_t" else random.normal(size=60)
    values = np.exp(0.1 * (values + shift * (np.arange(60) >= 40)))
    if evidence_of_change(values) < -math.log1p(-CONFIDENCE):
        return "open"
    for night in range(FEWEST, 61):
        found = change_points_of(
            values[:night], least_length=SHORTEST, least_effect=LEAST_EFFECT, alpha=ALPHA
        )
        if found and evidence_of_change(values[:night]) >= -math.log1p(-CONFIDENCE):
            return "sure"
    return "open"


def _of_gate(runs: int, random: Random) -> Came:
    """Whether some night's runs are said to be worse than one baseline, by a gate that allows no increase."""
    gate = parse_gate("p50 +0")
    first = 20_000 * np.exp(0.2 * random.normal(size=runs))
    history = _history(random, 0.2, 6)
    before: list[float] = []
    for night in range(1, 31):
        second = 20_000 * np.exp(0.2 * random.normal(size=runs))
        spread = of_runs(first, second, ([], before[-12:]), history)
        before += second.tolist()
        if spread is None:
            continue
        metric = quantile_metric("p50", 0.5, spread, CONFIDENCE, (None, None))
        part = SourcePart("cpu0", (1, 1), (0, 0), (metric,), (), 0.5, "", 1.0)  # type: ignore[arg-type]
        judged = judge_gate(gate, "B", "latency_ns", part, CONFIDENCE, void=False, among=1, look=night)
        if judged.passing == "broken":
            return "sure"
    return "open"
