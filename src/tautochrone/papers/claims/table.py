"""The tests by name, and what is not tested."""

from collections.abc import Callable, Mapping

from tautochrone.papers.claims.answer import Finding
from tautochrone.papers.claims.chosen import chosen
from tautochrone.papers.claims.evidence import Evidence
from tautochrone.papers.claims.less import less, narrower
from tautochrone.papers.claims.predicts import predicts
from tautochrone.papers.claims.requirement import requirement, separates
from tautochrone.papers.claims.rises import rises, rises_more
from tautochrone.papers.claims.same import same, steady
from tautochrone.papers.claims.within import says, within
from tautochrone.papers.document import Claim

Test = Callable[[Evidence], Finding]


NOT_HERE = "not-here"
"""The claim can't be asked of any machine of this kind."""


def not_here(claim: Claim) -> Finding:
    """What is said of such a claim; ``given.why`` says why.

    Raises:
        KeyError: it does not say why: a fault in the study's file.
    """
    return Finding("can't be told", str(claim.given["why"]), "not on this kind of machine")


TESTS: Mapping[str, Test] = {
    "requirement": requirement,
    "separates": separates,
    "less": less,
    "narrower": narrower,
    "same": same,
    "steady": steady,
    "rises": rises,
    "rises-more": rises_more,
    "predicts": predicts,
    "chosen": chosen,
    "within": within,
    "is": says,
}
