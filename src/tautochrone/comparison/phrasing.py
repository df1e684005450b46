"""What a comparison says, in words."""

from collections.abc import Iterator, Sequence

from tautochrone.answer.phrasing.differences import quantile_notes
from tautochrone.base.units import format_duration, format_percent, format_ratio, rounded, whole
from tautochrone.base.words import capital, listed, lower_first, some, upper_first, verb
from tautochrone.judge.comparison.compare import Comparison, MeasureCompared, SidePair
from tautochrone.judge.comparison.gate import MISSES, Judged, WhyNot
from tautochrone.judge.comparison.metric import (
    ComparedMetric,
    FewSamples,
    MetricNote,
    OfTheseRuns,
    SourcePart,
    Verdict,
)
from tautochrone.judge.comparison.standing import Objection, Standing
from tautochrone.statistics.difference.between_runs import DifferenceSpread
from tautochrone.target.middleware import FOOTPRINT, INCIDENTAL

# What a comparison says, in words.


Found = tuple["MeasureCompared", SourcePart, ComparedMetric]

_MOST_NAMED = 3
_SHOWN: tuple[Verdict, ...] = ("worse", "higher", "better", "lower")
"""What is said first; of values on both sides of 0, higher is not worse."""
_BASES = {
    "repetitions": "The intervals are from run to run: each side has at least three.",
    "runs alike": (
        "The intervals are from run to run: from runs of the same conditions as a side's, of that side and "
        "others in the store; both sides are taken to spread alike."
    ),
    "other runs": (
        "There is only one run of each, or too few similar ones. How much such runs differ by themselves is "
        "taken from runs under other conditions on this machine; three runs of each would tell."
    ),
    "stretches": (
        "There is only one run of each, or too few similar ones. How much such runs differ by themselves is "
        "not known and assumed to be a third, so a difference below a factor of about four is not shown. "
        "Three runs of each would tell."
    ),
    "these runs": (
        "Where no verdict is given, the interval is that within these runs: what differs from one run to the "
        "next is not in it."
    ),
}
_NOTES: dict[MetricNote, str] = {
    "runs unknown": (
        "How much runs differ is not known, so this is the uncertainty within these runs only, and no "
        "verdict: measure each side three times."
    ),
    "few bunches": (
        "How much runs differ is not known, and these lost releases in too few bunches to tell: measure each "
        "side three times."
    ),
    "lengths differ": (
        "A maximum grows with the number of samples, and these runs of different length have no order."
    ),
    "among lost": "It falls among releases that were lost, which are later than every sample.",
    "among clipped": (
        "It falls among samples beyond a histogram's end, which count as later than every other: only bounds "
        "are known of them."
    ),
    "losses unknown": "One side does not know how many it lost.",
    "below resolution": "It is not more than what can be seen.",
    "among many": "By itself it would be shown; among so many numbers it is not.",
}
_WHY_NOT: dict[WhyNot, str] = {
    "no number": "there is no such number",
    "lost or unknown": "it lies among lost releases, or is not known",
    "too many lost": "so many releases were lost that it lies among them",
    "among lost": "it lies among lost releases",
    "among clipped": "it lies beyond the end of a histogram",
    "few samples": "there are too few samples to tell how much it differs by chance",
    "lengths differ": (
        "a maximum grows with the number of samples, and these runs of different length have no order"
    ),
    "one largest": "the largest sample of one run says nothing of the next run's",
    "too little": "there is too little to tell how much it differs by chance",
}
_PASSING = {
    "broken": "does not hold",
    "kept": "holds",
    "not shown": "could not be shown either way",
    "void": "was not judged",
}


def headline(comparison: Comparison) -> str:
    """Return the answer in one line."""
    comparison.see_whole()
    pairs = comparison.pairs
    if len(pairs) == 1 and not pairs[0].cell:
        return of_pair(pairs[0])
    cells = bool(pairs[0].cell)
    void = [pair for pair in pairs if pair.standing.void]
    kind = "case" if cells else "side"
    first = pairs[0].first.named if cells else pairs[0].first.title
    parts, told = [], list[SidePair]()
    for how in _SHOWN:
        if own := [pair for pair in pairs if pair.found(how) and pair not in told]:
            told += own
            parts.append(f"{how} in {_named(own, kind)}")
    parts.append(f"not comparable in {_named(void, kind)}" if void else "")
    said = "; ".join(filter(None, parts)) or "no difference shown"
    whole = f"{len(pairs)} {kind}s" if len(pairs) != 1 else f"1 {kind}"
    return f"{whole} against {first}: {said}"


def of_pair(pair: SidePair) -> str:
    """Return what one side is beside the first, in one line."""
    first, second = pair.first.title, pair.second.title
    if pair.standing.void:
        return f"{first} and {second} can't be compared"
    shown = {how: found for how in _SHOWN if (found := pair.found(how))}
    if shown:
        (how, found), *others = shown.items()
        alone = not others and how in ("worse", "better")
        more = "".join(f", and {how} in {_most(found)}" for how, found in others)
        return f"{second} is {how} than {first}{':' if alone else ' in'} {_most(found)}{more}"
    if pair.found("no difference shown"):
        return f"No difference shown between {first} and {second}"
    few = "runs" if pair.found("too few runs") else "samples"
    return f"Too few {few} to tell {first} and {second} apart"


def sentences(comparison: Comparison) -> list[str]:
    """Return what to know about the answer: of what it is a comparison, and what its intervals rest on."""
    return [*worth(comparison), *how_sure(comparison)]


def worth(comparison: Comparison) -> list[str]:
    """Say of what it is a comparison, and what that of each pair is worth; what all share is said once."""
    there = {one.experiment for side in comparison.sides for one in side.manifests}
    incidental = [INCIDENTAL] if FOOTPRINT in there else []
    about: dict[str, list[str]] = {}
    for pair in comparison.pairs:
        for sentence in dict.fromkeys(_worth(pair)):
            about.setdefault(sentence, []).append(pair.cell or pair.second.name)
    whole = len(comparison.pairs)
    return incidental + [
        sentence if len(names) == whole else f"{some(names, _MOST_NAMED, '; ')}: {sentence}"
        for sentence, names in about.items()
    ]


def _worth(pair: SidePair) -> Iterator[str]:
    yield standing(pair.standing)
    yield from (objection(one) for one in pair.standing.objections if one != pair.standing.voided_by)
    for measure in pair.measures:
        if measure.left_out:
            yield f"Only one of the two has {', '.join(measure.left_out[:8])}; not compared."


def standing(found: Standing) -> str:
    """Return what the comparison of two sides is worth."""
    if found.voided_by is not None:
        first, second = found.sides
        why = objection(found.voided_by)
        return f"{first} and {second} can't be compared: {lower_first(why)}"
    causes, facts = found.causes, tuple(dict.fromkeys(map(_fact, found.facts)))
    if found.kind == "of loops":
        named = ", ".join(dict.fromkeys(map(_fact, found.facts[:4])))
        also = f", and {listed(causes)} {verb(len(causes), 'differs')} too" if causes else ""
        return (
            f"The measured threads differ ({named}){also}: this compares two loops, and says nothing of the "
            "systems below them alone."
        )
    if found.kind == "confounded":
        return (
            f"{capital(listed(causes))} differ at once: what differs in the numbers can't be laid to "
            "one of them."
        )
    if found.kind == "of one thing":
        return f"Of what is known, only the {causes[0]} differs."
    but = f", but for {listed(facts[:5])}" if facts else ""
    return f"Nothing that is known to change a latency differs: a repeated measurement{but}."


def objection(one: Objection) -> str:
    """Return what limits or voids a comparison, and what follows from it."""
    if one.code == "experiment":
        return f"They are of different experiments, {_both(one)}."
    if one.code == "measure":
        return f"What {one.names[0]} means differs: {_both(one, '; ')}."
    if one.code == "virtual":
        return (
            f"{one.side} was measured on a guest of the virtual lab, whose time is counted otherwise than "
            "that of hardware."
        )
    if one.code == "clock":
        return f"Their time was read from different clocks, {_both(one)}."
    if one.code == "cut-off":
        return (
            f"{one.side} holds a run that was cut off ({one.names[0]}), of which the last samples and the "
            "count of missed releases are not known."
        )
    if one.code == "kept":
        return (
            "One side kept all samples and the other a histogram, whose quantiles are the upper edges of its "
            "bins: a difference as small as a bin is wide can't be told."
        )
    if one.code == "recorder":
        return _recorder(one)
    named = some(one.names, _MOST_NAMED)
    if one.code == "within":
        return (
            f"The runs of {one.side} do not agree among themselves in {named}, so they are no repetitions of "
            "one measurement."
        )
    return f"Only one side tells of {named}: whether they differ is not known."


def _recorder(one: Objection) -> str:
    costs = [cost for cost in one.values[0] if isinstance(cost, int)]
    most = max(costs, default=0)
    cost = f" It cost the median {format_duration(most)} before the run." if most > 0 else ""
    if not one.side:
        return (
            f"Late cycles were recorded in different ways ({listed(one.names)}), which cost "
            f"differently.{cost}"
        )
    return (
        f"Only in {one.side} was a recorder of late cycles running ({listed(one.names)}), which costs time "
        f"in every cycle.{cost}"
    )


def _both(one: Objection, between: str = " and ") -> str:
    return between.join(", ".join(map(str, own)) for own in one.values)


def _fact(name: str) -> str:
    return name.rpartition(".")[2].removesuffix("_ns").replace("_", " ")


def note(metric: ComparedMetric) -> str:
    """Return why a number has no interval, or what is not in it, or why its difference is not shown."""
    return " ".join(map(_note, metric.notes))


def _note(one: MetricNote) -> str:
    if isinstance(one, FewSamples):
        of_run = f", and {one.of_run:,} of each run" if one.of_run else ""
        return f"It takes {one.needed:,} samples of each side{of_run}."
    if isinstance(one, OfTheseRuns):
        return f"{upper_first(quantile_notes(one.q, one.notes))}."
    return _NOTES[one]


def how_sure(comparison: Comparison) -> Iterator[str]:
    """Yield what the intervals and verdicts rest on."""
    used = {metric.basis for pair in comparison.pairs for _, _, metric in pair.metrics() if metric.basis}
    metrics = [metric for pair in comparison.pairs for _, _, metric in pair.metrics()]
    for basis, sentence in _BASES.items():
        if basis in used:
            yield f"{sentence}{_earlier(comparison) if basis == 'runs alike' else ''}"
    several = any(len(side.runs) > 1 for pair in comparison.pairs for side in (pair.first, pair.second))
    if several and any(isinstance(metric.sure, DifferenceSpread) and metric.q != 1 for metric in metrics):
        yield (
            "Of several runs, a quantile is the geometric mean of theirs (the mean, if not all are above 0), "
            "and max is the largest of all."
        )
    if any(metric.adjusted is not None for metric in metrics):
        sure = format_percent(comparison.confidence)
        yield (
            f"Each interval holds with {sure} confidence by itself; the verdicts{_where_runs(used)} hold so "
            f"all together: all p-values that they rest on ({comparison.compared:,}) are adjusted (Holm, "
            "1979)."
        )
    yield (
        "Lost: releases without a sample, missed or dropped; each counts as later than every sample. The "
        "largest sample grows with the number of samples and bounds nothing, so it is told and not tested."
    )
    if any(not test.whole_runs and test.p is not None for part in _parts(comparison) for test in part.tests):
        yield (
            "Kolmogorov-Smirnov (KS) and Anderson-Darling (AD): stretches within the runs were exchanged, so "
            "their p-values, which are not adjusted, tell these runs apart and not what they are of."
        )


def _where_runs(used: set[str]) -> str:
    return ", where they rest on runs," if {"other runs", "stretches"} & used else ""


def _parts(comparison: Comparison) -> list[SourcePart]:
    return [part for pair in comparison.pairs for measure in pair.measures for part in measure.parts]


def gate(judged: Judged, *, several: bool) -> str:
    """Return what came of a gate, and why, in a sentence or two."""
    where = ", ".join(filter(None, [judged.side if several else "", judged.source]))
    said = f"{judged.gate.text} {_PASSING[judged.passing]} ({where})"
    return f"{said}: {gate_why(judged)}."


def gate_why(judged: Judged) -> str:
    """Return why a gate stands as it does."""
    if judged.passing == "void":
        return "the sides can't be compared"
    if judged.least is None or judged.most is None or judged.allowed is None:
        return _WHY_NOT[judged.why] if judged.why is not None else ""
    metric = judged.metric
    sure = f"{rounded(judged.confidence * 100, 4, up=False):.4g} %"
    seen = "" if metric is None or metric.difference is None else f"{change(metric)}, "
    allowed = _increase(judged, judged.allowed)
    least, most = _increase(judged, judged.least, up=False), _increase(judged, judged.most, up=True)
    if judged.passing == "broken":
        return f"{seen}at least {least} at {sure} confidence; {allowed} is allowed"
    if judged.passing == "kept":
        return f"{seen}at most {most} at {sure} confidence; {allowed} is allowed"
    needs = (
        f"; about {judged.runs_needed} runs of each side would mostly show twice the allowed increase"
        if judged.runs_needed is not None
        else ""
    )
    return f"{seen}between {least} and {most} at {sure} confidence each way; {allowed} is allowed{needs}"


def looks(comparison: Comparison) -> str:
    """Return what is said of earlier looks at the same baseline; empty where there was none."""
    most = max((one.look or 1 for one in comparison.gates), default=1)
    if most < 2:
        return ""
    return (
        f"Look {most} at this baseline, counted by the runs of this kind since: gates are surer for it, so "
        "that all looks together cry wolf no more often than one would."
    )


def _increase(judged: Judged, value: float, *, up: bool | None = None) -> str:
    """Write an increase in the unit of the gate; ``up``: of a bound, as in `rounded`."""
    if judged.gate.kind == MISSES:
        return amount(value if up is None else rounded(value, 3, up=up), MISSES)
    sure = judged.metric.sure if judged.metric is not None else None
    if judged.gate.share is not None and isinstance(sure, DifferenceSpread) and sure.first > 0:
        return share(value / sure.first, up=up)
    return amount(value if up is None else rounded(value, 4, up=up), "")


def change(metric: ComparedMetric) -> str:
    """Return how much the second is above the first: ``+12 %``; of misses, in percentage points."""
    if metric.name == MISSES and metric.difference is not None:
        return f"{bare_change(metric)} of the releases"
    return f"{bare_change(metric)} for the usual run" if _usual(metric) is not None else bare_change(metric)


def bare_change(metric: ComparedMetric) -> str:
    """Return the same, where it is known of what."""
    if metric.difference is None:
        return "not known"
    if metric.name == MISSES:
        return _points(metric.difference)
    usual = _usual(metric)
    if usual is not None:
        return share(usual.second / usual.first - 1)
    if metric.ratio is not None:
        return share(metric.ratio - 1)
    return amount(metric.difference, "")


def _usual(metric: ComparedMetric) -> DifferenceSpread | None:
    """Return, of the largest sample, that of the usual run of each side, where it is known."""
    sure = metric.sure
    told = metric.name == "max" and isinstance(sure, DifferenceSpread) and sure.logarithmic and sure.first > 0
    return sure if told and isinstance(sure, DifferenceSpread) and metric.difference is not None else None


def _points(value: float) -> str:
    return f"{value * 100:+.3g} %"


def amount(value: float, unit: str) -> str:
    """Return an increase with its sign: a time, or of misses a share of the releases."""
    if unit == MISSES:
        return f"{_points(value)} of the releases"
    return f"{'-' if value < 0 else '+'}{format_duration(abs(value))}"


def share(value: float, *, up: bool | None = None) -> str:
    """Return ``+12 %``, ``-3.5 %``; from ten times on ``12 times``; ``up``: of a bound, as in `rounded`."""
    if value >= 9:
        return f"{format_ratio(rounded(value + 1, 3, up=up))} times"
    parts = 100 if abs(value) >= 0.1 else 1000
    steps = whole(value * parts, up=up)
    return f"{steps / parts * 100:+.{0 if parts == 100 else 1}f} %" if steps else "0 %"


def name_of(metric: ComparedMetric) -> str:
    """Return a metric as people say it."""
    return name_of_quantile(metric.name)


def name_of_quantile(name: str) -> str:
    """Return ``median`` of ``p50``."""
    return "median" if name == "p50" else name


def _most(found: Sequence[Found]) -> str:
    """Return those that differ most, with how much."""
    ranked = sorted(found, key=_weight, reverse=True)
    several = len({part.source for _, part, _ in found}) > 1
    measures = len({measure.name for measure, _, _ in found}) > 1
    said = [
        " ".join(
            filter(
                None,
                (
                    measure.name.removesuffix("_ns") if measures else "",
                    name_of(metric),
                    change(metric),
                    f"on {part.source}" if several else "",
                ),
            )
        )
        for measure, part, metric in ranked
    ]
    return some(said, _MOST_NAMED)


def _weight(one: Found) -> float:
    metric = one[2]
    if metric.name == MISSES:
        return 1e6 + abs(metric.difference or 0.0)
    return (
        abs((metric.ratio or 1.0) - 1) if (metric.ratio or 1) >= 1 else 1 / max(metric.ratio or 1, 1e-9) - 1
    )


def _named(pairs: Sequence[SidePair], kind: str) -> str:
    names = [pair.cell or pair.second.title for pair in pairs]
    if kind == "case" and len(names) > 1:
        return f"{len(names)} cases"
    return ", ".join(names)


def _earlier(comparison: Comparison) -> str:
    sides = dict.fromkeys(side for pair in comparison.pairs for side in (pair.first, pair.second))
    runs = {run.id for side in sides for run in side.earlier}
    return f" The others are {len(runs)}." if runs else ""
