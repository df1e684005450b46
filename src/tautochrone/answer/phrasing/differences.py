"""What is said of the difference of two sides: of their quantiles, and how sure it is."""

from collections.abc import Sequence

from tautochrone.base.units import format_quantile
from tautochrone.statistics.difference.between_runs import FEWEST_RUNS
from tautochrone.statistics.difference.dependence import FEWEST
from tautochrone.statistics.difference.quantile_difference import AmongLost, Note, TooFew, WithinRuns

_SIDES = ("the first", "the second")
_OTHERS = {
    "order unknown": "the samples' order is not known: the interval takes them to be independent",
    "level wanders": "the level wanders over the whole run: the interval is too narrow",
    "losses unknown": "how many releases were lost is not known; none is counted",
}
_FEW_RUNS = {1: "one run", 2: "two runs"}
_LEAST_P = 0.001


def quantile_notes(q: float, notes: Sequence[Note], sides: tuple[str, str] = _SIDES) -> str:
    """Return why there is no interval between two ``sides``, or what is not in it."""
    return "; ".join(_note(q, one, sides) for one in notes)


def _note(q: float, note: Note, sides: tuple[str, str]) -> str:
    if isinstance(note, TooFew):
        return _too_few(q, note, sides)
    if isinstance(note, AmongLost):
        where = "both sides" if len(note.sides) == 2 else sides[note.sides[0]]
        return f"{format_quantile(q)} of {where} falls among lost releases, later than every sample"
    if isinstance(note, WithinRuns):
        return _within(note.runs)
    return _OTHERS[note]


def _within(runs: tuple[int, int]) -> str:
    if min(runs) >= FEWEST_RUNS:
        return "no run alone is enough: what differs from run to run is not in the interval"
    words = [_FEW_RUNS.get(one, f"{one} runs") for one in runs]
    of = f"{words[0]} of each" if runs[0] == runs[1] else f"{words[0]} and {words[1]}"
    return f"{of}: what differs from run to run is not in the interval"


def _too_few(q: float, note: TooFew, sides: tuple[str, str]) -> str:
    every = []
    for one in note.sides:
        held = f"{sides[one.side]} has {one.samples:,}"
        if one.samples >= note.needed and one.effective < one.needed:
            held += f", worth {one.effective:,.0f} independent ones, since they are correlated"
            held += f" ({one.needed:,} of such are needed)" if one.effective >= note.needed else ""
        elif one.samples >= note.needed:
            held += f" in {one.units:.0f} independent stretches instead of {FEWEST}"
        every.append(held)
    return (
        f"an interval of {format_quantile(q)} takes {note.needed:,} independent samples on each side; "
        f"{', and '.join(every)}"
    )


def p_value(p: float) -> str:
    """Return a p-value; of a very small one only that it is."""
    return f"< {_LEAST_P}" if p < _LEAST_P else f"{p:.3f}"
