"""What would help against the causes of a run's late cycles, and what each would be worth, by estimate."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from tautochrone.answer import document as doc
from tautochrone.answer.phrasing import blame as words
from tautochrone.answer.phrasing import remedy as remedies
from tautochrone.base.words import listed
from tautochrone.judge.blame import BlamedRun
from tautochrone.judge.late_worth import WithoutCauses, without_causes
from tautochrone.judge.reduced import Reduced, reduce_run
from tautochrone.judge.remedy import CauseRemedy, remedy_of
from tautochrone.machine.audit import audit_facts
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.blame import CauseShare

TITLE = "What would help"

_MOST, _MOST_NAMED, _LEAST_SHARE = 5, 3, 0.01
_ESTIMATE = (
    "What a remedy would be worth is an estimate: each late cycle is taken to have been earlier by the "
    "excess that these causes have in it. With one cause gone, another may take its place."
)


@dataclass(frozen=True)
class CauseAdvice:
    """Causes against which the same helps, those with the most excess first.

    Attributes:
        shares: of the excess, each with its cause.
        remedy: what can be done about them.
        without: what that would be worth; None: it can't be told.
    """

    shares: tuple[CauseShare, ...]
    remedy: CauseRemedy
    without: WithoutCauses | None


def advice_of(
    run: StoredRun, found: BlamedRun, reduced: Sequence[Reduced] | None = None
) -> list[CauseAdvice]:
    """Return it for the causes with the most excess, what helps most first.

    Args:
        reduced: the measure that is late, where it was read already.

    Raises:
        DamagedError: the samples can't be read.
    """
    telling = [one for one in found.blame.causes if one.excess_ns and one.share >= _LEAST_SHARE]
    if not found.recorded or not telling:
        return []
    findings = audit_facts(run.manifest.known)
    parts = reduce_run(run, found.measure) if reduced is None else reduced
    together: dict[str, list[CauseShare]] = {}
    for one in telling:
        together.setdefault(remedies.what_to_do(remedy_of(one.cause, one.actor, findings)), []).append(one)
    advice = []
    for own in together.values():
        causes = {(one.cause, one.actor) for one in own}
        known = own[0].cause != "unexplained"
        worth = without_causes(parts, found.blame, causes) if known else None
        advice.append(CauseAdvice(tuple(own), remedy_of(own[0].cause, own[0].actor, findings), worth))
    advice.sort(key=lambda one: -sum(share.share for share in one.shares))
    return advice[:_MOST]


def parts(advised: Sequence[tuple[str, Sequence[CauseAdvice]]]) -> list[doc.DocumentPart]:
    """Return the part of a page about what would help each run, by its label."""
    several = len(advised) > 1
    return [
        doc.part(
            f"{TITLE} against late cycles{f', {label}' if several else ''}",
            partial(blocks, own),
            id=f"late-help-{at}",
        )
        for at, (label, own) in enumerate(advised, start=1)
    ]


def blocks(advice: Sequence[CauseAdvice]) -> Iterator[doc.Block]:
    """Yield what to do about each cause, that with the most excess first."""
    if not advice:
        return
    yield doc.Subheading(TITLE)
    yield doc.Recommendations(
        tuple(remedies.recommendation(_causes(one.shares), one.remedy, _worth(one.without)) for one in advice)
    )
    if any(one.without is not None for one in advice):
        yield doc.Sentence(_ESTIMATE, "note")


def _causes(shares: Sequence[CauseShare]) -> str:
    """Return ``23 % kdamond.0 (not preemptible), kdamond.0 (interrupts off) and 2 more``."""
    names = [words.name(one) for one in shares[:_MOST_NAMED]]
    more = len(shares) - len(names)
    named = listed([*names, f"{more} more"] if more else names)
    return f"{words.percent(sum(one.share for one in shares))} {named}"


def _worth(one: WithoutCauses | None) -> str:
    return "" if one is None else f"{words.without(one)}."


def as_table(advice: Sequence[CauseAdvice]) -> list[dict[str, object]]:
    """Return it as programs read it; times in nanoseconds."""
    return [
        {
            "causes": [
                {"cause": share.cause, "actor": share.actor, "share": share.share} for share in one.shares
            ],
            "kind": one.remedy.kind,
            "findings": [finding.code for finding in one.remedy.findings],
            "settings": list(one.remedy.knobs),
            "do": remedies.what_to_do(one.remedy),
            "estimate_without": None
            if one.without is None
            else {
                "quantile": one.without.q,
                "quantile_ns": list(one.without.quantile_ns),
                "largest_ns": list(one.without.largest_ns),
                "late": [one.without.late, one.without.late_without],
            },
        }
        for one in advice
    ]
