"""Who stands for election against whom: runs sorted into selections, in each of which one thing differs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tautochrone.base.errors import UsageError
from tautochrone.judge.middleware_setting import by_role
from tautochrone.judge.reduced import Reduced, all_counts, reduce_run
from tautochrone.judge.verdict import meets_after_each_step
from tautochrone.run.conditions import whole_name
from tautochrone.run.folder import StoredRun
from tautochrone.selection.traits import (
    AS_IS,
    ASKED,
    AXES,
    BOARD,
    RUN,
    axis_of,
    block_of,
    differs,
    traits_of,
)
from tautochrone.statistics.counts import Counts, merge
from tautochrone.statistics.difference.resampling import quantile_with_lost

SINGLE = "Single"
"""The uniprocessor: what delgado2020 measures every deployment by."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """One of those to choose from.

    Attributes:
        name: what it has on the axis: "MI".
        runs: ids of its repetitions.
        parts: of each repetition its sources; a repetition without a sample is left out.
        lost: releases of all of them without a sample; None if that is not known of one.
        missed: the share of releases without a sample, of each repetition: of those that have parts, in
            their order, then of those without a single sample. None: not known.
        repeats: whether another run would be the same one, to the bit: a virtual machine's.
        step_ns: of the clock that measured them, the coarsest.
    """

    name: str
    runs: tuple[str, ...]
    parts: tuple[tuple[Reduced, ...], ...]
    lost: int | None
    missed: tuple[float | None, ...] = ()
    repeats: bool = False
    step_ns: float = 0.0

    @property
    def counts(self) -> Counts:
        """Return all samples of all repetitions."""
        return merge(all_counts(sources) for sources in self.parts)

    @property
    def released(self) -> int:
        """Return samples and releases without one, as far as those are known."""
        return self.counts.total + (self.lost or 0)

    def quantile_ns(self, q: float) -> int | None:
        """Return this quantile of all releases; None: it falls among those without a sample."""
        return quantile_with_lost(self.counts, self.lost or 0, q)


@dataclass(frozen=True)
class Contest:
    """Candidates that differ in one thing, not read yet.

    Attributes:
        by: the axis in which they differ.
        experiment: what was measured; ``measure``: of it, by its name in the stream; ``meaning``: in words.
        circumstances: in what selections differ from each other: "idle, period 1 ms"; empty if in nothing.
        members: the runs of each candidate, in the order of the runs that were given.
        board: on which machine, where runs of several are given; empty: there is one, or machines are what
            is chosen among. ``shared``: the circumstances that selections on other machines may have, too.
        alongside: other things in which the candidates differ with the axis, as sentences.
        confounded: the same of things for which alone times differ, such as the load.
    """

    by: str
    experiment: str
    measure: str
    meaning: str
    circumstances: str
    members: Mapping[str, tuple[StoredRun, ...]]
    board: str = ""
    shared: str = ""
    alongside: tuple[str, ...] = ()
    confounded: tuple[str, ...] = ()


@dataclass(frozen=True)
class Draft:
    """All selections of some runs: their axis, where it is one, and what has nobody to be compared with."""

    by: str
    contests: tuple[Contest, ...]
    alone: tuple[str, ...] = ()


def draw_up(runs: Sequence[StoredRun], by: str | None = None, measure: str | None = None) -> Draft:
    """Sort runs into selections.

    Args:
        runs: finished ones. Runs that are alike in everything are repetitions of one candidate, unless all
            are: then each stands for itself.
        by: the axis as a person names it; None: the one that differs, and of several the deployment, system,
            kernel, machine, then a parameter, then the load and the period.
        measure: which measure; None: the first one of each experiment.

    Raises:
        UsageError: there are fewer than two runs, no such axis or measure, or nobody to be compared with.
    """
    if len(runs) < 2:
        raise UsageError(
            "There is nothing to select from", "Name two or more runs, or a plan run: plan-latest."
        )
    of_experiment: dict[str, list[StoredRun]] = {}
    for run in runs:
        name = measure if measure in run.measures else next(iter(run.measures), None)
        if name is not None and measure in (None, name):
            of_experiment.setdefault(run.manifest.experiment, []).append(run)
    if not of_experiment:
        known = ", ".join(dict.fromkeys(one for run in runs for one in run.measures))
        raise UsageError(f"No run here has a measure '{measure}'", f"There is: {known}.")
    everyone = [traits_of(run) for run in runs]
    axis = None if by is None else axis_of(by, everyone)
    contests: list[Contest] = []
    alone: list[str] = []
    for experiment, own in of_experiment.items():
        for contest in _of_experiment(experiment, own, axis, measure):
            if len(contest.members) > 1:
                contests.append(contest)
            else:
                alone.append(_alone(contest))
    if not contests:
        raise _nobody(everyone, axis, alone)
    axes = {contest.by for contest in contests}
    return Draft(next(iter(axes)) if len(axes) == 1 else "", tuple(contests), tuple(alone))


def read(contest: Contest) -> Iterator[tuple[str, tuple[Candidate, ...]]]:
    """Read and reduce the runs of a selection.

    Yields:
        The name of a source and the candidates by it; all sources together, with an empty name, where these
        are the threads of one loop. A candidate without a single sample is left out.
    """
    reduced = {
        name: [(run, _parts(run, contest.measure)) for run in runs] for name, runs in contest.members.items()
    }
    sources = dict.fromkeys(source for own in reduced.values() for _, parts in own for source in parts)
    for source in sources:
        found = [_candidate(name, source, own) for name, own in reduced.items()]
        yield source, tuple(one for one in found if one.parts)


def reference_of(names: Sequence[str], wanted: str | None = None) -> tuple[str, str]:
    """Return by which candidate the others are measured, and why, in words.

    A person who wants "MI" also means "MI in part".

    Raises:
        UsageError: there is none of that name.
    """
    if wanted is not None:
        found = next((one for one in names if wanted in (one, whole_name(one))), None)
        if found is None:
            raise UsageError(
                f"--reference {wanted}: there is no such candidate", f"There are: {', '.join(names)}."
            )
        return found, "as asked for"
    for name, why in ((SINGLE, "the uniprocessor, as in delgado2020"), (AS_IS, "the machine as it is")):
        if found := next((one for one in names if whole_name(one) == name), None):
            return found, why
    return names[0], "the first one"


def _of_experiment(
    experiment: str, runs: Sequence[StoredRun], axis: str | None, measure: str | None
) -> Iterator[Contest]:
    traits = [traits_of(run) for run in runs]
    by = _default_axis(traits) if axis is None else axis
    names = _run_names(runs) if by == RUN else _values(by, traits)
    keys, free = _separating(traits, names, by)
    groups: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for index, own in enumerate(traits):
        key = tuple(own.get(name, "") for name in keys)
        groups.setdefault(key, {}).setdefault(names[index], []).append(index)
    chosen = measure or runs[0].measures[0]
    places = () if by in (*BOARD, RUN) else BOARD
    for key, members in groups.items():
        indices = [index for own in members.values() for index in own]
        beside = {
            name: said
            for name in free
            if (said := _beside(name, [traits[at] for at in indices], names, indices))
        }
        yield Contest(
            by=by,
            experiment=experiment,
            measure=chosen,
            meaning=runs[0].manifest.header.meaning_of(chosen),
            circumstances=", ".join(map(_circumstance, keys, key)),
            board=", ".join(value for name, value in zip(keys, key, strict=True) if name in places and value),
            shared=", ".join(
                _circumstance(name, value)
                for name, value in zip(keys, key, strict=True)
                if name not in places
            ),
            members={
                name: tuple(sorted((runs[at] for at in own), key=block_of)) for name, own in members.items()
            },
            alongside=tuple(said for name, said in beside.items() if name not in ASKED),
            confounded=tuple(said for name, said in beside.items() if name in ASKED),
        )


def _default_axis(traits: Sequence[Mapping[str, str]]) -> str:
    """Return the first in which they differ; rather one with which no load and no period goes along."""
    others = dict.fromkeys(name for one in traits for name in one if name not in (*AXES, *ASKED))
    ordered = [*(axis for axis in AXES if axis not in ASKED), *others, *ASKED]
    differing = [axis for axis in ordered if differs(axis, traits)]
    clear = (
        axis
        for axis in differing
        if not set(ASKED) & set(_separating(traits, _values(axis, traits), axis)[1])
    )
    return next(clear, differing[0] if differing else RUN)


def _values(axis: str, traits: Sequence[Mapping[str, str]]) -> list[str]:
    """Return what candidates are called: a parameter with its name."""
    return [_circumstance(axis, one[axis]) if one.get(axis) else "none" for one in traits]


def _separating(
    traits: Sequence[Mapping[str, str]], names: Sequence[str], by: str
) -> tuple[list[str], list[str]]:
    """Return which traits make separate selections, and which merely go along with the axis.

    A trait goes along with it where what is separated already, together with the axis, determines it: the
    CPUs that a deployment leaves, the kernel of a system. Of single runs all does but what was asked of the
    machine.
    """
    known = dict.fromkeys([*AXES, *ASKED, *(name for one in traits for name in one)])
    keys: list[str] = []
    free: list[str] = []
    for name in known:
        if name == by or not differs(name, traits):
            continue
        held: dict[tuple[str, ...], set[str]] = {}
        for own, candidate in zip(traits, names, strict=True):
            held.setdefault((candidate, *(own.get(key, "") for key in keys)), set()).add(own.get(name, ""))
        goes_along = all(len(values) == 1 for values in held.values())
        (free if goes_along and not (by == RUN and name in ASKED) else keys).append(name)
    return keys, free


def _beside(
    trait: str, traits: Sequence[Mapping[str, str]], names: Sequence[str], indices: Sequence[int]
) -> str:
    """Return ``cpus: all (as-is), 1 (MI)``; empty where the candidates do not differ in it."""
    if not differs(trait, traits):
        return ""
    found: dict[str, list[str]] = {}
    for own, index in zip(traits, indices, strict=True):
        held = found.setdefault(own.get(trait, "") or "N/A", [])
        if names[index] not in held:
            held.append(names[index])
    return f"{trait}: " + ", ".join(f"{value} ({', '.join(own)})" for value, own in found.items())


def _circumstance(trait: str, value: str) -> str:
    return value if trait in AXES else f"{trait.replace('_', ' ')} {value}"


def _run_names(runs: Sequence[StoredRun]) -> list[str]:
    titles = [run.manifest.title for run in runs]
    return titles if len(set(titles)) == len(runs) else [run.id for run in runs]


def _parts(run: StoredRun, measure: str) -> dict[str, tuple[Reduced, ...]]:
    """Return its samples by source; under an empty name those of a loop's threads. Lower clients are one."""
    parts = reduce_run(run, measure)
    if clipped := [one for one in parts if one.clipped is not None]:
        raise UsageError(
            f"The histogram of {run.id} is clipped: of its largest samples ({clipped[0].name}) only bounds "
            "are known, and a selection is decided by these",
            "Leave this run out, or measure with a longer histogram.",
        )
    header = run.manifest.header
    with_work = meets_after_each_step(header)
    if with_work and measure == run.measures[0]:
        return {"": parts[:1]}  # what a step took as a whole is the same for all of its threads
    if header.is_about_a_loop or with_work:
        return {"": parts}
    return by_role(header, parts)


def _candidate(
    name: str, source: str, own: Sequence[tuple[StoredRun, Mapping[str, tuple[Reduced, ...]]]]
) -> Candidate:
    held = sorted(((run, parts.get(source, ())) for run, parts in own), key=lambda one: not one[1])
    lost = [_lost(run, source, parts) for run, parts in held]
    return Candidate(
        name=name,
        runs=tuple(run.id for run, parts in held if parts),
        parts=tuple(parts for _, parts in held if parts),
        lost=None if None in lost else sum(one or 0 for one in lost),
        missed=tuple(_share(one, parts) for one, (_, parts) in zip(lost, held, strict=True)),
        repeats=all((one := run.manifest.conditions.virtual) and one.repeatable for run, _ in held),
        step_ns=max(float(run.manifest.header.clock.step_ns or 0) for run, _ in held),
    )


def _share(lost: int | None, parts: Sequence[Reduced]) -> float | None:
    released = sum(one.counts.total for one in parts) + (lost or 0)
    return None if lost is None or not released else lost / released


def _lost(run: StoredRun, source: str, parts: Sequence[Reduced]) -> int | None:
    """Return releases of one repetition that have no sample; also of sources that have none at all."""
    known = [one.lost for one in parts]
    present = {one.source for one in parts}
    for book in run.manifest.books:
        if book.source not in present and source in ("", book.name) and book.missed is not None:
            if source == "" and meets_after_each_step(run.manifest.header):
                continue  # its threads have the same books
            known.append(book.missed + (book.dropped or 0))
    return None if None in known else sum(one or 0 for one in known)


def _alone(contest: Contest) -> str:
    ((name, runs),) = contest.members.items()
    where = f" ({contest.circumstances})" if contest.circumstances else ""
    if contest.by == RUN or len(runs) == 1:
        return f"{contest.experiment}{where}: there is one run, {runs[0].id}, and nothing to choose between."
    return f"{contest.experiment}{where}: only {name} was measured, so there is nothing to choose between."


def _nobody(traits: Sequence[Mapping[str, str]], axis: str | None, alone: Sequence[str]) -> UsageError:
    differing = [
        name for name in dict.fromkeys(name for one in traits for name in one) if differs(name, traits)
    ]
    words = f"They differ in: {', '.join(differing)}." if differing else "They do not differ in anything."
    if axis == RUN:
        return UsageError(
            f"--by {RUN}: no two of these runs have the same experiment, load and period", words
        )
    if axis is not None:
        return UsageError(
            f"--by {axis}: no two of these runs differ in that alone", f"{words} Or: --by {RUN}."
        )
    return UsageError(f"There is nothing to select from. {' '.join(alone)}", words)
