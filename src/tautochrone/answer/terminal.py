"""A run as a terminal shows it: conditions, one summary per source, the books, warnings.

On a terminal the table has one column per source where one line per source would be too wide; in a pipe
it always has one line per source, so that other programs can read it.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
from rich import box
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tautochrone.answer.blocks import Grid
from tautochrone.answer.console import show_part
from tautochrone.answer.evidence import Evidence, Measured, Presented
from tautochrone.answer.experiments import title_of
from tautochrone.answer.phrasing import course
from tautochrone.answer.render.terminal import band_lines, show_table
from tautochrone.answer.series import Bins, Floats, Series, usual_size_ns
from tautochrone.answer.typeset import number, plain
from tautochrone.answer.views import absences, conditions, environment, grids, losses, virtual
from tautochrone.answer.views.absences import Absent
from tautochrone.answer.views.summary import interval, quantile_name
from tautochrone.answer.views.warnings import endings
from tautochrone.base.units import format_duration, format_us
from tautochrone.base.words import upper_first
from tautochrone.judge.middleware_setting import as_obtained
from tautochrone.run.manifest import Books, Manifest
from tautochrone.target.middleware import EXPERIMENTS as MIDDLEWARE

# A histogram in one line of text per source: a first look, logarithmic in both directions.


_BLOCKS = " ▁▂▃▄▅▆▇█"


def sketch(series: Sequence[Series], width: int) -> Table:
    """One line per series on a common logarithmic axis of ``width`` characters.

    With values below 0 the axis is logarithmic to both sides of 0. The height of a character is the logarithm
    of its count; a single sample is already visible.
    """
    least = min(int(one.bins.low_ns[0]) for one in series)
    knee = usual_size_ns(series) if least < 0 else 0.0
    low = least if knee else max(1, least)
    high = max(low + 1, *(one.maximum_ns for one in series))
    counts = [_columns(one.bins, low, high, width, knee) for one in series]
    most = max(max(line) for line in counts)
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    for index, (one, line) in enumerate(zip(series, counts, strict=True)):
        left, right = (format_duration(low), format_duration(high)) if index == 0 else ("", "")
        text = Text("".join(_block(count, most) for count in line), style="cyan")
        table.add_row(one.source, Text(left, style="dim"), text, Text(right, style="dim"))
    return table


def _columns(bins: Bins, low: int, high: int, width: int, knee: float) -> list[int]:
    def bent(values: Floats) -> Floats:
        return np.sign(values) * np.log1p(np.abs(values) / knee) if knee else np.log(values)

    start, end = bent(np.array([low, high], np.float64))
    at = (bent(np.clip(bins.low_ns, low, high).astype(np.float64)) - start) / (end - start) * (width - 1)
    return [int(count) for count in np.bincount(at.astype(np.int64), weights=bins.count, minlength=width)]


def _block(count: int, most: int) -> str:
    if count == 0:
        return _BLOCKS[0]
    share = math.log(count + 1) / math.log(most + 1)
    return _BLOCKS[max(1, round(share * (len(_BLOCKS) - 1)))]


_ROWS_NEED = 128  # columns of a terminal that one line per source needs
_SOURCES_PER_TABLE_WIDTH = 16
_MOST_COLUMNS, _MOST_SKETCHED = 8, 12
_MOST_LINES = 24  # of sources of which a presentation has spoken already
_EXPLANATION = 24  # characters that words about a source need at least
_SKETCH_SCALE, _NARROWEST_SKETCH = 26, 16
_GAP = 2
_FEW = ("completed", "missed", "min", "mean", "median", "max")
_NOT_SETTINGS = {"command", "load", "target", "ring_rows"}  # told elsewhere, or of no consequence
_USUAL = {  # what goes without saying
    "stagger_ns": 0,
    "drain": "live",
    "record": "raw",
    "wait": "sleep",
    "budget_ns": 2_000_000_000,
    "memory_lock": True,
    "clocks": "all",
}
_TOO_FEW = "too few"
_UNKNOWN = "N/A"


def show_run(console: Console, manifest: Manifest, seen: Evidence, *, intervals: bool = False) -> None:
    """Print one run: what presents its experiment first, then each measure.

    Args:
        seen: the evidence of this run alone.
        intervals: show the confidence interval of each quantile.
    """

    def show(parts: Callable[[], Iterable[RenderableType]], *, whole: bool = False) -> None:
        for part in parts():
            console.print(part, soft_wrap=whole and not console.is_terminal)

    show_part(console, "The run", show, lambda: _head(manifest), whole=True)
    for notice in seen.lost:
        console.print(Text(f"\n{notice}", style="bold red"), soft_wrap=True)
    for name, experiment in seen.presented.items():
        show_part(console, title_of(name), _show_presented, console, experiment)
    presented = bool(seen.presented)
    folded = presented and console.is_terminal and not intervals
    for measured in seen.measured:
        if folded and (len(measured.series) > _MOST_LINES or measured.experiment in MIDDLEWARE):
            show_part(console, measured.heading, show, partial(_course, console, measured))
            continue
        lay = partial(_measure, console, manifest, measured, intervals=intervals, presented=presented)
        show_part(console, measured.heading, show, lay)
    many = max((len(measured.series) for measured in seen.measured), default=0)
    if folded and many and (many > _MOST_LINES or manifest.experiment in MIDDLEWARE):
        each = f"Each of the {many} sources" if many > 1 else "The source"
        words = f"{each} in numbers: tauto show {manifest.id} --intervals, or in a pipe."
        console.print(Text(f"\n{words}", style="dim"))
    if not seen.measured and not seen.lost:
        console.print("\nNo sample was recorded.")
    show_part(console, "What is absent", _show_absent, console, manifest, presented=presented)
    show_part(console, "Deployments and loads", _show_beside, console, manifest)
    console.print()
    show_part(console, "Settings", show, lambda: _settings(manifest), whole=True)
    show_part(console, "The books", show, lambda: _books(manifest, seen), whole=True)
    show_part(console, "Warnings", show, lambda: _warnings(manifest), whole=True)


def _show_presented(console: Console, experiment: Presented) -> None:
    for grid in experiment.grids():
        for part in show_grid(console, grid):
            console.print(part)


def _show_absent(console: Console, manifest: Manifest, *, presented: bool) -> None:
    absent = absences.view([manifest], [""])
    if absent and not presented:
        for one in absent:
            console.print(Text(absences.sentence(one), style="dim"), soft_wrap=not console.is_terminal)


def _show_beside(console: Console, manifest: Manifest) -> None:
    for grid in [*conditions.deployments([manifest], [""]), *conditions.loads([manifest], [""])]:
        for part in show_grid(console, grid):
            console.print(part)


def show_grid(console: Console, grid: Grid) -> Iterator[RenderableType]:
    """A presentation's table; one below the other where it is too wide for the terminal."""
    return show_table(console, grids.view(grid))


def _head(manifest: Manifest) -> Iterator[RenderableType]:
    yield Text(upper_first(manifest.title), style="bold")
    load = manifest.conditions.load
    under = conditions.deployment_name(manifest)
    parts = [
        manifest.id,
        manifest.state,
        manifest.ended,
        f"load {load}" if load else None,
        f"deployment {under}" if under else None,
        f"on {conditions.where(manifest)}" if conditions.where(manifest) else None,
    ]
    yield Text(", ".join(part for part in parts if part), style="dim")
    yield from band_lines([manifest])
    for sentence in endings([manifest], [manifest.title]):
        yield Text(plain(sentence), style="bold yellow")


def _settings(manifest: Manifest) -> Iterator[RenderableType]:
    settings = {**as_obtained(manifest), **manifest.conditions.stored}
    said = [
        plain(f"{environment.words(name)} {environment.show(name, value)}")
        for name, value in settings.items()
        if name not in _NOT_SETTINGS and isinstance(value, (str, int, float)) and value != _USUAL.get(name)
    ]
    if said:
        yield Text(f"Measured with: {', '.join(said)}.")


def _measure(
    console: Console, manifest: Manifest, measured: Measured, *, intervals: bool, presented: bool
) -> Iterator[RenderableType]:
    books = {book.name: book for book in manifest.books}
    series = measured.series
    absent = [] if presented else absences.view([manifest], [""])
    yield Text(f"\n{measured.title} in us", style="bold")
    if not console.is_terminal or (console.width >= _ROWS_NEED and not intervals):
        yield _one_line_per_source(series, books, absent, intervals=intervals, room=_room(console))
        yield from _too_few(series)
    elif intervals or (len(series) <= _MOST_COLUMNS and not presented):
        per_table = _per_table(console, series, intervals=intervals)
        for start in range(0, len(series), per_table):
            yield _one_column_per_source(series[start : start + per_table], books, intervals=intervals)
        yield from _too_few(series)
    else:
        yield few_numbers(series, books, absent)
    yield from (Text(plain(sentence), style="bold yellow") for sentence in losses.caption(series))
    if _has_sketch(console, series, presented=presented):
        width = min(60, console.width - _SKETCH_SCALE - max(len(one.source) for one in series))
        if width >= _NARROWEST_SKETCH:
            yield Padding(sketch(series, width=width), (1, 0, 0, 0))
    yield from _course(console, measured)


def _course(console: Console, measured: Measured) -> Iterator[RenderableType]:
    """What stands out over time."""
    sentences = [sentence for _, found in measured.courses for sentence in course.sentences(found)]
    if sentences:
        yield Text("\nOver time:", style="bold")
        for sentence in sentences:
            indented = Padding(Text(plain(sentence)), (0, 0, 0, 2))
            yield indented if console.is_terminal else Text(f"  {plain(sentence)}")


def _room(console: Console) -> int:
    """Characters for words after the numbers of a line; none in a pipe, whose last column is a number."""
    return console.width - _ROWS_NEED if console.is_terminal else 0


def _per_table(console: Console, series: Sequence[Series], *, intervals: bool) -> int:
    widest = max(len(one.source) for one in series) + _GAP
    least = _SOURCES_PER_TABLE_WIDTH + (12 if intervals else 0)
    return max(1, (console.width - 18) // max(least, widest))


def _has_sketch(console: Console, series: Sequence[Series], *, presented: bool) -> bool:
    few = len(series) <= _MOST_SKETCHED and not presented
    return few and console.is_terminal and console.encoding.lower().startswith("utf")


def few_numbers(
    series: Sequence[Series], books: Mapping[str, Books], absent: Sequence[Absent]
) -> RenderableType:
    """One line per source that fits 80 columns: for many sources."""
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    table.add_column("source", overflow="fold")
    lines = [_entries(one, books.get(one.source), intervals=False) for one in series]
    chosen = [{name: text for name, text in line if name in _FEW} for line in lines]
    names = [name for name in _FEW if any(line.get(name, _UNKNOWN) != _UNKNOWN for line in chosen)]
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for one, line in zip(series, chosen, strict=True):
        table.add_row(one.source, *(line.get(name, _UNKNOWN) for name in names))
    for lacking in absent:
        table.add_row(lacking.name, *([_UNKNOWN] * len(names)))
    return table


def _one_line_per_source(
    series: Sequence[Series],
    books: Mapping[str, Books],
    absent: Sequence[Absent],
    *,
    intervals: bool,
    room: int,
) -> RenderableType:
    """``room``: characters for what each source is in words, if there is any."""
    explained = room >= _EXPLANATION and any(one.what for one in series)
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    table.add_column("source", no_wrap=True)
    lines = [dict(_entries(one, books.get(one.source), intervals=intervals)) for one in series]
    for name in lines[0] if lines else ():
        table.add_column(name, justify="right", no_wrap=True)
    if explained:
        table.add_column("what", overflow="fold", style="dim")
    for one, line in zip(series, lines, strict=True):
        table.add_row(one.source, *line.values(), *([one.what] if explained else []))
    for lacking in absent:
        table.add_row(lacking.name, *([_UNKNOWN] * len(lines[0] if lines else ())))
    return table


def _one_column_per_source(
    series: Sequence[Series], books: Mapping[str, Books], *, intervals: bool
) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("", no_wrap=True)
    columns = [dict(_entries(one, books.get(one.source), intervals=intervals)) for one in series]
    for one in series:
        table.add_column(one.source, justify="right", no_wrap=True)
    for name in columns[0] if columns else ():
        if all(column[name] == _UNKNOWN for column in columns):
            continue
        style = "bold" if name == "max" else "dim" if "interval" in name else ""
        table.add_row(Text(name), *(Text(column[name]) for column in columns), style=style)
    return table


def _entries(one: Series, book: Books | None, *, intervals: bool) -> Iterator[tuple[str, str]]:
    """The numbers of one source, in the order in which they are shown."""
    yield "released", number(book.released if book else None)
    yield "completed", number(book.completed if book else None)
    yield "missed", number(book.missed if book else None)
    if one.summary is None:
        return
    yield "min", format_us(one.summary.minimum)
    yield "mean", format_us(one.summary.mean)
    yield "std dev", format_us(one.summary.standard_deviation)
    for quantile in one.summary.quantiles:
        name = plain(quantile_name(quantile.q))
        yield name, _TOO_FEW if quantile.value is None else format_us(quantile.value)
        if intervals:
            yield f"{name} interval", interval(quantile) or _UNKNOWN
    yield "max", format_us(one.summary.maximum)


def _too_few(series: Sequence[Series]) -> Iterator[RenderableType]:
    needed = {
        plain(quantile_name(quantile.q)): quantile.samples_needed
        for one in series
        if one.summary is not None
        for quantile in one.summary.quantiles
        if quantile.value is None
    }
    if needed:
        words = ", ".join(f"{name} needs {count:,}" for name, count in needed.items())
        yield Text(f"{_TOO_FEW}: {words} samples", style="dim")


def _books(manifest: Manifest, seen: Evidence) -> Iterator[RenderableType]:
    problems = [problem for book in manifest.books for problem in book.problems()]
    if problems:
        yield Text("The books do not balance:", style="bold red")
        yield from (Text(f"  {problem}", style="red") for problem in problems)
    elif manifest.books:
        totals = {
            name: sum(getattr(book, name) or 0 for book in manifest.books)
            for name in ("recorded", "dropped", "overruns", "warmup")
            if any(getattr(book, name) is not None for book in manifest.books)
        }
        words = ", ".join(f"{name.replace('warmup', 'warm-up')} {count:,}" for name, count in totals.items())
        yield Text(f"The books balance: {words}.")
    yield from _worst(seen)


def _worst(seen: Evidence) -> Iterator[RenderableType]:
    """Of the first measure: the worst of each source, or, of many, of all of them."""
    for measured in seen.measured[:1]:
        dated = [one for one in measured.series if one.worst_at_s is not None]
        if len(dated) > _MOST_COLUMNS:
            dated = [max(dated, key=lambda one: one.maximum_ns)]
        for one in dated:
            yield Text(
                f"Worst of {one.source}: {format_duration(one.maximum_ns)}, "
                f"{one.worst_at_s:,.3f} s after the start."
            )


def _warnings(manifest: Manifest) -> Iterator[RenderableType]:
    for warning in manifest.warnings:
        if virtual.is_said_here(warning.code):
            continue
        yield Text.assemble(("warning: ", "bold yellow"), warning.text)
        if warning.advice:
            yield Text(f"  {warning.advice}")
