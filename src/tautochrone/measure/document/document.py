"""A plan as people write it, in TOML.

    title = "Kernels under load"
    seed = 7                      # optional; otherwise drawn, and stored with the runs
    repetitions = 3
    order = "random"              # or "listed"
    systems = ["local"]           # or "ssh:root@board", "lab:debian-rt"
    deployments = ["as-is", "MI", "mine.toml"]   # paths begin at the plan's folder
    loads = ["idle", "cpu+memory", "fork:bytes=64MB"]
    require = "latency p99.9 < 500us"   # or a list, see require.py
    until = "decided"             # with budget = "30min": until each requirement is, or so long

    [defaults]                    # options of every experiment that has them
    policy = "fifo"

    [[experiment]]
    name = "cyclic"
    period = ["1ms", "250us"]     # a list: one case for each
    duration = "1min"
    loads = ["idle"]              # in place of those above

    [[exclude]]                   # combinations that are left out
    deployment = "Single"
    load = "fork"

Every mistake is a `UsageError` that begins with the file and the line.
"""

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tautochrone.base import toml
from tautochrone.base.errors import UsageError
from tautochrone.base.options import RENAMED_OPTIONS
from tautochrone.base.units import parse_duration_ns
from tautochrone.base.words import near, suggestion
from tautochrone.experiments import EXPERIMENTS, Value

Order = Literal["random", "listed"]
ORDERS: tuple[Order, ...] = ("random", "listed")
AXES = ("systems", "deployments", "loads")
_OPTIONS = {"systems": "--on", "deployments": "--deployment", "loads": "--load"}
"""What every experiment is measured on, under and beside; the usual value of each is one."""

USUAL = {"systems": "local", "deployments": "as-is", "loads": "idle"}
MOST_REPETITIONS = 10_000
DECIDED = "decided"
"""Until what a plan with a budget is measured."""
_REQUIRE = 'Write what must hold: require = "latency p99.9 < 500us".'
_ADVICE = "Texts stand in quotes; an experiment is [[experiment]]."
_MOST_SEED = 2**63 - 1
_OF_PLAN = ("title", "seed", "repetitions", "order", *AXES, "require", "until", "budget",
            "defaults", "experiment", "exclude")  # fmt: skip
_OF_EXPERIMENT = ("name", "title", *AXES, "require")
_OF_EXCLUDE = ("system", "deployment", "load", "experiment")


@dataclass(frozen=True)
class ExperimentEntry:
    """One [[experiment]] of a plan.

    Attributes:
        number: from 0.
        name: of the experiment.
        title: chosen by a person, or empty.
        options: by name, each with the values to be expanded.
        axes: systems, deployments or loads in place of the plan's.
        require: what is required of it, in place of what the plan requires; None: that.
    """

    number: int
    name: str
    title: str
    options: Mapping[str, tuple[Value, ...]]
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    require: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Exclusion:
    """One [[exclude]]: each key with the values that it matches; all keys must match."""

    number: int
    matches: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class PlanDocument:
    """A plan as it is written, checked in itself.

    Attributes:
        path: its file; of a grid, the folder where relative paths begin.
        text: its text, for the lines of messages; of a grid, none.
        seed: None: to be drawn.
        axes: systems, deployments and loads.
        overridden: those of the axes whose values the command line gave, in place of the file.
        grid: of a plan that a verb made of its options, a grid over some of them: which report it has. Empty:
            it is written in a file.
        require: what is required of every experiment that measures it.
        paper: of the study that it measures anew, the name; empty: of none.
        budget_s: it is measured until its requirements are decided, or for so long; None: every case is, as
            often as it says.
        machines: those of the systems that are names of a fleet, each with the address that it stands for.
        fleet: what stands for these in the key of a plan run, which does not depend on how many there are.
    """

    path: Path
    text: str
    title: str
    seed: int | None
    repetitions: int
    order: Order
    axes: Mapping[str, tuple[str, ...]]
    entries: tuple[ExperimentEntry, ...]
    exclusions: tuple[Exclusion, ...] = ()
    defaults: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    overridden: frozenset[str] = frozenset()
    grid: str = ""
    require: tuple[str, ...] = ()
    paper: str = ""
    budget_s: float | None = None
    machines: Mapping[str, str] = field(default_factory=dict)
    fleet: str = ""

    def has(self, place: toml.Path) -> bool:
        """Return whether something stands at this place of the file."""
        return place in toml.lines_of(self.text)

    def mistake(self, place: toml.Path, message: str, advice: str = "") -> UsageError:
        """A mistake at this place of the file, or, where nothing stands there, at what it lies in.

        What the command line gave is told with its option: no line of the file is wrong.
        """
        if self.grid:
            return UsageError(message, advice)
        if place and place[0] in self.overridden:
            return UsageError(f"{_OPTIONS[str(place[0])]}: {message}", advice)
        return toml.mistake(self.path, self.text, place, message, advice)


def read(path: Path) -> PlanDocument:
    """Read a plan."""
    text, table = toml.read_toml(path, "a plan", _ADVICE)
    return _document(text, table, path)


def parse(text: str, path: Path) -> PlanDocument:
    """Read the text of a plan; the path is for messages, and for what lies beside it."""
    return _document(text, toml.parse_toml(text, str(path), _ADVICE), path)


def _document(text: str, table: toml.Table, path: Path) -> PlanDocument:
    typed = shlex.quote(str(path))
    if "task" in table and "experiment" not in table:
        raise UsageError(
            f"'{path}' is a task set, and this verb takes a plan",
            f"Type tauto analyse {typed}, or, to run it, tauto probe taskset {typed}.",
        )
    if "settings" in table and "experiment" not in table:
        raise UsageError(
            f"'{path}' is a deployment, and this verb takes a plan",
            f"To measure under it, type tauto --deployment {typed}.",
        )
    return _Reader(text, path).document(table)


class _Reader(toml.TomlReader):
    """Reads the tables of a plan."""

    def __init__(self, text: str, path: Path) -> None:
        super().__init__(text, path)
        self._path = path

    def document(self, table: toml.Table) -> PlanDocument:
        self._only(table, _OF_PLAN, (), "a plan")
        defaults = self._defaults(table.get("defaults", {}))
        entries = tuple(
            self._entry(number, one, defaults) for number, one in enumerate(self._tables(table, "experiment"))
        )
        if not entries:
            raise self._mistake(
                (), "there is no experiment in it", 'Write one: [[experiment]], and below it name = "cyclic".'
            )
        self._see_used(defaults, entries)
        seed = self._whole(table, "seed", (), range(_MOST_SEED + 1)) if "seed" in table else None
        title = self._line(table, "title", ()) if "title" in table else self._path.name.partition(".")[0]
        return PlanDocument(
            path=self._path,
            text=self._text,
            title=title,
            seed=seed,
            repetitions=self._whole(table, "repetitions", (), range(1, MOST_REPETITIONS + 1))
            if "repetitions" in table
            else 1,
            order=self._choice(table, "order", ORDERS, ORDERS[0]),
            entries=entries,
            exclusions=tuple(
                self._exclusion(number, one, entries)
                for number, one in enumerate(self._tables(table, "exclude"))
            ),
            defaults=defaults,
            axes={**{axis: (USUAL[axis],) for axis in AXES}, **self._axes(table, ())},
            require=self._texts(table, "require", ()) if "require" in table else (),
            budget_s=self._budget(table, entries),
        )

    def _budget(self, table: toml.Table, entries: Sequence[ExperimentEntry]) -> float | None:
        """Read until and budget, which belong together."""
        for key, other, advice in (
            ("until", "budget", 'Say how long at most: budget = "30min".'),
            ("budget", "until", 'Write until = "decided", or leave it out.'),
        ):
            if key in table and other not in table:
                raise self._mistake((key,), f"'{key}' stands here without '{other}'", advice)
        if "until" not in table:
            return None
        self._choice(table, "until", (DECIDED,), DECIDED)
        if "require" not in table and not any(one.require for one in entries):
            raise self._mistake(("until",), "nothing is required, so nothing can be decided", _REQUIRE)
        try:
            seconds = parse_duration_ns(self._line(table, "budget", ())) / 1e9
        except UsageError as error:
            raise self._mistake(("budget",), str(error), error.advice) from error
        if seconds < 1:
            raise self._mistake(("budget",), "nothing can be measured in this budget", "Give 1 s or more.")
        return seconds

    def _defaults(self, table: object) -> dict[str, tuple[Value, ...]]:
        if not isinstance(table, dict):
            raise self._mistake(("defaults",), "'defaults' is not a table", "Write it as [defaults].")
        known = tuple(dict.fromkeys(name for one in EXPERIMENTS.values() for name in one.known))
        return self._options(table, known, ("defaults",), "an option of any experiment")

    def _entry(
        self, number: int, table: toml.Table, defaults: Mapping[str, tuple[Value, ...]]
    ) -> ExperimentEntry:
        place = ("experiment", number)
        if "name" not in table:
            raise self._mistake(
                place, "this experiment has no name", f'Write name = "cyclic". There are: {_all()}.'
            )
        name = self._line(table, "name", place)
        if name not in EXPERIMENTS:
            raise self._mistake(
                (*place, "name"), f"there is no experiment '{name}'", suggestion(name, EXPERIMENTS)
            )
        experiment = EXPERIMENTS[name]
        own = {key: value for key, value in table.items() if key not in _OF_EXPERIMENT}
        options = self._options(own, experiment.known, place, f"an option of {name}", _OF_EXPERIMENT)
        ruled_out = {
            other
            for pair in experiment.contradicting
            for given, other in (pair, pair[::-1])
            if given in options
        }
        usual = {
            key: values
            for key, values in defaults.items()
            if key in experiment.known and key not in options and key not in ruled_out
        }
        return ExperimentEntry(
            number=number,
            name=name,
            title=self._line(table, "title", place) if "title" in table else "",
            options={key: {**usual, **options}[key] for key in experiment.known if key in usual | options},
            axes=self._axes(table, place),
            require=self._own_requirements(table, place),
        )

    def _own_requirements(self, table: toml.Table, place: toml.Path) -> tuple[str, ...] | None:
        if "require" not in table:
            return None
        return () if table["require"] == [] else self._texts(table, "require", place)

    def _options(
        self,
        table: toml.Table,
        known: Sequence[str],
        place: toml.Path,
        what: str,
        others: Sequence[str] = (),
    ) -> dict[str, tuple[Value, ...]]:
        found: dict[str, tuple[Value, ...]] = {}
        for key, given in table.items():
            name = key.replace("_", "-")
            if name not in known:
                raise self._mistake((*place, key), f"'{key}' is not {what}", _meant(name, known, others))
            values: list[Value] = []
            for at, value in enumerate(given if isinstance(given, list) else [given]):
                if not isinstance(value, (str, int, float)):
                    raise self._mistake(
                        (*place, key, at), f"'{key}' is {toml.shown(value)}", "It takes a text or a number."
                    )
                values.append(value)
            if not values:
                raise self._mistake(
                    (*place, key), f"'{key}' is an empty list", "Give a value, or leave it out."
                )
            found[name] = tuple(values)
        return found

    def _see_used(self, defaults: Iterable[str], entries: Sequence[ExperimentEntry]) -> None:
        for name in defaults:
            if not any(name in EXPERIMENTS[entry.name].known for entry in entries):
                raise self._mistake(
                    ("defaults", name),
                    f"no experiment of this plan has the option '{name}'",
                    "Leave it out, or write it where it belongs.",
                )

    def _exclusion(self, number: int, table: toml.Table, entries: Sequence[ExperimentEntry]) -> Exclusion:
        place = ("exclude", number)
        options = dict.fromkeys(name for entry in entries for name in entry.options)
        matches: dict[str, tuple[str, ...]] = {}
        for key, given in table.items():
            name = key if key in _OF_EXCLUDE else key.replace("_", "-")
            if name not in (*_OF_EXCLUDE, *options):
                raise self._mistake(
                    (*place, key),
                    f"'{key}' tells no cases of this plan apart",
                    suggestion(name, [*_OF_EXCLUDE, *options]),
                )
            values = given if isinstance(given, list) else [given]
            matches[name] = tuple(str(value) for value in values)
        if not matches:
            raise self._mistake(
                place, "this would leave out everything", 'Say what, such as load = "fork", or take it away.'
            )
        return Exclusion(number, matches)

    def _only(self, table: toml.Table, known: Collection[str], place: toml.Path, what: str) -> None:
        for key in table:
            option = key.replace("_", "-")
            if key not in known and option in _every_option() and not near(key, known):
                advice = "Options of experiments stand below [defaults], or below their [[experiment]]."
                raise self._mistake((*place, key), f"'{key}' means nothing in {what}", advice)
        super()._only(table, known, place, what)

    def _axes(self, table: toml.Table, place: toml.Path) -> dict[str, tuple[str, ...]]:
        return {axis: self._texts(table, axis, place) for axis in AXES if axis in table}

    def _texts(self, table: toml.Table, key: str, place: toml.Path) -> tuple[str, ...]:
        value = table[key]
        found: list[str] = []
        for at, one in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(one, str) or not one.strip() or not one.isprintable():
                raise self._mistake(
                    (*place, key, at),
                    f"'{key}' has {toml.shown(one)} in it",
                    f'Write {key} = ["…", "…"], in quotes.',
                )
            if one.strip() in found:
                raise self._mistake(
                    (*place, key, at), f"'{one.strip()}' is named twice", "Take one of them away."
                )
            found.append(one.strip())
        if not found:
            raise self._mistake((*place, key), f"'{key}' is an empty list", "Name one, or leave it out.")
        return tuple(found)


def _meant(name: str, known: Sequence[str], others: Sequence[str]) -> str:
    """Return what was probably meant by a key that is none; first, what it is called now."""
    new = next(
        (
            example.partition(" ")[0].removeprefix("--")
            for (verb, old), example in RENAMED_OPTIONS.items()
            if verb in ("", *(f"probe {one}" for one in EXPERIMENTS)) and old == f"--{name}"
        ),
        "",
    )
    return f"It is called '{new}' now." if new in known else suggestion(name, [*known, *others])


def _every_option() -> Iterable[str]:
    return [name for one in EXPERIMENTS.values() for name in one.known]


def _all() -> str:
    return ", ".join(EXPERIMENTS)
