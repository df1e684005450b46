"""What is concluded from runs: the verdict on control loops, what mechanisms cost, what to ask next.

It stands at the top of the report on runs, and is all that a terminal shows of the first answer.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tautochrone.answer import conditions, warnings
from tautochrone.answer import document as doc
from tautochrone.answer.blocks import Mark
from tautochrone.answer.labels import label_runs
from tautochrone.answer.phrasing import mechanisms as costs
from tautochrone.answer.phrasing import verdict as verdicts
from tautochrone.answer.typeset import duration, number
from tautochrone.base.faults import Later, now
from tautochrone.base.units import format_duration, format_rate
from tautochrone.base.words import listed, lower_first, on_machine, plural, upper_first
from tautochrone.judge.mechanisms import EXPERIMENTS, Mechanism
from tautochrone.judge.verdict import LoopVerdict, Standing, Verdict
from tautochrone.machine.audit.finding import Finding
from tautochrone.run.facts import Facts
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Manifest

Judged = Verdict | Later[Verdict | None] | None
_MOST_FINDINGS = 3
_MOST_STEPS = 4


@dataclass(frozen=True)
class NextStep:
    """One of them: a question, and what answers it."""

    question: str
    command: str


def conclusion(
    runs: Sequence[StoredRun],
    verdict: Judged,
    findings: Sequence[Finding] | Later[Sequence[Finding]],
    mechanisms: Sequence[Mechanism] | Later[Sequence[Mechanism]] = (),
    steps: Sequence[NextStep] | Later[Sequence[NextStep]] = (),
) -> doc.Document:
    """Return what a terminal shows of the first answer: one screen; the page has the rest."""
    manifests = tuple(run.manifest for run in runs)
    return doc.Document(
        Later(lambda: _concluded(manifests, now(verdict))),
        (
            doc.part("How the runs ended", lambda: ended(manifests, label_runs(manifests))),
            *of_verdict(verdict),
            doc.part("Mechanisms", lambda: _open_locks(now(mechanisms))),
            doc.part("Warnings", lambda: _warnings(manifests)),
            doc.part("The audit", lambda: _serious(now(findings))),
            what_next(Later(lambda: now(steps)[:_MOST_STEPS])),
        ),
        grounds=doc.Grounds(manifests, where=Later(conditions.sentence, manifests)),
    )


def headline(manifests: Sequence[Manifest], verdict: Verdict | None) -> str:
    """Return the verdict in a sentence, or else what the runs are, behind what nobody must overlook."""
    if verdict is not None:
        said = verdicts.headline(verdict)
    else:
        titles = dict.fromkeys(manifest.title for manifest in manifests)
        said = upper_first("; ".join(titles) if len(titles) <= 3 else plural(len(manifests), "run"))
    return ": ".join(filter(None, (warnings.incomplete(manifests), said)))


def _concluded(manifests: Sequence[Manifest], verdict: Verdict | None) -> str:
    if verdict is None:
        return "No periodic run ended, so there is no verdict."
    return headline(manifests, verdict)


def ended(manifests: Sequence[Manifest], labels: Sequence[str]) -> Iterator[doc.Block]:
    """Yield what stands above the verdict, or that would look like an all-clear."""
    for sentence in warnings.endings(manifests, labels):
        yield doc.Sentence(sentence, "alarm")


def of_verdict(verdict: Judged, sure: Later[list[str]] | None = None) -> Iterator[doc.DocumentPart]:
    """Yield the loops in numbers and in words; ``sure``: how sure that is, for a page."""

    def of(*shown: Callable[[Verdict], doc.Block]) -> Callable[[], list[doc.Block]]:
        return lambda: [] if (found := now(verdict)) is None else [show(found) for show in shown]

    yield doc.part("Verdict", of(matrix), only="page")
    yield doc.part("Verdict", of(lines), only="text")
    if sure is not None:
        yield doc.part("How sure it is", lambda: [doc.Sentence(one) for one in sure.get()])
    yield doc.part("Notes of the verdict", of(lambda found: doc.statements(verdicts.notes(found), "note")))
    in_words = of(
        lambda found: doc.Disclosure(
            "Every loop in words", (doc.statements(map(verdicts.sentence, found.loops)),)
        )
    )
    yield doc.part("Every loop in words", in_words, only="page")


def of_mechanisms(mechanisms: Sequence[Mechanism] | Later[Sequence[Mechanism]]) -> doc.DocumentPart:
    """Return what mechanisms cost, one line each."""

    def blocks() -> Iterator[doc.Block]:
        if found := now(mechanisms):
            yield doc.Subheading("Mechanisms")
            heads = doc.columns("What", "Typical", "Worst", "What it means")
            yield doc.TypedTable("", heads, tuple(map(_mechanism, found)), layout="list")

    return doc.part("Mechanisms", blocks, id="mechanisms")


def _open_locks(mechanisms: Sequence[Mechanism]) -> Iterator[doc.Block]:
    """Yield which locks are open to priority inversion; the page has what each mechanism costs."""
    measured = [one for one in mechanisms if not one.absent]
    if not mechanisms:
        return
    found = [
        lower_first(costs.what(one))
        for one in measured
        if one.lock is not None and one.lock.standing == "open"
    ]
    open_to = f" Open to priority inversion: {listed(found)}." if found else ""
    yield doc.Sentence(f"{len(measured)} of {len(mechanisms)} mechanisms were measured.{open_to}", "note")


def _mechanism(one: Mechanism) -> tuple[doc.TypedCell, ...]:
    mark: Mark = "not-shown" if one.absent else "tight" if one.warns else ""
    said = doc.TypedCell(costs.why_not(one) or costs.meaning(one), mark=mark)
    return doc.words(costs.what(one)), doc.time(one.typical_ns), doc.time(one.worst_ns), said


def _warnings(manifests: Sequence[Manifest]) -> Iterator[doc.Block]:
    """Yield the warnings of runs but those of mechanisms, on which the verdict does not rest."""
    own = [one for one in manifests if one.experiment not in EXPERIMENTS]
    if notices := warnings.warnings(own, label_runs(own)):
        yield doc.Notices(tuple(notices))


def _serious(findings: Sequence[Finding]) -> Iterator[doc.Block]:
    serious = [finding for finding in findings if finding.level == "warning"]
    if not serious:
        yield doc.Sentence("The audit has no warning. tauto doctor shows all it looked at.")
        return
    yield doc.Sentence("Possible causes of latency here:")
    yield doc.statements(f"- {one.title}: {one.observed}" for one in serious[:_MOST_FINDINGS])
    more = len(serious) - _MOST_FINDINGS
    also = f"{more} more, and " if more > 0 else ""
    yield doc.Sentence(f"tauto doctor shows {also}what to do about each.", "note")


def what_next(steps: Sequence[NextStep] | Later[Sequence[NextStep]]) -> doc.DocumentPart:
    """Return what to ask next, each with its command."""

    def blocks() -> Iterator[doc.Block]:
        if found := now(steps):
            yield doc.Subheading("What next")
            for one in found:
                yield doc.Sentence(one.question)
                yield doc.Commands((one.command,))

    return doc.part("What next", blocks, id="next")


# The verdict in numbers.


_MARKS: dict[Standing, Mark] = {
    "holds": "holds",
    "tight": "tight",
    "missed": "missed",
    "not shown": "not-shown",
}


def matrix(verdict: Verdict) -> doc.TypedTable:
    """Return a line for each CPU and way in which its loops ran, a column for each rate."""
    rates = sorted({loop.rate_hz for loop in verdict.loops})
    lines: dict[tuple[str, str], list[LoopVerdict]] = {}
    for loop in verdict.loops:
        lines.setdefault((loop.source, verdicts.conditions(loop)), []).append(loop)
    several = len({conditions for _, conditions in lines}) > 1
    heads = (f"at {format_rate(rate)}, each {format_duration(1e9 / rate)}" for rate in rates)
    rows = tuple(tuple(_line(loops, rates, named=several)) for loops in lines.values())
    return doc.TypedTable("", doc.columns("A loop on", *heads), rows, layout="list")


def _line(loops: Sequence[LoopVerdict], rates: Sequence[float], *, named: bool) -> Iterator[doc.TypedCell]:
    by_rate = {loop.rate_hz: loop for loop in loops}
    how = (doc.Sentence(verdicts.conditions(loops[0])),) if named else ()
    yield doc.TypedCell(_where(loops[0]), beneath=how)
    for rate in rates:
        yield _cell(by_rate[rate]) if rate in by_rate else doc.words("not judged")


def _cell(loop: LoopVerdict) -> doc.TypedCell:
    details = [f"in {number(loop.samples)} cycles"]
    if loop.samples:
        left = f"{duration(loop.left_ns)} left" if loop.left_ns > 0 else "nothing left"
        details = [f"worst {duration(loop.worst_ns)}", left, *details]
    loads = [
        doc.Sentence(
            f"{name}: {standing}{f', worst {duration(worst_ns)}' if worst_ns else ''}", mark=_MARKS[standing]
        )
        for name, standing, worst_ns in loop.loads
    ]
    said = doc.Sentence(", ".join(detail.replace(" ", "\u00a0") for detail in details))
    return doc.TypedCell(
        loop.standing, mark=_MARKS[loop.standing], beneath=(said, *(loads if len(loads) > 1 else ()))
    )


def lines(verdict: Verdict) -> doc.TypedTable:
    """Return a line for each loop."""
    several = len({verdicts.conditions(one) for one in verdict.loops}) > 1
    worst = "worst" if any(one.with_work for one in verdict.loops) else "worst start"
    heads = ("loop", "on", *(("how",) if several else ()), "verdict", worst, "left of each cycle", "cycles")
    rows = tuple(
        (
            doc.TypedCell(one.rate_hz, "rate"),
            doc.words(_where(one)),
            *((doc.words(verdicts.conditions(one)),) if several else ()),
            doc.TypedCell(one.standing, mark=_MARKS[one.standing]),
            doc.TypedCell(one.worst_ns, "ns"),
            doc.TypedCell(one.left_ns, "ns", "" if one.left_ns else "nothing"),
            doc.count(one.samples),
        )
        for one in verdict.loops
    )
    return doc.TypedTable("", doc.columns(*heads), rows)


def _where(loop: LoopVerdict) -> str:
    return loop.source if loop.cpu is None else f"CPU\u00a0{loop.cpu}"


# What to ask after the first answer: the questions that its verdict leaves open, each with its command.


LOCAL = "local"
_OF_LAB = "lab:"


def next_steps(
    verdict: Verdict | None, facts: Facts, target: str = LOCAL, loop: str | None = None
) -> list[NextStep]:
    """Return the next questions, the nearest first; ``loop``: the id of a run of a loop, if there is one."""
    return list(_steps(verdict, facts, target, loop))


def _steps(verdict: Verdict | None, facts: Facts, target: str, loop: str | None) -> Iterator[NextStep]:
    on = on_machine(target)
    loops = verdict.loops if verdict is not None else ()
    if any(one.standing != "holds" for one in loops):
        yield NextStep("What on this machine costs latency, and what to do about it?", f"tauto doctor{on}")
        if (facts.cpu.online_count or 1) > 1:
            yield NextStep(
                "Would it help to isolate a CPU? The same once more, and put back afterwards (root):",
                f"tauto --deployment MI{on}",
            )
        if not target.startswith(_OF_LAB) and not facts.kernel.realtime:
            yield NextStep(
                "Would another kernel? In the virtual lab that takes no reboot.",
                "tauto lab matrix --kernels debian:stock,debian:rt",
            )
    rate = format_rate(min((one.rate_hz for one in loops), default=1000.0)).replace(" ", "")
    yield NextStep(
        "Does your own loop hold, with its work and its deadline?",
        f'tauto check --rate {rate} --work 300us --deadline 800us --misses "1 per hour"{on}',
    )
    if loop is not None:
        yield NextStep("How rare is a start that is later than all of these?", f"tauto tail {loop}")
    yield NextStep(
        "How does this machine stand beside those of a published study?",
        f"tauto reproduce laurich2004 --quick{on}",
    )
