"""What came of the gates, for programs that build and test."""

from tautochrone.answer.ci.outcome import Case, Outcome, Standing
from tautochrone.answer.phrasing import comparison as words
from tautochrone.judge.comparison.compare import Comparison
from tautochrone.judge.comparison.passing import Judged, Passing

_STANDINGS: dict[Passing, Standing] = {
    "broken": "failed",
    "kept": "passed",
    "not shown": "skipped",
    "void": "not shown",
}


def outcome(comparison: Comparison, *, strict: bool) -> Outcome:
    """One case for each gate and source.

    Args:
        strict: whether a gate that could not be shown either way is none that is passed; otherwise it counts
            as skipped.
    """
    return Outcome(words.headline(comparison), tuple(_case(one, strict=strict) for one in comparison.gates))


def exit_code(comparison: Comparison, *, strict: bool) -> int:
    """6: a gate is broken; 7: none is, and one could not be judged, or (``strict``) not be shown; else 0."""
    standings = {_standing(one, strict=strict) for one in comparison.gates}
    if "failed" in standings:
        return 6
    return 7 if "not shown" in standings else 0


def _case(judged: Judged, *, strict: bool) -> Case:
    where = ", ".join((f"compare {judged.side}", judged.measure, judged.source))
    return Case(where, judged.gate.text, _standing(judged, strict=strict), words.gate_why(judged))


def _standing(judged: Judged, *, strict: bool) -> Standing:
    if judged.passing == "not shown" and strict:
        return "not shown"
    return _STANDINGS[judged.passing]
