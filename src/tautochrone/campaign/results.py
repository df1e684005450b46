"""What came of a plan run, from the store alone: every case with its repetitions, and what is lacking."""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from tautochrone.answer.experiments import beginning_of
from tautochrone.answer.outcome import Outcome
from tautochrone.base.faults import Fault, Later, attempt, tried
from tautochrone.base.words import plural, upper_first
from tautochrone.campaign.kinds import GridResults, GridRuns, kind_named
from tautochrone.campaign.requirements import JudgedCell, exit_code, judge_cells, outcome
from tautochrone.judge.reduced import all_counts, reduce_run
from tautochrone.judge.verdict import meets_after_each_step
from tautochrone.measure.campaign.campaign import Campaign, first_look_of, points_of
from tautochrone.measure.campaign.deciding import Decided
from tautochrone.measure.campaign.reasons import NOT_YET, all_reasons, early_ends, joined
from tautochrone.measure.document.expand import PlanPoint
from tautochrone.run.catalogue import CatalogueEntry
from tautochrone.run.conditions import PlanCell
from tautochrone.run.folder import StoredRun, read_runs
from tautochrone.run.manifest import MEASURING, Manifest, sum_if_known
from tautochrone.run.repeated import each_once
from tautochrone.statistics.summary import Summary, summarise, summarise_counts

_MOST_AT_ONCE = 16_000_000
"""Samples that are read and sorted; of more, how often each value came is counted in one pass, which then
is quicker and needs no memory for them."""

WITHOUT_REASON = "There is no finished run of it."


@dataclass(frozen=True)
class Repetition:
    """One run's part of a row; nothing in it is of another run.

    Attributes:
        missed: releases without a sample, of those released; None where nothing is released.
        node: where it was measured, if its system is any machine of several; empty otherwise.
        repeats: it is an earlier one once more, as of a guest, and tells nothing of how much runs differ.
    """

    number: int
    run: str
    summary: Summary
    missed: int | None = None
    released: int | None = None
    node: str = ""
    repeats: bool = False


@dataclass(frozen=True)
class CampaignRow:
    """One case, or one source of it where sources are of different kinds.

    Attributes:
        what: the experiment's heading.
        varied: the options that the plan varies, by name, as texts.
    """

    cell: str
    what: str
    varied: Mapping[str, str]
    load: str
    deployment: str
    system: str
    source: str
    repetitions: tuple[Repetition, ...]


@dataclass(frozen=True)
class CampaignTable:
    """One measure of one experiment, over all cases that have it."""

    experiment: str
    measure: str
    meaning: str
    rows: tuple[CampaignRow, ...]

    @property
    def title(self) -> str:
        """The meaning as a title, with the experiment's name where the meaning alone does not tell it."""
        words = upper_first(self.meaning)
        return words if self.experiment == "cyclic" else f"{beginning_of(self.experiment)}: {self.meaning}"


@dataclass(frozen=True)
class CampaignResults:
    """A plan run's results.

    Attributes:
        cells: the name of every case by its key, as the plan lists them.
        wanted: repetitions of each case.
        manifests: of all finished runs, in the order in which they were measured.
        lacking: cases without all of their repetitions: name, how many there are, and why.
        uncounted: ids of the runs that did not come to their end; nothing here is of them.
        looked_at: with how many repetitions it was judged before, where somebody asked for more afterwards
            and all of them are judged as by a single look; None: it was not.
        grid: of a plan that is one; then there are no tables, one for each measure of thousands of cases.
        lost: what of it could not be made, and why.
        paper: the study that it measures anew; empty: none.
        decided: what a budget came to; None: there was none.
    """

    campaign: Campaign
    order: str
    wanted: int
    cells: Mapping[str, str]
    tables: tuple[CampaignTable, ...]
    manifests: tuple[Manifest, ...]
    lacking: tuple[tuple[str, str], ...] = ()
    uncounted: tuple[str, ...] = ()
    looked_at: int | None = None
    grid: GridResults | None = None
    lost: tuple[str, ...] = ()
    tried_judged: Later[tuple[JudgedCell, ...]] = field(default_factory=lambda: Later(tuple))
    tried_outcome: Later[Outcome] = field(default_factory=lambda: Later(Outcome, "", ()))
    paper: str = ""
    decided: Decided | None = None

    @property
    def judged(self) -> tuple[JudgedCell, ...]:
        """What the plan requires, of each case that it is required of."""
        return self.tried_judged.get()

    @property
    def outcome(self) -> Outcome:
        """The same for programs that run tests, with the cases of which nothing is required."""
        return self.tried_outcome.get()

    @property
    def slots(self) -> int:
        """Cases times repetitions."""
        return len(self.cells) * self.wanted

    @property
    def exit_code(self) -> int:
        """What scripts are told of the requirements: 0 all hold, 6 one does not, 7 one is not shown."""
        return exit_code(self.judged)


def gather_results(
    campaign: Campaign,
    reasons: Sequence[tuple[str, str]] = (),
    required: Mapping[str, Sequence[str]] | None = None,
    wrong: Collection[str] = (),
    decided: Decided | None = None,
    cells: Mapping[str, str] | None = None,
) -> CampaignResults:
    """Read a plan run's finished runs, one after the other.

    Args:
        required: what is required of the cases, by key, from who has just read the plan; None: what the
            latest run kept of it.
        wrong: keys of cases that went wrong while measuring, from who has just tried.
        reasons: why a case was not measured, by its key, from who has just tried. Where it says nothing,
            what the latest run says of the cases that were refused before it, or how their own runs ended.
        decided: what a budget came to, from who has just spent it; None: there was none.
        cells: the cases by key, from who has just read the plan; None: those of the latest run, and what was
            measured on machines that the fleet no longer had then.
    """
    plans = [entry.conditions.plan for entry in campaign.entries]
    last = plans[-1] if plans else PlanCell()
    points = points_of(last)
    if cells is None:
        named = {key: name for plan in plans for key, name in plan.cells.items()}
        measured = {key: named[key] for key, _ in campaign.finished() if key in named}
        cells = {point.key: point.name for point in points} | last.cells | measured
    campaign = replace(
        campaign, entries=tuple(one for one in campaign.entries if one.conditions.plan.cell in cells)
    )
    finished = campaign.finished()
    runs = _opened(finished.values())
    ids = {run.id for run in runs}
    wanted = max((plan.repetitions for plan in plans), default=1)
    done = set(finished)
    early = early_ends(campaign, done)
    why = all_reasons(campaign, reasons, early)
    if required is None:
        required = last.require
    failed = {*wrong, *early.failed}
    lost: list[str] = []

    def lose(fault: Fault) -> None:
        lost.append(fault.notice)

    tables: tuple[CampaignTable, ...] | None = ()
    grid = attempt("The grid", lambda: _grid(last, points, runs, dict(why)), lose) if points else None
    if grid is None and not lost:
        tables = attempt("The measures", lambda: tuple(_tables(runs, cells)), lose)
    told_why = joined(why)
    first = decided.first_look if decided is not None else first_look_of(campaign)
    own = _by_cell(runs, required)
    judged = tried(judge_cells, required, cells, own, wanted, told_why, failed, first)
    there = Counter(key for key, number in done if number <= wanted)
    return CampaignResults(
        campaign=campaign,
        order=last.order,
        wanted=wanted,
        cells=cells,
        tables=tables or (),
        manifests=tuple(run.manifest for run in runs),
        lacking=tuple(
            _lacking_of_grid(points, wanted, done, told_why)
            if points
            else _lacking(cells, wanted, done, told_why)
        ),
        uncounted=tuple(one.id for one in campaign.entries if one.id not in ids and one.state != MEASURING),
        looked_at=_looked_at(runs) if first is None else None,
        grid=grid,
        lost=tuple(lost),
        tried_judged=judged,
        tried_outcome=tried(
            lambda: outcome(campaign.title, judged.get(), cells, there, wanted, told_why, failed)
        ),
        paper=last.paper,
        decided=decided,
    )


def _looked_at(runs: Sequence[StoredRun]) -> int | None:
    """Return the repetitions that were asked for before more were; those of a guest say nothing new."""
    before, most = None, 0
    for run in reversed(each_once(runs)):
        asked = run.manifest.conditions.plan.repetitions
        if asked < most:
            before = max(asked, before or 0)
        most = max(asked, most)
    return before


def _grid(
    plan: PlanCell, points: Sequence[PlanPoint], runs: Sequence[StoredRun], why: Mapping[str, str]
) -> GridResults | None:
    """By its kind; None: this version knows no such grid. A guest's repetitions of a case count once."""
    kind = kind_named(str((plan.grid or {})["kind"]))
    cells = _by_cell(runs, {run.manifest.conditions.plan.cell for run in runs}).values()
    once = {run.id for own in cells for run in each_once(own)}
    told = [run for run in runs if run.id in once]
    return None if kind is None else kind.gather(GridRuns(plan, points, told, why))


def _by_cell(runs: Iterable[StoredRun], wanted: Container[str]) -> dict[str, list[StoredRun]]:
    found: dict[str, list[StoredRun]] = {}
    for run in runs:
        key = run.manifest.conditions.plan.cell
        if key in wanted:
            found.setdefault(key, []).append(run)
    for own in found.values():
        own.sort(key=lambda run: run.manifest.conditions.plan.repetition)
    return found


def _opened(entries: Iterable[CatalogueEntry]) -> list[StoredRun]:
    """The runs, oldest first."""
    return sorted(read_runs(one.path for one in entries), key=lambda run: run.manifest.created)


def _lacking(
    cells: Mapping[str, str], wanted: int, done: set[tuple[str, int]], why: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    for key, name in cells.items():
        there = sum((key, number) in done for number in range(1, wanted + 1))
        if there < wanted:
            words = why.get(key, WITHOUT_REASON)
            share = f"{there} of {wanted} repetitions are finished. " if there else ""
            yield name, f"{share}{words}"


def _lacking_of_grid(
    points: Sequence[PlanPoint], wanted: int, done: set[tuple[str, int]], why: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """By the reason: there may be thousands of cases."""
    found: dict[str, list[PlanPoint]] = {}
    for point in points:
        if any((point.key, number) not in done for number in range(1, wanted + 1)):
            found.setdefault(why.get(point.key, NOT_YET), []).append(point)
    for words, own in found.items():
        count = f"{plural(len(own), 'case')} of {len(points):,}"
        yield own[0].name if len(own) == 1 else ", ".join([count, *_in_common(own, points)]), words


def _in_common(own: Sequence[PlanPoint], points: Sequence[PlanPoint]) -> Iterator[str]:
    """Yield what these have in common and not all points have: ``policy fifo``, ``lab:debian-rt``."""
    for axis in ("system", "load"):
        there = {point.value(axis) for point in own}
        if len(there) == 1 and any(point.value(axis) not in there for point in points):
            yield next(iter(there))
    for name in points[0].varying:
        values = {point.options[name] for point in own}
        if len(values) == 1 and any(point.options[name] not in values for point in points):
            yield f"{name.replace('-', ' ')} {next(iter(values))}"


def _tables(runs: Sequence[StoredRun], cells: Iterable[str]) -> Iterator[CampaignTable]:
    """In the order of the plan's cases; a table's rows of one source lie together, so that cases compare."""
    found: dict[tuple[str, str], dict[tuple[str, str], list[tuple[StoredRun, Repetition]]]] = {}
    meanings: dict[tuple[str, str], str] = {}
    place = {cell: at for at, cell in enumerate(cells)}
    once = {run.id for run in each_once(runs)}
    for run in sorted(runs, key=lambda one: place[one.manifest.conditions.plan.cell]):
        for measure in run.manifest.header.measures:
            name = measure.name
            table = (run.manifest.experiment, name)
            meanings.setdefault(table, measure.words)
            for source, repetition in _repetitions(run, name):
                rows = found.setdefault(table, {})
                told = replace(repetition, repeats=run.id not in once)
                rows.setdefault((source, run.manifest.conditions.plan.cell), []).append((run, told))
    names = _deployment_names(runs)
    for table, rows in found.items():
        first = {source: at for at, source in enumerate(dict.fromkeys(source for source, _ in rows))}
        ordered = sorted(rows.items(), key=lambda row: (first[row[0][0]], place[row[0][1]]))
        yield CampaignTable(
            *table, meanings[table], tuple(_row(source, own, names) for (source, _), own in ordered)
        )


def _deployment_names(runs: Sequence[StoredRun]) -> Mapping[str, str]:
    """Of deployments in files the files' names alone, unless two are alike."""
    written = {run.manifest.conditions.plan.deployment for run in runs}
    stems = {one: PurePath(one).stem if one.endswith(".toml") else one for one in written}
    often = Counter(stems.values())
    return {one: stem if often[stem] == 1 else one for one, stem in stems.items()}


def _row(
    source: str, own: Sequence[tuple[StoredRun, Repetition]], deployments: Mapping[str, str]
) -> CampaignRow:
    run = own[0][0]
    told = run.manifest.conditions.plan
    return CampaignRow(
        cell=told.cell,
        what=told.heading or run.manifest.experiment,
        varied={name: _text(told.options.get(name)) for name in told.varied},
        load=run.manifest.conditions.load or "",
        deployment=deployments[told.deployment],
        system=told.system,
        source=source,
        repetitions=tuple(sorted((one for _, one in own), key=lambda one: one.number)),
    )


def _text(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _repetitions(run: StoredRun, measure: str) -> Iterator[tuple[str, Repetition]]:
    """Yield one of all sources where these are the threads of one loop; otherwise one of each."""
    manifest = run.manifest
    number, node = manifest.conditions.plan.repetition or 1, manifest.conditions.node
    if manifest.header.is_about_a_loop:
        summary = _summary(run, measure, None)
        if summary is not None:
            missed = sum_if_known([book.missed for book in manifest.books])
            released = sum_if_known([book.released for book in manifest.books])
            yield "", Repetition(number, run.id, summary, missed, released, node)
        return
    threads = meets_after_each_step(manifest.header)
    common = threads and measure == run.measures[0]
    books = manifest.books[:1] if common else manifest.books
    for book in books:
        summary = _summary(run, measure, book.source)
        if summary is not None:
            name = book.name if len(books) > 1 or (threads and not common) else ""
            yield name, Repetition(number, run.id, summary, book.missed, book.released, node)


def _summary(run: StoredRun, measure: str, source: int | None) -> Summary | None:
    if not run.count(measure, source):
        return None
    if not run.is_histogram:
        if run.count(measure, source) <= _MOST_AT_ONCE:
            return summarise(run.values(measure, source, narrow=True), in_place=True)
        counts = all_counts(tuple(one for one in reduce_run(run, measure) if source in (None, one.source)))
        return summarise_counts(counts.value, counts.value, counts.count)
    largest = max(
        one.maximum_ns
        for one in run.manifest.extremes
        if one.measure == measure and source in (None, one.source)
    )
    return summarise_counts(*run.histogram(source, measure), largest)
