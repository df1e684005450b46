"""Cases of two plan runs, matched by what they mean."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tautochrone.run.conditions import LOCAL
from tautochrone.run.folder import StoredRun

_AS_IS = "as-is"


@dataclass(frozen=True, eq=False)
class CampaignCell:
    """One case of a plan run: its finished repetitions, and a key that is the same in every plan run."""

    key: str
    name: str
    runs: tuple[StoredRun, ...]

    def meaning(self, *, system: bool = True, deployment: bool = True) -> str:
        """What is measured under what, with or without where and how the machine is set."""
        manifest = self.runs[0].manifest
        plan, held = manifest.conditions.plan, manifest.conditions.deployment
        under = plan.deployment or (held.name if held is not None else "") or _AS_IS
        return json.dumps(
            [
                manifest.experiment,
                plan.options,
                manifest.conditions.load,
                (plan.system or manifest.conditions.target or LOCAL) if system else None,
                under if deployment else None,
            ],
            sort_keys=True,
            default=str,
        )


@dataclass(frozen=True, eq=False)
class Matched:
    """Cases of two plan runs: in pairs, in the order of the first, and those that only one of them has."""

    pairs: tuple[tuple[CampaignCell, CampaignCell], ...]
    first: tuple[CampaignCell, ...]
    second: tuple[CampaignCell, ...]


def match(first: Sequence[CampaignCell], second: Sequence[CampaignCell]) -> Matched:
    """Pair the cases: by key, then by what is left when the system is not looked at, then without the
    deployment, too; never where several could be meant.

    So the same plan on two systems, or under two deployments, is compared case by case.
    """
    ways: tuple[Callable[[CampaignCell], str], ...] = (
        lambda cell: cell.key,
        lambda cell: cell.meaning(),
        lambda cell: cell.meaning(system=False),
        lambda cell: cell.meaning(system=False, deployment=False),
    )
    left, right = list(first), list(second)
    found: list[tuple[CampaignCell, CampaignCell]] = []
    for way in ways:
        by_meaning = [_only_ones(side, way) for side in (left, right)]
        own = [(one, by_meaning[1][name]) for name, one in by_meaning[0].items() if name in by_meaning[1]]
        found += own
        left = [one for one in left if not any(one is pair[0] for pair in own)]
        right = [one for one in right if not any(one is pair[1] for pair in own)]
    place = {id(one): at for at, one in enumerate(first)}
    return Matched(tuple(sorted(found, key=lambda pair: place[id(pair[0])])), tuple(left), tuple(right))


def _only_ones(cells: Sequence[CampaignCell], way: Callable[[CampaignCell], str]) -> dict[str, CampaignCell]:
    names = [way(cell) for cell in cells]
    return {name: cell for name, cell in zip(names, cells, strict=True) if names.count(name) == 1}
