"""The figures about tails: of a page, and at publication size as `tail`, `tail-fit` and `tail-stability`."""

from collections.abc import Sequence

from tautochrone.answer.blocks import Figure, Panel
from tautochrone.answer.charts import tail
from tautochrone.answer.charts.grammar import Chart
from tautochrone.answer.figure import draw_of
from tautochrone.answer.labels import label_runs
from tautochrone.answer.phrasing.tail import advice, finding
from tautochrone.answer.typeset import duration
from tautochrone.base.errors import UsageError
from tautochrone.base.words import upper_first
from tautochrone.judge.tail.source import SourceTail
from tautochrone.judge.tail.tails import TailCurve, curve_of, tails_of
from tautochrone.run.folder import StoredRun

IN_WORDS = {
    "tail": "what is exceeded how often",
    "tail-fit": "how well that is fitted",
    "tail-stability": "how it depends on the threshold",
}
KINDS = tuple(IN_WORDS)

CAPTION = (
    "Points: the largest samples, each at how often as large a one came. Line and band: the fitted tail and "
    "its interval. Right of the dashed line nothing was measured; the line ends where it should not be "
    "relied on any more, at a hundred times the measuring."
)
FIT_CAPTION = (
    "First: the share of all cycles above each value; the line begins at the threshold. Second: each excess "
    "over the threshold against the one that the fit has in its place; a good fit lies along the line."
)
STABILITY_CAPTION = (
    "Each point: the level by the samples above one threshold alone, with its interval; to the left there "
    "are fewer of them. The answer is the point of the lowest threshold, with an interval that holds all of "
    "these. Where the points climb to the left, a rarer cause makes the largest samples."
)
_MOST = 4


_KEYS = {"tail": tail.LEVELS_KEY, "tail-fit": tail.FIT_KEY, "tail-stability": tail.STABILITY_KEY}


def is_fitted(one: SourceTail) -> bool:
    """Return whether there is something to draw."""
    return one.refusal is None and one.tail.peaks is not None


def of_source(one: SourceTail, prefix: str, meaning: str) -> tuple[Figure, ...]:
    """Return the figures of a page about one source; none where nothing is fitted."""
    if not is_fitted(one):
        return ()
    curve = curve_of(one)
    levels = Panel(f"{prefix}-levels", "", _levels(one, curve, meaning))
    fits = _fits(curve, f"{prefix}-fit", 0, "", meaning)
    stability = Panel(f"{prefix}-stability", "", tail.stability(curve, title=meaning))
    how = "How the answer depends on the threshold"
    return (
        Figure("What is exceeded how often", (levels,), (CAPTION,), tail.LEVELS_KEY),
        Figure("How well the tail is fitted", fits, (FIT_CAPTION,), tail.FIT_KEY),
        Figure(how, (stability,), (STABILITY_CAPTION,), tail.STABILITY_KEY),
    )


def draw(
    runs: Sequence[StoredRun], kind: str, measure: str | None = None
) -> tuple[dict[str, object], list[str]]:
    """Draw the figure at publication size, and a sentence for each source that is not in it.

    Raises:
        UsageError: there is no such measure or no sample; or nothing could be fitted to any source.
    """
    labels = label_runs([run.manifest for run in runs])
    every = [
        (f"{label}, {one.name}" if len(runs) > 1 else one.name, tails.meaning, one)
        for label, tails in zip(labels, [tails_of(run, measure) for run in runs], strict=True)
        for one in tails.sources
    ]
    drawn = sorted((part for part in every if is_fitted(part[2])), key=lambda part: -part[2].worst_ns)[:_MOST]
    if not drawn:
        refusal = every[0][2].refusal
        reason = "nothing is fitted" if refusal is None else finding(refusal)
        todo = "" if refusal is None else advice(refusal)
        raise UsageError(f"There is no tail to draw of {every[0][0]}: {reason}", todo)

    def figures(prefix: str) -> list[Figure]:
        panels: list[Panel] = []
        for at, (name, meaning, one) in enumerate(drawn):
            curve = curve_of(one)
            if kind == "tail":
                panels.append(Panel(f"{prefix}-tail", name, _levels(one, curve, meaning), at))
            elif kind == "tail-stability":
                chart = tail.stability(curve, title=meaning)
                panels.append(Panel(f"{prefix}-tail-stability", name, chart, at))
            else:
                panels += _fits(curve, f"{prefix}-tail-fit", 2 * at, name, meaning)
        return [Figure("", tuple(panels), (), _KEYS[kind])]

    left = [
        f"Not in the figure: {name}; {_why(one)}" for name, _, one in every if (name, _, one) not in drawn
    ]
    return draw_of(figures, kind), left


def _levels(one: SourceTail, curve: TailCurve, meaning: str) -> Chart:
    limits = (
        {}
        if one.period_ns is None
        else {
            one.period_ns // 2: f"half of the period, {duration(one.period_ns // 2)}",
            one.period_ns: f"the period, {duration(one.period_ns)}",
        }
    )
    return tail.levels(curve, limits=limits, title=meaning)


def _fits(curve: TailCurve, kind: str, first: int, name: str, meaning: str) -> tuple[Panel, ...]:
    title, of = upper_first(meaning), f"{name}: " if name else ""
    return (
        Panel(kind, f"{of}all samples, and the fit", tail.survival(curve, title=title), first),
        Panel(kind, f"{of}excesses over the threshold", tail.excesses(curve), first + 1),
    )


def _why(one: SourceTail) -> str:
    return f"{_MOST} others have larger samples." if one.refusal is None else finding(one.refusal)
