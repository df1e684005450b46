"""What a notebook asks of runs: judged, and as documents to be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tautochrone.answer import evidence, figure
from tautochrone.answer.document import (
    Block,
    Document,
    Sentence,
    TypedTable,
    columns,
    count,
    part,
    table_of_words,
)
from tautochrone.answer.document import words as in_words
from tautochrone.answer.numbers import TOO_FEW, columns_of, interval, quantile_name
from tautochrone.answer.phrasing import tail as tail_words
from tautochrone.answer.phrasing.course import sentences
from tautochrone.answer.render import notebook
from tautochrone.answer.render.terminal import as_text
from tautochrone.answer.tail import document as tail_tables
from tautochrone.answer.tail import figures as tails
from tautochrone.answer.tail import sample_plan
from tautochrone.answer.typeset import plain
from tautochrone.base import units
from tautochrone.base.errors import UsageError
from tautochrone.base.words import upper_first
from tautochrone.comparison import phrasing, tables
from tautochrone.comparison.tables import letter
from tautochrone.experiments.requirement import parse
from tautochrone.judge.comparison.compare import Comparison, compare
from tautochrone.judge.comparison.side import ComparedSide, with_earlier
from tautochrone.judge.course import Courses, course_of
from tautochrone.judge.reduced import Reduced, reduce_run
from tautochrone.judge.requirement.judge import judge
from tautochrone.judge.requirement.line import Basis, JudgedLine, Standing
from tautochrone.judge.tail.sample_plan import SamplePlan, effect_in, plan_samples
from tautochrone.judge.tail.tails import RunTails, tails_of
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.selection import across_answer
from tautochrone.selection import words as selection_words
from tautochrone.selection.across_answer import found_across
from tautochrone.selection.figures import figures
from tautochrone.selection.judge import Selected, Selection, select
from tautochrone.selection.places import parse_metric
from tautochrone.selection.tables import tables as tables_of
from tautochrone.statistics.difference.between_runs import FEWEST_RUNS
from tautochrone.statistics.summary import Summary, summarise_counts, summary_of

if TYPE_CHECKING:
    import altair as alt

# What a notebook shows: sentences, tables and charts; the numbers are in ``result``.


# A chart is drawn here, so that it needs no network, and saved with the notebook.


class DrawnChart:
    """One chart, at publication size, in the colours of paper.

    The last expression of a case shows it. It is drawn as SVG by vl-convert, which is a part of the lab; a
    notebook that was saved shows it again without Python, and without any network.

    Attributes:
        spec: the chart as a Vega-Lite specification (JSON as dicts and lists); times in it are in ns.
    """

    def __init__(self, spec: dict[str, object]) -> None:
        """Take a specification; nothing is drawn yet."""
        self.spec = spec

    @cached_property
    def svg(self) -> str:
        """Return the drawing as SVG text; 640 px wide but for axes.

        Raises:
            ValueError: the specification can't be drawn.
        """
        return figure.encode(self.spec, "svg").decode()

    def altair(self) -> alt.TopLevelMixin:
        """Return the chart as an Altair object, to change; ``alt.renderers.enable("svg")`` draws it offline.

        Source: Altair, "Vega-Altair: Declarative Visualization in Python".
        """
        import altair as alt

        kinds: dict[str, Any] = {
            "vconcat": alt.VConcatChart,
            "hconcat": alt.HConcatChart,
            "layer": alt.LayerChart,
        }
        kind = next((kind for key, kind in kinds.items() if key in self.spec), alt.Chart)
        config: Any = self.spec["config"]
        # Vega knows the layout of legends, the schema of Vega-Lite does not.
        legend = {name: value for name, value in config["legend"].items() if name != "layout"}
        found: alt.TopLevelMixin = kind.from_dict({**self.spec, "config": {**config, "legend": legend}})
        return found

    def save(self, path: str | Path) -> Path:
        """Write the chart as .svg, .png (300 dots per inch at 6.4 inches) or .pdf, and return the path.

        Returns:
            The path.

        Raises:
            UsageError: the name ends otherwise.
            StoreError: the file can't be written.
        """
        return figure.save(self.spec, Path(path))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:  # noqa: ARG002
        return {"image/svg+xml": self.svg, "text/plain": repr(self)}

    def __repr__(self) -> str:
        """Return the chart in words."""
        said = self.spec.get("description")
        return f"Chart: {said}" if said else "Chart"


T = TypeVar("T")


@dataclass(frozen=True, repr=False)
class Shown(Generic[T]):
    """An answer.

    Attributes:
        result: the numbers, times in ns; what they are, the function says that gave the answer.
        title: of the answer.
        sentences: it in words.
        grids: it in tables: ``title``, ``columns``, ``rows`` of cases with ``value`` and ``unit``, ``notes``.
        charts: what belongs to it.
    """

    result: T
    title: str
    sentences: tuple[str, ...] = ()
    grids: tuple[TypedTable, ...] = ()
    charts: tuple[DrawnChart, ...] = field(default=())

    @property
    def document(self) -> Document:
        """Return the answer as a document."""
        blocks: list[Block] = [*map(Sentence, self.sentences), *self.grids]
        return Document(self.title, (part("The answer", lambda: blocks),))

    def _repr_html_(self) -> str:
        # White as paper: their colours are those of print.
        charts = (f'<div style="overflow-x:auto;background:#fff">{chart.svg}</div>' for chart in self.charts)
        return "".join([notebook.html(self.document), *charts])

    def __repr__(self) -> str:
        """Return the answer as plain text."""
        return "\n".join([self.title, *map(plain, self.sentences), *map(as_text, self.grids)])


# How long to measure, as a notebook shows it.


def planned(
    quantile: float | str | None,
    misses: str | None,
    confidence: float | str,
    rate: str | None,
    like: StoredRun | None,
) -> Shown[SamplePlan]:
    """Plan how many samples it takes, by the ways there are of saying it."""
    q = units.parse_quantile(quantile) if isinstance(quantile, str) else quantile
    sure = units.parse_confidence(confidence) if isinstance(confidence, str) else confidence
    if (q is not None and not 0 < q < 1) or not 0 < sure < 1:
        raise UsageError("A quantile and a confidence lie above 0 and below 1", "Write 0.99999 and 0.95.")
    often = None if misses is None else units.parse_frequency(misses)
    rates = () if rate is None else (units.parse_rate_hz(rate),)
    found = plan_samples(q, often, rates_hz=rates, confidence=sure)
    if like is not None:
        effect = effect_in(like.id, reduce_run(like), 1 - min(found.shares))
        found = plan_samples(q, often, rates_hz=rates, confidence=sure, effect=effect, like=like.id)
    title = sample_plan.headline(found, sample_plan.question(q, misses))
    return Shown(found, title, (), (sample_plan.table(found),))


@dataclass(frozen=True)
class Checked:
    """What runs say about a requirement.

    Attributes:
        standing: "holds", "does not hold" or "not shown"; ``why``: its numbers, in a few sentences.
        basis: "counted" or "extrapolated"; empty where nothing is shown.
        to_settle_s: how long a run would settle it; ``to_settle``: the same in words.
        lines: each source, the worst first.
    """

    standing: Standing
    why: str
    basis: Basis
    to_settle_s: float | None
    to_settle: str
    lines: tuple[JudgedLine, ...]


def summary(run: StoredRun, parts: Sequence[Reduced], measure: str) -> Shown[dict[str, Summary]]:
    """Summarise each source."""
    found = {one.name: _summary_of(run, one, measure) for one in parts}
    told = [list(columns_of(own)) for own in found.values()]
    heads = (*columns("source", "samples", "without"), *(column for column, _ in told[0]))
    rows = tuple(
        (in_words(one.name), count(own.count), count(one.lost), *(cell for _, cell in cells))
        for one, own, cells in zip(parts, found.values(), told, strict=True)
    )
    notes = [
        "Without: releases that have no sample, since they were missed or their sample was dropped; "
        "quantiles here are of the samples alone."
    ]
    if run.is_histogram:
        bins = ", ".join(dict.fromkeys(own.resolution for own in found.values()))
        notes.append(f"From {bins}; each quantile stands at the upper edge of its bin.")
    between = TypedTable(
        "Intervals of the quantiles, at 95 % confidence, for independent samples",
        columns("source", *(quantile_name(one.q) for one in next(iter(found.values())).quantiles)),
        tuple(
            (in_words(name), *(interval(held, TOO_FEW) for held in own.quantiles))
            for name, own in found.items()
        ),
    )
    table = TypedTable(f"{_title(run, measure)} in us", heads, rows, tuple(notes))
    return Shown(found, run.manifest.title, (), (table, between))


def _summary_of(run: StoredRun, one: Reduced, measure: str) -> Summary:
    if not run.is_histogram:
        return summary_of(one.counts)
    return summarise_counts(*run.histogram(one.source, measure), int(one.counts.value[-1]))


def tail(
    run: StoredRun, parts: Sequence[Reduced], measure: str, limit: str | int | None, confidence: float
) -> Shown[RunTails]:
    """Estimate the tail of each of these sources."""
    limits = () if limit is None else (limit if isinstance(limit, int) else units.parse_duration_ns(limit),)
    found = tails_of(run, measure, limits_ns=limits, confidence=confidence, reduced=parts)
    sentences = [f"{one.name}: {tail_words.headline(one)}" for one in found.sources]
    several = len(found.sources) > 1
    shown = [
        replace(table, title=f"{one.name}: {table.title}") if several else table
        for one in found.sources
        for table in filter(None, (tail_tables.limits(one), tail_tables.levels(one), tail_tables.checks(one)))
    ]
    title = f"The tail of the {run.manifest.header.meaning_of(measure)}"
    return Shown(found, title, tuple(sentences), tuple(shown))


def course(run: StoredRun, parts: Sequence[Reduced], measure: str) -> Shown[Courses]:
    """Find what stands out over time."""
    found = course_of(run, measure, parts)
    return Shown(found, f"{_title(run, measure)} over time", tuple(sentences(found)))


def check(runs: Sequence[StoredRun], text: str) -> Shown[Checked]:
    """Judge whether a requirement holds."""
    from tautochrone.answer.phrasing import requirement as words

    found = judge(parse(text), runs)
    whys = [words.why_of(found.requirement, one) for one in found.lines]
    rows = [(one.where, one.source, one.standing, why) for one, why in zip(found.lines, whys, strict=True)]
    table = table_of_words("Source by source", ("where", "source", "standing", "why"), rows)
    checked = Checked(
        found.standing, words.why(found), found.basis, found.to_settle_s, words.to_settle(found), found.lines
    )
    sentences = (checked.why, *filter(None, [checked.to_settle]), *words.notes(found))
    return Shown(checked, f"{text}: {found.standing}", sentences, (table,) if len(rows) > 1 else ())


def chart(run: StoredRun, kind: str, measure: str | None) -> DrawnChart:
    """Draw one chart of a run."""
    if kind in tails.KINDS:
        return DrawnChart(tails.draw([run], kind, measure)[0])
    return DrawnChart(figure.draw_kind(evidence.gather([run]), kind, measure, others=tails.KINDS)[0])


def chart_kinds(run: StoredRun) -> list[str]:
    """Return the kinds of charts that a run has."""
    return [*figure.kinds(evidence.gather([run])), *tails.KINDS]


def _title(run: StoredRun, measure: str) -> str:
    meaning = run.manifest.header.meaning_of(measure)
    return upper_first(meaning)


# A comparison and a selection.


def selected(
    runs: Sequence[StoredRun],
    *,
    by: str | None,
    reference: str | None,
    metric: str | None,
    measure: str | None,
    per: int | None,
    confidence: float,
) -> Shown[Selected]:
    """Select among runs, and show the Q-Q plots of each selection."""
    wanted = None if metric is None else parse_metric(metric)
    found = select(
        runs, by=by, reference=reference, metric=wanted, measure=measure, per=per, confidence=confidence
    )
    found.see_whole()
    several = len(found.selections) > 1
    together, apart = found_across(found.selections)
    sentences = [
        f"{selection_words.title(one)}: {sentence}" if several else sentence
        for one in found.selections
        for sentence in selection_words.sentences(one)
    ]
    first = found.selections[0]
    title = (
        f"Which {first.contest.by}?"
        if several
        else f"Which {first.contest.by}? {selection_words.title(first)}"
    )
    return Shown(
        found,
        title,
        (*map(across_answer.answer, together), *apart, *sentences, *found.alone),
        (
            *(grid for one in together for grid in across_answer.tables(one)),
            *(_titled(grid, one, several=several) for one in found.selections for grid in tables_of(one)),
        ),
        tuple(DrawnChart(figure.draw_of(partial(figures, one), "qq")) for one in found.selections),
    )


def _titled(grid: TypedTable, one: Selection, *, several: bool) -> TypedTable:
    """Return a table whose title tells its selection from the others."""
    apart = ", ".join(filter(None, [one.source, one.contest.circumstances]))
    return replace(grid, title=f"{grid.title} ({apart})") if several and apart else grid


def compared(
    sides: Sequence[tuple[StoredRun, ...]], measure: str | None, confidence: float, store: Store
) -> Shown[Comparison]:
    """Compare each side with the first; earlier runs that are alike tell how much two runs differ anyway."""
    named = [
        ComparedSide(letter(at), runs, ", ".join(run.id for run in runs)) for at, runs in enumerate(sides)
    ]
    if any(len(runs) < FEWEST_RUNS for runs in sides):
        named = with_earlier(named, store)
    found = compare(named, confidence=confidence, measure=measure)
    numbers = [
        tables.numbers(pair, one, part, found.confidence)
        for pair in found.pairs
        for one in pair.measures
        for part in one.parts
    ]
    grids = (tables.sides(found), tables.conditions(found), *numbers)
    return Shown(found, phrasing.headline(found), tuple(phrasing.sentences(found)), grids)
