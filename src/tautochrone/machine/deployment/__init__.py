"""Deployments, how a machine's CPUs are used: read from TOML, or by name the six of delgado2020, Table 1."""

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.base.toml import mistake, read_toml
from tautochrone.base.words import suggestion
from tautochrone.machine.cpulist import CPUS, check_cpus, format_cpu_list, online_cpus, present_cpus
from tautochrone.machine.knob import KNOBS
from tautochrone.machine.knob.cpus import Smt, cores_on_line
from tautochrone.machine.knob.power import NO_STATES
from tautochrone.machine.named_deployments import NAMES, own_files, without_a_file
from tautochrone.machine.tree import Files, Tree
from tautochrone.run.conditions import Obtained

_TEXTS = ("name", "title", "measure", "load")
_KEYS = (*_TEXTS, "settings")
_Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Deployment:
    """How the CPUs of one machine are used.

    Attributes:
        name: as people write it: "MI", or the name in its file.
        title: what it is, in words.
        settings: knob -> value as people write it; what is not named stays as it is.
        measure: CPUs of the measuring threads, as a CPU list; None: as each experiment chooses.
        load: CPUs of the background loads, as a CPU list; None: all.
        origin: where it is from: "delgado2020, Table 1", or a file's path.
    """

    name: str
    title: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    measure: str | None = None
    load: str | None = None
    origin: str = ""


def as_condition(deployment: Deployment, obtained: tuple[Obtained, ...]) -> dict[str, object]:
    """Return what is stored with a run, as JSON has it; each of its ``settings`` is an `Obtained`."""
    names = ("name", "title", "origin", "measure", "load")
    return {
        **{name: getattr(deployment, name) for name in names},
        "settings": [asdict(one) for one in obtained],
    }


def read_deployment(path: Path) -> Deployment:
    """Read a deployment's file."""
    text, table = read_toml(path, "a deployment", "Texts stand in quotes; settings stand below [settings].")
    typed = shlex.quote(str(path))
    if "experiment" in table:
        raise UsageError(f"'{path}' is a plan, not a deployment", f"Carry it out: tauto run {typed}.")
    if "task" in table:
        raise UsageError(f"'{path}' is a task set, not a deployment", f"Look at it: tauto analyse {typed}.")
    return deployment_of(table, text, str(path), name=path.name.removesuffix(".toml"))


def deployment_of(
    table: Mapping[str, object], text: str, origin: str, at: _Place = (), name: str = ""
) -> Deployment:
    """Read a deployment's table, which lies at `at` in the text of the file `origin`.

    `name` is used where the table has none.

    Raises:
        UsageError: something in it is wrong: the file, the line, the value and the fix.
    """

    def wrong(place: _Place, error: UsageError) -> UsageError:
        return mistake(origin, text, (*at, *place), str(error), error.advice)

    for key, value in table.items():
        if key not in _KEYS:
            raise wrong((key,), UsageError(f"a deployment has no '{key}'", suggestion(key, _KEYS)))
        if key in _TEXTS and not isinstance(value, str | int):
            raise wrong((key,), UsageError(f"'{key}' must be a text", f'Write it as {key} = "…".'))
    texts = {key: str(table[key]) for key in _TEXTS if key in table}
    settings = table.get("settings", {})
    if not isinstance(settings, Mapping):
        raise wrong(("settings",), UsageError("'settings' must be a table", "Begin it with [settings]."))
    words: dict[str, str] = {}
    for knob, value in settings.items():
        try:
            words[knob] = _checked(knob, value)
        except UsageError as error:
            raise wrong(("settings", knob), error) from error
    for key in ("measure", "load"):
        try:
            check_cpus(texts.get(key, "all"))
        except UsageError as error:
            raise wrong((key,), UsageError(f"{key}: {error}", error.advice)) from error
    called = texts.get("name", name)
    if not called:
        raise wrong((), UsageError("the deployment has no name", 'Give it one: name = "mine".'))
    return Deployment(called, texts.get("title", ""), words, texts.get("measure"), texts.get("load"), origin)


def _checked(name: str, value: object) -> str:
    """A knob's value as a text. Numbers and true and false are taken as they are meant."""
    knob = next((one for one in KNOBS if one.name == name), None)
    if knob is None:
        raise UsageError(f"there is no setting '{name}'", suggestion(name, [one.name for one in KNOBS]))
    if isinstance(value, bool):
        value = "on" if value else "off"
    if not isinstance(value, str | int):
        raise UsageError(f"{name}: {value!r} is not a text", f'Write it as {name} = "…".')
    try:
        knob.check(str(value))
    except UsageError as error:
        raise UsageError(f"{name}: {error}", error.advice) from error
    return str(value)


# Deployments by name: the six of delgado2020, Table 1, for the machine at hand; files; the user's
# own.

ORIGIN = "delgado2020, Table 1"
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


def built_in(tree: Tree) -> tuple[BuiltIn, ...]:
    """Return the six, in the paper's order."""
    machine = _Topology(tree)
    return tuple(machine.built_in(name) for name in NAMES)


class _Topology:
    """The CPUs of a machine as the six need them: its cores, and whether SMT can be changed.

    The first CPU stays for everything else, and alone in Single. It is one that can't go off line, if there
    is such a one: mostly CPU 0.
    """

    def __init__(self, tree: Tree) -> None:
        online, smt = online_cpus(tree), Smt()
        self.is_emulated = tree.files.are_of_emulated_cpus
        fixed = [cpu for cpu in online if not tree.exists(f"{CPUS}/cpu{cpu}/online")]
        self.cores = sorted(cores_on_line(tree))
        self.first = min(fixed or online, default=0)
        self.has_smt = any(len(core) > 1 for core in self.cores)
        # Their cores can't be told.
        self.hidden = [cpu for cpu in present_cpus(tree) if cpu not in online]
        self.smt = smt.read(tree) if smt.available(tree) is None else None

    def built_in(self, name: str) -> BuiltIn:
        hyper, isolates, single = "H" in name, name.endswith("I"), name == "Single"
        if single:
            stays = [self.first]
        elif hyper:
            seen = [cpu for core in self.cores for cpu in core]
            stays = seen if self.smt != "off" else sorted((*seen, *self.hidden))
        else:
            stays = [self.first if self.first in core else core[0] for core in self.cores]
        isolated = [cpu for cpu in stays if cpu != self.first] if isolates else []
        settings = {"c-states": "any" if "C" in name else "0us"}
        if self.smt is not None:
            settings["smt"] = "on" if hyper else "off"
        if single or not (hyper and self.smt == "off"):
            settings["online"] = format_cpu_list(stays)
        settings["isolated"] = format_cpu_list(isolated) or "none"
        if isolates:
            settings["interrupts"] = str(self.first)
        # Not those that share a core with the rest of the system, if others are left.
        busy = next((core for core in self.cores if self.first in core), ())
        measured = [cpu for cpu in isolated if cpu not in busy] or isolated or stays
        load = format_cpu_list(cpu for cpu in stays if cpu not in isolated)
        deployment = Deployment(name, _title(name), settings, format_cpu_list(measured), load, origin=ORIGIN)
        return BuiltIn(deployment, self._cannot(name, len(stays)), *self._same_as(name, len(stays)))

    def _same_as(self, name: str, count: int) -> tuple[str | None, str]:
        """Return which other it is the same as here, and why."""
        if name == "M" and count == 1:
            return "Single", "there is only one core, so it is the same as Single"
        other = _SAME_WITHOUT_SMT.get(name)
        if other is None or self.has_smt or self.smt == "off":
            return None, ""
        return other, f"no core here has several CPUs, so it is the same as {other}"

    def _cannot(self, name: str, count: int) -> str | None:
        if not self.cores:
            return "which CPUs are online can't be read"
        if "C" in name and self.is_emulated:
            return f"{NO_STATES}, so it would be HM"
        if name.endswith("I") and count < 2:
            return "it has one CPU then, so none can be isolated"
        if name == "HMI" and self.smt == "off":
            return "SMT is off, so it can't be seen which CPUs share a core: apply HM first"
        return None


def _title(name: str) -> str:
    if name == "Single":
        return "one CPU online, C-states off"
    on = [word for letter, word in _WORDS.items() if letter in name]
    off = [_WORDS[letter] for letter in ("C", "H") if letter not in name]
    return ", ".join(on) + (f"; without {' and '.join(off)}" if off else "")


def choose(name: str, files: Files) -> Deployment:
    """Return the deployment that is meant on the machine with these files.

    Its name is CHM, HM, HMI, M, MI or Single; the path of a TOML file; or the name of one in `own_folder`.

    Raises:
        UsageError: there is none, this machine can't have it, or its file is wrong.
    """
    six = {one.deployment.name: one for one in built_in(Tree(files))}
    if (meant := without_a_file(name, six)) is not None:
        if six[meant].cannot:
            raise UsageError(
                f"this machine can't have the deployment {meant}: {six[meant].cannot}",
                "`tauto tune list` shows which it can have.",
            )
        return six[meant].deployment
    path, own = Path(name), {one.stem: one for one in own_files()}
    if path.suffix == ".toml" or path.is_file():
        return read_deployment(path)
    if name in own:
        return read_deployment(own[name])
    every = f"There are: {', '.join([*six, *own])}, and TOML files by their path."
    raise UsageError(f"there is no deployment '{name}'", suggestion(name, [*six, *own], every))
