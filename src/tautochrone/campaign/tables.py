"""A plan run's cases in numbers: one row for each, its repetitions beside each other and never pooled."""

from collections.abc import Callable, Sequence

from tautochrone.answer.document import TypedCell, TypedTable, columns, count, formatted, micros, words
from tautochrone.answer.numbers import TOO_FEW, quantile_name
from tautochrone.base.words import plural, verb
from tautochrone.campaign.results import CampaignResults, CampaignRow, CampaignTable, Repetition
from tautochrone.statistics.quantiles import Quantile, samples_needed
from tautochrone.statistics.summary import spread

SHOWN = (0.5, 0.999, 0.99999)
_TIMES = "\u00d7"
_SPREADS = ("medians from", "to", "maxima from", "to")
_BEFORE: dict[str, Callable[[CampaignRow], str]] = {
    "what": lambda row: row.what,
    "source": lambda row: row.source,
}
_AFTER: dict[str, Callable[[CampaignRow], str]] = {
    "load": lambda row: row.load,
    "deployment": lambda row: row.deployment,
    "system": lambda row: row.system,
}


def laid_out(table: CampaignTable, results: CampaignResults, *, apart: bool) -> TypedTable:
    """Return the table of one measure; times in us.

    Args:
        apart: a column for each thing in which cases differ; otherwise one for all of them, for narrow
            terminals.
    """
    axes = differing(table.rows)
    heads = tuple(axes) if apart else ("",)
    several = results.wanted > 1
    spreads = _SPREADS if several else ()
    quantiles = _had(table.rows)
    where = [", ".join(dict.fromkeys(one.node for one in row.repetitions)) for row in table.rows]
    if any(where):
        heads = (*heads, "measured on")
    rows = tuple(
        (
            *map(words, [trait(row, axis) for axis in axes] if apart else [name_of(row, axes)]),
            *([words(nodes)] if any(where) else []),
            *_numbers(row, quantiles, several=several),
        )
        for row, nodes in zip(table.rows, where, strict=True)
    )
    names = columns(*heads, "n", *map(quantile_name, quantiles), "max", "missed", *spreads)
    return TypedTable("", names, rows, tuple(_notes(table, results)))


def heading(table: CampaignTable) -> str:
    """Return what stands above the table."""
    return f"{table.title} in us"


def differing(rows: Sequence[CampaignRow]) -> list[str]:
    """In what the rows of a table differ; the load, if they differ in nothing."""
    options = dict.fromkeys(name for row in rows for name in row.varied)
    names = [*_BEFORE, *options, *_AFTER]
    return [name for name in names if len({trait(row, name) for row in rows}) > 1] or ["load"]


def trait(row: CampaignRow, name: str) -> str:
    """Return one of the things in which rows may differ; empty if it has none of that name."""
    of = _BEFORE.get(name) or _AFTER.get(name)
    return of(row) if of is not None else row.varied.get(name, "")


def name_of(row: CampaignRow, axes: Sequence[str]) -> str:
    """Return what tells a row from the others: ``period 1ms, idle``."""
    said = []
    for axis in axes:
        own = trait(row, axis)
        option = axis not in _BEFORE and axis not in _AFTER
        said += [f"{axis.replace('-', ' ')} {own}" if option else own] if own else []
    return ", ".join(said)


def value_of(one: Repetition, q: float) -> Quantile:
    """Return one quantile of one repetition."""
    return next(quantile for quantile in one.summary.quantiles if quantile.q == q)


def missed(row: CampaignRow) -> tuple[int, int] | None:
    """Missed of released, over all repetitions; None where nothing is released."""
    known = [(one.missed, one.released) for one in row.repetitions if one.missed is not None]
    if not known:
        return None
    return sum(lost or 0 for lost, _ in known), sum(released or 0 for _, released in known)


def _had(rows: Sequence[CampaignRow]) -> tuple[float, ...]:
    """Return the quantiles that at least one row has; the median in any case."""
    return tuple(q for q in SHOWN if q == SHOWN[0] or any(_middle(row, q).known for row in rows))


def _numbers(row: CampaignRow, quantiles: Sequence[float], *, several: bool) -> tuple[TypedCell, ...]:
    maxima = [one.summary.maximum for one in row.repetitions]
    lost = missed(row)
    spreads = (*_ends([value_of(one, 0.5).value for one in row.repetitions]), *_ends(maxima))
    return (
        _count(row),
        *(_middle(row, q) for q in quantiles),
        micros(max(maxima)),
        count(None if lost is None else lost[0]),
        *(spreads if several else ()),
    )


def _ends(values: Sequence[int | None]) -> tuple[TypedCell, TypedCell]:
    """Return the least and the largest of several; of one there is no spread."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return micros(None, TOO_FEW), micros(None, TOO_FEW)
    if len(known) < 2:
        return micros(None), micros(None)
    return micros(spread(known).least), micros(spread(known).largest)


def _count(row: CampaignRow) -> TypedCell:
    """``3\u00d760,000`` where all repetitions have as many samples; otherwise how many there are in all."""
    counts = [one.summary.count for one in row.repetitions]
    if len(counts) == 1:
        return count(counts[0])
    if len(set(counts)) == 1:
        return formatted(sum(counts), f"{len(counts)}{_TIMES}{counts[0]:,}")
    return count(sum(counts))


def _middle(row: CampaignRow, q: float) -> TypedCell:
    """Return the median of the repetitions' quantiles; none of one that has too few samples for it."""
    values = [value_of(one, q).value for one in row.repetitions]
    known = [value for value in values if value is not None]
    return micros(None, TOO_FEW) if len(known) < len(values) else micros(spread(known).middle)


def _notes(table: CampaignTable, results: CampaignResults) -> list[str]:
    notes = []
    if results.wanted > 1 and table is results.tables[0]:
        notes.append(
            "Each quantile is taken within every repetition, and the median of these is shown; samples of "
            "different repetitions are never put together. n is of each, or of all where they differ; max is "
            "the largest of all; missed is the sum."
        )
    scarce = [
        f"{quantile_name(q)} needs {samples_needed(q):,}"
        for q in SHOWN
        if any(value_of(one, q).value is None for row in table.rows for one in row.repetitions)
    ]
    if scarce:
        notes.append(f"Too few samples in one repetition: {', '.join(scarce)}.")
    lost = [(row, found) for row in table.rows if (found := missed(row)) and found[0]]
    if lost:
        many = sum(found[0] for _, found in lost)
        where = f"{plural(many, 'release')} in {plural(len(lost), 'row')}"
        became = f"{verb(many, 'was')} missed and {verb(many, 'has')} no sample"
        notes.append(f"{where} {became}: the quantiles there look too good.")
    short = [row for row in table.rows if len(row.repetitions) < results.wanted]
    if short:
        notes.append(f"{plural(len(short), 'row')} with fewer than {results.wanted} repetitions.")
    return notes
