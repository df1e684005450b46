"""The answer of a search for the largest tire: as a document with its figure, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

from tautochrone.answer import document as doc
from tautochrone.answer.blocks import Figure, Panel, all_made
from tautochrone.answer.charts.grammar import Chart, Layer, Row, Rows, fixed, literal
from tautochrone.answer.charts.scales import Scale, logarithmic, time, time_ticks, worded_lines
from tautochrone.answer.charts.signs import MISS_SHAPE, Sign
from tautochrone.answer.charts.theme import series_tone
from tautochrone.answer.typeset import duration, number
from tautochrone.base.errors import UsageError
from tautochrone.base.faults import Later
from tautochrone.base.units import format_duration, format_ratio
from tautochrone.base.words import plural, upper_first
from tautochrone.run.manifest import Manifest
from tautochrone.statistics.quantiles import exceedance_bound
from tautochrone.tire.limit_judge import Limit, LimitTrial, run_of_search
from tautochrone.tire.limit_results import (
    LimitResults,
    answer,
    claim,
    explanation,
    limited_by,
    name_of,
    one_in,
)

_AS_ASKED = "cut-short"  # a trial is to end at its first miss
_KINDS = {"bracket": "bracket", "narrow": "narrow", "decide": "full length"}
_ABOUT = (
    "Median and worst are from the release to the end of the step, T_i + T_s. Late at most: so many steps, "
    "at {confidence:g} % confidence, for the trial that decided by itself; it takes the steps as independent "
    "of each other, which neighbours are not quite, and as like those to come."
)
_ORDER = (
    "In the order in which they were made; 1 and 2 are the runs as fast as possible. The late step is the "
    "first one, its T_i and T_s are those of the thread that ended it."
)


def document(results: LimitResults) -> doc.Document:
    """Return the answers, what bounds each and why, how sure it is, and every trial."""
    if not results.runs:
        raise UsageError(
            f"No run of {results.search.id} is whole: there is nothing to report on", "Make the search again."
        )
    # A run that ended at its first miss was to do so: nobody has to be warned of that.
    manifests = tuple(
        replace(each, warnings=tuple(one for one in each.warnings if one.code != _AS_ASKED))
        for each in results.manifests
    )
    places = tuple(map(_place, manifests))
    several = len(results.limits) > 1
    return doc.Document(
        headline=Later(lambda: results.headline),
        parts=(
            doc.part("In short", lambda: map(doc.Sentence, _how(results)), only="page"),
            doc.part("The answer", lambda: [answers(results)], id="answers"),
            doc.part("Why", lambda: _why(results)),
            doc.part("The trials", lambda: _trials(results), id="trials", only="page"),
            doc.part("What was not measured", lambda: _lacking(results), id="lacking", only="page"),
        ),
        grounds=doc.Grounds(
            manifests,
            places,
            heads=(("Threads", True), ("Number", True), ("What", False)),
            labels=tuple(
                f"{plural(int(threads), 'thread')}, number {number}" if several else f"number {number}"
                for threads, number in places
            ),
            one_of_each=True,
            commands=_commands(results),
            again="Make the search again with --again",
        ),
    )


def _place(manifest: Manifest) -> tuple[str, str]:
    told = run_of_search(manifest.conditions)
    return str(told.threads), str(told.number)


def _commands(results: LimitResults) -> tuple[str, ...]:
    typed = dict.fromkeys(one.typed for one in results.manifests if one.typed)
    decided = [limit.largest.run for limit in results.limits if limit.largest is not None]
    shown = decided[0] if decided else results.runs[-1].id
    return (*typed, f"tauto report {results.search.id}", f"tauto show {shown}")


def _how(results: LimitResults) -> Iterator[str]:
    search, question = results.search, results.search.question
    length = f"{plural(question.steps, 'step')} ({format_duration(question.steps * question.period_ns)})"
    allowed = f", {plural(question.misses, 'miss', 'misses')} of it allowed" if question.misses else ""
    yield (
        f"{upper_first(search.title)}: the most masses whose steps all end before the next release, in a "
        f"trial of {length}{allowed}, found to {question.resolution * 100:g} %."
    )
    first, last = (results.manifests[at].created[:16].replace("T", " ") for at in (0, -1))
    yield f"Measured from {first} to {last} UTC as {search.id}."


def _why(results: LimitResults) -> Iterator[doc.Block]:
    for limit in results.limits:
        if len(results.limits) > 1:
            yield doc.Subheading(plural(limit.threads, "thread"))
        yield doc.Statements(tuple(map(doc.Sentence, sentences(limit))))
    yield from (doc.Sentence(one, "note") for one in results.findings())


def sentences(limit: Limit) -> list[str]:
    """Return what is said of one number of threads."""
    effort = f"{plural(len(limit.trials), 'trial')}, {format_duration(limit.measured_s * 1e9)} of measuring."
    every = (answer(limit), claim(limit), *explanation(limit), effort if limit.trials else "")
    return [one for one in every if one]


def _lacking(results: LimitResults) -> Iterator[doc.Block]:
    for limit in results.limits:
        if limit.end == "unfinished":
            yield doc.Sentence(f"{plural(limit.threads, 'thread')}: The search was stopped before its end.")


def _trials(results: LimitResults) -> Iterator[doc.Block]:
    yield from map(doc.Drawing, all_made("The trials", lambda: figures(results, "trials")))
    yield from (trials(limit) for limit in results.limits if limit.trials)


def answers(results: LimitResults) -> doc.TypedTable:
    """Return one row for each number of threads."""
    heads = doc.columns(
        "threads", "masses", "steps", "median", "worst", "late at most", "smallest that missed", "limited by",
        "trials",
    )  # fmt: skip
    about = _ABOUT.format(confidence=results.search.question.confidence * 100)
    return doc.TypedTable("", heads, tuple(map(_answer, results.limits)), (about,))


def _answer(limit: Limit) -> tuple[doc.TypedCell, ...]:
    trial, missed = limit.largest, limit.smallest_missed
    if trial is not None:
        bound = _bound(limit)
        largest = (
            doc.count(trial.nodes),
            doc.count(trial.steps),
            doc.time(trial.typical_ns),
            doc.time(trial.worst_ns),
        )
        late = doc.TypedCell(bound, "share", "" if bound is None else one_in(bound))
    else:
        none = doc.TypedCell(None, "count", "" if limit.end == "unfinished" else "none")
        largest, late = (none, doc.count(None), doc.time(None), doc.time(None)), doc.TypedCell(None, "share")
    return (
        doc.count(limit.threads),
        *largest,
        late,
        doc.count(missed.nodes if missed else None),
        doc.words(limited_by(limit)),
        doc.count(len(limit.trials)),
    )


def _bound(limit: Limit) -> float | None:
    trial = limit.largest
    return None if trial is None else exceedance_bound(trial.steps, trial.missed, limit.question.confidence)


def trials(limit: Limit) -> doc.TypedTable:
    """Return every trial with one number of threads, in their order."""
    heads = doc.columns(
        "number", "masses", "kind", "steps", "missed", "median", "worst", "late step", "its T_i", "its T_s",
        "why",
    )  # fmt: skip
    notes = [_ORDER]
    if (speed := limit.speed) is not None:
        notes.append(
            f"As fast as possible {speed.nodes:,} masses took {format_duration(speed.step_ns)} a step: "
            f"{format_ratio(speed.nodes / speed.step_ns * 1e3)} million masses a second."
        )
    rows = tuple(_trial(limit, one) for one in limit.trials)
    return doc.TypedTable(f"Trials, {plural(limit.threads, 'thread')}", heads, rows, tuple(notes))


def _trial(limit: Limit, trial: LimitTrial) -> tuple[doc.TypedCell, ...]:
    of = "" if trial.steps == trial.asked else f"{trial.steps:,} of {trial.asked:,}"
    return (
        doc.count(trial.number),
        doc.count(trial.nodes),
        doc.words(_KINDS[trial.purpose]),
        doc.TypedCell(trial.steps, "count", of),
        doc.count(trial.missed),
        doc.time(trial.typical_ns),
        doc.time(trial.worst_ns),
        *_late(limit, trial),
    )


def _late(limit: Limit, trial: LimitTrial) -> tuple[doc.TypedCell, ...]:
    late = trial.late_step
    if late is None:
        return *(doc.words(""),) * 3, doc.words("" if trial.met else name_of(None))
    cause = doc.words(name_of(limit.limiter_of(trial)))
    return doc.count(late.number), doc.time(late.parts.dispatch_ns), doc.time(late.parts.step_ns), cause


def as_table(results: LimitResults) -> dict[str, object]:
    """Return the same as JSON has it; times in nanoseconds."""
    search = results.search
    return {
        "search": search.id,
        "title": search.title,
        "key": search.key,
        "question": asdict(search.question),
        "finished": results.finished,
        "limits": [_limit(limit) for limit in results.limits],
        "remarks": list(results.findings()),
    }


def _limit(limit: Limit) -> dict[str, object]:
    largest, missed, limiter = limit.largest, limit.smallest_missed, limit.limiter
    return {
        "threads": limit.threads,
        "end": limit.end,
        "largest": largest and largest.nodes,
        "steps": largest and largest.steps,
        "late_at_most": _bound(limit),
        "confidence": limit.question.confidence,
        "smallest_missed": missed and missed.nodes,
        "limited_by": limited_by(limit),
        "limiter": limiter and asdict(limiter),
        "full_at": limit.full_at,
        "speed": limit.speed and asdict(limit.speed),
        "measured_s": limit.measured_s,
        "trials": [
            {
                **asdict(trial),
                "met": trial.met,
                "cause": name_of(limit.limiter_of(trial)) if trial.late_step is not None else None,
            }
            for trial in limit.trials
        ],
        "sentences": sentences(limit),
    }


_MET, _MISSED = series_tone(0), series_tone(1)
_SMALL, _LARGE = 42, 130
_FEW_TICKS = 10  # span from which on 1, 2, 5 of each decade are enough
_WORDS = 0.27  # of the axis, what words take
_STANDS = {0.0: "left", 0.5: "center", 1.0: "right"}
_TRIAL_ROOM = 1.12  # of the masses, to either side
_CIRCLE = "M11 2a4 4 0 1 1 0 8a4 4 0 1 1 0-8z"
_CROSS = "M7.5 4L9 2.5L11 4.5L13 2.5L14.5 4L12.5 6L14.5 8L13 9.5L11 7.5L9 9.5L7.5 8L9.5 6z"
_KEY = (
    Sign("met every deadline", path=_CIRCLE, tone=_MET),
    Sign("missed one", path=_CROSS, tone=_MISSED),
    Sign("period", dash="5 3"),
)
_CAPTION = (
    "Each line is one trial, from its median step to its worst, which has the mark; a large mark is of a "
    "trial of full length, which decides. All panels have the same scales. A trial that missed ended there."
)


def figures(results: LimitResults, prefix: str) -> list[Figure]:
    """Return a panel for each number of threads, or nothing where no trial recorded a step."""
    panels = {
        limit.threads: trials
        for limit in results.limits
        if (trials := [one for one in limit.trials if one.worst_ns])
    }
    every = [one for own in panels.values() for one in own]
    if not every:
        return []
    period_ns, nodes = results.search.question.period_ns, [one.nodes for one in every]
    low, high = min(nodes) / _TRIAL_ROOM, max(nodes) * _TRIAL_ROOM
    x = logarithmic(
        low, high, "masses", values=_node_ticks(low, high), format="~s", labelOverlap="greedy", grid=True
    )
    y = time(
        [period_ns, *(ns for one in every for ns in (_typical_ns(one), _worst_ns(one)))], "median and worst"
    )
    return [
        Figure(
            "Release to the end of the step, over masses",
            tuple(
                Panel(f"{prefix}-limit", plural(threads, "thread"), _chart(own, period_ns, x, y), threads)
                for threads, own in panels.items()
            ),
            (_CAPTION,),
            _KEY,
        )
    ]


def _chart(trials: Sequence[LimitTrial], period_ns: int, x: Scale, y: Scale) -> Chart:
    layers = [
        *_period(period_ns, y, at=_emptiest(trials, x)),
        *(
            layer
            for met in (True, False)
            for layer in _marks([one for one in trials if one.met == met], x, y)
        ),
    ]
    return Chart(layers, 210, _describe(trials, period_ns))


def _describe(trials: Sequence[LimitTrial], period_ns: int) -> str:
    met = [one.nodes for one in trials if one.met and one.decides]
    missed = [one.nodes for one in trials if not one.met]
    best = (
        f"the most masses that met in a trial of full length: {number(max(met))}"
        if met
        else "none of full length met"
    )
    least = f"; the fewest that missed: {number(min(missed))}" if missed else ""
    return f"{plural(len(trials), 'trial')} against a period of {duration(period_ns)}; {best}{least}."


def _node_ticks(low: float, high: float) -> list[int]:
    if high > _FEW_TICKS * low:
        return time_ticks(low, high)
    scale: int = 10 ** max(0, math.floor(math.log10(low)) - 1)
    fine = (10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90)
    ticks = [step * scale * power for power in (1, 10) for step in fine]
    return [tick for tick in ticks if low <= tick <= high]


def _marks(trials: Sequence[LimitTrial], x: Scale, y: Scale) -> list[Layer]:
    if not trials:
        return []
    met = trials[0].met
    base = Rows([_row(one) for one in trials], x=x.of("nodes"), color=_MET if met else _MISSED)
    return [
        base.rule(y=y.of("worst"), y2="typical", strokeWidth=1.4),
        base.tick(y=y.of("typical"), thickness=2, size=9, orient="horizontal"),
        base.point(
            y=y.of("worst"),
            shape="circle" if met else MISS_SHAPE,
            size=literal("size", "quantitative"),
            tooltip=["masses", ("words", "trial"), "median", ("longest", "worst")],
        ),
    ]


def _row(trial: LimitTrial) -> Row:
    came = "met" if trial.met else f"missed {trial.missed:,}"
    return {
        "nodes": trial.nodes,
        "typical": _typical_ns(trial),
        "worst": _worst_ns(trial),
        "size": _LARGE if trial.decides else _SMALL,
        "masses": number(trial.nodes),
        "median": duration(trial.typical_ns),
        "longest": duration(trial.worst_ns),
        "words": f"number {trial.number}, {plural(trial.steps, 'step')}, {came}",
    }


def _worst_ns(trial: LimitTrial) -> int:
    return trial.worst_ns or 0


def _typical_ns(trial: LimitTrial) -> float:
    """Return the median; of too few steps for one, the worst."""
    return trial.typical_ns or _worst_ns(trial)


def _emptiest(trials: Sequence[LimitTrial], x: Scale) -> float:
    """Tell where words have the fewest trials in their way: 0 at the begin of the axis, 1 at its end."""
    places = [x.place(one.nodes) for one in trials]
    return min(_STANDS, key=lambda at: sum(abs(one - at) < _WORDS for one in places))


def _period(period_ns: int, y: Scale, *, at: float) -> list[Layer]:
    row = {"worst": period_ns, "words": f"period {duration(period_ns)}"}
    place = fixed({"expr": f"width * {at}"})
    above = {"x": place, "align": _STANDS[at], "dx": 4 - 8 * at, "dy": -6, "baseline": "bottom"}
    return worded_lines([row], {"y": y.of("worst")}, above, strokeWidth=1.4, strokeDash=[5, 3])
