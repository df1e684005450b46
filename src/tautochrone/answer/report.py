"""The report on runs: what is judged from them, every measure with its figures, and how it was measured.

What was found stands first, and is all that a terminal shows; the evidence is for the page, one HTML file.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tautochrone.answer import composition, environment, evidence, numbers, soak, warnings
from tautochrone.answer import document as doc
from tautochrone.answer.blame import advice, section
from tautochrone.answer.blocks import all_made
from tautochrone.answer.conclusion import Judged, NextStep, ended, of_mechanisms, of_verdict, what_next
from tautochrone.answer.conclusion import headline as headline_of
from tautochrone.answer.evidence import Evidence, MeasuredEvidence, Presented, rank_runs
from tautochrone.answer.experiments import lead_of, title_of
from tautochrone.answer.foot import audited, facts, warned, when
from tautochrone.answer.foot import lacking as lacking_table
from tautochrone.answer.series import runs_of
from tautochrone.answer.show import beside as around
from tautochrone.answer.show import remarked
from tautochrone.answer.tail.document import Section
from tautochrone.answer.typeset import duration
from tautochrone.base.errors import UsageError
from tautochrone.base.faults import Fault, Later, attempt, now
from tautochrone.judge.mechanisms import Mechanism
from tautochrone.judge.reduced import Reduced
from tautochrone.judge.tail.tails import tails_of
from tautochrone.machine.audit.finding import Finding
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Books, Manifest

_MOST_PERIODS, _MOST_BOOKS = 4, 16
_LEVELS = (
    ("unknown: could not be seen from here", ("unknown",)),
    ("to know when reading these numbers", ("note",)),
    ("good: as a real-time system should be", ("good",)),
)
Findings = Sequence[Finding] | Mapping[str, Sequence[Finding]]


@dataclass(frozen=True)
class BesideRuns:
    """What a report says beside what is stored with its runs.

    Attributes:
        verdict: what was judged from them, or None.
        findings: the audit of the machine they ran on, or of each machine by its name.
        mechanisms: what mechanisms cost, one line each.
        lacking: what was to be measured and was not, each with the reason.
        steps: what to ask next.
        top: what stands above the verdict: the answer to a question that was asked.
    """

    verdict: Judged = None
    findings: Findings | Later[Findings] = ()
    mechanisms: Sequence[Mechanism] | Later[Sequence[Mechanism]] = ()
    lacking: Sequence[tuple[str, str]] = ()
    steps: Sequence[NextStep] | Later[Sequence[NextStep]] = ()
    top: doc.Document | None = None


_NOTHING = BesideRuns()


def document(runs: Sequence[StoredRun], beside: BesideRuns = _NOTHING) -> doc.Document:
    """Return the report about ``runs``. What can't be made costs its part only.

    Where that is the report itself, the verdict is left, with a notice.

    Args:
        runs: sealed or recovered runs, in the order in which they shall stand.
        beside: what it says beside them.

    Raises:
        UsageError: no run was given.
    """
    if not runs:
        raise UsageError("There is no run to report on", "Name a run; `tauto list` shows them.")
    return attempt(
        "The report",
        lambda: _of_runs(runs, beside),
        lambda fault: _without_evidence(runs, beside, fault),
    )


def _without_evidence(runs: Sequence[StoredRun], beside: BesideRuns, fault: Fault) -> doc.Document:
    """Return the answer alone, below a notice that there is no more."""
    manifests = tuple(run.manifest for run in runs)

    def lost(one: Fault) -> doc.DocumentPart:
        return doc.DocumentPart(one.part, Later(lambda: (doc.Lost(one.notice),)))

    if beside.top is not None:
        return replace(beside.top, parts=(lost(fault), *beside.top.parts))
    judged = attempt("Verdict", lambda: tuple(of_verdict(beside.verdict)), lambda one: (lost(one),))
    headline = Later(lambda: headline_of(manifests, now(beside.verdict)))
    return doc.Document(headline, (lost(fault), *judged), grounds=doc.Grounds(manifests))


def _of_runs(runs: Sequence[StoredRun], beside: BesideRuns) -> doc.Document:
    manifests = [run.manifest for run in runs]
    labels = dict(zip(runs, evidence.labels_of(manifests, lambda _: None), strict=True))  # gathering tells it
    rare = Section()

    def tell_tails(run: StoredRun, measure: str, reduced: Sequence[Reduced]) -> None:
        if run.manifest.header.is_about_a_loop and measure == run.measures[0]:
            attempt(
                f"How rare a late cycle is, {labels[run]}",
                lambda: rare.take(labels[run], tails_of(run, measure, reduced=reduced)),
                rare.lose,
            )

    seen = evidence.gather(runs, tell_tails)
    return of_evidence(seen, beside, rare)


def of_evidence(seen: Evidence, beside: BesideRuns = _NOTHING, rare: Section | None = None) -> doc.Document:
    """Return the report about evidence; ``rare``: the section on rare late cycles."""
    manifests, labels, verdict, top = seen.manifests, seen.labels, beside.verdict, beside.top
    audits = Later(_by_machine, beside.findings)
    latencies = [one for group in seen.measured[:1] for one in group.series if group.loop]
    headline = Later(lambda: headline_of(manifests, now(verdict)))

    def noticed() -> list[doc.Notice]:
        return warnings.warnings(manifests, labels) + warnings.findings(audits.get(), "warning")

    def judged() -> Iterator[doc.Block]:
        yield from ended(manifests, labels)
        if top is not None and now(verdict) is not None:
            yield doc.Sentence(headline.get(), "strong")
        if top is None and now(verdict) is None:
            yield doc.Sentence("No loop was judged here. The numbers below stand for themselves.", "note")

    parts = (
        doc.part("Verdict", judged, id="" if top is None else "verdict"),
        *of_verdict(verdict, sure=Later(numbers.how_sure, latencies)),
        of_mechanisms(beside.mechanisms),
        warned(Later(noticed)),
        doc.part("What was measured", lambda: _measured(seen, beside.lacking), id="runs"),
        *soak.parts(seen.soaks),
        *_measures(seen),
        *(rare.parts() if rare is not None else ()),
        *([doc.part("Cycles kept whole", lambda: seen.kept, id="kept")] if seen.kept else []),
        *section.parts(seen.blamed),
        *advice.parts(seen.advised),
        doc.part("Accounting", lambda: _books(manifests, labels), id="books"),
        doc.part(
            "The conditions",
            lambda: [*around(manifests, labels), *environment.housekeeping(manifests, labels)],
            id="environment",
        ),
        doc.part("Clocks", lambda: environment.clocks(manifests, labels)),
        doc.part("Settings", lambda: environment.settings_blocks(manifests, labels)),
        audited(audits, _LEVELS),
        doc.part("Facts", lambda: [doc.Subheading("Facts"), *facts(manifests, several=len(manifests) > 1)]),
        what_next(beside.steps),
        doc.part("How to repeat it", lambda: _again(manifests), id="reproduce"),
    )
    if top is None:
        return doc.Document(headline, parts, grounds=doc.Grounds(manifests))
    return replace(top, parts=(*top.shown_as("page"), *parts))


def _by_machine(findings: Findings | Later[Findings]) -> Mapping[str, Sequence[Finding]]:
    found: Findings = findings.get() if isinstance(findings, Later) else findings
    return found if isinstance(found, Mapping) else {"": found}


# What was measured: a line for each run, and the measures with their figures and numbers.


def _measured(seen: Evidence, lacking: Sequence[tuple[str, str]]) -> Iterator[doc.Block]:
    yield _runs(seen.manifests, seen.labels)
    yield from remarked(seen.remarks, seen.labels)
    if lacking:
        yield doc.Subheading("What was not measured")
        yield lacking_table(lacking)
    yield from map(doc.Lost, seen.lost)
    if not seen.measured and not seen.lost:
        yield doc.Sentence(
            "No sample was recorded, so there is nothing to draw. The accounting below says what happened."
        )


def _runs(manifests: Sequence[Manifest], labels: Sequence[str]) -> doc.TypedTable:
    """Return a line per run; with the sign of its series only where several runs share a chart."""
    often = Counter(manifest.experiment for manifest in manifests)
    heads = doc.columns("Run", "Experiment", "Conditions", "When (UTC)", "Samples", "State", "Id")
    rows = tuple(
        (
            doc.TypedCell(label, rank=rank if often[manifest.experiment] > 1 else None),
            doc.words(_experiment(manifest)),
            doc.words(_conditions(manifest)),
            doc.words(when(manifest)),
            doc.count(sum(book.recorded for book in manifest.books)),
            doc.words(manifest.told_state),
            doc.TypedCell(manifest.id, "code"),
        )
        for manifest, label, rank in zip(manifests, labels, rank_runs(manifests), strict=True)
    )
    return doc.TypedTable("", heads, rows)


def _experiment(manifest: Manifest) -> str:
    periods = sorted(set(manifest.header.periods_ns.values()))
    if not periods:
        return manifest.experiment
    if len(periods) > _MOST_PERIODS:
        return f"{manifest.experiment}, each {duration(periods[0])} to {duration(periods[-1])}"
    return f"{manifest.experiment}, each {', '.join(duration(one) for one in periods)}"


def _conditions(manifest: Manifest) -> str:
    """Return the conditions in words, without what was typed, what came of the load, and that it ran here."""
    shown = [
        f"{environment.words(name)} {environment.show(name, value)}"
        for name, value in manifest.conditions.stored.items()
        if name != "command" and not isinstance(value, (dict, list)) and (name, value) != ("target", "local")
    ]
    if under := manifest.conditions.deployment_name:
        shown.append(f"deployment {under}")
    return ", ".join(shown) or "none stored"


def _measures(seen: Evidence) -> Iterator[doc.DocumentPart]:
    """Yield a section for each measure, loops first; a presented experiment has one for all its measures."""
    done: set[str] = set()
    for index, measured in enumerate(seen.measured):
        presented = seen.presented.get(measured.experiment)
        id_ = f"measure-{index + 1}"
        if presented is None:
            yield doc.part(_title(measured), Later(_measure, seen, measured, index).get, id=id_)
        elif measured.experiment not in done:
            done.add(measured.experiment)
            title = title_of(measured.experiment)
            yield doc.part(title, Later(_presented, seen, measured.experiment, presented, index).get, id=id_)


def _title(measured: MeasuredEvidence) -> str:
    return attempt(f"The heading of {measured.meaning}", lambda: measured.heading, lambda fault: fault.notice)


def _measure(seen: Evidence, measured: MeasuredEvidence, index: int) -> list[doc.Block]:
    key = tuple(runs_of(measured.series))
    own = [manifest for manifest in seen.manifests if manifest.experiment == measured.experiment]
    return [
        *environment.calibrations(own),
        *(doc.Drawing(figure, key) for figure in composition.compose(measured, f"m{index}")),
        doc.Subheading("In numbers"),
        *_summary(seen, measured),
    ]


def _presented(seen: Evidence, experiment: str, presented: Presented, index: int) -> list[doc.Block]:
    """Return what presents the experiment first; the summaries are folded away."""
    own = presented.tables()
    figures = all_made("Its figures", lambda: presented.figures(f"m{index}"))
    numbers = [
        block for one in seen.of(experiment) for block in (doc.Subheading(one.title), *_summary(seen, one))
    ]
    folded = [doc.Disclosure("Every source in numbers", tuple(numbers))] if own or figures else numbers
    return [*_leads(presented), *own, *map(doc.Drawing, figures), *folded]


def _leads(presented: Presented) -> Iterator[doc.Block]:
    """Yield the answer about each run, named where there are several."""
    for run, label in zip(presented.runs, presented.labels, strict=True):
        said = attempt(f"The answer about {label or run.id}", lambda: lead_of(run), lambda _: ())  # noqa: B023
        yield from (doc.Sentence(f"{label}: {one}" if label else one, "strong") for one in said)


def _summary(seen: Evidence, measured: MeasuredEvidence) -> Iterator[doc.Block]:
    own = [
        (manifest, label)
        for manifest, label in zip(seen.manifests, seen.labels, strict=True)
        if manifest.experiment == measured.experiment
    ]
    absent = numbers.absent_rows([manifest for manifest, _ in own], [label for _, label in own])
    return numbers.blocks(measured.series, loop=measured.loop, absent=absent)


# The books, the conditions, and how to repeat it.


def _books(manifests: Sequence[Manifest], labels: Sequence[str]) -> Iterator[doc.Block]:
    """Yield what was released, completed, missed, recorded and dropped, and whether it adds up."""
    yield doc.Sentence(
        "Every release is accounted for: released = completed + missed, and completed = recorded + dropped."
    )
    several = len(manifests) > 1
    own = [(label, book) for one, label in zip(manifests, labels, strict=True) for book in one.books]
    if not own:
        yield doc.Sentence(
            "No book was kept: the run ended before its footer was written and no row was found."
        )
        return
    if len(own) <= _MOST_BOOKS:
        yield _book_table(own, several=several)
        return
    wrong = [one for one in own if one[1].problems()]
    yield doc.Sentence(
        f"The accounting of {len(wrong)} of {len(own)} sources does not balance."
        if wrong
        else f"The accounting of all {len(own)} sources balances."
    )
    if wrong:
        yield _book_table(wrong, several=several)
    yield doc.Disclosure(f"Accounting of all {len(own)} sources", (_book_table(own, several=several),))


def _book_table(own: Sequence[tuple[str, Books]], *, several: bool) -> doc.TypedTable:
    counted = ("Released", "Completed", "Missed", "Overruns", "Recorded", "Dropped", "Warm-up")
    heads = doc.columns(*(("Run",) if several else ()), "Source", *counted, "CPU time per cycle", "Balanced")
    rows = tuple((*((doc.words(label),) if several else ()), *_book(book)) for label, book in own)
    return doc.TypedTable("", heads, rows, layout="dense")


def _book(book: Books) -> Iterator[doc.TypedCell]:
    yield doc.words(book.name)
    told = (
        book.released,
        book.completed,
        book.missed,
        book.overruns,
        book.recorded,
        book.dropped,
        book.warmup,
    )
    yield from map(doc.count, told)
    each = book.cpu_time_ns / book.completed if book.cpu_time_ns is not None and book.completed else None
    yield doc.time(each)
    problems = book.problems()
    yield doc.TypedCell(f"no: {'; '.join(problems)}", strong=True) if problems else doc.words("yes")


def _again(manifests: Sequence[Manifest]) -> Iterator[doc.Block]:
    ids = " ".join(manifest.id for manifest in manifests)
    yield doc.Sentence(
        "The runs lie in the store of the machine that wrote this page. Look at them again, or take the "
        "samples elsewhere:"
    )
    yield doc.Commands(
        (
            *dict.fromkeys(one.typed for one in manifests if one.typed),
            f"tauto show {manifests[0].id}",
            f"tauto report {ids}",
            f"tauto export {manifests[0].id} --parquet --out samples.parquet",
        )
    )
    yield doc.Disclosure("Parameters of the experiment", (environment.parameters(manifests),))
    yield doc.Sentence(_schemas(manifests), "note")


def _schemas(manifests: Sequence[Manifest]) -> str:
    runs = ", ".join(dict.fromkeys(str(manifest.schema) for manifest in manifests))
    streams = ", ".join(dict.fromkeys(str(manifest.header.stream or "N/A") for manifest in manifests))
    probes = ", ".join(
        dict.fromkeys(f"{m.header.program or 'N/A'} {m.header.version or ''}".strip() for m in manifests)
    )
    return f"Run schema {runs}; sample stream version {streams}; probe {probes}."
