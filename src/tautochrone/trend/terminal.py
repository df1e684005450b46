"""A trend in the terminal, and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from tautochrone.answer.blocks import Grid
from tautochrone.answer.console import show_part
from tautochrone.answer.terminal import show_grid
from tautochrone.base.words import capital, plural
from tautochrone.target.middleware import FOOTPRINT, INCIDENTAL
from tautochrone.trend import words
from tautochrone.trend.judge import Line, Trend

# Values in one line of text, in their order.


_BLOCKS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float], width: int) -> str:
    """One character for each value, the least lowest; of more than ``width`` the largest of neighbours.

    Equal values stand in the middle. Empty of none.
    """
    if not values:
        return ""
    columns = min(width, len(values))
    bounds = [at * len(values) // columns for at in range(columns + 1)]
    kept = [max(values[bounds[at] : bounds[at + 1]]) for at in range(columns)]
    low, high = min(kept), max(kept)
    if low == high:
        return _BLOCKS[len(_BLOCKS) // 2] * columns
    steps = len(_BLOCKS) - 1
    return "".join(_BLOCKS[round((value - low) / (high - low) * steps)] for value in kept)


_SCHEMA = 1
_MOST_LINES, _MOST_POINTS, _NARROWEST, _WIDE = 30, 40, 20, 128


def show_trend(console: Console, trend: Trend) -> None:
    """One line of comparable runs after the other, those of most runs first; of a single one all its runs."""
    title = f"{trend.metric.text} of {plural(trend.runs, 'run')} in {plural(len(trend.lines), 'line')}"
    console.print(Text(capital(title), style="bold"))
    if shared := words.common(trend):
        console.print(Text(shared, style="dim"), soft_wrap=True)
    several = [line for line in trend.lines if len(line.points) > 1]
    for at, line in enumerate(several[:_MOST_LINES], start=1):
        show_part(console, f"Line {at}", _show_line, console, line, trend)
    show_part(console, "The other lines", _show_rest, console, trend, several)
    console.print()
    for sentence in closing(trend):
        console.print(Text(sentence, style="dim"), soft_wrap=not console.is_terminal)


def closing(trend: Trend) -> list[str]:
    """What is said once, below all lines."""
    said = [words.how_sure()]
    if any(line.experiment == FOOTPRINT for line in trend.lines):
        said.append(INCIDENTAL)
    if "kernel" in trend.by and trend.kernels > 1:
        rest = ",".join(name for name in trend.by if name != "kernel") or "machine"
        said.append(
            f"Runs of {trend.kernels} kernels stand in lines of their own; "
            f"--by {rest} shows a new kernel as a step in one line."
        )
    if trend.without:
        said.append(f"{plural(trend.without, 'run')} without {trend.metric.text}.")
    return said


def table(line: Line, trend: Trend, *, narrow: bool = False) -> Grid:
    """The runs of a line, the latest last; ``narrow`` leaves out what a narrow terminal has no room for."""
    metric = trend.metric
    rows = tuple(
        (
            words.date_of(one),
            one.run,
            words.shown(one.value, metric),
            words.interval(one.value, metric),
            f"{one.value.samples:,}",
            "N/A" if one.value.missed is None else f"{one.value.missed:,}",
            words.changed_words(one.changed, 1),
        )
        for one in line.points[-_MOST_POINTS:]
    )
    heads = ("when (UTC)", "run", metric.name, "95 % interval", "samples", "missed", "changed")
    wide = (heads[1], heads[-1])
    kept = [
        at for at, head in enumerate(heads) if any(row[at] for row in rows) and not (narrow and head in wide)
    ]
    left_out = len(line.points) - len(rows)
    notes = (f"{plural(left_out, 'earlier run')} not listed.",) if left_out else ()
    return Grid(
        "",
        tuple(heads[at] for at in kept),
        tuple(tuple(row[at] for at in kept) for row in rows),
        notes,
        words=("when (UTC)", "run", "95 % interval", "changed"),
    )


def as_table(trend: Trend) -> dict[str, Any]:
    """The same as JSON has it; times in nanoseconds, misses as shares of the releases."""
    return {
        "schema": _SCHEMA,
        "metric": trend.metric.text,
        "unit": "share of releases" if trend.metric.kind == "misses" else "ns",
        "by": list(trend.by),
        "runs": trend.runs,
        "lines": [
            {
                "name": words.describe(line, trend),
                "experiment": line.experiment,
                "measure": line.measure,
                "source": line.source,
                "virtual": line.virtual,
                "traits": dict(line.traits),
                "parameters": dict(line.parameters),
                "points": [
                    {
                        "run": one.run,
                        "created": one.created,
                        **asdict(one.value),
                        "changed": [asdict(change) for change in one.changed],
                    }
                    for one in line.points
                ],
                "searched": line.steps is not None,
                "steps": [{**asdict(step), "run": line.points[step.index].run} for step in line.steps or ()],
                "too_few_samples": line.too_few,
                "unread": line.unread,
                "sentences": words.sentences(line, trend.metric),
            }
            for line in trend.lines
        ],
    }


def _show_line(console: Console, line: Line, trend: Trend) -> None:
    metric = trend.metric
    console.print()
    console.print(Text(words.describe(line, trend), style="bold"), soft_wrap=True)
    values = [one.value.value or 0.0 for one in line.points]
    width = max(_NARROWEST, min(len(values), console.width - 36))
    ends = f"{words.number(min(values), metric)} to {words.number(max(values), metric)}"
    picture = sparkline(values, width)
    first, last = line.points[0].created[:10], line.points[-1].created[:10]
    when = first if first == last else f"{first} to {last}"
    console.print(Text.assemble("  ", (picture, "cyan"), f"  {ends}"), soft_wrap=True)
    latest = line.points[-1].value
    within = words.interval(latest, metric)
    said = f"{plural(len(values), 'run')}, {when}; the latest {words.shown(latest, metric)}"
    _indented(console, f"{said}{f' ({within})' if within else ''}.", "")
    for number, sentence in enumerate(words.sentences(line, metric)):
        step = line.steps is not None and number < len(line.steps)
        _indented(console, sentence, "bold yellow" if step else "")
    if len(trend.lines) == 1:
        console.print()
        narrow = console.is_terminal and console.width < _WIDE
        for part in show_grid(console, table(line, trend, narrow=narrow)):
            console.print(part)


def _show_rest(console: Console, trend: Trend, several: list[Line]) -> None:
    """Lines of one run, which is no trend, and those that are too many."""
    single = [line for line in trend.lines if len(line.points) == 1]
    if single:
        title = "One run alone, so far" if several else "One run, so far: there is nothing to compare it with"
        rows = tuple(
            (
                words.describe(line, trend),
                words.shown(line.points[0].value, trend.metric),
                words.interval(line.points[0].value, trend.metric),
                line.points[0].run,
            )
            for line in single[:_MOST_LINES]
        )
        heads = ("what", trend.metric.name, "95 % interval", "run")
        for part in show_grid(console, Grid(title, heads, rows, words=("run", "95 % interval"))):
            console.print(part)
    few = [line for line in trend.lines if not line.points]
    for line in few[:_MOST_LINES]:
        console.print()
        console.print(Text(words.describe(line, trend), style="bold"), soft_wrap=True)
        for sentence in words.sentences(line, trend.metric):
            _indented(console, sentence, "")
    left_out = max(0, len(several) - _MOST_LINES) + max(0, len(single) - _MOST_LINES)
    if left_out:
        console.print(
            Text(f"\n{plural(left_out, 'line')} more; --experiment and --by choose among them."),
            soft_wrap=True,
        )


def _indented(console: Console, sentence: str, style: str) -> None:
    text = Text(sentence, style=style)
    if console.is_terminal:
        console.print(Padding(text, (0, 0, 0, 2)))
    else:
        console.print(Text.assemble("  ", text), soft_wrap=True)
