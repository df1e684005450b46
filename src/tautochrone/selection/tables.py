"""A selection in tables."""

from tautochrone.answer.document import TypedCell, TypedTable, Unit, columns, count, micros
from tautochrone.answer.document import words as cell
from tautochrone.answer.numbers import quantile_name
from tautochrone.answer.phrasing.blame import name_of, of_a_million
from tautochrone.base.units import format_duration, format_part, format_percent
from tautochrone.selection import words
from tautochrone.selection.candidates import Candidate
from tautochrone.selection.judge import Against, Selection
from tautochrone.selection.places import BLAME
from tautochrone.statistics.difference.quantile_difference import QuantileDifference
from tautochrone.statistics.difference.two_sample import TwoSample
from tautochrone.statistics.quantiles import samples_needed

_RARE = 0.99999
_LEAST_P = 0.001
_MOST_CAUSES = 4
_WITHIN = (
    "Here blocks are exchanged: what differs from one run to the next is not in these p, so that a small one "
    "says that these runs differ, and not yet that the candidates do."
)


def tables(selection: Selection) -> list[TypedTable]:
    """Return the ranking, the paper's Table 4, the tests beside it, and the differences of quantiles."""
    return [ranking(selection), as_printed(selection), beside(selection), differences(selection)]


def ranking(selection: Selection) -> TypedTable:
    """Return best first; those that share a letter can't be told apart."""
    metric = selection.metric
    first = metric.name if metric.kind in ("quantile", BLAME) else ""
    unit: Unit = "ns" if metric.kind == "quantile" else "share"
    rows = []
    for one in selection.ranking.ranked:
        candidate = selection.candidate(one.name)
        rows.append(
            (
                cell(one.name),
                cell(one.letters),
                *([TypedCell(one.value, unit, words.said(selection, one.value))] if first else []),
                micros(int(candidate.counts.value[-1])),
                *([_rare(candidate)] if metric.q != _RARE else []),
                count(candidate.lost),
                count(len(candidate.runs)),
                count(candidate.counts.total),
                _p(one.p_best),
            )
        )
    heads = columns(
        "",
        "group",
        *([first] if first else []),
        "max in us",
        *(["99.999 % in us"] if metric.q != _RARE else []),
        "without sample",
        "runs",
        "samples",
        "p, like the first",
    )
    sure = format_percent(1 - selection.alpha)
    notes = (
        f"By {metric.name}, least first. Those that share a letter can't be told apart; any two that do not "
        f"can, at {sure} confidence for all pairs together (Holm, 1979).",
    )
    return TypedTable("The ranking", heads, tuple(rows), notes)


def as_printed(selection: Selection) -> TypedTable:
    """Return Table 4 of delgado2020."""
    rows = tuple(_printed(selection, one) for one in selection.against)
    test = selection.against[0].chi_square
    heads = columns("", "DOF", "critical value", "statistic", "rejected", "outside", "selected")
    notes = (
        f"Bins of {test.width_ns / 1000:g} us over the range of {selection.reference} "
        f"({selection.why_reference}); significance {test.alpha:g}; degrees of freedom: the bins. Outside: "
        "samples outside of that range, moved into its end bins. Selected: not rejected, and the least "
        f"statistic; {selection.reference} itself, whose statistic is 0, can't be selected.",
    )
    title = f"Chi-square test against {selection.reference}, as Table 4 of delgado2020"
    return TypedTable(title, heads, rows, notes)


def beside(selection: Selection) -> TypedTable:
    """Return tests that do not assume independent samples, and the size of the effect."""
    rows = tuple(_beside(one) for one in selection.against if one.name != selection.reference)
    heads = columns(
        "",
        "KS",
        "p",
        "p if independent",
        "AD",
        "p",
        "p if independent",
        f"later than {selection.reference}",
        "which is",
    )
    notes = [
        "KS: the largest difference of the distribution functions (Kolmogorov-Smirnov). AD: "
        "Anderson-Darling, which weighs the ends more. p: by permutation of blocks of neighbouring samples, "
        "or of whole runs where there are enough, adjusted for all candidates (Holm, 1979); if independent: "
        "what textbooks say, too small where samples are correlated. Later: the chance that a release is "
        f"later than one of {selection.reference}, 50 % where neither is (Vargha and Delaney, 2000)."
    ]
    if any(test is not None and not test.whole_runs for one in selection.against for test in _tests(one)):
        notes.append(_WITHIN)
    return TypedTable("Whether they differ, and how much", heads, rows, tuple(notes))


def differences(selection: Selection) -> TypedTable:
    """Return each quantile less that of the reference, with its interval."""
    others = [one for one in selection.against if one.name != selection.reference]
    names = [quantile_name(one.q) for one in others[0].differences]
    rows = tuple((cell(one.name), *map(difference, one.differences)) for one in others)
    held = next((one for against in others for one in against.differences), None)
    sure = format_percent(held.confidence if held else 0.95)
    notes = [f"Candidate less {selection.reference}, and the {sure} interval of each by itself."]
    told = [one for against in others for one in against.differences if one.basis]
    if any(None in (one.low_ns, one.high_ns) for one in told):
        notes.append("Above all, below all: that end lies among releases without a sample, or there is none.")
    title = f"Quantiles less those of {selection.reference}, in us"
    return TypedTable(title, columns("", *names), rows, tuple(notes))


def late(selection: Selection) -> TypedTable:
    """Return what made cycles late in each candidate."""
    rows = []
    for one in selection.late:
        number, of = one.late
        causes = [
            f"{name_of(*cause)} {100 * times / number:.0f} %" for cause, times in one.causes[:_MOST_CAUSES]
        ]
        more = len(one.causes) - len(causes)
        told = f"{', '.join(causes)}{f', and {more} more' if more > 0 else ''}"
        share = number / of if of else None
        rows.append((cell(one.name), TypedCell(share, "share", of_a_million(share)), cell(told)))
    note = (
        f"Late: {format_duration(selection.late[0].threshold_ns)} and more, the highest threshold of the "
        "runs. A late cycle counts for the cause that has most of its excess."
    )
    heads = columns("", "late of a million cycles", "what made them late")
    return TypedTable("What makes cycles late", heads, tuple(rows), (note,))


def difference(one: QuantileDifference) -> TypedCell:
    """Return ``+3.2 (1.1 to 5.0)``."""
    if one.difference_ns is None:
        return TypedCell(None, "ns", left=True)
    value, interval = f"{one.difference_ns / 1e3:+,.3f}", "no interval"
    if one.basis:
        low = "below all" if one.low_ns is None else f"{one.low_ns / 1e3:+,.3f}"
        high = "above all" if one.high_ns is None else f"{one.high_ns / 1e3:+,.3f}"
        interval = f"{low} to {high}"
    text = f"{value} ({interval})"
    return TypedCell(one.difference_ns, "ns", text, one.low_ns, one.high_ns, left=True)


def _printed(selection: Selection, one: Against) -> tuple[TypedCell, ...]:
    test = one.chi_square
    chosen = one.name == selection.chosen_as_printed
    reference = one.name == selection.reference
    return (
        cell(one.name),
        count(test.dof),
        TypedCell(test.critical, "number", f"{test.critical:,.3f}"),
        TypedCell(test.statistic, "number", f"{test.statistic:,.2f}"),
        cell("yes" if test.rejected else "no"),
        count(test.below + test.above),
        cell("the reference" if reference else "selected" if chosen else ""),
    )


def _beside(one: Against) -> tuple[TypedCell, ...]:
    ks, ad = one.kolmogorov_smirnov, one.anderson_darling
    return (
        cell(one.name),
        *_test(ks, one.p_ks, "" if ks is None else f"{ks.statistic:.3f}"),
        *_test(ad, one.p_ad, "" if ad is None else f"{ad.statistic:,.1f}"),
        TypedCell(one.superiority, "share", format_part(one.superiority)),
        cell(f"a {one.size} effect" if one.size != "negligible" else "negligible"),
    )


def _test(test: TwoSample | None, p: float | None, statistic: str) -> tuple[TypedCell, ...]:
    """Return the statistic of a test, its adjusted p and that of independent samples."""
    if test is None:
        return (TypedCell(None, "number"), _p(p), TypedCell(None, "number"))
    return (TypedCell(test.statistic, "number", statistic), _p(p), _p(test.p_if_independent))


def _tests(one: Against) -> tuple[TwoSample | None, TwoSample | None]:
    return one.kolmogorov_smirnov, one.anderson_darling


def _rare(candidate: Candidate) -> TypedCell:
    if candidate.released < samples_needed(_RARE):
        return micros(None, "too few")
    return micros(candidate.quantile_ns(_RARE))


def _p(value: float | None) -> TypedCell:
    if value is None:
        return TypedCell(None, "number", "-")
    return TypedCell(value, "number", f"<{_LEAST_P}" if value < _LEAST_P else f"{value:.3f}")
