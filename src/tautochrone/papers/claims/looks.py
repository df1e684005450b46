"""Claims that are looked at again and again while measuring goes on, until each is told, and which are open.

"Looked at again and again" in docs/claims.md says why each look may spend its own share of the 5 % (alpha
spending: `share_of_look`). A look rests on its repetitions and on nothing else: whoever comes back to the
same store finds the same looks, and a claim that was told stays told.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from tautochrone.answer.phrasing.looks import level_of
from tautochrone.measure.campaign.agenda import Agenda
from tautochrone.measure.campaign.campaign import Campaign
from tautochrone.measure.campaign.deciding import OpenQuestion
from tautochrone.papers.claims import ask, judged_once
from tautochrone.papers.claims.evidence import AskedClaim, ClaimEvidence, ClaimFinding, Known
from tautochrone.papers.document import Paper
from tautochrone.papers.measured import Measurements, ReducedRuns, gather, label_of
from tautochrone.statistics.quantiles import CONFIDENCE
from tautochrone.statistics.sequential import looks

_Asked = tuple[str, tuple[str, ...]]
"""A claim's name, and the systems that it is asked of."""


@dataclass(frozen=True)
class LookedClaim:
    """A claim of some systems, as far as it was looked at.

    Attributes:
        keys: of the points that it rests on, as far as they can be measured.
        look: the latest that was made, from 1, or the one that told it; 0: none so far.
        final: it is the only one: no repetition would say more.
    """

    asked: AskedClaim
    keys: tuple[str, ...]
    look: int
    final: bool = False

    @property
    def is_open(self) -> bool:
        """Return whether measuring may tell it."""
        return self.asked.finding.answer == "open" and bool(self.keys)


@dataclass
class Looks:
    """Looks at the claims of a study; each is made once, however often it is asked for.

    Attributes:
        first: repetitions of each point at the first look.
    """

    first: int
    _known: dict[int, Known] = field(default_factory=dict)
    _made: dict[tuple[_Asked, int], ClaimFinding] = field(default_factory=dict)
    _latest: dict[_Asked, tuple[tuple[str, ...], int, bool]] = field(default_factory=dict)

    def ask_all(self, paper: Paper, measurements: Measurements) -> tuple[LookedClaim, ...]:
        """Ask every claim, in the study's order, of each system or pair that it is about."""
        return tuple(
            LookedClaim(asked, *self._latest.get((claim.name, asked.systems), ((), 0, False)))
            for claim in paper.claims
            for asked in ask(claim, measurements, answered=self._answered)
        )

    def _answered(self, evidence: ClaimEvidence, why_not: str) -> ClaimFinding:
        """Look as often as the repetitions allow, until the claim is told."""
        asked = evidence.claim.name, tuple(evidence.systems.values())
        measured = evidence.measurements
        meant = dict.fromkeys(key for one in evidence.asked for key in one.keys)
        keys = tuple(key for key in meant if key not in measured.refused)
        there = min((len(measured.runs.get(key, ())) for key in keys), default=0)
        made, finding = 0, None
        if there and _repeats(evidence):
            self._latest[asked] = keys, 1, True
            return judged_once(_first(evidence, 1), why_not)
        for look, amount in looks(self.first, there):
            made = look
            if (asked, look) not in self._made:
                self._made[asked, look] = self._looked(evidence, look, amount)
            finding = self._made[asked, look]
            if finding.answer != "open":
                break
        self._latest[asked] = keys, made, False
        return finding or judged_once(_first(evidence, 0), why_not)

    def _looked(self, evidence: ClaimEvidence, look: int, amount: int) -> ClaimFinding:
        known = self._known.setdefault(look, {})
        at = replace(_first(evidence, amount), known=known, look=look)
        found = judged_once(at)
        if found.answer == "not asked":
            return found
        return replace(found, sentences=(*found.sentences, level_of(look, amount, at.confidence, CONFIDENCE)))


def _repeats(evidence: ClaimEvidence) -> bool:
    """Return whether all systems that it is asked of repeat to the bit."""
    asked = set(evidence.systems.values())
    meant = [one for one in evidence.measurements.systems if one.name in asked]
    return bool(meant) and all(one.virtual is not None and one.virtual.is_counted for one in meant)


def _first(evidence: ClaimEvidence, repetitions: int) -> ClaimEvidence:
    """Return what a claim rests on with so many repetitions of each point, and no later ones."""
    measured = evidence.measurements
    runs = {key: each[:repetitions] for key, each in measured.runs.items()}
    return replace(evidence, measurements=replace(measured, runs=runs), known={})


@dataclass
class ClaimDecider:
    """The claims of a study."""

    paper: Paper
    looks: Looks
    what: str = "claim"
    _samples: ReducedRuns = field(default_factory=ReducedRuns)

    def open_questions(
        self, agenda: Agenda, campaign: Campaign, refused: Collection[str]
    ) -> list[OpenQuestion]:
        """Return the claims that measuring may tell, and systems of which nothing is known yet."""
        self.looks.first = agenda.first_look
        measured = replace(gather(agenda, campaign, refused=refused), samples=self._samples)
        found = [_question(one) for one in self.looks.ask_all(self.paper, measured) if one.is_open]
        return [*_unknown(measured), *found]


def _question(one: LookedClaim) -> OpenQuestion:
    """Return a claim as the answer names it, and of whom it is asked."""
    on = " against ".join(map(label_of, one.asked.systems))
    name = ", ".join(filter(None, (one.asked.claim.name.replace("-", " "), on)))
    return OpenQuestion(name, one.keys, one.look, one.asked.finding.takes, one.final)


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
