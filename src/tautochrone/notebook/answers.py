"""What a notebook asks of runs, put together from judgement and report."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tautochrone.answer import evidence, figure
from tautochrone.answer.blocks import Grid
from tautochrone.answer.numbers import interval, quantile_name
from tautochrone.answer.phrasing import tail as words
from tautochrone.answer.phrasing.course import sentences
from tautochrone.answer.tail import document as tables
from tautochrone.answer.tail import figures as tails
from tautochrone.answer.tail import sample_plan
from tautochrone.answer.typeset import number, plain
from tautochrone.answer.views.grids import view
from tautochrone.base.errors import UsageError
from tautochrone.base.units import (
    format_us,
    parse_confidence,
    parse_duration_ns,
    parse_frequency,
    parse_quantile,
    parse_rate_hz,
)
from tautochrone.base.words import upper_first
from tautochrone.experiments.requirement import parse
from tautochrone.judge.course import Courses, course_of
from tautochrone.judge.reduced import Reduced, reduce_run
from tautochrone.judge.requirement.judge import judge
from tautochrone.judge.requirement.line import Basis, JudgedLine, Standing
from tautochrone.judge.tail.sample_plan import SamplePlan, effect_in, plan_samples
from tautochrone.judge.tail.tails import RunTails, tails_of
from tautochrone.notebook.shown import DrawnChart, Shown
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.summary import BINNED, Summary, summarise_counts, summary_of

# How long to measure, as a notebook shows it.


def planned(
    quantile: float | str | None,
    misses: str | None,
    confidence: float | str,
    rate: str | None,
    like: StoredRun | None,
) -> Shown[SamplePlan]:
    """Plan how many samples it takes, by the ways there are of saying it."""
    q = parse_quantile(quantile) if isinstance(quantile, str) else quantile
    sure = parse_confidence(confidence) if isinstance(confidence, str) else confidence
    if (q is not None and not 0 < q < 1) or not 0 < sure < 1:
        raise UsageError("A quantile and a confidence lie above 0 and below 1", "Write 0.99999 and 0.95.")
    often = None if misses is None else parse_frequency(misses)
    rates = () if rate is None else (parse_rate_hz(rate),)
    found = plan_samples(q, often, rates_hz=rates, confidence=sure)
    if like is not None:
        effect = effect_in(like.id, reduce_run(like), 1 - min(found.shares))
        found = plan_samples(q, often, rates_hz=rates, confidence=sure, effect=effect, like=like.id)
    title = sample_plan.headline(found, sample_plan.question(q, misses))
    return Shown(found, title, (), (view(sample_plan.grid(found)),))


_TOO_FEW = "too few"


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
    found = {one.name: _summary_of(run, one) for one in parts}
    names = [plain(quantile_name(one.q)) for one in next(iter(found.values())).quantiles]
    heads = ("source", "samples", "without", "min", "mean", "std dev", *names, "max")
    rows = tuple(
        (
            one.name,
            number(own.count),
            number(one.lost),
            *map(format_us, (own.minimum, own.mean, own.standard_deviation)),
            *(_TOO_FEW if held.value is None else format_us(held.value) for held in own.quantiles),
            format_us(own.maximum),
        )
        for one, own in zip(parts, found.values(), strict=True)
    )
    notes = [
        "Without: releases that have no sample, since they were missed or their sample was dropped; "
        "quantiles here are of the samples alone."
    ]
    if run.is_histogram:
        notes.append(f"From {BINNED}; each quantile stands at the upper edge of its bin.")
    between = Grid(
        "Intervals of the quantiles, at 95 % confidence, for independent samples",
        ("source", *names),
        tuple((name, *(interval(held) or _TOO_FEW for held in own.quantiles)) for name, own in found.items()),
    )
    grids = (Grid(f"{_title(run, measure)} in us", heads, rows, tuple(notes)), between)
    return Shown(found, run.manifest.title, (), tuple(map(view, grids)))


def _summary_of(run: StoredRun, one: Reduced) -> Summary:
    if not run.is_histogram:
        return summary_of(one.counts)
    return summarise_counts(*run.histogram(one.source), int(one.counts.value[-1]))


def tail(
    run: StoredRun, parts: Sequence[Reduced], measure: str, limit: str | int | None, confidence: float
) -> Shown[RunTails]:
    """Estimate the tail of each of these sources."""
    limits = () if limit is None else (limit if isinstance(limit, int) else parse_duration_ns(limit),)
    found = tails_of(run, measure, limits_ns=limits, confidence=confidence, reduced=parts)
    sentences = [f"{one.name}: {words.headline(one)}" for one in found.sources]
    several = len(found.sources) > 1
    grids = [
        replace(grid, title=f"{one.name}: {grid.title}") if several else grid
        for one in found.sources
        for grid in (tables.limits(one), tables.levels(one), tables.checks(one))
        if grid is not None
    ]
    title = f"The tail of the {run.manifest.header.meaning_of(measure)}"
    return Shown(found, title, tuple(sentences), tuple(map(view, grids)))


def course(run: StoredRun, parts: Sequence[Reduced], measure: str) -> Shown[Courses]:
    """Find what stands out over time."""
    found = course_of(run, measure, parts)
    return Shown(found, f"{_title(run, measure)} over time", tuple(sentences(found)))


def check(runs: Sequence[StoredRun], text: str) -> Shown[Checked]:
    """Judge whether a requirement holds."""
    from tautochrone.answer.phrasing import requirement as words

    found = judge(parse(text), runs)
    whys = [words.why_of(found.requirement, one) for one in found.lines]
    rows = tuple(
        (one.where, one.source, one.standing, why) for one, why in zip(found.lines, whys, strict=True)
    )
    grid = Grid("Source by source", ("where", "source", "standing", "why"), rows)
    checked = Checked(
        found.standing, words.why(found), found.basis, found.to_settle_s, words.to_settle(found), found.lines
    )
    sentences = (checked.why, *filter(None, [checked.to_settle]), *words.notes(found))
    return Shown(checked, f"{text}: {found.standing}", sentences, (view(grid),) if len(rows) > 1 else ())


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
