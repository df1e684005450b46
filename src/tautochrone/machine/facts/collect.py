"""All groups of facts together, and as plain JSON."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from tautochrone.base.errors import DamagedError
from tautochrone.machine.facts.ahead import read_ahead
from tautochrone.machine.facts.clock import ClockFacts, observe_clock
from tautochrone.machine.facts.confinement import ConfinementFacts, observe_confinement
from tautochrone.machine.facts.cpu import CpuFacts, observe_cpu
from tautochrone.machine.facts.firmware import FirmwareFacts, observe_firmware
from tautochrone.machine.facts.interrupts import InterruptFacts, observe_interrupts
from tautochrone.machine.facts.isolation import IsolationFacts, observe_isolation
from tautochrone.machine.facts.kernel import KernelFacts, observe_kernel
from tautochrone.machine.facts.limits import LimitFacts, observe_limits
from tautochrone.machine.facts.memory import MemoryFacts, observe_memory
from tautochrone.machine.facts.once import ReadOnce
from tautochrone.machine.facts.platform import MachineFacts, observe_machine
from tautochrone.machine.facts.power import PowerFacts, observe_power
from tautochrone.machine.facts.tracing import TracingFacts, observe_tracing
from tautochrone.machine.files import Files, LocalFiles
from tautochrone.machine.tree import Tree

FactTable = dict[str, dict[str, Any]]
"""Facts as JSON: group -> name -> text, number, truth value, list of these, or None."""


@dataclass(frozen=True)
class ReadingFacts:
    """How the facts were read."""

    effective_uid: int | None = None
    refused: tuple[str, ...] | None = None
    """Paths that are there but that this user may not read."""

    def reason(self, *paths: str) -> str:
        """Why none of these paths gave an answer, in words."""
        if refused := [path for path in paths if path in (self.refused or ())]:
            return f"{refused[0]} may not be read by this user"
        return f"{paths[0]} is not there" if len(paths) == 1 else f"neither {' nor '.join(paths)} is there"


@dataclass(frozen=True)
class Facts:
    """Everything observed, one group per concern."""

    machine: MachineFacts = field(default_factory=MachineFacts)
    kernel: KernelFacts = field(default_factory=KernelFacts)
    cpu: CpuFacts = field(default_factory=CpuFacts)
    isolation: IsolationFacts = field(default_factory=IsolationFacts)
    power: PowerFacts = field(default_factory=PowerFacts)
    interrupts: InterruptFacts = field(default_factory=InterruptFacts)
    clock: ClockFacts = field(default_factory=ClockFacts)
    memory: MemoryFacts = field(default_factory=MemoryFacts)
    confinement: ConfinementFacts = field(default_factory=ConfinementFacts)
    limits: LimitFacts = field(default_factory=LimitFacts)
    tracing: TracingFacts = field(default_factory=TracingFacts)
    firmware: FirmwareFacts = field(default_factory=FirmwareFacts)
    reading: ReadingFacts = field(default_factory=ReadingFacts)

    def to_table(self) -> FactTable:
        """The facts as JSON values."""
        return {
            group: {name: list(value) if isinstance(value, tuple) else value for name, value in facts.items()}
            for group, facts in asdict(self).items()
        }

    @classmethod
    def from_table(cls, table: Mapping[str, Mapping[str, Any]]) -> "Facts":
        """Facts as stored with a run. Unknown names are ignored, missing ones are None.

        Raises:
            DamagedError: a value is not of the kind that its name stands for.
        """
        groups: dict[str, Any] = {}
        for group in fields(cls):
            kind: Any = group.default_factory
            kinds = _annotations(kind)
            stored = table.get(group.name, {})
            known = {item.name: _as_stored(stored[item.name]) for item in fields(kind) if item.name in stored}
            for name, value in known.items():
                if not _is_of(value, kinds[name]):
                    raise DamagedError(f"the fact {group.name}.{name} can't be {value!r}")
            groups[group.name] = kind(**known)
        return cls(**groups)


@cache
def _annotations(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _as_stored(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _is_of(value: Any, hint: Any) -> bool:
    """Whether a value fits an annotation made of scalars, None and tuples of one scalar."""
    allowed = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    for kind in allowed:
        if get_origin(kind) is tuple:
            if isinstance(value, tuple) and all(_is_of(item, get_args(kind)[0]) for item in value):
                return True
        elif kind is float:
            if isinstance(value, int | float) and not isinstance(value, bool):
                return True
        elif isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
            return True
    return False


def observe(place: Path | Files = Path("/"), *, hostname: bool = False) -> Facts:
    """Read the facts about a system.

    Args:
        place: the machine's files, or the folder where its ``/proc``, ``/sys`` and ``/boot`` lie; a folder
            with copies serves as well.
        hostname: keep the host's name too. By default it is not stored.

    Returns:
        The facts. What can't be known is None; nothing is raised.
    """
    tree = Tree(ReadOnce(LocalFiles(place) if isinstance(place, Path) else place))
    read_ahead(tree)
    cpu, kernel = observe_cpu(tree), observe_kernel(tree)
    observed = {
        "machine": observe_machine(tree, hostname=hostname),
        "kernel": kernel,
        "cpu": cpu,
        "isolation": observe_isolation(tree),
        "power": observe_power(tree),
        "interrupts": observe_interrupts(tree, cpu.isolated),
        "clock": observe_clock(tree),
        "memory": observe_memory(tree),
        "confinement": observe_confinement(tree),
        "limits": observe_limits(tree),
        "tracing": observe_tracing(tree, kernel.option("TRACING")),
        "firmware": observe_firmware(tree),
    }
    return Facts(**observed, reading=_observe_reading(tree))  # type: ignore[arg-type]


def gather(place: Path | Files = Path("/"), *, hostname: bool = False) -> FactTable:
    """`observe` as JSON values, to be stored with a run: group -> name -> value.

    The host's name is not stored unless asked for; neither are serial numbers.
    """
    return observe(place, hostname=hostname).to_table()


def _observe_reading(tree: Tree) -> ReadingFacts:
    uids = re.search(r"^Uid:\s+\d+\s+(\d+)", tree.text("/proc/self/status") or "", re.MULTILINE)
    return ReadingFacts(effective_uid=int(uids[1]) if uids else None, refused=tuple(tree.refused))
