"""`less`, `narrower`: one number of ours is below another. `predicts`: two of them are in proportion.

`less`: ``ours`` has ``lower`` and ``higher`` (of a pair: the two roles, and ``given.lower`` says which is the
lower one). With ``given.factor`` the higher must be more than so many times the lower. It *holds* where the
whole 95 % interval of the ratio lies above the factor, *does not hold* where it lies at or below it, and
*can't be told* otherwise. How well a number is known is in `estimate`.

Two largest ones are compared by ranks of batches (`largest`), or by repetitions. That a largest one is below
another number is refuted by one sample; that none was beyond it *holds* of as many samples as the study had
(``given.takes``) and *can't be told* of fewer. That a largest one is beyond another number is shown by one
sample, and never refuted.

Of several pairs ``given.over`` says how they are put together: see `many` for all but "each".

`narrower` is the same of the distance from the quantile ``given.from`` to ``given.to``.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from scipy import special

from tautochrone.base.words import capital
from tautochrone.papers.claims.compare import Compared, Side, exceeds, is_bare_extreme
from tautochrone.papers.claims.estimate import ClaimEstimate, from_numbers, span
from tautochrone.papers.claims.evidence import (
    Answer,
    ClaimEvidence,
    ClaimFinding,
    QueriedSystem,
    UntoldError,
    number_name,
)  # fmt: skip
from tautochrone.papers.claims.requirement import takes_of
from tautochrone.papers.claims.tally import (
    Number,
    beyond,
    finding,
    judged,
    number,
    numbers_of,
    times,
    with_interval,
)  # fmt: skip
from tautochrone.papers.document import number_of
from tautochrone.papers.measured import Absent
from tautochrone.statistics.difference.between_runs import FEWEST_RUNS
from tautochrone.statistics.quantiles import CONFIDENCE

# Many pairs of numbers taken together: over a map of masses and threads, over all periods.

Pairs = Sequence[tuple[ClaimEstimate, ClaimEstimate]]
_SESSION = "What differs from session to session is not in it."


def most(pairs: Pairs, factor: float, what: str) -> ClaimFinding:
    """By the sign test."""
    above, told, p = _signs(pairs, factor)
    by = "" if factor == 1 else f" by more than a factor of {times(factor)}"
    said = f"{what} is the lower one, as claimed{by}, at {above} of {len(pairs)} points"
    said += f"; {len(pairs) - told} are ties" if told < len(pairs) else ""
    if told < _NEEDED:
        why = f"{said}. A sign test takes {_NEEDED} points that differ."
        return UntoldError(why, "too few points that differ").finding
    answer: Answer = "can't be told"
    if p <= 1 - CONFIDENCE:
        answer = "holds" if above > told - above else "does not hold"
    short = f"at {above} of {len(pairs)} points" if answer != "can't be told" else "no majority is shown"
    return ClaimFinding(answer, f"{said} (sign test, p = {p:.2g}). {_SESSION}", short)


def points(pairs: Pairs, factor: float, what: str) -> ClaimFinding:
    """By the geometric mean of the ratios."""
    if len(pairs) < FEWEST_RUNS:
        return UntoldError(f"It takes {FEWEST_RUNS} points.", "too few points").finding
    if any(not 0 < one.value < math.inf for pair in pairs for one in pair):
        return UntoldError("A number that is not above 0 has no ratio.", "a number is 0").finding
    mean = from_numbers(ClaimEstimate(1.0, ""), [higher.value / lower.value for lower, higher in pairs])
    low, high = mean.limits(CONFIDENCE)
    answer = beyond(low, high, factor)
    ratio, sure = with_interval(mean.value, low, high)
    said = (
        f"{what} of the one that is claimed to be higher is {ratio} times that of the other "
        f"({sure}; geometric mean and Student's interval over {len(pairs)} points). {_SESSION}"
    )
    return ClaimFinding(
        answer, said, f"{ratio} times" if answer != "can't be told" else "no difference is shown"
    )


def total(pairs: Pairs, factor: float, what: str) -> ClaimFinding:
    """By the sums, as measured."""
    lower, higher = (sum(pair[at].value for pair in pairs) for at in (0, 1))
    unit = pairs[0][0].unit
    said = f"{number(lower, unit)} against {number(higher, unit)}"
    if lower == higher == 0:
        none = f"{what}: none on either side at {len(pairs)} points, so there is nothing to compare."
        return UntoldError(none, "none on either side").finding
    above, told, p = _signs(pairs, factor)
    answer: Answer = "can't be told"
    if p <= 1 - CONFIDENCE and (higher > factor * lower) == (above > told - above):
        answer = "holds" if higher > factor * lower else "does not hold"
    summed = f"{what}, summed over {len(pairs)} points: {said}"
    signs = f"the claim is so at {above} of the {told} that differ (sign test, p = {p:.2g})"
    evidence = f"{summed}; {signs}. {_largest_part(pairs, lower, higher)} {_SESSION}"
    return ClaimFinding(
        answer, evidence, said if answer != "can't be told" else "sums and points don't agree"
    )


_NEEDED = math.ceil(1 + math.log2(1 / (1 - CONFIDENCE)))
"""Points that differ: of fewer no sign test says anything."""


def _signs(pairs: Pairs, factor: float) -> tuple[int, int, float]:
    """At how many points the claim is so, how many differ, and the sign test's two-sided probability."""
    above = sum(higher.value > factor * lower.value for lower, higher in pairs)
    told = sum(not _tied(lower.value, higher.value, factor) for lower, higher in pairs)
    if not told:
        return above, told, 1.0
    return above, told, min(1.0, 2 * float(special.bdtr(min(above, told - above), told, 0.5)))


def _largest_part(pairs: Pairs, lower: float, higher: float) -> str:
    """How much of the greater sum lies in one point."""
    at = 0 if lower > higher else 1
    whole = max(lower, higher)
    most = max(pair[at].value for pair in pairs)
    return f"One point has {most / whole:.0%} of the greater sum." if 0 < whole < math.inf else ""


OVER: Mapping[str, Callable[[Pairs, float, str], ClaimFinding]] = {
    "most": most,
    "points": points,
    "sum": total,
}


def _over(
    over: str, places: Sequence[tuple[QueriedSystem, QueriedSystem]], of: Number, factor: float, what: str
) -> ClaimFinding:
    """The pairs that were measured, taken together; of the others why they were not."""
    found: list[tuple[ClaimEstimate, ClaimEstimate]] = []
    absent: list[str] = []
    for first, second in places:
        one, other = of(first), of(second)
        if isinstance(one, Absent) or isinstance(other, Absent):
            absent.append(one.why if isinstance(one, Absent) else getattr(other, "why", ""))
        else:
            found.append((one, other))
    if not found:
        why = absent[0] if absent else ""
        raise UntoldError(why or "Nothing of it is measured.")
    made = OVER[over](found, factor, capital(what))
    left_out = f"Left out, since not measured on both sides: {len(absent)}. {absent[0]}" if absent else ""
    return replace(made, evidence=f"{made.evidence} {left_out}".strip())


def _tied(lower: float, higher: float, factor: float) -> bool:
    return higher == lower if math.isinf(lower) else higher == factor * lower


_OPEN = "No difference is shown."
_OPEN_FACTOR = "Whether it is by that much is not shown."


def less(evidence: ClaimEvidence) -> ClaimFinding:
    """Whether ``lower`` is below ``higher``: see above."""
    return _less(evidence, numbers_of(evidence), "")


def narrower(evidence: ClaimEvidence) -> ClaimFinding:
    """Whether the samples of ``lower`` spread less than those of ``higher``: see above."""
    low, high = (str(evidence.given.get(*one)) for one in (("from", "p50"), ("to", "p99.9")))

    def number(place: QueriedSystem) -> ClaimEstimate | Absent:
        return span(place, evidence.measurements, low, high)

    return _less(evidence, number, f"distance from {low} to {high}")


def _less(evidence: ClaimEvidence, number: Number, what: str) -> ClaimFinding:
    lower, higher = evidence.roles("lower", ("lower", "higher"))
    factor = number_of(evidence.given, "factor", 1.0)
    over = str(evidence.given.get("over", "each"))
    places = evidence.pairs(lower, higher)
    names = what or " and ".join(dict.fromkeys(number_name(one.query) for pair in places[:1] for one in pair))
    if over != "each":
        if over not in OVER:
            raise ValueError(f"claim {evidence.claim.name}: over = '{over}' is not known")
        return _over(over, places, number, factor, names)
    takes = takes_of(evidence)

    def judge(compared: Compared) -> Side:
        first, second = compared.first, compared.second
        side = exceeds(compared, factor)
        alone = is_bare_extreme(first) and not is_bare_extreme(second)
        return "open" if side == "yes" and alone and first.samples < takes else side

    pairs = judged(places, number, judge)
    left_out = ""
    if evidence.given.get("by-point"):
        absent = [one for one in pairs if one.compared is None]
        pairs = [one for one in pairs if one.compared is not None]
        left_out = f"Left out, since not measured: {len(absent)}. {absent[0].why}" if absent else ""
    return finding(
        pairs,
        open_because=_OPEN if factor == 1 else _OPEN_FACTOR,
        what=what,
        as_ratio=factor != 1,
        left_out=left_out,
    )
