"""What the names of a comparison's sides mean: runs, repetitions, a case of a plan run, or all its cases."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tautochrone.base.errors import StoreError, UsageError
from tautochrone.base.words import some, suggestion
from tautochrone.comparison.tables import labels, letter
from tautochrone.judge.comparison.side import CampaignCell, ComparedSide
from tautochrone.judge.explained import see_plain
from tautochrone.measure.campaign.campaign import open_campaign
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

_CAMPAIGNS = ("plan-", "matrix-")
_MOST_NAMED = 6


@dataclass(frozen=True, eq=False)
class NamedSide:
    """A side as it was named: runs, or a plan run with its cases."""

    text: str
    runs: tuple[StoredRun, ...] = ()
    campaign: str = ""
    cells: tuple[CampaignCell, ...] = ()


def resolve(place: Store, names: Sequence[str]) -> list[NamedSide]:
    """Return what each name means.

    Raises:
        UsageError: fewer than two; plan runs beside runs; a run on two sides.
        StoreError: there is no such run, plan run or case.
        DamagedError: a manifest can't be read.
    """
    if len(names) < 2:
        raise UsageError(
            "One side can't be compared with anything", "Name two: tauto compare A B; A is the baseline."
        )
    found = [_one(place, name) for name in names]
    whole = [one for one in found if one.campaign]
    if whole and len(whole) < len(found):
        single = next(one.text for one in found if not one.campaign)
        raise UsageError(
            f"'{whole[0].text}' is a plan run, and '{single}' is not",
            f"Name a case of it: {whole[0].text}/CASE",
        )
    if len(whole) > 2:
        raise UsageError(f"{len(whole)} plan runs can't be compared at once", "Compare two at a time.")
    _see_apart(found)
    for one in found:
        see_plain((*one.runs, *(run for cell in one.cells for run in cell.runs)))
    return found


def _one(place: Store, name: str) -> NamedSide:
    if name.startswith(_CAMPAIGNS):
        campaign, _, cell = name.partition("/")
        label, cells = _cells(place, campaign)
        if not cell:
            return NamedSide(name, campaign=label, cells=tuple(cells))
        return NamedSide(name, runs=_cell(cells, cell, label).runs)
    parts = [name] if Path(name).is_dir() else [part.strip() for part in name.split(",")]
    if not all(parts):
        raise UsageError(f"'{name}' names an empty run", "Separate repetitions by one comma: RUN,RUN,RUN")
    return NamedSide(name, runs=tuple(place.open(part) for part in parts))


def _cells(place: Store, name: str) -> tuple[str, list[CampaignCell]]:
    """Return a plan run's id, and its cases with at least one finished run, as the plan lists them."""
    campaign = open_campaign(place, name)
    runs: dict[str, list[StoredRun]] = {}
    names: dict[str, str] = {}
    for entry in campaign.entries:
        names |= entry.conditions.plan.cells
    for run in sorted(campaign.finished_runs(), key=lambda one: one.manifest.conditions.plan.repetition):
        runs.setdefault(run.manifest.conditions.plan.cell, []).append(run)
    order = [*(key for key in names if key in runs), *(key for key in runs if key not in names)]
    return campaign.id, [CampaignCell(key, names.get(key, key), tuple(runs[key])) for key in order]


def _cell(cells: Sequence[CampaignCell], name: str, campaign: str) -> CampaignCell:
    """Find a case by its key, its name, the beginning or end of these, or any part that no other has."""
    for way in (
        lambda cell: name in (cell.key, cell.name),
        lambda cell: len(name) >= 4 and cell.key.startswith(name),
        lambda cell: f", {cell.name}".lower().endswith(f", {name}".lower()),
        lambda cell: name.lower() in cell.name.lower(),
    ):
        found = [cell for cell in cells if way(cell)]
        if len(found) == 1:
            return found[0]
        if found:
            raise StoreError(
                f"{len(found)} cases of {campaign} are meant by '{name}': {_some(found)}",
                "Write more of the name, or the key of one.",
            )
    advice = suggestion(name, [cell.name for cell in cells], f"There are: {_some(cells)}.")
    raise StoreError(f"There is no case '{name}' in {campaign}", advice)


def _some(cells: Sequence[CampaignCell]) -> str:
    return some([f"{cell.key} {cell.name}" for cell in cells], _MOST_NAMED, "; ", "; and ")


def _see_apart(found: Sequence[NamedSide]) -> None:
    """See that no run stands against itself."""
    seen: dict[str, str] = {}
    for one in found:
        if one.campaign:
            if one.campaign in seen:
                raise UsageError(f"The plan run {one.campaign} is named twice", "Name two that differ.")
            seen[one.campaign] = one.text
        for run in one.runs:
            if run.id in seen:
                raise UsageError(f"The run {run.id} is named twice", "Name each run once.")
            seen[run.id] = one.text


def sides_of(found: Sequence[NamedSide]) -> list[ComparedSide]:
    """Return sides of runs, called by letters."""
    sides = [ComparedSide(letter(at), one.runs, one.text) for at, one in enumerate(found)]
    return [replace(side, label=label) for side, label in zip(sides, labels(sides), strict=True)]
