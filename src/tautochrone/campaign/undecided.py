"""Which requirements of a plan are open, for who measures until they are decided."""

from collections.abc import Collection

from tautochrone.base.errors import UsageError
from tautochrone.campaign.requirements import LookedAt, looked_at
from tautochrone.campaign.verb import Budget, Wanted
from tautochrone.measure.campaign.agenda import Agenda
from tautochrone.measure.campaign.campaign import Campaign
from tautochrone.measure.campaign.deciding import OpenQuestion
from tautochrone.measure.document.document import PlanDocument
from tautochrone.run.folder import StoredRun, read_runs


class RequirementDecider:
    """The requirements of a plan."""

    what = "requirement"

    def __init__(self) -> None:
        """Nothing is read so far."""
        self._read: dict[str, StoredRun] = {}
        self._looked: dict[tuple[str, str, int], LookedAt] = {}

    def open_questions(
        self, agenda: Agenda, campaign: Campaign, refused: Collection[str]
    ) -> list[OpenQuestion]:
        """Return the requirements that measuring may decide, each of its case."""
        found = []
        for key, own in agenda.required.items():
            runs = self._runs(campaign, key)
            if not runs and key in refused:
                continue
            for one in own:
                asked = key, one.text, len(runs)
                looked = self._looked.get(asked) or looked_at(one, runs, agenda.first_look)
                self._looked[asked] = looked
                if looked.judgement is None or looked.judgement.standing == "not shown":
                    name = f"{one.text}; {agenda.points[key].name}"
                    found.append(
                        OpenQuestion(name, (key,), looked.look, looked.takes, looked.final, one.confidence)
                    )
        return found

    def _runs(self, campaign: Campaign, key: str) -> list[StoredRun]:
        entries = [entry for (cell, _), entry in sorted(campaign.finished().items()) if cell == key]
        new = [one for one in entries if one.id not in self._read]
        self._read |= {run.id: run for run in read_runs(one.path for one in new)}
        return [self._read[one.id] for one in entries]


def budget_of(document: PlanDocument, wanted: Wanted) -> Budget | None:
    """Return how long a plan is measured until it is decided; None: every case is, as often as it says.

    Raises:
        UsageError: several cases at once.
    """
    if document.budget_s is None:
        return None
    if wanted.at_once is not None:
        raise UsageError(
            f'{document.path}: until = "decided" measures one case after the other',
            "Leave --jobs out. Of guests a plan without 'until' does as much: a repetition of a guest is the "
            "same run, to the bit.",
        )
    return Budget(document.budget_s, RequirementDecider())
