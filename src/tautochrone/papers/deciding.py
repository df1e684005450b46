"""Which claims of a study are open, and on what they rest, for who measures until they are told."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from tautochrone.measure.campaign.agenda import Agenda
from tautochrone.measure.campaign.campaign import Campaign
from tautochrone.measure.campaign.deciding import OpenQuestion
from tautochrone.papers.claims.looks import LookedClaim, Looks
from tautochrone.papers.document import Paper
from tautochrone.papers.measured import Measurements, ReducedRuns, gather, label_of


@dataclass
class ClaimDecider:
    """The claims of a study.

    Attributes:
        looks: at them, so far.
    """

    paper: Paper
    looks: Looks
    what: str = "claim"
    _samples: ReducedRuns = field(default_factory=ReducedRuns)

    def open_questions(
        self, agenda: Agenda, campaign: Campaign, refused: Collection[str]
    ) -> list[OpenQuestion]:
        """Return the claims that measuring may tell, and systems of which nothing is known yet."""
        measured = replace(gather(agenda, campaign, refused=refused), samples=self._samples)
        found = [_question(one) for one in self.looks.ask_all(self.paper, measured) if one.is_open]
        return [*_unknown(measured), *found]


def name_of(one: LookedClaim) -> str:
    """Return a claim as the answer names it, and of whom it is asked."""
    on = " against ".join(map(label_of, one.asked.systems))
    return ", ".join(filter(None, (one.asked.claim.name.replace("-", " "), on)))


def _question(one: LookedClaim) -> OpenQuestion:
    return OpenQuestion(name_of(one), one.keys, one.look, one.asked.finding.takes, one.final)


def _unknown(measured: Measurements) -> Iterator[OpenQuestion]:
    """Yield the shortest point of each system without a run: its first run tells which kernel it has."""
    for system in measured.systems:
        own = [
            one
            for key, one in measured.points.items()
            if one.system == system.name and key not in measured.refused
        ]
        if system.why_not and own:
            shortest = min(own, key=lambda one: one.prepared.expected_s or 0.0)
            yield OpenQuestion(f"the kernel of {label_of(system.name)}", (shortest.key,))
