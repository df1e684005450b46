"""From the store to what was measured of a study."""

from collections.abc import Mapping

from tautochrone.measure.campaign.agenda import Agenda
from tautochrone.measure.campaign.campaign import Campaign
from tautochrone.measure.campaign.reasons import all_reasons, joined
from tautochrone.measure.virtual import VIRTUAL
from tautochrone.papers.measured import Measurements
from tautochrone.papers.systems import System, role_of
from tautochrone.run.folder import Run, read_runs


def gather(agenda: Agenda, campaign: Campaign, reasons: Mapping[str, str] | None = None) -> Measurements:
    """The finished runs of a campaign by point.

    Args:
        agenda: what was to be measured.
        campaign: as the store has it now.
        reasons: why a point was not measured, by key, from who has just tried. Of the other points it is told
            what the campaign's runs say.

    Raises:
        StoreError, DamagedError: a run can't be read.
    """
    entries = {slot: entry for slot, entry in sorted(campaign.finished().items()) if slot[0] in agenda.points}
    runs: dict[str, list[Run]] = {}
    for (key, _), run in zip(entries, read_runs(one.path for one in entries.values()), strict=True):
        runs.setdefault(key, []).append(run)
    known = joined(all_reasons(campaign, tuple((reasons or {}).items())))
    names = dict.fromkeys(point.system for point in agenda.points.values())
    return Measurements(
        systems=tuple(_system(name, agenda, runs, known) for name in names),
        points=agenda.points,
        runs=runs,
        reasons=known,
        repetitions=agenda.document.repetitions,
    )


def _system(name: str, agenda: Agenda, runs: Mapping[str, list[Run]], reasons: Mapping[str, str]) -> System:
    own = [key for key, point in agenda.points.items() if point.system == name]
    first = next((run for key in own for run in runs.get(key, ())), None)
    if first is None:
        why = dict.fromkeys(reasons[key] for key in own if key in reasons)
        return System(name, why_not=" ".join(why) or "Nothing is measured on it yet.")
    facts = first.manifest.facts
    return System(name, role_of(facts), facts, first.manifest.conditions.get(VIRTUAL))
