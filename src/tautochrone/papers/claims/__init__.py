"""Do the conclusions of a study hold here? One file for each kind of test."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from tautochrone.papers.claims.chosen import chosen, predicts
from tautochrone.papers.claims.evidence import (
    ORDINARY,
    REAL_TIME,
    Answer,
    AskedClaim,
    ClaimEvidence,
    ClaimFinding,
    Known,
    UntoldError,
)
from tautochrone.papers.claims.less import less, narrower
from tautochrone.papers.claims.requirement import requirement, separates
from tautochrone.papers.claims.rises import rises, rises_more
from tautochrone.papers.claims.within import same, says, steady, within
from tautochrone.papers.document import Claim, Paper
from tautochrone.papers.measured import MeasuredSystem, Measurements

Test = Callable[[ClaimEvidence], ClaimFinding]
"""What a claim comes to; it raises `UntoldError` where there is nothing to judge."""

NOT_HERE = "not-here"
"""The claim can't be asked of any machine of this kind; ``given.why`` says why."""

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


_TURNED: dict[Answer, Answer] = {
    "holds": "does not hold",
    "does not hold": "holds",
    "can't be told": "can't be told",
}
_ADD = {ORDINARY: "--on lab:debian-stock", REAL_TIME: "--on lab:debian-rt"}
_BOTH = "--on lab:debian-stock --on lab:debian-rt"


def ask_all(paper: Paper, measurements: Measurements) -> tuple[AskedClaim, ...]:
    """Every claim, in the study's order, of each system or pair that it is about.

    The same runs always give the same answers: what is drawn at random has a fixed seed.
    """
    known: Known = {}
    return tuple(asked for claim in paper.claims for asked in ask(claim, measurements, known))


def ask(claim: Claim, measurements: Measurements, known: Known | None = None) -> Iterator[AskedClaim]:
    """One claim, of each system or pair that it is about; of none, why.

    Args:
        known: what was estimated for claims before this one.
    """
    known = {} if known is None else known
    if claim.test == NOT_HERE:
        yield AskedClaim(
            claim, (), UntoldError(str(claim.given["why"]), "not on this kind of machine").finding
        )
        return
    if claim.about == "pair":
        yield from _of_pairs(claim, measurements, known)
        return
    meant = [one for one in measurements.systems if claim.about in ("each", one.role)]
    if not meant:
        yield AskedClaim(claim, (), _nobody(measurements.systems, claim.about))
    for system in meant:
        evidence = ClaimEvidence(claim, measurements, {"": system.name}, known)
        found = UntoldError(system.why_not).finding if system.why_not else _answered(evidence)
        yield AskedClaim(claim, (system.name,), found)


def _answered(evidence: ClaimEvidence) -> ClaimFinding:
    claim = evidence.claim
    if claim.test not in TESTS:
        raise ValueError(f"claim {claim.name}: there is no test '{claim.test}'")
    try:
        found = TESTS[claim.test](evidence)
    except UntoldError as error:
        found = error.finding
    turned = claim.given.get("holds-if", "holds") == "does not hold"
    return replace(found, answer=_TURNED[found.answer]) if turned else found


def _of_pairs(claim: Claim, measurements: Measurements, known: Known) -> Iterator[AskedClaim]:
    ordinary, real_time = ([one for one in measurements.systems if one.role == role] for role in _ADD)
    if not ordinary or not real_time:
        yield AskedClaim(claim, (), _nobody(measurements.systems, "pair"))
        return
    pairs = [(one, other) for one in ordinary for other in real_time if _is_fair(one, other)]
    if not pairs:
        why = (
            "The ordinary kernel and the real-time one were measured on machines of different kinds, a real "
            "one and a virtual one: more than the kernel differs between these. "
            f"Add {_BOTH}, or both kernels on one machine."
        )
        yield AskedClaim(claim, (), UntoldError(why, "no two on one kind of machine").finding)
    for one, other in pairs:
        evidence = ClaimEvidence(claim, measurements, {ORDINARY: one.name, REAL_TIME: other.name}, known)
        found = _answered(evidence)
        if also := _also_differs(one, other):
            found = replace(found, evidence=f"{found.evidence} {also}")
        yield AskedClaim(claim, (one.name, other.name), found)


def _is_fair(one: MeasuredSystem, other: MeasuredSystem) -> bool:
    """Whether the kernel is what differs: a guest of the lab beside a real machine differs in everything."""
    return (one.virtual is None) == (other.virtual is None)


def _also_differs(one: MeasuredSystem, other: MeasuredSystem) -> str:
    if one.virtual is not None and other.virtual is not None:
        names = [
            name for name in ("cpus", "shift") if getattr(one.virtual, name) != getattr(other.virtual, name)
        ]
        return f"The two guests also differ in {' and '.join(names)}." if names else ""
    models = [system.facts.cpu.model for system in (one, other)]
    if models[0] == models[1]:
        return ""
    return f"The machines differ in more than the kernel: {models[0]} and {models[1]}."


def _nobody(systems: Sequence[MeasuredSystem], about: str) -> ClaimFinding:
    there = {one.role for one in systems}
    absent = [role for role in _ADD if role not in there and about in (role, "pair")]
    kernels = " and ".join(absent)
    add = " ".join(_ADD[role] for role in absent) if len(absent) < 2 else _BOTH
    why = f"No {kernels} kernel was measured: add {add}." if absent else "No system was measured."
    silent = [f"{one.name}: {one.why_not}" for one in systems if one.why_not]
    return UntoldError(" ".join([why, *silent]), f"no {kernels} kernel" if absent else "not measured").finding
