"""From a plan's document to its points: each combination of system, deployment, load and options."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from pathlib import PurePath

from tautochrone.base.errors import UsageError
from tautochrone.base.options import Options, about, without_dashes
from tautochrone.base.quantity import BARE
from tautochrone.base.toml import Path as Place
from tautochrone.base.units import parse_period_ns
from tautochrone.base.words import suggestion
from tautochrone.experiments import EXPERIMENTS, Value
from tautochrone.experiments.experiment import Experiment, Prepared
from tautochrone.experiments.tire_threads import team_in_words
from tautochrone.measure.cell import Load
from tautochrone.measure.document.document import AXES, Exclusion, ExperimentEntry, PlanDocument
from tautochrone.measure.loads.spec import bare, parse_load
from tautochrone.target.address import read_address

MEANING = 1
"""Version of what a plan means. It is a part of every key, so it changes when the same words come to mean
something else."""

AS_IS = "as-is"
"""The deployment that changes nothing."""

MOST_RUNS = 200_000
"""Of a plan: a minute each, they take four months."""

_KEY_LETTERS = 12


@dataclass(frozen=True)
class NamedDeployment:
    """A deployment as a plan names it.

    Attributes:
        name: as written.
        meaning: what tells it from others of this name: what is in its file, for example.
    """

    name: str
    meaning: str = ""

    @property
    def short(self) -> str:
        """For people: of a file its name alone, as `tauto tune` has it."""
        return PurePath(self.name).stem if self.name.endswith(".toml") else self.name


@dataclass(frozen=True)
class PlanPoint:
    """What is measured once in every repetition.

    Attributes:
        key: tells it from every other point of any plan; the same for what means the same.
        entry: the number of its [[experiment]], from 0.
        load_spec: the load as it is written.
        heading: what is measured, for people, without the conditions and without what is expanded.
        options: of the experiment.
        varying: the options that are expanded.
        varied: these in words: "period 1ms"; empty if none is.
        address: of its system, which may be the name of a machine of a fleet.
    """

    key: str
    entry: int
    system: str
    deployment: NamedDeployment
    load: Load
    load_spec: str
    experiment: str
    heading: str
    options: Options
    varying: tuple[str, ...]
    varied: str
    prepared: Prepared
    address: str

    @property
    def name(self) -> str:
        """Return its words, the usual ones left out."""
        where = [self.deployment.short, self.system]
        usual = [AS_IS, "local"]
        said = [one for one, word in zip(where, usual, strict=True) if one != word]
        return ", ".join(filter(None, [self.heading, self.varied, self.load.name, *said]))

    def value(self, name: str) -> str:
        """Return what it has under a name of an [[exclude]]; empty if it has none."""
        of_axes = {
            "system": self.system,
            "deployment": self.deployment.name,
            "load": self.load.name,
            "experiment": self.experiment,
        }
        return of_axes[name] if name in of_axes else str(self.options.get(name, ""))


def override(
    document: PlanDocument,
    systems: Sequence[str] = (),
    deployments: Sequence[str] = (),
    loads: Sequence[str] = (),
) -> PlanDocument:
    """Return the plan on other systems, under other deployments or loads, for all of its experiments.

    What it leaves out that is then not there any more is no mistake.
    """
    given = {
        axis: tuple(dict.fromkeys(values))
        for axis, values in zip(AXES, (systems, deployments, loads), strict=True)
        if values
    }
    if not given:
        return document
    entries = tuple(
        replace(entry, axes={axis: own for axis, own in entry.axes.items() if axis not in given})
        for entry in document.entries
    )
    return replace(document, entries=entries, axes={**document.axes, **given}, overridden=frozenset(given))


def of_machines(document: PlanDocument, machines: Mapping[str, str], fleet: str) -> PlanDocument:
    """Return the plan on machines, for which another name stands in the key of a plan run.

    Args:
        machines: by name the address.
    """
    return replace(override(document, systems=list(machines)), machines=machines, fleet=fleet)


def expand(
    document: PlanDocument, deployed: Callable[[str], NamedDeployment] = NamedDeployment
) -> tuple[PlanPoint, ...]:
    """Return the points, in the order in which the plan lists them.

    Args:
        deployed: finds a deployment by its name.

    Raises:
        UsageError: a load, deployment or option can't be read; two points are the same; an exclusion leaves
            out nothing, or all.
    """
    _see_feasible(document)
    names = _Names(document, deployed)
    points = [point for entry in document.entries for point in _of_entry(document, entry, names)]
    _see_distinct(document, points)
    kept = points
    for exclusion in document.exclusions:
        if not document.overridden:
            _see_meant(document, exclusion, points)
        kept = [point for point in kept if not _matches(exclusion, point)]
    if not kept:
        raise document.mistake(("exclude", 0), "everything is left out", "Take an [[exclude]] away.")
    return tuple(kept)


def _see_feasible(document: PlanDocument) -> None:
    """Refuse more runs than anybody measures, before they are made one by one."""
    runs = 0
    for entry in document.entries:
        axes = {**document.axes, **entry.axes}
        lengths = [*map(len, entry.options.values()), *(len(axes[axis]) for axis in AXES)]
        runs += prod(lengths) * document.repetitions
        if runs > MOST_RUNS:
            raise document.mistake(
                ("experiment", entry.number),
                f"{runs:,} runs with all repetitions are more than a plan can have",
                f"Name fewer values or repetitions: at most {MOST_RUNS:,} runs.",
            )


def is_planned(document: PlanDocument, point: PlanPoint, deployment: str) -> bool:
    """Return whether the plan measures the same as at this point under a built-in deployment, too."""
    named = {**document.axes, **document.entries[point.entry].axes}["deployments"]
    twin = replace(point, deployment=NamedDeployment(deployment))
    return deployment.lower() in (one.lower() for one in named) and not any(
        _matches(exclusion, twin) for exclusion in document.exclusions
    )


class _Names:
    """Loads and deployments by name, each read once; a mistake is told with its line."""

    def __init__(self, document: PlanDocument, deployed: Callable[[str], NamedDeployment]) -> None:
        self._document = document
        self._deployed = deployed
        self._loads: dict[str, Load] = {}
        self._deployments: dict[str, NamedDeployment] = {}

    def system(self, name: str, entry: ExperimentEntry) -> str:
        if name not in self._document.machines:
            with _placed(self._document, place_of(self._document, "systems", name, entry.number)):
                read_address(name)
        return name

    def load(self, name: str, entry: ExperimentEntry) -> Load:
        if name not in self._loads:
            with _placed(self._document, place_of(self._document, "loads", name, entry.number)):
                self._loads[name] = parse_load([name])
        return self._loads[name]

    def deployment(self, name: str, entry: ExperimentEntry) -> NamedDeployment:
        if name not in self._deployments:
            with _placed(self._document, place_of(self._document, "deployments", name, entry.number)):
                self._deployments[name] = self._deployed(name)
        return self._deployments[name]


@contextmanager
def _placed(document: PlanDocument, place: Place) -> Iterator[None]:
    """While inside, a mistake gets the file and the line before it, or the option that gave it."""
    try:
        yield
    except UsageError as error:
        words = [str(error), error.advice]
        if len(place) == 2 and (option := about(words[0])):  # of an experiment: the line of its key
            place = (*place, option)
        if not document.grid and (not place or place[0] not in document.overridden):
            words = [without_dashes(text) for text in words]
        raise document.mistake(place, *words) from error


def place_of(document: PlanDocument, axis: str, name: str, number: int) -> Place:
    """Where a system, deployment or load stands that an experiment, counted from 0, is measured with."""
    own = document.entries[number].axes
    place: Place = ("experiment", number, axis) if axis in own else (axis,)
    return (*place, {**document.axes, **own}[axis].index(name))


def _of_entry(document: PlanDocument, entry: ExperimentEntry, names: _Names) -> Iterator[PlanPoint]:
    experiment = EXPERIMENTS[entry.name]
    varying = [name for name, values in entry.options.items() if len(values) > 1]
    axes = [{**document.axes, **entry.axes}[axis] for axis in AXES]
    for values in product(*entry.options.values()):
        options: dict[str, Value] = dict(zip(entry.options, values, strict=True))
        with _placed(document, ("experiment", entry.number)):
            prepared = experiment.prepare(options, document.path.parent)
            prepared = _with_team(prepared, experiment, entry, options)
        heading = entry.title or _heading(entry, options, varying)
        words = ", ".join(_said(name, options[name]) for name in varying)
        for system, deployment, load in product(*axes):
            found = names.deployment(deployment, entry)
            beside = names.load(load, entry)
            yield PlanPoint(
                key=_key(system, found, beside, entry, prepared),
                entry=entry.number,
                system=names.system(system, entry),
                deployment=found,
                load=beside,
                load_spec=load,
                experiment=entry.name,
                heading=heading,
                options=options,
                varying=tuple(varying),
                varied=words,
                prepared=prepared,
                address=document.machines.get(system, system),
            )


def _with_team(
    prepared: Prepared, experiment: Experiment, entry: ExperimentEntry, options: Options
) -> Prepared:
    """What a word for a number of threads comes to is found out where it is measured."""
    name = experiment.runs_on.threads if experiment.runs_on is not None else ""
    if not name or name not in options:
        return prepared
    team = team_in_words(options[name], entry.options[name])
    return replace(prepared, conditions=replace(prepared.conditions, team=team))


def _heading(entry: ExperimentEntry, options: Options, varying: Sequence[str]) -> str:
    """Return its usual title, without what is expanded, which is said behind it."""
    fixed = {name: value for name, value in options.items() if name not in varying}
    experiment = EXPERIMENTS[entry.name]
    return experiment.title(experiment.given(fixed)) if varying else experiment.title_of(fixed)


def _said(name: str, value: Value) -> str:
    if isinstance(value, bool):
        return name.replace("-", " ") if value else f"without {name.replace('-', ' ')}"
    return f"{name.replace('-', ' ')} {value}"


def _key(
    system: str, deployed: NamedDeployment, load: Load, entry: ExperimentEntry, prepared: Prepared
) -> str:
    """Short, and the same wherever the same is meant: 1ms is 1000us."""
    meant = [
        MEANING, system, deployed.name, deployed.meaning, load.name, entry.name, entry.title,
        [_canonical(word) for word in prepared.options.words], prepared.conditions.stored,
    ]  # fmt: skip
    text = json.dumps(meant, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_KEY_LETTERS]


def _canonical(word: str) -> str:
    if BARE.fullmatch(word):
        return word  # 0 may be a CPU, and no period
    try:
        return f"{parse_period_ns(word)}ns"
    except UsageError:
        return word


def _see_distinct(document: PlanDocument, points: Sequence[PlanPoint]) -> None:
    seen: dict[str, PlanPoint] = {}
    for point in points:
        earlier = seen.setdefault(point.key, point)
        if earlier is not point:
            raise document.mistake(
                ("experiment", point.entry),
                f"'{point.name}' is in the plan twice",
                "Take one of them away, or give each [[experiment]] a title of its own. To measure it more "
                "often, raise repetitions.",
            )


def _see_meant(document: PlanDocument, exclusion: Exclusion, points: Sequence[PlanPoint]) -> None:
    """An exclusion that leaves out nothing is a slip of the pen."""
    for name, values in exclusion.matches.items():
        there = list(dict.fromkeys(point.value(name) for point in points if point.value(name)))
        for at, value in enumerate(values):
            if not any(_is(name, value, point) for point in points):
                raise document.mistake(
                    ("exclude", exclusion.number, name, at),
                    f"no case has {name} '{value}'",
                    suggestion(value, there),
                )
    if not any(_matches(exclusion, point) for point in points):
        raise document.mistake(
            ("exclude", exclusion.number), "no case has all of these together", "Take it away, or mend it."
        )


def _matches(exclusion: Exclusion, point: PlanPoint) -> bool:
    return all(any(_is(name, value, point) for value in values) for name, values in exclusion.matches.items())


def _is(name: str, value: str, point: PlanPoint) -> bool:
    """Return whether a point has this value; a load also by its bare name."""
    own = point.value(name)
    if name == "load":
        return value in (own, bare(own))
    if name == "deployment":
        return value.lower() == own.lower()
    return _canonical(value) == _canonical(own)
