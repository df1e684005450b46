"""The answer of a check: as a document, as JSON, and as a page above the report of its runs."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from tautochrone.answer import document as doc
from tautochrone.answer.blame import section
from tautochrone.answer.blocks import Mark
from tautochrone.answer.conditions import sentence
from tautochrone.answer.phrasing import requirement as required
from tautochrone.answer.warnings import is_said_here
from tautochrone.base.faults import Later
from tautochrone.base.units import format_duration, format_limit, format_percent
from tautochrone.check.results import MOST, CheckResults
from tautochrone.check.search import CONFIRM, Kind, Search, Trial
from tautochrone.judge.requirement.limiting import LateStarts, Limiting, LongJobs
from tautochrone.judge.requirement.line import JudgedLine, Standing

_MARKS: dict[Standing, Mark] = {"holds": "holds", "does not hold": "missed", "not shown": "not-shown"}
_FEWEST_OF_RARE = 1_000  # of fewer, 99.9 % are all
_PURPOSES = {"bracket": "bracket", "narrow": "narrow", CONFIRM: "longer"}


def document(results: CheckResults) -> doc.Document:
    """Return the answer, why, what limits it, what would help, and how long would settle it."""
    manifests = tuple(run.manifest for run in results.runs)
    return doc.Document(
        headline=Later(lambda: results.headline),
        mark=Later(lambda: _MARKS[results.standing]),
        parts=(
            doc.part(
                "What was not measured", lambda: [doc.Sentence(one, "strong") for one in results.remarks]
            ),
            doc.part("Why", lambda: [doc.Sentence(results.why)]),
            doc.part("The answer in numbers", lambda: [answers(results)] if results.judgement.lines else []),
            doc.part("The trials", lambda: [trials(results.search)] if results.search is not None else []),
            doc.part("What limits it", lambda: _limits(results)),
            doc.part(section.TITLE, lambda: results.causes.blocks() if results.causes is not None else []),
            doc.part("What would help", lambda: _advice(results)),
            doc.part(
                "Notes",
                lambda: [
                    doc.Sentence(note, "note")
                    for note in (*filter(None, [results.looks]), *required.notes(results.judgement))
                ],
            ),
            doc.part("Warnings", lambda: _warnings(results), only="text"),
        ),
        grounds=doc.Grounds(manifests, where=Later(sentence, manifests)),
    )


def report_of(results: CheckResults) -> doc.Document:
    """Return the report of the runs with the answer above it."""
    from tautochrone.answer import report
    from tautochrone.judge.verdict import judge_runs

    told = {one.code for one in results.advice[:MOST]}  # above the report; not once more in it
    others = [one for one in results.findings if one.code not in told]
    return report.document(
        results.runs, report.BesideRuns(Later(judge_runs, results.runs), others, top=document(results))
    )


def answers(results: CheckResults) -> doc.TypedTable:
    """Return each source beside each load, the worst first."""
    question = results.question
    done = "done" if question.of_the_end else "begun"
    confidence = f"{format_percent(question.requirement.confidence)} confidence"
    limits = (
        f"At least, at most: limits of the share that is missed, each at {confidence}."
        if len(results.judgement.lines) == 1
        else f"At most: a limit of the share that is missed, each at {confidence}; at least: one that all "
        "lines together keep at it."
    )
    note = (
        f"Missed: {done} later than {format_limit(question.deadline_ns)} after its release, or without a "
        f"sample. Events: groups of neighbours among these. {limits}"
    )
    heads = doc.columns(
        "on", "beside", "answer", "missed", "events", "of", "at least", "at most", "allowed", "worst"
    )
    return doc.TypedTable("", heads, tuple(map(_answer, results.judgement.lines)), (note,))


def _answer(line: JudgedLine) -> tuple[doc.TypedCell, ...]:
    basis = " (extrapolated)" if line.basis == "extrapolated" else ""
    return (
        doc.words(line.source),
        doc.words(line.where),
        doc.words(f"{line.standing}{basis}"),
        doc.count(line.later),
        doc.count(line.events),
        doc.count(line.samples),
        _share(line.low, at_most=False) if line.low else doc.words("none"),
        _share(line.high, at_most=True),
        _share(line.allowed),
        doc.time(line.worst_ns),
    )


def _share(share: float | None, *, at_most: bool | None = None) -> doc.TypedCell:
    return doc.TypedCell(share, "share", required.share_words(share, at_most=at_most), left=True)


def trials(search: Search) -> doc.TypedTable:
    """Return every trial of a search, in its order."""
    name = search.kind
    heads = doc.columns("trial", name, "kind", "releases", "missed", "worst", "met", "run")
    rows = tuple(_trial(search, at, one) for at, one in enumerate(search.trials, start=1))
    note = (
        "A trial is met if no more of its releases missed than the requirement allows in that time; one that "
        "is not is made once more. The longer one is judged by the requirement itself, at a higher "
        "confidence, since there may be more than one."
    )
    return doc.TypedTable("Trials", heads, rows, (note,))


def _trial(search: Search, at: int, trial: Trial) -> tuple[doc.TypedCell, ...]:
    units: dict[Kind, doc.Unit] = {"rate": "rate", "work": "ns", "instances": "count"}
    unit = units[search.kind]
    return (
        doc.count(at),
        doc.TypedCell(trial.value, unit, search.shown(trial.value), left=True),
        doc.words(_PURPOSES[trial.purpose]),
        doc.count(trial.releases),
        doc.count(trial.missed),
        doc.time(trial.worst_ns),
        doc.words("yes" if trial.met else "no"),
        doc.TypedCell(trial.run.id, "code"),
    )


def _limits(results: CheckResults) -> Iterator[doc.Block]:
    """Yield what is said besides the answer."""
    found, search = results.limiting, results.search
    if limits := limits_of(found):
        at = f" at {search.shown(search.above.value)}" if search is not None and search.above else ""
        on = f"{',' if at else ''} on {found.source}" if found.source else ""
        yield from _titled(f"What limits it{at}{on}", limits)
    if results.course:
        yield from _titled("What stands out over time", results.course)
    if to_settle := required.to_settle(results.judgement):
        yield from _titled("What would settle it", [to_settle])


def _titled(title: str, sentences: Sequence[str]) -> Iterator[doc.Block]:
    yield doc.Subheading(title)
    yield from map(doc.Sentence, sentences)


def _advice(results: CheckResults) -> Iterator[doc.Block]:
    if not results.advice:
        yield doc.Sentence("The audit has no warning that says what to do.", "note")
        return
    yield doc.Subheading("What would help, by the audit")
    told = results.advice[:MOST]
    yield doc.Recommendations(tuple(doc.Recommendation(one.title, one.do, one.worth) for one in told))
    more = len(results.advice) - len(told)
    also = f"{more} more: " if more else ""
    yield doc.Sentence(f"{also}tauto doctor says why, and tauto tune show what a deployment sets.", "note")


def _warnings(results: CheckResults) -> Iterator[doc.Block]:
    """Yield the runs' warnings, each once, without those of a search, whose trials were to fail."""
    runs = results.runs if results.search is None else ()
    found = dict.fromkeys(
        doc.Notice("", warning.text, warning.advice, "")
        for run in runs
        for warning in run.manifest.warnings
        if not is_said_here(warning.code)
    )
    if found:
        yield doc.Notices(tuple(found))


def as_table(results: CheckResults) -> dict[str, object]:
    """Return what programs read; times in nanoseconds unless the name says otherwise."""
    judgement, search = results.judgement, results.search
    return {
        "standing": results.standing,
        "headline": results.headline,
        "question": results.question.as_condition,
        "requirement": judgement.requirement.text,
        "confidence": judgement.requirement.confidence,
        "basis": judgement.basis,
        "why": results.why,
        "to_settle_s": judgement.to_settle_s,
        "to_settle": required.to_settle(judgement),
        "notes": list(required.notes(judgement)),
        "earlier_runs": list(results.earlier),
        "lines": [required.line_as_table(judgement.requirement, line) for line in judgement.lines],
        "limits": {
            "side": results.limiting.side,
            "source": results.limiting.source,
            "sentences": list(limits_of(results.limiting)),
        },
        "course": list(results.course),
        **({} if results.causes is None else {"late_cycles": results.causes.as_table()}),
        "advice": [asdict(one) for one in results.advice],
        "not_measured": list(results.not_measured),
        "stopped": results.stopped,
        "runs": [run.id for run in results.runs],
        "search": None
        if search is None
        else {
            "kind": search.kind,
            "end": search.end,
            "holds_at": search.best.value if search.best is not None else None,
            "fails_at": search.above.value if search.above is not None else None,
            "unit": {"rate": "Hz", "work": "ns", "instances": "1"}[search.kind],
            "trials": [
                {
                    "value": one.value,
                    "purpose": one.purpose,
                    "run": one.run.id,
                    "releases": one.releases,
                    "missed": one.missed,
                    "worst_ns": one.worst_ns,
                    "met": one.met,
                }
                for one in search.trials
            ],
        },
    }


# What is said of what limits a loop.


def limits_of(found: Limiting) -> tuple[str, ...]:
    """Return the numbers, the most telling first; or why there are none."""
    if found.numbers is None:
        return (found.notice,) if found.notice else ()
    if isinstance(found.numbers, LateStarts):
        return (_late_starts(found.numbers),)
    return tuple(_long_jobs(found.numbers, found.side))


def _late_starts(one: LateStarts) -> str:
    mostly = ""
    if one.samples >= _FEWEST_OF_RARE:
        mostly = f"in 99.9 % of {one.samples:,} within {format_duration(one.rare)}, "
    return (
        f"The start is typically {format_duration(one.typical)} after the release, {mostly}"
        f"at the latest {format_duration(one.largest)}."
    )


def _long_jobs(one: LongJobs, side: str) -> Iterator[str]:
    asked = f" for {format_duration(one.asked)} of work" if one.asked else ""
    yield (
        f"{_which_jobs(one)}, {format_duration(one.start)} passed before the start and "
        f"{format_duration(one.work)} from there to the end{asked}; typical are "
        f"{format_duration(one.usual_start)} and {format_duration(one.usual_work)}. So it is the {side} that "
        "makes them long."
    )
    if one.too_long and one.asked:
        longer = 100 * (one.usual_work / one.asked - 1)
        yield (
            f"The work itself takes {longer:.0f} % longer than asked for, typically: the CPU was slower than "
            "when it was calibrated, or is shared."
        )
    if one.beside is not None:
        where, least = one.beside
        yield (
            f"Typically the work takes {100 * (one.usual_work / least - 1):.0f} % longer than with {where}: "
            "caches, memory or a hyperthread are shared with the load."
        )


def _which_jobs(one: LongJobs) -> str:
    if one.late:
        return "In the job that was late" if one.jobs == 1 else f"In the {one.jobs:,} jobs that were late"
    return "In the longest job" if one.jobs == 1 else f"In the {one.jobs:,} longest jobs"
