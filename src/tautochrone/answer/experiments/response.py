"""Response times: which mechanism to choose, the spread between repetitions, tables 1 and 2 of koh2013."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from msgspec import Struct

from tautochrone.answer import document as doc
from tautochrone.answer.blocks import Figure, Panel
from tautochrone.answer.charts import rows
from tautochrone.answer.charts.rows import MechanismLane
from tautochrone.base.units import format_duration, format_us
from tautochrone.judge.rows import absent_rows, rows_of
from tautochrone.run.folder import StoredRun
from tautochrone.run.records import Count
from tautochrone.statistics.means import Repetitions, repetitions

ONE_WAY, ROUND_TRIP = "one_way_ns", "round_trip_ns"
KOH_SEMAPHORE, KOH_ROUND_TRIP = "koh_semaphore_ns", "koh_round_trip_ns"
_KOH = (
    (("semaphore",), KOH_SEMAPHORE),
    (("fifo",), KOH_ROUND_TRIP),
    (("message-queue", "message"), KOH_ROUND_TRIP),
)
"""The columns of the paper's tables: what stands there, of user space or of the kernel, and its measure."""

_REPETITION = "repetition"
_PLACES = {False: "one CPU", True: "two CPUs"}
_WORDS = {ONE_WAY: "One way", ROUND_TRIP: "Round trip"}

_SPREAD_COLUMNS = (
    "", "on", "one way", "95 % interval", "between", "within", "worst", "round trip", "its worst", "missed",
)  # fmt: skip
_SPREAD = (
    "Each repetition has channels of its own. One way, round trip: mean of the means of the repetitions; the "
    "interval is Student's, at 95 %. Between: standard deviation of these means. Within: of the samples "
    "around the mean of their repetition."
)
_CELLS = (
    "Mean, plus or minus the standard deviation between repetitions, and in parentheses the worst; in us."
)
_KOH_NOTE = (
    "In ns, means of those of the repetitions, as the paper prints them: its time starts after the send has "
    "returned. A semaphore's ends at the receiver, the others' when the answer is there. A receiver of "
    "higher priority on the same CPU runs before the send returns: then the time to it is negative."
)
_IN_USER_SPACE = "The paper's FIFO is RTAI's, or a message pipe of Xenomai; here it is a named FIFO."


@dataclass(frozen=True)
class _Cell:
    """One mechanism in one placement of one run, with its period; None: that of the whole run.

    ``name``: the mechanism, and the period where the run has several.
    """

    mechanism: str
    across: bool
    source: int
    name: str
    period_ns: int | None = None


@dataclass(frozen=True)
class ResponsePresentation:
    """Presentation of the experiment `response`; ``mechanisms``: which of the paper's ours stand for."""

    mechanisms: str = _IN_USER_SPACE

    def tables(self, runs: Sequence[StoredRun], labels: Sequence[str]) -> list[doc.TypedTable]:
        """Return the spread of each run; where there are several, mechanism by run; the paper's tables."""
        told = [(run, label) for run, label in zip(runs, labels, strict=True) if not run.is_histogram]
        found = [_spread(run, label) for run, label in told]
        if len(told) > 1:
            found += [
                table
                for across in _PLACES
                for measure in _WORDS
                if (table := _side_by_side(told, measure, across=across)) is not None
            ]
        return [*found, *_as_koh(told, self.mechanisms)]

    def figures(self, runs: Sequence[StoredRun], labels: Sequence[str], prefix: str) -> list[Figure]:
        """Draw one way, and round trip: a panel for each run, all on one scale."""
        names = {measure: measure.removesuffix("_ns").replace("_", "-") for measure in _WORDS}
        drawn = [_figure(runs, labels, f"{prefix}-{name}", measure) for measure, name in names.items()]
        return [one for one in drawn if one is not None]


class _StatedRow(Struct, frozen=True):
    """A row as the header tells it."""

    mechanism: str
    place: str | None = None
    period_ns: Count | None = None


class _Stated(Struct, frozen=True):
    """Of the parameters, the rows."""

    rows: tuple[_StatedRow, ...] = ()


def _cells(run: StoredRun) -> list[_Cell]:
    """Return the cases by the header; by the sources' names where it does not say."""
    stated = run.manifest.header.told(_Stated).rows
    if len(stated) == len(run.sources):
        several = len({one.period_ns for one in stated}) > 1
        return [
            _Cell(
                one.mechanism,
                one.place == "different",
                source,
                f"{one.mechanism}, {format_duration(one.period_ns)}"
                if several and one.period_ns
                else one.mechanism,
                one.period_ns,
            )
            for one, source in zip(stated, run.sources, strict=True)
        ]
    return [_Cell(row.name, row.across, row.source, row.name) for row in rows_of(run, ONE_WAY)]


def _repeated(run: StoredRun, cell: _Cell, measure: str) -> Repetitions | None:
    if run.count(measure, cell.source) == 0:
        return None
    return repetitions(run.values(measure, cell.source), run.column(_REPETITION, cell.source))


def _spread(run: StoredRun, label: str) -> doc.TypedTable:
    books = {book.source: book for book in run.manifest.books}
    rows: list[tuple[doc.TypedCell, ...]] = []
    for cell in _cells(run):
        one_way, there_and_back = (_repeated(run, cell, measure) for measure in _WORDS)
        missed = books[cell.source].missed if cell.source in books else None
        rows.append(
            (
                doc.words(cell.name),
                doc.words(_PLACES[cell.across]),
                *_spread_of(one_way),
                doc.micros(None if there_and_back is None else there_and_back.mean),
                doc.micros(None if there_and_back is None else there_and_back.worst),
                doc.count(missed),
            )
        )
    rows += [
        (doc.words(name), doc.words(doc.UNKNOWN), *map(doc.micros, [None] * 7), doc.count(None))
        for name in absent_rows(run)
    ]
    title = f"Response time in us: {label}" if label else "Response time in us"
    return doc.TypedTable(title, doc.columns(*_SPREAD_COLUMNS), tuple(rows), (_SPREAD, *_absences([run])))


def _spread_of(seen: Repetitions | None) -> tuple[doc.TypedCell, ...]:
    if seen is None:
        return (doc.micros(None),) * 5
    within = seen.variance_within
    return (
        doc.micros(seen.mean),
        doc.micros_between(seen.low, seen.high),
        doc.micros(seen.deviation),
        doc.micros(None if within is None else within**0.5),
        doc.micros(seen.worst),
    )


def _side_by_side(
    told: Sequence[tuple[StoredRun, str]], measure: str, *, across: bool
) -> doc.TypedTable | None:
    """Return a line for each mechanism, a column for each run."""
    cells = [{one.name: one for one in _cells(run) if one.across is across} for run, _ in told]
    mechanisms = list(dict.fromkeys(name for held in cells for name in held))
    if not mechanisms:
        return None
    rows = tuple(
        (
            doc.words(name),
            *(
                _mean_and_spread(_repeated(run, held[name], measure) if name in held else None)
                for (run, _), held in zip(told, cells, strict=True)
            ),
        )
        for name in mechanisms
    )
    title = f"{_WORDS[measure]}, {_PLACES[across]}"
    notes = (_CELLS, *_absences([run for run, _ in told]))
    return doc.TypedTable(title, doc.columns("", *(label for _, label in told)), rows, notes)


def _mean_and_spread(seen: Repetitions | None) -> doc.TypedCell:
    if seen is None:
        return doc.micros(None)
    spread = "" if seen.deviation is None else f" ± {format_us(seen.deviation)}"
    return doc.TypedCell(seen.mean, "ns", f"{format_us(seen.mean)}{spread} ({format_us(seen.worst)})")


def _as_koh(told: Sequence[tuple[StoredRun, str]], mechanisms: str) -> list[doc.TypedTable]:
    """Lay out tables 1 and 2: a line for each run, with its period and load."""
    heads = doc.columns("", "period", "load", "semaphore", "FIFO", "message queue or mailbox")
    lines = {across: tuple(_koh_lines(told, across=across)) for across in _PLACES}
    found = [
        doc.TypedTable(f"As in tables 1 and 2 of koh2013, {_PLACES[across]}", heads, rows)
        for across, rows in lines.items()
        if rows
    ]
    return [*found[:-1], replace(found[-1], notes=(_KOH_NOTE, mechanisms))] if found else []


def _koh_lines(told: Sequence[tuple[StoredRun, str]], *, across: bool) -> Iterator[tuple[doc.TypedCell, ...]]:
    for run, label in told:
        own = [one for one in _cells(run) if one.across is across]
        for period_ns in dict.fromkeys(one.period_ns for one in own):
            held = {one.mechanism: one for one in own if one.period_ns == period_ns}
            cells = [next((held[name] for name in names if name in held), None) for names, _ in _KOH]
            if not any(cells):
                continue
            means = [
                _repeated(run, cell, measure) if cell else None
                for cell, (_, measure) in zip(cells, _KOH, strict=True)
            ]
            yield (
                doc.words(label or "this run"),
                _period(run, period_ns),
                doc.words(run.manifest.conditions.load or doc.UNKNOWN),
                *(
                    doc.TypedCell(None, "ns")
                    if seen is None
                    else doc.TypedCell(seen.mean, "ns", f"{seen.mean:,.0f}")
                    for seen in means
                ),
            )


def _period(run: StoredRun, own_ns: int | None) -> doc.TypedCell:
    period_ns = own_ns or run.manifest.header.number("period_ns")
    return doc.words("none") if period_ns == 0 else doc.time(period_ns)


def _absences(runs: Sequence[StoredRun]) -> Iterator[str]:
    said = {f"N/A, {name}: {why}." for run in runs for name, why in absent_rows(run).items()}
    yield from sorted(said)


def _figure(runs: Sequence[StoredRun], labels: Sequence[str], prefix: str, measure: str) -> Figure | None:
    lanes = {rank: held for rank, run in enumerate(runs) if (held := list(_lanes(run, measure)))}
    if not lanes:
        return None
    span_ns = rows.extent_of_mechanisms([lane for held in lanes.values() for lane in held])
    panels = tuple(
        Panel(
            prefix,
            labels[rank],
            rows.mechanisms(
                held, span_ns=span_ns, title=_WORDS[measure].lower(), rank=rank, legend=rank == min(lanes)
            ),
            rank,
        )
        for rank, held in lanes.items()
    )
    caption = (
        "From before the send to the receiver."
        if measure == ONE_WAY
        else "From before the send to the answer, which comes back by the same mechanism.",
        "Filled marks: both tasks on one CPU. Hollow marks: on two CPUs."
        if len({lane.placement for held in lanes.values() for lane in held}) > 1
        else f"Both tasks on {next(iter(lanes.values()))[0].placement}.",
        "A quantile for which there are too few samples has no mark.",
    )
    return Figure(f"{_WORDS[measure]} by each mechanism", panels, caption)


def _lanes(run: StoredRun, measure: str) -> Iterator[MechanismLane]:
    summaries = {row.source: row.summary for row in rows_of(run, measure)}
    for cell in _cells(run):
        summary = summaries[cell.source]
        if summary is not None:
            yield MechanismLane(cell.name, _PLACES[cell.across], summary)
