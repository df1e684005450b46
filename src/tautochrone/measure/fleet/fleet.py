"""A fleet as people write it, in TOML: the machines on which a plan is measured side by side.

    place = "each"                # each case on every machine; or "any": on any one that is free
    patience = "2min"             # how long a machine that was lost may take to come back
    exchange = "/shared/tauto"    # of Slurm, where its nodes do not see the store: a folder that they see
    scratch = "/local"            # of Slurm: measure on a node's own disk, then copy

    [[machine]]
    name = "board1"
    on = "ssh:root@192.168.7.2"   # as --on takes it: local, ssh:, lab:, labgrid:; or slurm:PARTITION
    tags = ["rt", "imx8"]
    recover = "relay board1 off; sleep 1; relay board1 on"   # tried once when it does not answer

What stands after --fleet is the file and, with commas, what is chosen of it: ``fleet.toml,tag=rt,place=any``.
Every mistake is a `UsageError` that begins with the file and the line.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from tautochrone.base import toml
from tautochrone.base.errors import UsageError
from tautochrone.base.units import parse_duration_ns
from tautochrone.base.words import suggestion
from tautochrone.measure.document.document import PlanDocument
from tautochrone.measure.document.expand import of_machines
from tautochrone.measure.fleet.partition import SLURM, read_partition
from tautochrone.run.conditions import LOCAL
from tautochrone.target.address import is_of_lab, read_address

Place = Literal["each", "any"]
PLACES: tuple[Place, ...] = ("each", "any")
ANY = "any"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_FORM = "Write the file, and with commas what is chosen of it: fleet.toml,tag=rt,place=any."
_USUAL_PATIENCE_S = 120.0
_OF_FLEET = ("place", "patience", "exchange", "scratch", "machine")
_OF_MACHINE = ("name", "on", "tags", "recover")


@dataclass(frozen=True)
class FleetMachine:
    """One machine of a fleet.

    Attributes:
        name: in reports, and in the keys of its cases: it stays the same when the address changes.
        on: how it is reached.
        recover: a shell command that makes it answer again; empty: there is none.
    """

    name: str
    on: str
    tags: tuple[str, ...] = ()
    recover: str = ""


@dataclass(frozen=True)
class Fleet:
    """The machines that were chosen.

    Attributes:
        place: where a case is measured: on each of them, or on any.
        patience_s: how long one that was lost may take to come back.
        said: the tags by which it was chosen.
        exchange: the folder that Slurm's nodes see, too; None: they see the store.
        scratch: a folder of a node's own disk, where it measures before it copies; None: it needs none.
    """

    machines: tuple[FleetMachine, ...]
    place: Place = "each"
    patience_s: float = _USUAL_PATIENCE_S
    said: tuple[str, ...] = ()
    exchange: Path | None = None
    scratch: Path | None = None

    @property
    def is_of_slurm(self) -> bool:
        """Return whether its machines are Slurm's."""
        return any(one.on.startswith(SLURM) for one in self.machines)

    def of(self, system: str) -> tuple[FleetMachine, ...]:
        """Return the machines that may measure a case that has this system."""
        return tuple(one for one in self.machines if self.place == ANY or one.name == system)


def on_fleet(document: PlanDocument, fleet: Fleet) -> PlanDocument:
    """Return the plan on these machines: a system for each, or one that stands for any of them.

    Any of them is a guest of the virtual lab only if all are.
    """
    if fleet.place != ANY:
        return of_machines(document, {one.name: one.on for one in fleet.machines}, fleet.place)
    name = "+".join((ANY, *fleet.said))
    usual = min(fleet.machines, key=lambda one: is_of_lab(one.on))
    return of_machines(document, {name: usual.on}, name)


def read_fleet(said: str) -> Fleet:
    """Read what stands after --fleet.

    Raises:
        UsageError: the file is wrong, or no machine of it is meant.
    """
    name, *words = said.split(",")
    text, table = toml.read_toml(Path(name), "a fleet", "A machine is [[machine]], with a name and on.")
    fleet = _Reader(text, Path(name)).fleet(table)
    for word in words:
        key, _, value = word.partition("=")
        if key == "place" and value in PLACES:
            fleet = replace(fleet, place="any" if value == ANY else "each")
        elif key == "place":
            raise UsageError(f"--fleet {said}: a place is 'each' or 'any', not '{value}'", _FORM)
        elif key == "tag" and value:
            fleet = _tagged(fleet, value, said)
        else:
            raise UsageError(f"--fleet {said}: '{word}' chooses nothing", _FORM)
    _see_alike(fleet, said)
    return fleet


def _tagged(fleet: Fleet, tag: str, said: str) -> Fleet:
    chosen = tuple(one for one in fleet.machines if tag in one.tags)
    if not chosen:
        tags = list(dict.fromkeys(tag for one in fleet.machines for tag in one.tags))
        raise UsageError(
            f"--fleet {said}: no machine of these has the tag '{tag}'", suggestion(tag, tags) if tags else ""
        )
    return replace(fleet, machines=chosen, said=(*fleet.said, tag))


def _see_alike(fleet: Fleet, said: str) -> None:
    of_slurm = [one.name for one in fleet.machines if one.on.startswith(SLURM)]
    if of_slurm and len(of_slurm) < len(fleet.machines):
        raise UsageError(
            f"--fleet {said}: {of_slurm[0]} is Slurm's and others are not, and one run can't do both",
            "Give each kind a tag, and choose one: fleet.toml,tag=slurm.",
        )
    here = next((one.name for one in fleet.machines if one.on == LOCAL), None)
    guest = next((one.name for one in fleet.machines if is_of_lab(one.on)), None)
    if here is not None and guest is not None:
        raise UsageError(
            f"--fleet {said}: {guest} is a guest that runs on this machine, and would disturb what {here} "
            "measures at the same time",
            "Give each kind a tag, and choose one: fleet.toml,tag=virtual.",
        )


class _Reader(toml.TomlReader):
    """Reads the tables of a fleet."""

    def __init__(self, text: str, path: Path) -> None:
        super().__init__(text, path)

    def fleet(self, table: toml.Table) -> Fleet:
        self._only(table, _OF_FLEET, (), "a fleet")
        machines: list[FleetMachine] = []
        for number, one in enumerate(self._tables(table, "machine")):
            machine = self._machine(one, ("machine", number))
            if any(machine.name == other.name for other in machines):
                raise self._mistake(
                    ("machine", number, "name"), f"two machines are called '{machine.name}'", "Rename one."
                )
            machines.append(machine)
        if not machines:
            raise self._mistake(
                (), "there is no machine in it", 'Write one: [[machine]], name = "board1", on = "ssh:root@…".'
            )
        return Fleet(
            tuple(machines),
            self._choice(table, "place", PLACES, PLACES[0]),
            self._patience(table),
            exchange=self._folder(table, "exchange"),
            scratch=self._folder(table, "scratch"),
        )

    def _folder(self, table: toml.Table, key: str) -> Path | None:
        if key not in table:
            return None
        path = Path(self._line(table, key, ()))
        if not path.is_absolute():
            raise self._mistake((key,), f"'{key}' is '{path}'", "Write a path from / on, as nodes see it.")
        return path

    def _patience(self, table: toml.Table) -> float:
        if "patience" not in table:
            return _USUAL_PATIENCE_S
        try:
            return parse_duration_ns(self._line(table, "patience", ())) / 1e9
        except UsageError as error:
            raise self._mistake(("patience",), str(error), error.advice) from error

    def _machine(self, table: toml.Table, place: toml.Path) -> FleetMachine:
        self._only(table, _OF_MACHINE, place, "a machine")
        for key in ("name", "on"):
            if key not in table:
                raise self._mistake(
                    place, f"this machine has no '{key}'", 'Write name = "board1" and on = "ssh:root@board1".'
                )
        name, on = self._line(table, "name", place), self._line(table, "on", place)
        if not _NAME.fullmatch(name) or name == ANY:
            raise self._mistake(
                (*place, "name"), f"'{name}' can't name a machine", "Use a-z, 0-9, ., _ and -."
            )
        try:
            read_partition(on) if on.startswith(SLURM) else read_address(on)
        except UsageError as error:
            raise self._mistake((*place, "on"), str(error), error.advice) from error
        recover = self._line(table, "recover", place) if "recover" in table else ""
        return FleetMachine(name, on, self._tags(table, place), recover)

    def _tags(self, table: toml.Table, place: toml.Path) -> tuple[str, ...]:
        tags = table.get("tags", [])
        if (
            not isinstance(tags, Sequence)
            or isinstance(tags, str)
            or not all(isinstance(one, str) and _NAME.fullmatch(one) for one in tags)
        ):
            raise self._mistake((*place, "tags"), "'tags' is not a list of words", 'Write tags = ["rt"].')
        return tuple(dict.fromkeys(tags))
