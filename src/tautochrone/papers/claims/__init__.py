"""Do the conclusions of a study hold here? One file for each kind of test, and one for all words."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from tautochrone.base.words import listed
from tautochrone.papers.claims import between, sentences, standards, trends, words
from tautochrone.papers.claims.evidence import (
    ORDINARY,
    REAL_TIME,
    Answer,
    AskedClaim,
    ClaimEvidence,
    ClaimFinding,
    Known,
    Reason,
    UntoldError,
)
from tautochrone.papers.document import Claim, Paper
from tautochrone.papers.measured import Absent, MeasuredSystem, Measurements
from tautochrone.run.repeated import each_once

Test = Callable[[ClaimEvidence], ClaimFinding]
"""What a claim comes to; it raises `UntoldError` where there is nothing to judge."""

Answered = Callable[[ClaimEvidence, str], ClaimFinding]
"""What a claim comes to by its evidence; and why nothing at all was measured on its system, or nothing."""

HARDWARE = "hardware"
"""The claim is about caches, buses or idle states (``given.hardware = true``): no guest is asked."""

NOT_HERE = "not-here"
"""The claim can't be asked of any machine of this kind; ``given.why`` says why."""

TESTS: Mapping[str, Test] = {
    "requirement": standards.requirement,
    "separates": standards.separates,
    "less": between.less,
    "narrower": between.narrower,
    "same": between.same,
    "steady": between.steady,
    "rises": trends.rises,
    "rises-more": trends.rises_more,
    "predicts": trends.predicts,
    "chosen": standards.chosen,
    "within": standards.within,
    "is": standards.says,
}
_TURNED: Mapping[Answer, Answer] = {"yes": "no", "no": "yes"}


def ask_all(paper: Paper, measurements: Measurements) -> tuple[AskedClaim, ...]:
    """Ask every claim, in the study's order, of each system or pair that it is about.

    The same runs always give the same answers: what is drawn at random has a fixed seed. The repetitions of
    a guest, which are one run, count once.
    """
    known: Known = {}
    runs = {key: each_once(own) for key, own in measurements.runs.items()}
    once = replace(measurements, runs=runs)
    return tuple(asked for claim in paper.claims for asked in ask(claim, once, known))


def ask(
    claim: Claim, measurements: Measurements, known: Known | None = None, answered: Answered | None = None
) -> Iterator[AskedClaim]:
    """Ask one claim of each system or pair that it is about; where there is none, say why.

    Args:
        known: what was estimated for claims before this one.
        answered: what a claim comes to; None: that of one look.
    """
    known = {} if known is None else known
    answered = answered or judged_once
    if claim.test == NOT_HERE:
        yield _untold(claim, "not here", str(claim.given["why"]))
    elif claim.about in ("pair", "extensions"):
        yield from _of_pairs(claim, measurements, known, answered)
    else:
        meant = [one for one in measurements.systems if claim.about in ("each", one.role)]
        if not meant:
            yield _nobody(claim, measurements.systems)
        for system in meant:
            if claim.given.get(HARDWARE) and system.virtual is not None:
                yield replace(_untold(claim, "not here", sentences.NO_HARDWARE), systems=(system.name,))
                continue
            evidence = ClaimEvidence(claim, measurements, {"": system.name}, known)
            yield AskedClaim(claim, (system.name,), answered(evidence, system.why_not))


def judged_once(evidence: ClaimEvidence, why_not: str = "") -> ClaimFinding:
    """Return what a claim comes to in one look at all that there is.

    Args:
        why_not: why nothing at all was measured on its system; empty where something was.
    """
    claim = evidence.claim
    if claim.test not in TESTS:
        raise ValueError(f"claim {claim.name}: there is no test '{claim.test}'")
    try:
        found = (
            TESTS[claim.test](evidence) if not why_not else words.untold(UntoldError("not measured", why_not))
        )
    except UntoldError as error:
        found = words.untold(error)
    if found.reason in ("not measured", "no choice"):
        return _never_to_be_had(evidence, found) or found
    return replace(found, answer=_TURNED.get(found.answer, found.answer)) if evidence.is_turned else found


def _never_to_be_had(evidence: ClaimEvidence, found: ClaimFinding) -> ClaimFinding | None:
    """Return the finding as one of a claim that was not asked, where no measuring brings what it lacks."""
    if not all(one.keys for one in evidence.asked):
        return words.untold(UntoldError("not planned", *found.sentences))
    estimated = [evidence.known.get((repr(one.query), one.system)) for one in evidence.asked]
    never = any(isinstance(one, Absent) and one.never for one in estimated)
    refused = evidence.measurements.refused
    lacking = [key for one in evidence.asked for key in one.lacking]
    if never or (lacking and refused.issuperset(lacking)):
        return words.untold(UntoldError("not had", *found.sentences))
    sides = [
        [key for one in evidence.asked_under(name) for key in one.keys] for name in evidence.claim.queries
    ]
    whys = evidence.measurements.reasons
    for own in sides:  # of a comparison, one side is not to be had at all
        if refused.issuperset(own):
            said = dict.fromkeys(whys[key] for key in own if key in whys)
            return words.untold(UntoldError("not had", *(said or found.sentences)))
    return None


def _of_pairs(
    claim: Claim, measurements: Measurements, known: Known, answered: Answered
) -> Iterator[AskedClaim]:
    """Ask a claim of each system of one side with each of the other."""
    sides = _sides(claim, measurements.systems)
    if isinstance(sides, AskedClaim):
        yield sides
        return
    (key, several), (other_key, others) = sides.items()
    # Only the kernel may differ: a guest of the lab beside a real machine differs in everything.
    pairs = [
        (one, other)
        for one in several
        for other in others
        if (one.virtual is None) == (other.virtual is None)
    ]
    if not pairs:
        yield _untold(claim, "kinds of machines", *sentences.UNLIKE_MACHINES)
    for one, other in pairs:
        evidence = ClaimEvidence(claim, measurements, {key: one.name, other_key: other.name}, known)
        found = answered(evidence, "")
        also = _also_differs(one, other)
        yield AskedClaim(claim, (one.name, other.name), replace(found, sentences=(*found.sentences, *also)))


def _sides(
    claim: Claim, systems: Sequence[MeasuredSystem]
) -> Mapping[str, Sequence[MeasuredSystem]] | AskedClaim:
    """Return the systems of both sides by the keys of their queries; where one side has none, say why."""
    if claim.about == "pair":
        sides = {role: [one for one in systems if one.role == role] for role in (ORDINARY, REAL_TIME)}
        return sides if all(sides.values()) else _nobody(claim, systems)
    wanted = claim.given["extensions"]
    if not isinstance(wanted, Mapping):
        raise TypeError(f"claim {claim.name}: given.extensions has no sides")
    sides = {key: [one for one in systems if one.extension == name] for key, name in wanted.items()}
    absent = [str(name) for key, name in wanted.items() if not sides[key]]
    return _untold(claim, "not here", sentences.NO_EXTENSION.format(listed(absent))) if absent else sides


def _also_differs(one: MeasuredSystem, other: MeasuredSystem) -> Iterator[str]:
    if one.virtual is not None and other.virtual is not None:
        names = [
            name for name in ("cpus", "shift") if getattr(one.virtual, name) != getattr(other.virtual, name)
        ]
        if names:
            yield sentences.GUESTS_DIFFER.format(" and ".join(names))
    elif one.facts.cpu.model != other.facts.cpu.model:
        yield sentences.MACHINES_DIFFER.format(one.facts.cpu.model, other.facts.cpu.model)


def _untold(claim: Claim, reason: Reason, *sentences: str) -> AskedClaim:
    return AskedClaim(claim, (), words.untold(UntoldError(reason, *sentences)))


def _nobody(claim: Claim, systems: Sequence[MeasuredSystem]) -> AskedClaim:
    there = {one.role for one in systems}
    if any(one.role is None and one.why_not for one in systems) and not all(one.refused for one in systems):
        return _untold(claim, "not measured", *words.nobody((), systems))
    absent = [role for role in (ORDINARY, REAL_TIME) if role not in there and claim.about in (role, "pair")]
    reasons: Mapping[tuple[str, ...], Reason] = {
        (): "not measured",
        (ORDINARY,): "no ordinary kernel",
        (REAL_TIME,): "no real-time kernel",
    }
    return _untold(claim, reasons.get(tuple(absent), "no kernels"), *words.nobody(absent, systems))
