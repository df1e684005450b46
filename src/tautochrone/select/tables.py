"""A selection in tables."""

from tautochrone.answer.blocks import Grid
from tautochrone.answer.typeset import number, plain
from tautochrone.answer.views.summary import quantile_name
from tautochrone.base.units import format_percent, format_us
from tautochrone.select import words
from tautochrone.select.candidates import Candidate
from tautochrone.select.judge import Against, Selection
from tautochrone.statistics.difference.quantile_difference import QuantileDifference
from tautochrone.statistics.difference.two_sample import TwoSample

_NA = "N/A"
_RARE = 0.99999
_LEAST_P = 0.001
_WITHIN = (
    "Here blocks are exchanged: what differs from one run to the next is not in these p, so that a small one "
    "says that these runs differ, and not yet that the candidates do."
)


def tables(selection: Selection) -> list[Grid]:
    """The ranking, the paper's Table 4, the tests beside it, and the differences of quantiles."""
    return [ranking(selection), as_printed(selection), beside(selection), differences(selection)]


def ranking(selection: Selection) -> Grid:
    """Best first; those that share a letter can't be told apart."""
    metric = selection.metric
    first = metric.name if metric.kind == "quantile" else ""
    rows = []
    for one in selection.ranking.ranked:
        candidate = selection.candidate(one.name)
        rows.append(
            (
                one.name,
                one.letters,
                *([words.said(selection, one.value)] if first else []),
                format_us(int(candidate.counts.value[-1])),
                *([_rare(candidate)] if metric.q != _RARE else []),
                number(candidate.lost),
                number(len(candidate.runs)),
                number(candidate.counts.total),
                _p(one.p_best),
            )
        )
    heads = (
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
    return Grid("The ranking", heads, tuple(rows), notes, words=("group", first))


def as_printed(selection: Selection) -> Grid:
    """Table 4 of delgado2020."""
    rows = tuple(_printed(selection, one) for one in selection.against)
    test = selection.against[0].chi_square
    heads = ("", "DOF", "critical value", "statistic", "rejected", "outside", "selected")
    notes = (
        f"Bins of {test.width_ns / 1000:g} us over the range of {selection.reference} "
        f"({selection.why_reference}); significance {test.alpha:g}; degrees of freedom: the bins. Outside: "
        "samples outside of that range, moved into its end bins. Selected: not rejected, and the least "
        f"statistic; {selection.reference} itself, whose statistic is 0, does not stand.",
    )
    return Grid(
        f"Chi-square test against {selection.reference}, as Table 4 of delgado2020", heads, rows, notes
    )


def beside(selection: Selection) -> Grid:
    """Tests that do not assume independent samples, and the size of the effect."""
    rows = tuple(_beside(one) for one in selection.against if one.name != selection.reference)
    heads = (
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
        "what textbooks say, too small where neighbours are alike. Later: the chance that a release is "
        f"later than one of {selection.reference}, 50 % where neither is (Vargha and Delaney, 2000).",
    ]
    if any(test is not None and not test.whole_runs for one in selection.against for test in _tests(one)):
        notes.append(_WITHIN)
    return Grid("Whether they differ, and how much", heads, rows, tuple(notes), words=("which is",))


def differences(selection: Selection) -> Grid:
    """Each quantile less that of the reference, with its interval."""
    others = [one for one in selection.against if one.name != selection.reference]
    names = [plain(quantile_name(one.q)) for one in others[0].differences]
    rows = tuple((one.name, *map(difference, one.differences)) for one in others)
    held = next((one for against in others for one in against.differences), None)
    sure = format_percent(held.confidence if held else 0.95)
    notes = [f"Candidate less {selection.reference}, and the {sure} interval of each by itself."]
    if any(
        (one.low_ns is None) != (one.high_ns is None) for against in others for one in against.differences
    ):
        notes.append("Above all, below all: that end lies among releases without a sample, or there is none.")
    return Grid(
        f"Quantiles less those of {selection.reference}, in us",
        ("", *names),
        rows,
        tuple(notes),
        words=tuple(names),
    )


def difference(one: QuantileDifference) -> str:
    """``+3.2 (1.1 to 5.0)``."""
    if one.difference_ns is None:
        return _NA
    value = f"{one.difference_ns / 1e3:+,.3f}"
    if one.low_ns is None and one.high_ns is None:
        return f"{value} (no interval)"
    low = "below all" if one.low_ns is None else f"{one.low_ns / 1e3:+,.3f}"
    high = "above all" if one.high_ns is None else f"{one.high_ns / 1e3:+,.3f}"
    return f"{value} ({low} to {high})"


def _printed(selection: Selection, one: Against) -> tuple[str, ...]:
    test = one.chi_square
    chosen = one.name == selection.chosen_as_printed
    reference = one.name == selection.reference
    return (
        one.name,
        number(test.dof),
        f"{test.critical:,.3f}",
        f"{test.statistic:,.2f}",
        "yes" if test.rejected else "no",
        number(test.below + test.above),
        "the reference" if reference else "selected" if chosen else "",
    )


def _beside(one: Against) -> tuple[str, ...]:
    ks, ad = one.kolmogorov_smirnov, one.anderson_darling
    return (
        one.name,
        _NA if ks is None else f"{ks.statistic:.3f}",
        _p(one.p_ks),
        _NA if ks is None else _p(ks.p_if_independent),
        _NA if ad is None else f"{ad.statistic:,.1f}",
        _p(one.p_ad),
        _NA if ad is None else _p(ad.p_if_independent),
        f"{one.superiority * 100:.1f} %",
        f"a {one.size} effect" if one.size != "negligible" else "negligible",
    )


def _tests(one: Against) -> tuple[TwoSample | None, TwoSample | None]:
    return one.kolmogorov_smirnov, one.anderson_darling


def _rare(candidate: Candidate) -> str:
    from tautochrone.statistics.quantiles import rank, samples_needed

    total = candidate.released
    if total < samples_needed(_RARE):
        return "too few"
    position = rank(total, _RARE)
    return _NA if position > candidate.counts.total else format_us(candidate.counts.at_rank(position))


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return f"<{_LEAST_P}" if value < _LEAST_P else f"{value:.3f}"
