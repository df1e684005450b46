"""The numbers of a measure: quantiles with their intervals, how sure they are, what is lacking in them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tautochrone.answer import document as doc
from tautochrone.answer.series import Series, merge, runs_of
from tautochrone.answer.typeset import duration, number
from tautochrone.base.units import format_percent, format_us
from tautochrone.base.words import plural, upper_first, verb
from tautochrone.run.manifest import Manifest
from tautochrone.statistics.quantiles import CONFIDENCE, Quantile, exceedance_bound
from tautochrone.statistics.summary import EXACT, Summary

# Rows that a system can't give: N/A wherever a run's sources are tabled, with the reason.


@dataclass(frozen=True)
class MissingRow:
    """One row that is not there. ``runs`` are the labels of the runs that lack it, "" if all do."""

    name: str
    why: str
    runs: str = ""


def absent_rows(manifests: Sequence[Manifest], labels: Sequence[str]) -> list[MissingRow]:
    """Return the absent rows of one experiment's runs; what several lack for one reason is said once."""
    where: dict[tuple[str, str], list[str]] = {}
    for manifest, label in zip(manifests, labels, strict=True):
        for one in manifest.header.absent:
            where.setdefault((one.name, one.why), []).append(label)
    return [
        MissingRow(name, why, "" if len(lacking) == len(manifests) else ", ".join(lacking))
        for (name, why), lacking in where.items()
    ]


def absent_sentence(absent: MissingRow) -> str:
    """Return ``suspend-resume: N/A, POSIX has no such call``."""
    return f"{absent.name}{f' ({absent.runs})' if absent.runs else ''}: N/A, {absent.why}"


# Releases without a sample: the cycles that quantiles, curves and bounds can't speak for.


_MOST_SENTENCES = 2


def loss_of(one: Series) -> str:
    """Return ``12 of 3,012 releases were missed and have no sample here``; nothing where none is lacking."""
    parts = []
    if one.missed:
        released = f" of {number(one.released)}" if one.released is not None else ""
        noun = "release" if one.missed == 1 and not released else "releases"
        was, has = verb(one.missed, "was"), verb(one.missed, "has")
        parts.append(f"{number(one.missed)}{released} {noun} {was} missed and {has} no sample here")
    if one.dropped:
        was, is_ = verb(one.dropped, "was"), verb(one.dropped, "is")
        parts.append(f"{plural(one.dropped, 'sample')} {was} dropped and {is_} not here")
    return "; ".join(parts)


def loss_sentences(series: Sequence[Series]) -> list[str]:
    """Return one sentence per run and source that lacks something; where they are many, one per run."""
    several = len(runs_of(series)) > 1
    lacking = [one for one in series if one.lost]
    if len(lacking) > _MOST_SENTENCES and several:
        return [f"{one.run}: {loss_of(one)}." for one in merge(lacking, "")]
    if len(lacking) > _MOST_SENTENCES:
        return [f"On {len(lacking)} sources, {loss_of(one)}." for one in merge(lacking, "")]
    return [f"{one.source}{f', {one.run}' if several else ''}: {loss_of(one)}." for one in lacking]


def loss_caption(series: Sequence[Series]) -> list[str]:
    """Return the same for below a figure or a table, with what it does to the numbers."""
    said = loss_sentences(series)
    return (
        [
            *said,
            "Missed cycles leave no sample, so shares and quantiles of the completed cycles look too good.",
        ]
        if said
        else []
    )


# How sure the numbers are, said of each CPU and run by itself.


ASSUMES = (
    "This assumes cycles that are independent and like those to come; neighbouring cycles are not quite "
    "independent, so take it as the least doubt there is."
)


def one_in(one: Series) -> int | None:
    """Return in how many cycles at most one starts later than the worst; None where releases are lacking, or
    may be."""
    if one.lost or one.missed is None or not one.count:
        return None
    bound = exceedance_bound(one.count, 0, CONFIDENCE)
    return max(1, int(1 / bound)) if bound > 0 else one.count


def how_sure(series: Sequence[Series]) -> list[str]:
    """Return sentences about the worst of all series and what it rests on; empty without series."""
    if not series:
        return []
    worst = max(series, key=lambda one: one.maximum_ns)
    several = len(runs_of(series)) > 1
    where = worst.source + (f" in the run “{worst.run}”" if several else "")
    opening = f"The worst start of all was {duration(worst.maximum_ns)} late, on {where}."
    rarity = one_in(worst)
    if rarity is None:
        why = "releases have no sample there" if worst.lost else "how many releases were missed is not known"
        claim = f"How rare a later one is can't be said, because {why}."
    else:
        claim = (
            f"It is the worst of {plural(worst.count, 'cycle')} there. With {format_percent(CONFIDENCE)} "
            "confidence, for this CPU and this run by itself, at most 1 cycle in "
            f"{number(rarity)} starts later. {ASSUMES}"
        )
    lacking = loss_sentences(series)
    return [f"{opening} {claim}", *([" ".join(lacking)] if lacking else [])]


# The numbers: count, extremes, mean and quantiles with their confidence intervals.


TOO_FEW = "too few"


def quantile_of(summary: Summary | None, q: float) -> doc.TypedCell:
    """Return a quantile in microseconds; `TOO_FEW` where there is no interval for it."""
    return doc.micros(None) if summary is None else doc.micros(summary.quantile(q), TOO_FEW)


def blocks(
    series: Sequence[Series], *, loop: bool = True, absent: Sequence[MissingRow] = ()
) -> Iterator[doc.Block]:
    """Yield the summaries of all series that have one, and what they rest on.

    How rare a value above the maximum is, is said of the cycles of loops only. ``absent`` are the rows that
    a system could not give.
    """
    own = [one for one in series if one.summary is not None]
    summaries = [one.summary for one in own if one.summary is not None]
    quantiles = summaries[0].quantiles if summaries else ()
    sure = format_percent(quantiles[0].confidence) if quantiles else ""
    said = [
        f"Times in us. Below each quantile stands its {sure} confidence interval, free of any assumed "
        "distribution. Too few samples: that many would be needed.",
        *resolutions(own),
    ]
    if loop:
        said.append(
            f"Later than max: at most so many cycles are, at {sure} confidence, for each CPU and run by "
            f"itself. {ASSUMES}"
        )
    yield doc.Sentence(" ".join(said), "note")
    if lacking := loss_caption(own):
        yield doc.Sentence(" ".join(lacking), "strong")
    several = len(runs_of(series)) > 1
    rows = [list(_told(one, several=several, loop=loop)) for one in own]
    heads = tuple(doc.TableColumn(upper_first(column.head)) for column, _ in rows[0]) if rows else ()
    notes = tuple(f"{absent_sentence(one)}." for one in absent)
    yield doc.TypedTable("", heads, tuple(tuple(cell for _, cell in row) for row in rows), notes, "dense")


def resolutions(series: Sequence[Series]) -> list[str]:
    """Return how coarse the bins are that quantiles come from, a sentence each; none where all are exact."""
    found = dict.fromkeys(one.summary.resolution for one in series if one.summary is not None)
    return [f"Quantiles come from {one}." for one in found if one != EXACT]


Told = tuple[doc.TableColumn, doc.TypedCell]
"""A column, and what stands there of one source."""


def _told(one: Series, *, several: bool, loop: bool) -> Iterator[Told]:
    assert one.summary is not None
    if several:
        yield doc.TableColumn("run"), doc.TypedCell(one.run, rank=one.rank)
    yield (
        doc.TableColumn("source"),
        doc.TypedCell(one.source, beneath=(doc.Sentence(one.what),) if one.what else ()),
    )
    yield doc.TableColumn("samples"), doc.count(one.summary.count)
    yield from columns_of(one.summary)
    if loop:
        yield doc.TableColumn("later than max"), _later(one)


def columns_of(summary: Summary, *, intervals: bool = False) -> Iterator[Told]:
    """Tell a summary column by column.

    The interval of a quantile stands beneath it on a page; with ``intervals`` it has a column.
    """
    yield doc.TableColumn("min"), doc.micros(summary.minimum)
    known = not summary.bounded
    yield doc.TableColumn("mean"), doc.micros(summary.mean if known else None)
    yield doc.TableColumn("std dev", spare=True), doc.micros(summary.standard_deviation if known else None)
    for held in summary.quantiles:
        name = quantile_name(held.q)
        yield doc.TableColumn(name, spare=held.q != 0.5), _quantile(held)
        if intervals:
            yield doc.TableColumn(f"{name} interval", spare=True), interval(held)
    yield doc.TableColumn("max"), replace(doc.micros(summary.maximum), strong=True)


def quantile_name(q: float) -> str:
    """Return ``median`` or ``99.9 %``."""
    return "median" if q == 0.5 else format_percent(q)


def interval(quantile: Quantile, missing: str = doc.UNKNOWN) -> doc.TypedCell:
    """Return the interval of a quantile, in microseconds."""
    return doc.micros_between(quantile.low, quantile.high, missing)


def _later(one: Series) -> doc.TypedCell:
    rarity = one_in(one)
    return (
        doc.words("can't be said")
        if rarity is None
        else doc.TypedCell(1 / rarity, "share", f"1 in {number(rarity)}")
    )


def _quantile(one: Quantile) -> doc.TypedCell:
    if one.is_bounded:
        return doc.micros_between(one.low, one.high)
    cell = replace(doc.micros(one.value, TOO_FEW), low=one.low, high=one.high)
    if one.value is None:
        return replace(cell, beneath=(doc.Sentence(f"needs {number(one.samples_needed)}"),))
    if one.low is None or one.high is None:
        return cell
    return replace(cell, beneath=(doc.Sentence(f"{format_us(one.low)}\u2013{format_us(one.high)}"),))
