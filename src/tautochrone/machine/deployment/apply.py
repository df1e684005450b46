"""Applying a deployment to a machine, putting everything back, and what a machine can have."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from tautochrone.base.errors import UsageError
from tautochrone.base.faults import Fault, attempt
from tautochrone.base.reading import read_text
from tautochrone.base.toml import mistake
from tautochrone.machine.cpulist import format_cpu_list, named_cpus, online_cpus
from tautochrone.machine.deployment import BuiltIn, Deployment, built_in, read_deployment
from tautochrone.machine.knob import KNOBS
from tautochrone.machine.knob.isolated import groups
from tautochrone.machine.knob.knob import Knob
from tautochrone.machine.named_deployments import own_files
from tautochrone.machine.settings import MachineSettings, NotPutBackError, SettingError, Write
from tautochrone.machine.tree import Files, Tree
from tautochrone.run.conditions import Obtained


@dataclass(frozen=True)
class Places:
    """Where programs must begin on a machine whose CPUs a deployment has divided; all empty where it has not.

    Attributes:
        joins: files that a measuring program joins before it begins.
        threads_join: file that each of its threads joins that is pinned to a CPU outside the program's group.
        load_joins: files that a load joins before it begins.
    """

    joins: tuple[str, ...] = ()
    threads_join: str | None = None
    load_joins: tuple[str, ...] = ()


@dataclass(frozen=True)
class Deployed:
    """A deployment in force.

    Attributes:
        obtained: each setting that was asked for or has changed, read back.
        places: where programs must begin.
        measure_cpus: the CPUs of the measuring threads; None: as each experiment chooses.
        load_cpus: the CPUs of the loads; None: all.
        changed: something was changed, which is to be put back.
    """

    obtained: tuple[Obtained, ...]
    places: Places
    measure_cpus: tuple[int, ...] | None
    load_cpus: tuple[int, ...] | None
    changed: bool


def places(files: Files) -> Places:
    """Where programs must begin now, whoever applied what is in force."""
    found = groups(Tree(files))
    if found is None:
        return Places()
    program, threads, loads = found
    return Places((program,), threads, (loads,) if loads else ())


@contextmanager
def deployed(
    deployment: Deployment, files: Files, change_settings: Callable[[str], MachineSettings]
) -> Iterator[Deployed]:
    """Apply a deployment for as long as the block lasts; `change_settings` is given its name.

    Raises:
        UsageError: this machine can't have a value in it. Nothing was changed.
        SettingError: the machine refused a change.
        NotPutBackError: something could not be put back, whatever else went wrong.
    """
    application = Application(deployment, files, change_settings)
    wrong: BaseException | None = None
    try:
        yield application.apply()
    except BaseException as error:
        wrong = error
        raise
    finally:
        try:
            application.undo()
        except SettingError as error:
            raise NotPutBackError(str(error), error.advice) from wrong or error


@dataclass
class Application:
    """One deployment on its way onto a machine: apply it, then undo or leave it."""

    deployment: Deployment
    files: Files
    change_settings: Callable[[str], MachineSettings]
    _settings: MachineSettings | None = field(default=None, init=False)
    _refused: dict[str, int] = field(default_factory=dict, init=False)

    def apply(self) -> Deployed:
        """Change what differs, knob by knob."""
        tree = Tree(self.files)
        wanted = canonical_settings(self.deployment, tree)
        for cpus in (self.deployment.measure, self.deployment.load):
            if cpus is not None:
                named_cpus(cpus, tree)
        before = read_knobs(tree)
        for knob in KNOBS:
            value = wanted.get(knob.name)
            if value is not None and knob.available(tree) is None and knob.read(tree) != value:
                self._change(knob, value, tree)
        return Deployed(
            obtained=_obtained(self.deployment, wanted, before, tree),
            places=places(self.files),
            measure_cpus=_on_line(self.deployment, "measure", tree),
            load_cpus=_on_line(self.deployment, "load", tree),
            changed=self._settings is not None,
        )

    def undo(self) -> None:
        """Put everything back.

        Raises:
            SettingError: something could not be put back; it is named.
        """
        settings, self._settings = self._settings, None
        left = settings.undo() if settings is not None else ()
        if left:
            raise SettingError(
                f"after the deployment {self.deployment.name} this could not be put back: {'; '.join(left)}",
                "Put it back by hand, or start the machine anew.",
            )

    def leave(self) -> None:
        """Leave it in force, until it is restored."""
        if self._settings is not None:
            self._settings.leave()
            self._settings = None

    def _change(self, knob: Knob, value: str, tree: Tree) -> None:
        for change in knob.changes(value, tree):
            if self._settings is None:
                self._settings = self.change_settings(self.deployment.name)
            try:
                self._settings.apply(change)
            except SettingError:
                if not (isinstance(change, Write) and change.may_refuse):
                    raise


def is_not_permitted(error: BaseException, files: Files) -> bool:
    """Return whether a change was refused as this user is not root; root is refused for another reason."""
    put_back = not isinstance(error, NotPutBackError)
    refused = put_back and isinstance(error, SettingError) and isinstance(error.__cause__, PermissionError)
    return refused and not _ROOT.search(Tree(files).text("/proc/self/status") or "")


_ROOT = re.compile(r"^Uid:\s+\d+\s+0\s", re.MULTILINE)


def not_permitted(deployment: Deployment, again: str = "") -> SettingError:
    """Return the error that says so. `again` is how to do it on this machine; empty: it is another one."""
    return SettingError(
        f"not permitted to this user: the deployment {deployment.name} changes "
        f"{', '.join(deployment.settings)}, which only root may; nothing was changed",
        again or "Log in there as root: --on ssh:root@HOST",
    )


def canonical_settings(deployment: Deployment, tree: Tree) -> dict[str, str]:
    """Return its settings in the form in which they are read back.

    Raises:
        UsageError: this machine can't have one of them; with file and line where it is from a file.
    """
    canonical = {}
    for knob in KNOBS:
        if knob.name in deployment.settings:
            try:
                canonical[knob.name] = knob.canonical(deployment.settings[knob.name], tree)
            except UsageError as error:
                raise _where(deployment, knob.name, error) from error
    return canonical


def boot_parameters(deployment: Deployment, tree: Tree) -> tuple[str, ...]:
    """Return what a kernel is booted with for it, where one is booted for it.

    Raises:
        UsageError: the machine has not the CPUs that it names.
    """
    asked = ((knob, deployment.settings.get(knob.name)) for knob in KNOBS)
    return tuple(
        word for knob, wanted in asked if wanted is not None for word in knob.parameters(wanted, tree)
    )


def read_knobs(tree: Tree) -> dict[str, str | None]:
    """Return what every knob is now."""
    return {knob.name: knob.read(tree) for knob in KNOBS}


def _obtained(
    deployment: Deployment, wanted: Mapping[str, str], before: Mapping[str, str | None], tree: Tree
) -> tuple[Obtained, ...]:
    after = read_knobs(tree)
    return tuple(
        Obtained(
            knob.name,
            deployment.settings.get(knob.name),
            before[knob.name],
            after[knob.name],
            _reason(knob, wanted.get(knob.name), after[knob.name], tree),
        )
        for knob in KNOBS
        if knob.name in wanted or before[knob.name] != after[knob.name]
    )


def _reason(knob: Knob, wanted: str | None, obtained: str | None, tree: Tree) -> str:
    """Return why a setting is not as it was asked for, or may not stay so, in words."""
    if wanted is None:
        return ""
    if wanted == obtained:
        return knob.outlook(wanted, tree)
    at_boot = knob.advice(wanted, tree).at_boot
    unavailable = knob.available(tree)
    reason = unavailable or knob.shortfall(wanted, tree) or "the machine took the change without effect"
    return f"{reason}; at boot: {at_boot}" if at_boot and unavailable else reason


def _on_line(deployment: Deployment, role: str, tree: Tree) -> tuple[int, ...] | None:
    """Return the CPUs for measuring or for loads, which must be online by now."""
    text = getattr(deployment, role)
    if text is None:
        return None
    cpus, online = named_cpus(text, tree), online_cpus(tree)
    if text.startswith("all"):
        cpus = tuple(cpu for cpu in cpus if cpu in online) or cpus
    missing = [cpu for cpu in cpus if cpu not in online]
    if missing:
        raise UsageError(
            f"in the deployment {deployment.name}, '{role}' names CPU {format_cpu_list(missing)}, "
            "which is offline then",
            f"Name CPUs of {format_cpu_list(online)}.",
        )
    return cpus


def _where(deployment: Deployment, knob: str, error: UsageError) -> UsageError:
    """Return the error with the place where the value was written, if that is a file."""
    text = ""
    with suppress(OSError, UnicodeDecodeError):
        text = read_text(Path(deployment.origin)) if deployment.origin.endswith(".toml") else ""
    if text:
        return mistake(deployment.origin, text, ("settings", knob), f"{knob}: {error}", error.advice)
    return UsageError(f"the deployment {deployment.name}: {knob}: {error}", error.advice)


# What a machine can have: of deployments, and of the settings of one.

How = Literal["as it is", "run time", "at boot", "can't", ""]


@dataclass(frozen=True)
class Prospect:
    """One deployment on one machine.

    Attributes:
        name: of the deployment.
        title: what it is, in words.
        origin: where it is from.
        can: whether the machine can have it: "yes", "in part" or "no".
        reason: what it can't have, and why; or that another is the same here.
        same_as: the name of another that is the same thing here; None: there is none.
    """

    name: str
    title: str
    origin: str
    can: Literal["yes", "in part", "no"]
    reason: str = ""
    same_as: str | None = None


@dataclass(frozen=True)
class KnobSetting:
    """One knob on one machine.

    Attributes:
        knob: its name.
        summary: what it is.
        now: what it is now; None: it can't be told.
        wanted: what a deployment asks for; None: nothing.
        how: how that is had; empty: nothing is asked for.
        reason: why it can't be had at run time, in words.
        now_type: a command that does it by hand.
        at_boot: what does it for good.
    """

    knob: str
    summary: str
    now: str | None
    wanted: str | None
    how: How
    reason: str
    now_type: str
    at_boot: str


def survey(tree: Tree) -> tuple[Prospect, ...]:
    """Return the built-in deployments and the user's own."""
    now = _seen(tree)
    found = [_prospect(one, now, tree) for one in built_in(tree)]
    for path in own_files():
        try:
            found.append(_prospect(BuiltIn(read_deployment(path)), now, tree))
        except UsageError as error:
            found.append(Prospect(path.stem, "", str(path), "no", str(error)))
    return tuple(found)


def settings_of(deployment: Deployment | None, tree: Tree) -> tuple[KnobSetting, ...]:
    """Return all knobs, and how what a deployment asks for can be had."""
    now = _seen(tree)
    wanted = {} if deployment is None else canonical_settings(deployment, tree)
    return tuple(_setting(knob, now[knob.name], wanted.get(knob.name), tree) for knob in KNOBS)


def _seen(tree: Tree) -> dict[str, str | None]:
    """Return what every knob is now; None also of one that can't be read for a fault of tauto's."""
    return {
        knob.name: attempt(f"the setting {knob.name}", partial(knob.read, tree), lambda _: None)
        for knob in KNOBS
    }


def _setting(knob: Knob, now: str | None, asked: str | None, tree: Tree) -> KnobSetting:
    def made() -> KnobSetting:
        advice = None if asked in (None, now) else knob.advice(asked or "", tree)
        unavailable = knob.available(tree)
        at_boot = advice.at_boot if advice else ""
        return KnobSetting(
            knob=knob.name,
            summary=knob.summary,
            now=now,
            wanted=asked,
            how=_how(asked, now, unavailable, at_boot),
            reason=unavailable or "",
            now_type=advice.now if advice and not unavailable else "",
            at_boot=at_boot,
        )

    def lost(fault: Fault) -> KnobSetting:
        return KnobSetting(knob.name, knob.summary, now, asked, "", fault.notice, "", "")

    return attempt(f"the setting {knob.name}", made, lost)


def _how(asked: str | None, now: str | None, unavailable: str | None, at_boot: str) -> How:
    if asked is None:
        return ""
    if asked == now:
        return "as it is"
    if unavailable is None:
        return "run time"
    return "at boot" if at_boot else "can't"


def _prospect(one: BuiltIn, now: dict[str, str | None], tree: Tree) -> Prospect:
    deployment = one.deployment
    who = deployment.name, deployment.title, deployment.origin

    def judged() -> Prospect:
        wanted = canonical_settings(deployment, tree)
        missing = [
            f"{knob.name}: {unavailable}"
            for knob in KNOBS
            if wanted.get(knob.name) not in (None, now[knob.name]) and (unavailable := knob.available(tree))
        ]
        reason = "; ".join(filter(None, [*missing, one.note]))
        return Prospect(*who, "in part" if missing else "yes", reason, one.same_as)

    if one.cannot:
        return Prospect(*who, "no", one.cannot)
    try:
        said = f"the deployment {deployment.name}"
        return attempt(said, judged, lambda fault: Prospect(*who, "no", fault.notice))
    except UsageError as error:
        return Prospect(*who, "no", str(error))
