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

from tautochrone.papers.claims.answer import Finding
from tautochrone.papers.claims.compare import Compared, Side, exceeds, is_bare_extreme
from tautochrone.papers.claims.estimate import Estimate, span
from tautochrone.papers.claims.evidence import Evidence, Place, number_name
from tautochrone.papers.claims.many import OVER
from tautochrone.papers.claims.requirement import takes_of
from tautochrone.papers.claims.tally import Number, finding, judged, numbers_of
from tautochrone.papers.value import Absent

_OPEN = "No difference is shown."
_OPEN_FACTOR = "Whether it is by that much is not shown."


def less(evidence: Evidence) -> Finding:
    """Whether ``lower`` is below ``higher``: see above.

    Raises:
        ValueError: the claim can't be asked like this.
        DamagedError: samples can't be read.
    """
    return _less(evidence, numbers_of(evidence), "")


def narrower(evidence: Evidence) -> Finding:
    """Whether the samples of ``lower`` spread less than those of ``higher``: see above.

    Raises:
        ValueError: the claim can't be asked like this.
        DamagedError: samples can't be read.
    """
    low, high = (str(evidence.given.get(*one)) for one in (("from", "p50"), ("to", "p99.9")))

    def number(place: Place) -> Estimate | Absent:
        return span(place, evidence.measurements, low, high)

    return _less(evidence, number, f"distance from {low} to {high}")


def _less(evidence: Evidence, number: Number, what: str) -> Finding:
    lower, higher = evidence.roles("lower", ("lower", "higher"))
    factor = float(evidence.given.get("factor", 1.0))
    over = str(evidence.given.get("over", "each"))
    places = evidence.pairs(lower, higher)
    names = what or " and ".join(dict.fromkeys(number_name(one.query) for pair in places[:1] for one in pair))
    if over != "each":
        if over not in OVER:
            raise ValueError(f"claim {evidence.claim.name}: over = '{over}' is not known")
        return OVER[over](places, number, factor, names)
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
