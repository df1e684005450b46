"""A reproduction as a report needs it: the paper, what was measured, and what came of its claims."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tautochrone.measure.campaign.reasons import NOT_YET
from tautochrone.papers.claims.evidence import Asked
from tautochrone.papers.document import Paper
from tautochrone.papers.measured import Measurements
from tautochrone.run.folder import Run
from tautochrone.run.manifest import Manifest

Length = Literal["full", "quick", "other"]
_MOST_NAMED = 3


@dataclass(frozen=True)
class Made:
    """A paper and its counterpart here.

    Attributes:
        asked: what became of each claim, in the paper's order.
        campaign: the id of the campaign that measured it.
        command: what repeats it.
        length: of the plan: the paper's, the short version, or that of another plan.
        plan: the file of another plan, as it was named; empty: it is not known.
    """

    paper: Paper
    measurements: Measurements
    asked: tuple[Asked, ...]
    campaign: str
    command: str
    length: Length
    plan: str = ""

    @property
    def runs(self) -> list[Run]:
        """All finished runs, in the order in which they were measured."""
        found = [run for runs in self.measurements.runs.values() for run in runs]
        return sorted(found, key=lambda run: run.manifest.created)

    @property
    def manifests(self) -> list[Manifest]:
        """Theirs."""
        return [run.manifest for run in self.runs]

    @property
    def slots(self) -> int:
        """How many runs there would be if nothing lacked."""
        return len(self.measurements.points) * self.measurements.repetitions

    def lacking_by_reason(self) -> list[tuple[str, str]]:
        """The same with one line for each reason, since there may be a hundred points."""
        found: dict[str, list[str]] = {}
        for name, why in self.lacking():
            found.setdefault(why, []).append(name)
        return [(_named(names), why) for why, names in found.items()]

    def lacking(self) -> Iterator[tuple[str, str]]:
        """Each point that has not all of its repetitions: its name, and why."""
        wanted = self.measurements.repetitions
        for key, point in self.measurements.points.items():
            there = len(self.measurements.runs.get(key, ()))
            if there < wanted:
                why = self.measurements.reasons.get(key, NOT_YET)
                yield point.name, f"{there} of {wanted} repetitions are finished. {why}" if there else why


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return "; ".join([*names[:_MOST_NAMED], *([f"and {more:,} more"] if more > 0 else [])])
