"""What is to be done for a plan: its slots in their order, the finished ones, and those that are left."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from tautochrone.base.errors import StoreError, UsageError
from tautochrone.measure.campaign.campaign import (
    OF_MATRIX,
    PREFIX,
    Campaign,
    begin,
    condition,
    first_look_of,
    key_of,
    latest,
    same_system,
)
from tautochrone.measure.campaign.order import Slot, arrange, draw_seed
from tautochrone.measure.cell import Cell
from tautochrone.measure.document.deployed import meaning_of
from tautochrone.measure.document.document import MOST_REPETITIONS, PlanDocument
from tautochrone.measure.document.expand import PlanPoint, expand, of_machines
from tautochrone.measure.document.require import Required, requirements
from tautochrone.measure.lab.matrix import MATRIX
from tautochrone.run.catalogue import CatalogueEntry
from tautochrone.run.facts import Facts, FactTable
from tautochrone.run.store import Store


@dataclass(frozen=True)
class Agenda:
    """A plan, expanded and ordered.

    Attributes:
        points: by key, as the plan lists them.
        campaign: the one that is continued, or a new one.
        slots: all of them, in their order.
        required: of the points, by key.
    """

    document: PlanDocument
    points: Mapping[str, PlanPoint]
    campaign: Campaign
    slots: tuple[Slot, ...]
    required: Required = field(default_factory=dict)

    @property
    def finished(self) -> dict[tuple[str, int], CatalogueEntry]:
        """Return the finished run of each slot that has one, by the key of the point and the repetition."""
        wanted = {(slot.key, slot.block) for slot in self.slots}
        return {key: run for key, run in self.campaign.finished().items() if key in wanted}

    @property
    def left(self) -> tuple[Slot, ...]:
        """Return the slots that are not finished."""
        finished = self.finished
        return tuple(slot for slot in self.slots if (slot.key, slot.block) not in finished)

    @property
    def ahead(self) -> tuple[Slot, ...]:
        """Of these, the ones that were not refused the last time: what is refused again takes no time."""
        refused = self.campaign.refused
        return tuple(slot for slot in self.left if slot.key not in refused)

    @property
    def first_look(self) -> int:
        """Return the repetitions of each point at the first look: of one that was begun so, what it was then.

        Other repetitions in the plan would move the looks, and all of them together might err too often.
        """
        return first_look_of(self.campaign) or self.document.repetitions

    @property
    def continues(self) -> bool:
        """Return whether it was begun before."""
        return bool(self.campaign.entries)

    def cell(self, slot: Slot, command: tuple[str, ...] = ()) -> Cell:
        """Return the case of a slot, without its deployment, which depends on the machine."""
        point = self.points[slot.key]
        points = tuple(self.points.values())
        told = condition(self.campaign, self.document, points, point, slot, self.required)
        return Cell(
            experiment=point.experiment,
            options=point.prepared.options,
            title=point.name,
            load=point.load,
            expected_s=point.prepared.expected_s,
            command=command,
            conditions=replace(point.prepared.conditions, plan=told),
        )

    def anew(self) -> "Agenda":
        """Return the same plan, with nothing finished."""
        return _agenda(self.document, tuple(self.points.values()), None)


def make_agenda(
    document: PlanDocument, store: Store, *, again: bool = False, held: ExitStack | None = None
) -> Agenda:
    """Expand a plan and see how far it is.

    Args:
        again: begin a new plan run whatever there is.
        held: until it is closed, no other process measures this plan; None: it is only looked at.

    Raises:
        UsageError: the plan names what is not there, or requires what nobody measures.
        StoreError: the store can't be read, or another process is measuring this plan.
    """
    points = _points(document)
    key = _key(document, points)
    if held is not None:
        held.enter_context(store.alone(key, f"The plan '{document.title}'"))
    found = latest(store, key)
    if found is not None and found.being_measured:
        raise StoreError(
            f"The plan '{document.title}' is being measured at this moment, as {found.id}",
            "Wait until that is finished, or stop it.",
        )
    return _agenda(document, points, None if again else found)


def plan_key(document: PlanDocument) -> str:
    """Return what tells its plan runs from those of any other plan."""
    return _key(document, _points(document))


def _points(document: PlanDocument) -> tuple[PlanPoint, ...]:
    return expand(document, lambda name: meaning_of(name, document.path.parent))


def _key(document: PlanDocument, points: Sequence[PlanPoint]) -> str:
    """Return the key; a machine that is added to a fleet, or taken out of it, does not change it."""
    if document.fleet:
        points = _points(of_machines(document, {document.fleet: ""}, document.fleet))
    return key_of(points, document.order, document.seed)


def other_system(
    agenda: Agenda, store: Store, facts: Mapping[str, FactTable], guests: Mapping[str, str]
) -> str | None:
    """The system that is not what the plan run was begun on, such as one with a new kernel; None: all are.

    Args:
        facts: about each system that answers, by its name.
        guests: of those that are guests of the virtual lab, what tells the machine from others.
    """
    seen: set[str] = set()
    for (key, _), entry in agenda.finished.items():
        system = agenda.points[key].system
        if system in facts and system not in seen:
            seen.add(system)
            stored, now = store.open(entry.id).manifest.known, Facts.from_table(facts[system])
            virtual = entry.conditions.virtual
            # A deployment boots a guest with parameters of its own; what it consists of tells it.
            booted_alike = (
                stored.kernel.command_line == now.kernel.command_line
                if virtual is None
                else virtual.machine == guests.get(system)
            )
            if not booted_alike or not same_system(stored, now):
                return system
    return None


def with_options(document: PlanDocument, repetitions: int | None, seed: int | None) -> PlanDocument:
    """Return the plan with what was said on the command line.

    Raises:
        UsageError: a number can't be.
    """
    if repetitions is not None and repetitions < 1:
        raise UsageError(f"--repetitions {repetitions}: nothing would be measured", "Give 1 or more.")
    if repetitions is not None and repetitions > MOST_REPETITIONS:
        raise UsageError(
            f"--repetitions {repetitions}: a plan has at most {MOST_REPETITIONS:,}", "Give fewer."
        )
    if seed is not None and seed < 0:
        raise UsageError(f"--seed {seed}: a seed is a whole number from 0", "Leave it out to have one drawn.")
    return replace(
        document,
        repetitions=document.repetitions if repetitions is None else repetitions,
        seed=document.seed if seed is None else seed,
    )


def _agenda(document: PlanDocument, points: Sequence[PlanPoint], found: Campaign | None) -> Agenda:
    campaign = found
    if campaign is None:
        seed = draw_seed() if document.seed is None else document.seed
        campaign = begin(
            _key(document, points),
            document.title,
            seed,
            OF_MATRIX if document.grid == MATRIX else PREFIX,
        )
    keys = [point.key for point in points]
    return Agenda(
        document=document,
        points={point.key: point for point in points},
        campaign=campaign,
        slots=arrange(keys, document.repetitions, campaign.seed, document.order),
        required=requirements(document, points),
    )
