"""The answer of a search for the largest tire: as a document, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace

from tautochrone.answer import document as doc
from tautochrone.answer.blocks import all_made
from tautochrone.base.errors import UsageError
from tautochrone.base.faults import Later
from tautochrone.base.units import format_duration
from tautochrone.base.words import plural, upper_first
from tautochrone.judge.tire_run import miss_bound
from tautochrone.run.manifest import Manifest
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
    length = format_duration(question.steps * question.period_ns)
    allowed = f", {question.misses:,} misses of it allowed" if question.misses else ""
    yield (
        f"{upper_first(search.title)}: the most masses whose steps all end before the next release, in a "
        f"trial of {question.steps:,} steps ({length}){allowed}, found to {question.resolution * 100:g} %."
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
    effort = f"{len(limit.trials)} trials, {format_duration(limit.measured_s * 1e9)} of measuring."
    every = (answer(limit), claim(limit), *explanation(limit), effort if limit.trials else "")
    return [one for one in every if one]


def _lacking(results: LimitResults) -> Iterator[doc.Block]:
    for limit in results.limits:
        if limit.end == "unfinished":
            yield doc.Sentence(f"{plural(limit.threads, 'thread')}: The search was stopped before its end.")


def _trials(results: LimitResults) -> Iterator[doc.Block]:
    from tautochrone.tire.limit_charts import figures

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
    """Return how many of the steps are late at most."""
    trial = limit.largest
    return None if trial is None else miss_bound(trial.missed, trial.steps, limit.question.confidence)


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
            f"{speed.nodes / speed.step_ns * 1e3:,.0f} million masses a second."
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
