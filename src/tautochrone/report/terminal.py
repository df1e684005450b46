"""A run as a terminal shows it: conditions, one summary per source, the books, warnings.

On a terminal the table has one column per source where one line per source would be too wide; in a pipe
it always has one line per source, so that other programs can read it.
"""

from collections.abc import Iterator, Mapping, Sequence

from rich import box
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tautochrone.report.series import Series
from tautochrone.report.sketch import sketch
from tautochrone.report.typeset import number, plain
from tautochrone.report.views import environment, losses
from tautochrone.report.views.summary import interval, quantile_name
from tautochrone.report.views.warnings import endings
from tautochrone.run.manifest import Books, Manifest
from tautochrone.units import format_duration, format_us

_PIPE_WIDTH = 10_000
_ROWS_NEED = 128  # columns of a terminal that one line per source needs
_SOURCES_PER_TABLE_WIDTH = 16
_NOT_SETTINGS = {"command", "load", "ring_rows"}  # told elsewhere, or of no consequence
_USUAL = {  # what goes without saying
    "stagger_ns": 0,
    "drain": "live",
    "record": "raw",
    "wait": "sleep",
    "budget_ns": 2_000_000_000,
    "memory_lock": True,
    "target": "local",
    "clocks": "all",
}
_TOO_FEW = "too few"
_UNKNOWN = "N/A"


def make_console() -> Console:
    """Standard output: in colour on a terminal; in a pipe plain, and wide enough that no line is broken."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_PIPE_WIDTH, no_color=True)


def show_run(
    console: Console, manifest: Manifest, measures: Mapping[str, Sequence[Series]], *, intervals: bool = False
) -> None:
    """Print one run; ``measures`` are the series of each measure, by what it means."""
    for part in _head(manifest):
        console.print(part, soft_wrap=not console.is_terminal)
    for meaning, series in measures.items():
        for part in _measure(console, manifest, meaning, series, intervals=intervals):
            console.print(part)
    if not measures:
        console.print("\nNo sample was recorded.")
    console.print()
    for part in [*_settings(manifest), *_books(manifest), *_warnings(manifest)]:
        console.print(part, soft_wrap=not console.is_terminal)


def _head(manifest: Manifest) -> Iterator[RenderableType]:
    yield Text(manifest.title[:1].upper() + manifest.title[1:], style="bold")
    load = manifest.conditions.get("load")
    parts = [manifest.id, manifest.state, manifest.ended, f"load {load}" if load else None]
    yield Text(", ".join(part for part in parts if part), style="dim")
    for sentence in endings([manifest], [manifest.title]):
        yield Text(plain(sentence), style="bold yellow")


def _settings(manifest: Manifest) -> Iterator[RenderableType]:
    settings = {**(manifest.header.get("parameters") or manifest.parameters), **manifest.conditions}
    said = [
        plain(f"{environment.words(name)} {environment.show(name, value)}")
        for name, value in settings.items()
        if name not in _NOT_SETTINGS and isinstance(value, (str, int, float)) and value != _USUAL.get(name)
    ]
    if said:
        yield Text(f"Measured with: {', '.join(said)}.")


def _measure(
    console: Console, manifest: Manifest, meaning: str, series: Sequence[Series], *, intervals: bool
) -> Iterator[RenderableType]:
    books = {book.name: book for book in manifest.books}
    rows = not console.is_terminal or (console.width >= _ROWS_NEED and not intervals)
    yield Text(f"\n{meaning[:1].upper()}{meaning[1:]} in us", style="bold")
    if rows:
        yield _one_line_per_source(series, books, intervals=intervals)
    else:
        per_table = max(1, (console.width - 18) // (28 if intervals else _SOURCES_PER_TABLE_WIDTH))
        for start in range(0, len(series), per_table):
            yield _one_column_per_source(series[start : start + per_table], books, intervals=intervals)
    yield from (Text(plain(sentence), style="bold yellow") for sentence in losses.caption(series))
    yield from _too_few(series)
    if console.is_terminal and console.encoding.lower().startswith("utf"):
        yield Padding(sketch(series, width=min(60, console.width - 34)), (1, 0, 0, 0))


def _one_line_per_source(
    series: Sequence[Series], books: Mapping[str, Books], *, intervals: bool
) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("source", no_wrap=True)
    lines = [dict(_entries(one, books.get(one.source), intervals=intervals)) for one in series]
    for name in lines[0] if lines else ():
        table.add_column(name, justify="right", no_wrap=True)
    for one, line in zip(series, lines, strict=True):
        table.add_row(one.source, *line.values())
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


def _books(manifest: Manifest) -> Iterator[RenderableType]:
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
    for extreme in manifest.extremes:
        start_ns = _start_ns(manifest)
        if extreme.maximum_at_ns is not None and start_ns is not None and extreme.count:
            name = next(
                (book.name for book in manifest.books if book.source == extreme.source), str(extreme.source)
            )
            after_s = (extreme.maximum_at_ns - start_ns) / 1e9
            yield Text(
                f"Worst of {name}: {format_duration(extreme.maximum_ns)}, {after_s:,.3f} s after the start."
            )


def _start_ns(manifest: Manifest) -> int | None:
    starts = [source.get("start_ns") for source in manifest.header.get("sources", [])]
    return min((start for start in starts if start is not None), default=None)


def _warnings(manifest: Manifest) -> Iterator[RenderableType]:
    for warning in manifest.warnings:
        yield Text.assemble(("warning: ", "bold yellow"), warning.text)
        if warning.advice:
            yield Text(f"  {warning.advice}")
