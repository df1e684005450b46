"""The systems of a plan, asked several at once what they are and what they refuse."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tautochrone.base.errors import TautoError, UsageError
from tautochrone.measure.campaign.agenda import Agenda
from tautochrone.measure.document.document import Document
from tautochrone.measure.document.expand import Point
from tautochrone.measure.lab.crew import Crew
from tautochrone.measure.lab.jobs import Job, Refused, Survey, Surveyed
from tautochrone.measure.virtual import VIRTUAL
from tautochrone.target.open import open_target


@dataclass
class Surveys:
    """What a plan's systems can do.

    Attributes:
        open: the systems that answered, by name.
        refused: what can't be measured, and why, by the key of the point.
    """

    open: dict[str, Surveyed] = field(default_factory=dict)
    refused: dict[str, TautoError] = field(default_factory=dict)


def survey(document: Document, points: Sequence[Point], crew: Crew) -> Surveys:
    """Ask each system of these points.

    Raises:
        TautoError: no system answers, or each refuses everything; what is in the way of the first.
        KeyboardInterrupt: stopped.
    """
    systems = list(dict.fromkeys(point.system for point in points))
    found = Surveys()
    silent: dict[str, TautoError] = {}
    for system, answer in crew.do(_jobs(document, points, systems)):
        if isinstance(answer, Surveyed):
            found.open[system] = answer
            found.refused |= answer.refused
        elif isinstance(answer, Refused):
            silent[system] = answer.error
            found.refused |= {point.key: answer.error for point in points if point.system == system}
    if crew.stopped:
        raise KeyboardInterrupt
    if not found.open:
        raise next(silent[system] for system in systems if system in silent)
    return found


def _jobs(document: Document, points: Sequence[Point], systems: Sequence[str]) -> Iterator[tuple[str, Job]]:
    for system in systems:
        yield system, Survey(document, system, tuple(one for one in points if one.system == system))


def see_independent(agenda: Agenda) -> None:
    """See that no cell's numbers depend on what else the host does.

    Raises:
        UsageError: a system is no virtual machine, or one whose time is the host's.
    """
    for system in dict.fromkeys(point.system for point in agenda.points.values()):
        with open_target(system) as target:
            virtual = target.virtual()
        if virtual is None or virtual.shift is None:
            why = "is no virtual machine of the lab" if virtual is None else "has the host's time"
            raise UsageError(
                f"--jobs: {system} {why}, so cells that run at once would disturb each other",
                "Leave --jobs out: they are measured one after the other.",
            )


def changed_since(agenda: Agenda) -> str | None:
    """The system that is another virtual machine now than the one that was measured; None: none is.

    Nothing is booted for that: what a machine consists of tells which it is.

    Raises:
        TautoError: one of them is not to be had any more.
    """
    now: dict[str, str] = {}
    for (key, _), entry in agenda.finished.items():
        system = agenda.points[key].system
        if system not in now:
            with open_target(system) as target:
                virtual = target.virtual()
            now[system] = "" if virtual is None else virtual.machine
        told = entry.conditions.get(VIRTUAL)
        if isinstance(told, dict) and told.get("machine") != now[system]:
            return system
    return None
