"""The answer of a trend: as a document, with a chart for each line of comparable runs, and as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from tautochrone.answer import document as doc
from tautochrone.answer.blocks import Figure, Panel, made
from tautochrone.answer.charts.signs import CIRCLE, TRIANGLE_UP, Sign
from tautochrone.answer.charts.theme import series_tone
from tautochrone.base.faults import Later
from tautochrone.base.words import capital, plural
from tautochrone.run.manifest import Manifest
from tautochrone.target.middleware import FOOTPRINT, INCIDENTAL
from tautochrone.trend import words
from tautochrone.trend.chart import chart, lettered
from tautochrone.trend.judge import Trend, TrendLine, TrendPoint
from tautochrone.trend.record import machine_of
from tautochrone.trend.values import TrendMetric

_MOST_LINES, _MOST_POINTS, _MOST_FACTS = 40, 40, 8
_SPARKS = "▁▂▃▄▅▆▇█"
_LONGEST_SPARK = 44


def document(trend: Trend, manifests: Sequence[Manifest]) -> doc.Document:
    """One line of comparable runs after the other, those of most runs first.

    The manifests are those of runs that it may be about; at least one.
    """
    there = {point.run for line in trend.lines for point in line.points}
    about = [one for one in manifests if one.id in there] or manifests  # or none of them has a value
    own = sorted(about, key=lambda one: one.created)
    several = [line for line in trend.lines if len(line.points) > 1]
    lines = [
        one for at, line in enumerate(several[:_MOST_LINES], start=1) for one in _line_parts(line, trend, at)
    ]
    alone = "One run alone, so far" if several else "One run, so far: there is nothing to compare it with"
    return doc.Document(
        headline=f"{capital(trend.metric.text)} over time",
        parts=(
            doc.part("In short", lambda: _in_short(trend)),
            *lines,
            doc.part(alone, lambda: _alone(trend, alone), id="alone"),
            doc.part("Lines without a value", lambda: _without(trend), id="without"),
            doc.part("How to read this", lambda: _closing(trend), id="about"),
        ),
        grounds=doc.Grounds(tuple(own), masthead=Later(_masthead, trend, own)),
    )


def _in_short(trend: Trend) -> Iterator[doc.Block]:
    steps = [step for line in trend.lines for step in line.steps or ()]
    changes, perhaps = sum(one.shown for one in steps), sum(not one.shown for one in steps)
    yield doc.Sentence(
        f"{plural(trend.runs, 'run')} in {plural(len(trend.lines), 'line')} of comparable ones; "
        f"{plural(changes, 'lasting change') if changes else 'no lasting change'} found"
        f"{f', and {perhaps} perhaps' if perhaps else ''}."
    )
    if shared := words.common(trend):
        yield doc.Sentence(shared)


def _line_parts(line: TrendLine, trend: Trend, at: int) -> Iterator[doc.DocumentPart]:
    name = capital(words.describe(line, trend))
    yield doc.part(name, lambda: _said_of(line, trend, name, f"trend-{at - 1}"), id=f"line-{at}")
    yield doc.part(f"The changes of line {at}", lambda: _changes(line), only="page")
    runs = f"The runs of line {at}"
    if len(trend.lines) == 1:
        yield doc.part(runs, lambda: [table(line, trend)])
    else:
        yield doc.part(
            runs, lambda: [doc.Disclosure("The runs in numbers", (table(line, trend),))], only="page"
        )


def _said_of(line: TrendLine, trend: Trend, name: str, prefix: str) -> Iterator[doc.Block]:
    metric, values = trend.metric, [one.value.value or 0.0 for one in line.points]
    yield doc.Subheading(name)
    ends = f"{words.number(min(values), metric)} to {words.number(max(values), metric)}"
    yield doc.Drawing(
        Later(lambda: made(name, lambda: _figure(line, trend, name, prefix))),
        sketch=f"{sparkline(values, _LONGEST_SPARK)}  {ends}",
    )
    first, last = line.points[0].created[:10], line.points[-1].created[:10]
    when = first if first == last else f"{first} to {last}"
    latest = line.points[-1].value
    within = words.interval(latest, metric)
    said = f"{plural(len(values), 'run')}, {when}; the latest {words.shown(latest, metric)}"
    steps = len(line.steps or ())
    found = [
        doc.Sentence(one, "strong" if at < steps else "")
        for at, one in enumerate(words.sentences(line, metric))
    ]
    yield doc.Statements((doc.Sentence(f"{said}{f' ({within})' if within else ''}."), *found))


def _figure(line: TrendLine, trend: Trend, name: str, prefix: str) -> Figure:
    metric = trend.metric
    drawn = chart(line, metric, name)
    values = [one.value for one in line.points]
    key = [Sign(metric.name, path=CIRCLE, tone=series_tone(0))]
    if any(one.beyond for one in values):
        is_exact = all(one.exact for one in values if one.beyond)
        why = "at least, among releases without a sample" if is_exact else "at least"
        key.append(Sign(why, path=TRIANGLE_UP, tone=series_tone(0)))
    if line.steps:
        key.append(Sign("level between lasting changes", dash="6 3", tone=series_tone(1)))
    caption = "Each mark is one run."
    if any(one.low is not None for one in values):
        caption += (
            " Its line is the 95 % interval that its own samples give; one that ends at the edge goes on."
        )
    if any(one.changed for one in line.points):
        caption += " A letter stands where the conditions changed, as told below."
    return Figure("", (Panel(prefix, "", drawn),), (caption,), tuple(key))


def _changes(line: TrendLine) -> Iterator[doc.Block]:
    rows: list[tuple[doc.TypedCell, ...]] = []
    for letter, one in lettered(line):
        told = [words.fact_words(change) for change in one.changed[:_MOST_FACTS]]
        if rest := len(one.changed) - len(told):
            told.append(f"and {plural(rest, 'more fact')}")
        date, run = doc.words(words.date_of(one)), doc.TypedCell(one.run, "code")
        heads = [(doc.words(letter), date, run), *[(doc.words(""),) * 3] * (len(told) - 1)]
        rows += [(head[0], doc.words(fact), *head[1:]) for head, fact in zip(heads, told, strict=True)]
    if rows:
        heads_of = doc.columns("", "what changed since the run before", "when (UTC)", "run")
        yield doc.TypedTable("Where the conditions changed", heads_of, tuple(rows))


def table(line: TrendLine, trend: Trend) -> doc.TypedTable:
    """The runs of a line, the latest last."""
    metric = trend.metric
    heads = (
        doc.TableColumn("when (UTC)"),
        doc.TableColumn("run", spare=True),
        *doc.columns(metric.name, "95 % interval", "samples", "missed"),
        doc.TableColumn("changed", spare=True),
    )
    rows = [
        (
            doc.words(words.date_of(one)),
            doc.TypedCell(one.run, "code"),
            *_value_cells(one, metric),
            doc.count(one.value.samples),
            doc.count(one.value.missed),
            doc.words(words.changed_words(one.changed, 1)),
        )
        for one in line.points[-_MOST_POINTS:]
    ]
    left_out = len(line.points) - len(rows)
    notes = (f"{plural(left_out, 'earlier run')} not listed.",) if left_out else ()
    return doc.TypedTable("", *_filled(heads, rows), notes)


def _filled(
    heads: Sequence[doc.TableColumn], rows: Sequence[Sequence[doc.TypedCell]]
) -> tuple[tuple[doc.TableColumn, ...], tuple[tuple[doc.TypedCell, ...], ...]]:
    """Return the columns in which at least one row has something, and the rows without the others."""
    kept = [at for at in range(len(heads)) if any(row[at].shown for row in rows)]
    return tuple(heads[at] for at in kept), tuple(tuple(row[at] for at in kept) for row in rows)


def _value_cells(point: TrendPoint, metric: TrendMetric) -> tuple[doc.TypedCell, doc.TypedCell]:
    """The value of a run, and its interval."""
    unit: doc.Unit = "share" if metric.is_share else "ns"
    value, within = point.value, words.interval(point.value, metric)
    interval = doc.TypedCell(None, unit, within, value.low, value.high, left=True)
    return doc.TypedCell(value.value, unit, words.shown(value, metric)), interval if within else doc.words("")


def _alone(trend: Trend, title: str) -> Iterator[doc.Block]:
    """Lines of one run, which is no trend."""
    single = [line for line in trend.lines if len(line.points) == 1]
    if not single:
        return
    rows = tuple(
        (
            doc.words(words.describe(line, trend)),
            *_value_cells(line.points[0], trend.metric),
            doc.TypedCell(line.points[0].run, "code"),
        )
        for line in single[:_MOST_LINES]
    )
    heads = doc.columns("what", trend.metric.name, "95 % interval", "run")
    yield doc.TypedTable(title, *_filled(heads, rows))


def _without(trend: Trend) -> Iterator[doc.Block]:
    """Lines of which no run has a value, and how many lines are not shown."""
    for line in [one for one in trend.lines if not one.points][:_MOST_LINES]:
        yield doc.Subheading(capital(words.describe(line, trend)))
        yield from map(doc.Sentence, words.sentences(line, trend.metric))
    kinds = [min(len(line.points), 2) for line in trend.lines]
    left_out = sum(max(0, kinds.count(kind) - _MOST_LINES) for kind in set(kinds))
    if left_out:
        yield doc.Sentence(f"{plural(left_out, 'line')} more; --experiment and --by choose among them.")


def _closing(trend: Trend) -> list[doc.Block]:
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
    return [doc.Sentence(one, "note") for one in said]


def _masthead(trend: Trend, manifests: Sequence[Manifest]) -> str:
    """The machine, if it is one, how many kernels there are, and the days between which was measured."""
    machines = {machine_of(one) for one in manifests}
    first, last = manifests[0].created[:10], manifests[-1].created[:10]
    said = [
        machines.pop() if len(machines) == 1 else plural(len(machines), "machine"),
        *([plural(trend.kernels, "kernel")] if trend.kernels else []),
        first if first == last else f"{first} to {last}",
    ]
    return " · ".join(said)


def sparkline(values: Sequence[float], width: int) -> str:
    """One character for each value, the least lowest; of more than ``width`` the largest of neighbours.

    Equal values stand in the middle. Empty of none.
    """
    if not values:
        return ""
    places = min(width, len(values))
    bounds = [at * len(values) // places for at in range(places + 1)]
    kept = [max(values[bounds[at] : bounds[at + 1]]) for at in range(places)]
    low, high = min(kept), max(kept)
    if low == high:
        return _SPARKS[len(_SPARKS) // 2] * places
    steps = len(_SPARKS) - 1
    return "".join(_SPARKS[round((value - low) / (high - low) * steps)] for value in kept)


def _unit(metric: TrendMetric) -> str:
    if metric.kind == "misses":
        return "share of releases"
    return "share of cycles" if metric.is_share else "ns"


def as_table(trend: Trend) -> dict[str, object]:
    """What programs read; times in nanoseconds, misses as shares of the releases."""
    return {
        "metric": trend.metric.text,
        "unit": _unit(trend.metric),
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
                        **{key: own for key, own in asdict(one.value).items() if key != "surely_beyond"},
                        "changed": [asdict(change) for change in one.changed],
                    }
                    for one in line.points
                ],
                "searched": line.steps is not None,
                "expected": None if line.expected is None else list(line.expected),
                "steps": [{**asdict(step), "run": line.points[step.index].run} for step in line.steps or ()],
                "too_few_samples": line.too_few,
                "unread": line.unread,
                "sentences": words.sentences(line, trend.metric),
            }
            for line in trend.lines
        ],
    }
