"""The systems of a plan, opened: targets, facts, deployments as each machine can do them."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

from tautochrone.base.errors import TautoError, UsageError
from tautochrone.machine.deployment import Deployment
from tautochrone.machine.facts import gather
from tautochrone.measure.campaign.carry_out import CampaignSite
from tautochrone.measure.campaign.refusals import (
    as_keys_of,
    load_refusals,
    refusals,
    see_loads_meant,
    see_meant,
)
from tautochrone.measure.document.deployed import deployment_of, same_here
from tautochrone.measure.document.document import PlanDocument
from tautochrone.measure.document.expand import PlanPoint, is_planned
from tautochrone.run.held import BOOT_ID
from tautochrone.target.claim import TakenError
from tautochrone.target.middleware import TRANSPORT
from tautochrone.target.open import open_target, open_to_measure
from tautochrone.target.target import Target

_OF_ONE_MACHINE = (BOOT_ID, "/proc/sys/kernel/hostname")
"""Files that have the same content only on one machine; containers on it differ by the second."""


@dataclass
class Sites:
    """What a plan's systems can do.

    Attributes:
        open: the systems that answer, by name.
        refused: what can't be measured, by the key of the point: no answer, a deployment that the machine
            can't have, or a refusal of the probe.
        deployed_otherwise: of these, those whose deployment the machine can't have, or has under another
            name: no mistake of the plan.
    """

    open: dict[str, CampaignSite] = field(default_factory=dict)
    refused: dict[str, TautoError] = field(default_factory=dict)
    deployed_otherwise: frozenset[str] = frozenset()


def open_sites(document: PlanDocument, points: Sequence[PlanPoint], stack: ExitStack) -> Sites:
    """Open the systems of these points, and find out what they refuse before anything is measured.

    Args:
        stack: closes them.

    Raises:
        UsageError: a value that no system takes, with its line.
        TautoError: no system answers; what is in the way of the first.
    """
    sites = Sites()
    silent: list[TautoError] = []
    of_loads: dict[str, TautoError] = {}
    for system in dict.fromkeys(point.system for point in points):
        own = [point for point in points if point.system == system]
        try:
            target = stack.enter_context(open_to_measure(system))
            site = site_of(target, document, own, sites.refused)
            sites.deployed_otherwise |= {point.key for point in own if point.key in sites.refused}
            sites.refused |= as_keys_of(document, own, refusals(_able(own, sites.refused), site.target))
            of_loads |= load_refusals(_able(own, sites.refused), site.target)
            sites.open[system] = site
        except TautoError as error:
            told = _by_another_name(system, sites) if isinstance(error, TakenError) else None
            silent.append(told or error)
            sites.refused |= {point.key: told or error for point in own}
    if not sites.open:
        raise silent[0]
    _see_meant(document, points, sites)
    see_loads_meant(document, points, of_loads)
    sites.refused |= of_loads
    return sites


def _by_another_name(system: str, sites: Sites) -> TautoError | None:
    """Return that a system that is claimed is one that is open, so the claim is our own; None: it is not."""
    with suppress(TautoError, OSError), open_target(system) as target:
        for name, site in sites.open.items():
            if all(target.files().read(one) == site.target.files().read(one) for one in _OF_ONE_MACHINE):
                return UsageError(f"{system} is the same machine as {name}", "It is measured as that.")
    return None


def _able(points: Sequence[PlanPoint], refused: Mapping[str, TautoError]) -> list[PlanPoint]:
    return [point for point in points if point.key not in refused]


def site_of(
    target: Target, document: PlanDocument, points: Sequence[PlanPoint], refused: dict[str, TautoError]
) -> CampaignSite:
    """Return what is known of one system before anything is measured on it.

    Args:
        refused: gets the points whose deployment it can't have.
    """
    facts = gather(target.files())
    deployments: dict[str, Deployment | None] = {}
    failed: dict[str, TautoError] = {}
    for name in dict.fromkeys(point.deployment.name for point in points):
        try:
            deployments[name] = deployment_of(name, document.path.parent, target.files())
        except TautoError as error:
            failed[name] = error
    refused |= {
        point.key: failed[point.deployment.name] for point in points if point.deployment.name in failed
    }
    refused |= _the_same_here(document, points, same_here(target.files()))
    return CampaignSite(target, facts, deployments)


def _the_same_here(
    document: PlanDocument, points: Sequence[PlanPoint], same: Mapping[str, tuple[str, str]]
) -> dict[str, TautoError]:
    """Points that would be measured twice, since this machine has one deployment under two names.

    Args:
        same: by name of a deployment that of another, and why both are the same here.
    """
    found: dict[str, TautoError] = {}
    for point in points:
        other, why = same.get(point.deployment.name, ("", ""))
        if other and is_planned(document, point, other):
            found[point.key] = UsageError(
                f"deployment {point.deployment.name}: {why}", f"It is measured as {other}."
            )
    return found


def _see_meant(document: PlanDocument, points: Sequence[PlanPoint], sites: Sites) -> None:
    """A value that every system and transport refuses is a mistake of the plan; one that some take is not."""
    able = _able(points, sites.refused)
    taken = {(point.entry, point.varied) for point in able}
    carried = {_but_its_transport(point) for point in able}
    for name, site in sites.open.items():
        own = [
            one
            for one in points
            if one.system == name
            and one.key not in sites.deployed_otherwise
            and (one.entry, one.varied) not in taken
            and _but_its_transport(one) not in carried
        ]
        see_meant(document, own, sites.refused, site.target)


def _but_its_transport(point: PlanPoint) -> tuple[object, ...]:
    """Return what is asked of it: one transport may carry a length that another does not."""
    return (point.entry, *((name, value) for name, value in point.options.items() if name != TRANSPORT))
