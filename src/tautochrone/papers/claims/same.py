"""`same`: two numbers of ours are the same within a margin. `steady`: several are the same as the first.

``given.margin`` is a share of the first (0.1 allows a ratio from 1 / 1.1 to 1.1), ``given.margin-is`` a
difference ("10us"); of both, either will do. It *holds* where the whole 95 % interval lies within the margin:
a test of equivalence (Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987), not the mere
lack of a difference. It *does not hold* where the whole interval lies outside, and *can't be told* otherwise.

`same`: ``ours`` has ``first`` and ``second``, or the two roles of a pair. `steady`: ``points`` in their
order.
"""

from collections.abc import Sequence

from tautochrone.papers.claims.answer import Finding
from tautochrone.papers.claims.compare import Compared, Side, alike
from tautochrone.papers.claims.evidence import ORDINARY, REAL_TIME, Evidence, Place, limit
from tautochrone.papers.claims.tally import finding, judged, numbers_of

_MARGIN = 0.1
_OPEN = "Whether they lie within the margin is not shown."


def same(evidence: Evidence) -> Finding:
    """Whether both are the same: see above.

    Raises:
        ValueError: the claim can't be asked like this.
        DamagedError: samples can't be read.
    """
    keys = (ORDINARY, REAL_TIME) if evidence.claim.about == "pair" else ("first", "second")
    return _alike(evidence, evidence.pairs(*keys))


def steady(evidence: Evidence) -> Finding:
    """Whether all are the same as the first: see above.

    Raises:
        ValueError: the claim can't be asked like this.
        DamagedError: samples can't be read.
    """
    points = evidence.places("points")
    if len(points) < 2:
        return Finding("can't be told", "There is nothing else that it could be steady against.", "one point")
    return _alike(evidence, [(points[0], other) for other in points[1:]])


def _alike(evidence: Evidence, places: Sequence[tuple[Place, Place]]) -> Finding:
    given = evidence.given
    margin_is = limit(given["margin-is"]) if "margin-is" in given else None
    margin = float(given["margin"]) if "margin" in given else _MARGIN if margin_is is None else None

    def judge(compared: Compared) -> Side:
        return alike(compared, margin, margin_is)

    pairs = judged(places, numbers_of(evidence), judge)
    allowed = [f"{margin * 100:g} %"] if margin is not None else []
    allowed += [str(given["margin-is"])] if margin_is is not None else []
    return finding(pairs, open_because=_OPEN, beside_it=f"margin: {' or '.join(allowed)}")
