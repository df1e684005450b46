"""Why cases of a plan run are not measured, or not often enough: from who just tried, or from the store."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from tautochrone.measure.campaign.campaign import Campaign
from tautochrone.measure.campaign.carry_out import ENDED_EARLY, CampaignOutcome, Unmeasured

NOT_YET = "It is not measured yet."
"""Where nobody knows a reason."""

Reason = tuple[str, str]
"""The key of a point, and a sentence or two."""


@dataclass(frozen=True)
class EarlyEnds:
    """Runs that did not come to their end, of slots of which no other run did.

    Attributes:
        reasons: how the latest of each case ended, by the key of the point.
        stopped: those of which the latest was stopped by a person: nothing went wrong with them.
    """

    reasons: dict[str, str]
    stopped: frozenset[str]

    @property
    def failed(self) -> set[str]:
        """Return the cases that went wrong."""
        return set(self.reasons) - self.stopped


def just_tried(outcome: CampaignOutcome) -> list[Reason]:
    """Return what has just stood in the way, or that a person stopped it before its turn, or within it."""
    lacking = [(one.point.key, one.why) for one in outcome.unmeasured]
    return lacking + [(slot.key, "Not measured yet: it was stopped before.") for slot in outcome.left]


def went_wrong(outcome: CampaignOutcome) -> list[Unmeasured]:
    """Return what was tried and failed; the rest of what is lacking is not permitted, or not to be had."""
    return [one for one in outcome.unmeasured if one.failed]


def all_reasons(
    campaign: Campaign, tried: Sequence[Reason] = (), early: EarlyEnds | None = None
) -> list[Reason]:
    """All that is known; what the store says of a case only where who has just tried says nothing of it.

    The store knows what the latest run says of the cases that were refused before it, and how their own runs
    ended.

    Args:
        early: how they did; None: it is looked up.
    """
    early = early_ends(campaign, set(campaign.finished())) if early is None else early
    known = {**early.reasons, **campaign.refused}
    given = {key for key, _ in tried}
    return [*tried, *((key, words) for key, words in known.items() if key not in given)]


def joined(reasons: Iterable[Reason]) -> dict[str, str]:
    """Return all that is said of a case, each once, by its key."""
    said: dict[str, dict[str, None]] = {}
    for key, words in reasons:
        said.setdefault(key, {})[words] = None
    return {key: " ".join(words) for key, words in said.items()}


def early_ends(campaign: Campaign, finished: Container[tuple[str, int]]) -> EarlyEnds:
    """Of a plan run's runs.

    Args:
        finished: the slots that have a finished run: the key of the point, and the repetition.
    """
    reasons: dict[str, str] = {}
    ended: dict[str, str] = {}
    for entry in campaign.entries:
        plan = entry.conditions.plan
        if entry.ended in ENDED_EARLY and (plan.cell, plan.repetition) not in finished:
            ended[plan.cell] = entry.ended
            reasons[plan.cell] = (
                f"Its latest run ended early: {ENDED_EARLY[entry.ended]}. What was measured is kept: "
                f"tauto show {entry.id}"
            )
    return EarlyEnds(reasons, frozenset(key for key, how in ended.items() if how == "interrupted"))
