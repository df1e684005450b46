"""Deployments by name: the six of delgado2020, Table 1, for the machine at hand; files; the user's own."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.machine.cpulist import CPUS, format_cpu_list, online_cpus, present_cpus
from tautochrone.machine.deployment.deployment import Deployment, read_deployment
from tautochrone.machine.files import Files
from tautochrone.machine.knob.online import Smt, cores_on_line
from tautochrone.machine.tree import Tree

ORIGIN = "delgado2020, Table 1"
NAMES = ("CHM", "HM", "HMI", "M", "MI", "Single")
_SAME_WITHOUT_SMT = {"HM": "M", "HMI": "MI"}
_WORDS = {"C": "C-states", "H": "SMT", "M": "several cores", "I": "isolated CPUs"}


@dataclass(frozen=True)
class BuiltIn:
    """One of the six, on one machine.

    Attributes:
        deployment: what it is here.
        cannot: why this machine can't have it, in words; None: it can.
        same_as: the name of another that is the same thing here; None: there is none.
        note: why it is the same, in words.
    """

    deployment: Deployment
    cannot: str | None = None
    same_as: str | None = None
    note: str = ""


@dataclass(frozen=True)
class Topology:
    """The CPUs of a machine as the six need them.

    Attributes:
        cores: the CPUs of each core, those of the first CPU's core first.
        first: the CPU that stays for everything else, and alone in Single.
        has_smt: whether several CPUs share a core.
        hidden: CPUs that are off line, whose cores therefore can't be told.
        smt: whether SMT can be changed, and what it is: "on", "off" or None.
    """

    cores: tuple[tuple[int, ...], ...]
    first: int
    has_smt: bool
    hidden: tuple[int, ...]
    smt: str | None


def topology(tree: Tree) -> Topology:
    """Read it. The first CPU is one that can't go off line, if there is such a one: mostly CPU 0."""
    cores = tuple(sorted(cores_on_line(tree)))
    online = online_cpus(tree)
    fixed = [cpu for cpu in online if not tree.exists(f"{CPUS}/cpu{cpu}/online")]
    smt = Smt()
    return Topology(
        cores=cores,
        first=min(fixed or online, default=0),
        has_smt=any(len(core) > 1 for core in cores),
        hidden=tuple(cpu for cpu in present_cpus(tree) if cpu not in online),
        smt=smt.read(tree) if smt.available(tree) is None else None,
    )


def built_in(tree: Tree) -> tuple[BuiltIn, ...]:
    """The six, in the paper's order."""
    machine = topology(tree)
    return tuple(_one(name, machine) for name in NAMES)


def _one(name: str, machine: Topology) -> BuiltIn:
    hyper, isolates, single = "H" in name, name.endswith("I"), name == "Single"
    seen = tuple(cpu for core in machine.cores for cpu in core)
    stays: tuple[int, ...]
    if single:
        stays = (machine.first,)
    elif hyper:
        stays = seen if machine.smt != "off" else tuple(sorted((*seen, *machine.hidden)))
    else:
        stays = tuple(_kept(core, machine.first) for core in machine.cores)
    isolated = tuple(cpu for cpu in stays if cpu != machine.first) if isolates else ()
    settings = {"c-states": "any" if "C" in name else "0us"}
    if machine.smt is not None:
        settings["smt"] = "on" if hyper else "off"
    if single or not (hyper and machine.smt == "off"):
        settings["online"] = format_cpu_list(stays)
    settings["isolated"] = format_cpu_list(isolated) or "none"
    if isolates:
        settings["interrupts"] = str(machine.first)
    deployment = Deployment(
        name=name,
        title=_title(name),
        settings=settings,
        measure=format_cpu_list(_measured(isolated, machine) or stays),
        load=format_cpu_list(cpu for cpu in stays if cpu not in isolated),
        origin=ORIGIN,
    )
    same_as, because = _same_as(name, stays, machine)
    return BuiltIn(deployment, _cannot(name, stays, machine), same_as, because)


def _same_as(name: str, stays: tuple[int, ...], machine: Topology) -> tuple[str | None, str]:
    """Which other it is the same as here, and why."""
    if name == "M" and len(stays) == 1:
        return "Single", "there is only one core, so it is the same as Single"
    other = _SAME_WITHOUT_SMT.get(name)
    if other is None or machine.has_smt or machine.smt == "off":
        return None, ""
    return other, f"no core here has several CPUs, so it is the same as {other}"


def _cannot(name: str, stays: tuple[int, ...], machine: Topology) -> str | None:
    if not machine.cores:
        return "which CPUs are on line can't be read"
    if name.endswith("I") and len(stays) < 2:
        return "it has one CPU then, so none can be isolated"
    if name == "HMI" and machine.smt == "off":
        return "SMT is off, so it can't be seen which CPUs share a core: apply HM first"
    return None


def _measured(isolated: tuple[int, ...], machine: Topology) -> tuple[int, ...]:
    """The isolated CPUs, without those that share a core with the rest of the system, if others are left."""
    busy = next((core for core in machine.cores if machine.first in core), ())
    return tuple(cpu for cpu in isolated if cpu not in busy) or isolated


def _kept(core: tuple[int, ...], first: int) -> int:
    return first if first in core else core[0]


def _title(name: str) -> str:
    if name == "Single":
        return "one CPU on line, C-states off"
    on = [word for letter, word in _WORDS.items() if letter in name]
    off = [_WORDS[letter] for letter in ("C", "H") if letter not in name]
    return ", ".join(on) + (f"; without {' and '.join(off)}" if off else "")


def choose(name: str, files: Files) -> Deployment:
    """The deployment of this name on this machine, or in this file.

    Args:
        name: CHM, HM, HMI, M, MI or Single; the path of a TOML file; or the name of one in `own_folder`.
        files: of the machine on which it is meant to be applied.

    Raises:
        UsageError: there is none, this machine can't have it, or its file is wrong.
    """
    six = built_in(Tree(files))
    for one in six:
        if one.deployment.name.lower() == name.lower():
            return _possible(one)
    path = Path(name)
    if path.suffix == ".toml" or path.is_file():
        return read_deployment(path)
    for own in own_files():
        if own.stem == name:
            return read_deployment(own)
    names = [*(one.deployment.name for one in six), *(own.stem for own in own_files())]
    near = get_close_matches(name, names, 1)
    advice = (
        f"Did you mean {near[0]}?" if near else f"There are {', '.join(names)}, and TOML files by their path."
    )
    raise UsageError(f"there is no deployment '{name}'", advice)


def own_folder() -> Path:
    """Where a user keeps deployments: ``deployments`` in the configuration folder of Tautochrone."""
    from platformdirs import user_config_path

    return user_config_path("tautochrone") / "deployments"


def own_files() -> Iterator[Path]:
    """The files in `own_folder`, sorted."""
    yield from sorted(own_folder().glob("*.toml"))


def _possible(one: BuiltIn) -> Deployment:
    if one.cannot:
        raise UsageError(
            f"this machine can't have the deployment {one.deployment.name}: {one.cannot}",
            "`tauto deploy list` shows which it can have.",
        )
    return one.deployment
