"""What a check came to, for all who show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tautochrone.answer.outcome import Case, Outcome
from tautochrone.answer.outcome import Standing as CaseStanding
from tautochrone.answer.phrasing import requirement as required
from tautochrone.base.faults import Fault, attempt
from tautochrone.base.units import format_duration, format_rate
from tautochrone.base.words import capital, plural
from tautochrone.check.causes import CheckCauses, causes_of
from tautochrone.check.question import CheckQuestion
from tautochrone.check.search import Search
from tautochrone.judge.requirement.judge import Judgement
from tautochrone.judge.requirement.limiting import Limiting, limiting
from tautochrone.judge.requirement.line import WORST_FIRST, JudgedLine, Standing
from tautochrone.judge.verdict import IDLE
from tautochrone.machine.audit.finding import Finding
from tautochrone.run.folder import StoredRun

if TYPE_CHECKING:
    from tautochrone.judge.requirement.limiting import Side
    from tautochrone.judge.worth_measured import Worth
    from tautochrone.machine.settings import NotPutBackError
    from tautochrone.run.store import Store


MOST = 5

_OF_THE_START = (
    "realtime-permission",
    "memory-lock-permission",
    "preempt-rt",
    "preemption-model",
    "virtual-machine",
    "steal-time",
    "firmware-interrupts",
    "idle-states",
    "latency-limit",
    "device-interrupts",
    "isolation",
    "realtime-throttling",
)
_OF_THE_WORK = (
    "virtual-machine",
    "steal-time",
    "frequency-governor",
    "thermal-throttling",
    "smt",
    "isolation",
    "device-interrupts",
    "tick",
    "unlike-cores",
    "cpu-quota",
    "realtime-throttling",
)


@dataclass(frozen=True)
class CheckAdvice:
    """One thing to do.

    Attributes:
        knobs: of a deployment, that do it.
        worth: what it was worth on this machine, in words; empty: not measured.
    """

    code: str
    title: str
    do: str
    knobs: tuple[str, ...]
    worth: str


def advice(findings: Sequence[Finding], worths: Mapping[str, Worth], side: Side) -> list[CheckAdvice]:
    """Return the audit's warnings that say what to do.

    First comes what was measured to differ here, then what bears on what limits the loop, then the rest.
    """
    order = _OF_THE_WORK if side == "work" else _OF_THE_START

    def urgency(finding: Finding) -> tuple[bool, int, bool]:
        worth = worths.get(finding.code)
        measured = worth is not None and worth.shown == "repeated"
        at = order.index(finding.code) if finding.code in order else len(order)
        return not measured, at, not finding.knobs

    told = [one for one in findings if one.level == "warning" and one.advice]
    return [
        CheckAdvice(one.code, one.title, one.advice, one.knobs, _worth(worths.get(one.code)))
        for one in sorted(told, key=urgency)
    ]


def _worth(worth: Worth | None) -> str:
    from tautochrone.answer.phrasing.worth import sentence

    return sentence(worth) if worth is not None and worth.shown == "repeated" else ""


_CASES: dict[Standing, CaseStanding] = {
    "holds": "passed",
    "does not hold": "failed",
    "not shown": "not shown",
}


@dataclass(frozen=True)
class CheckResults:
    """A check, measured and judged.

    Attributes:
        judgement: over all loads; of a search, of its longest trial at the best rung.
        not_measured: loads that were to be measured, and were not, since somebody stopped it.
        stopped: whether somebody did.
        course: what stands out over time in the runs, in sentences.
        search: None where nothing was searched for.
        earlier: runs that asked the same under the same conditions before, and were judged with these.
        causes: what made cycles late; None: not recorded.
        findings: of the audit of the machine.
        not_put_back: a setting of the deployment that could not be put back.
    """

    question: CheckQuestion
    judgement: Judgement
    runs: tuple[StoredRun, ...]
    limiting: Limiting
    advice: tuple[CheckAdvice, ...]
    course: tuple[str, ...] = ()
    not_measured: tuple[str, ...] = ()
    stopped: bool = False
    search: Search | None = None
    earlier: tuple[str, ...] = ()
    causes: CheckCauses | None = None
    findings: tuple[Finding, ...] = ()
    not_put_back: NotPutBackError | None = None

    @property
    def standing(self) -> Standing:
        """Return the answer. What was not measured is not shown to hold.

        Of a search it is that of the longer trial that was met; where there is none, nothing holds if the
        lowest rung did not.
        """
        if self.search is not None and self.search.best is None:
            return "does not hold" if self.search.end == "none" else "not shown"
        if self.judgement.standing == "holds" and self.not_measured:
            return "not shown"
        return self.judgement.standing

    @property
    def remarks(self) -> list[str]:
        """Return what lacks, since somebody stopped it."""
        if self.search is not None:
            return ["The search was stopped before its end."] if self.stopped else []
        partly = [
            str(run.manifest.conditions.load) for run in self.runs if run.manifest.ended == "interrupted"
        ]
        return [
            *(f"Stopped early: beside {load} a part was measured, which is judged." for load in partly),
            *(
                f"Stopped before it was measured beside {load}: nothing is said about that."
                for load in self.not_measured
            ),
        ]

    @property
    def looks(self) -> str:
        """Say what was judged together with these runs; empty of a first look."""
        if not self.earlier:
            return ""
        return (
            f"Judged together with {plural(len(self.earlier), 'earlier run')} that asked the same under the "
            "same conditions: what is checked until it passes would pass by chance. --afresh leaves them out."
        )

    @property
    def headline(self) -> str:
        """Return the answer in a sentence."""
        if self.search is not None:
            return search_headline(self.search)
        basis = " (extrapolated)" if self.judgement.basis == "extrapolated" else ""
        return f"{capital(self.standing)}{basis}: {self.question.words}, {self.question.demand}"

    @property
    def why(self) -> str:
        """Return its numbers; of a search those of the trial that was judged."""
        causes = f" {self.causes.sentence}" if self.causes is not None else ""
        if self.search is None:
            return f"{required.why(self.judgement)}{causes}"
        judged = replace(self.search, question=self.question).wanted
        return f"At {self.search.shown(judged)}: {required.why(self.judgement)}{causes}"

    @property
    def places(self) -> list[tuple[str, Standing, list[JudgedLine]]]:
        """Return each set of conditions with its own answer, the worst first."""
        found: dict[str, list[JudgedLine]] = {}
        for line in self.judgement.lines:
            found.setdefault(line.where, []).append(line)
        return [
            (where, min((line.standing for line in lines), key=WORST_FIRST.index), lines)
            for where, lines in found.items()
        ]

    def outcome(self) -> Outcome:
        """Return a case for each set of conditions, for programs that build and test."""
        title = f"tauto check: {self.question.words}"
        if self.search is not None:
            name = f"--search {self.search.kind}, {self.search.question.demand}"
            detail = f"{_loop(self.search)}.\n{self.why}"
            case = Case("search", name, _CASES[self.standing], _found(self.search), detail)
            return Outcome(title, (case,))
        name = self.question.requirement.text
        cases = [
            Case(
                group=f"check, {where}" if where else "check",
                name=name,
                standing=_CASES[standing],
                message=required.in_short(self.judgement, where),
                detail="\n".join(
                    f"{line.source}: {line.standing}. {required.why_of(self.judgement.requirement, line)}"
                    for line in lines
                ),
                seconds=sum(_seconds(run) for run in self.runs if any(run.id in line.runs for line in lines)),
            )
            for where, standing, lines in self.places
        ]
        if not cases:
            said = required.in_short(self.judgement)
            cases = [Case("check", name, _CASES[self.standing], said, required.why(self.judgement))]
        cases += [
            Case(f"check, {load}", name, "skipped", "Stopped before it was measured.")
            for load in self.not_measured
        ]
        return Outcome(title, tuple(cases))


def results_of(
    question: CheckQuestion,
    judgement: Judgement,
    runs: Sequence[StoredRun],
    store: Store,
    search: Search | None = None,
) -> CheckResults:
    """Return what was found: judged, with what limits it and what would help."""
    from tautochrone.judge.worth_here import worth_here
    from tautochrone.machine.audit import audit_facts

    facts = runs[0].manifest.known
    # What fails here costs its own part, and never the answer.
    noticed: list[str] = []

    def lose(fault: Fault) -> None:
        noticed.append(fault.notice)

    findings = attempt("The audit", lambda: audit_facts(facts), lose) or ()
    # Of a search, on the rung that is too high: that is what keeps it from going further.
    above = search.above if search is not None else None
    about, of = (judgement, runs) if above is None else (above.judgement, [above.run])
    limits = attempt(
        "What limits it", lambda: limiting(about, of), lambda one: Limiting("", notice=one.notice)
    )
    helpful = attempt(
        "What would help",
        lambda: advice(findings, worth_here(store.folders(), facts, findings), limits.side),
        lose,
    )
    causes = attempt("What made cycles late", lambda: causes_of(of, limits.run, question.deadline_ns), lose)
    course = attempt("What stands out over time", lambda: _course(limits.run), lose) or ()
    return CheckResults(
        question=question,
        judgement=judgement,
        runs=tuple(runs),
        limiting=limits,
        advice=tuple(helpful or ()),
        course=(*course, *noticed),
        search=search,
        causes=causes,
        findings=tuple(findings),
    )


def _course(run: StoredRun | None) -> tuple[str, ...]:
    """Return what stands out over time in the run that decides."""
    from tautochrone.answer.phrasing.course import sentences
    from tautochrone.judge.course import course_of

    return () if run is None else tuple(sentences(course_of(run)))


def search_headline(search: Search) -> str:
    """Return what was found, what the next rung showed, and of which loop."""
    return f"{_found(search)} {_loop(search)}."


def _found(search: Search) -> str:
    best, above = search.best, search.above
    failed = ""
    if above is not None:
        missed = f"{above.missed:,} of {above.releases:,} releases missed"
        failed = f"not at {search.shown(above.value)}: {missed}"
    if best is None:
        if search.end == "none":
            return f"Does not hold, as far down as was tried; {failed}."
        met = search.course.met
        longer = "no longer trial was met"
        if met is not None:
            longer = f"met in short trials up to {search.shown(search.rungs[met])}, by no longer one"
        return f"{'; '.join(filter(None, (f'Not shown: {longer}', failed)))}."
    standing = "Holds" if best.judgement.standing == "holds" else "Not shown, but no more missed than allowed"
    found = f"{standing} at {search.shown(best.value)}"
    if above is not None:
        return f"{found}; {failed}.{_gap(search, best.rung, above.rung)}"
    if search.end == "top":
        return f"{found}, the most to be tried."
    return f"{found}; there was no time to look further up."


def _gap(search: Search, low: int, high: int) -> str:
    """Return what is known of the rungs between two."""
    if high - low < 2:
        return ""
    tried = any(low < trial.rung < high for trial in search.trials)
    return " Between them there were short trials only." if tried else " Between them nothing was tried."


def _loop(search: Search) -> str:
    question = search.question
    if question.code is not None:
        rate = f" at {format_rate(question.rate_hz)}" if search.kind == "instances" else ""
        return f"{question.code_name}{rate} {_where(search)}, {question.demand}"
    if search.kind == "rate":
        work = f" with {format_duration(question.work_ns)} of work" if question.work_ns else ""
        return f"A loop{work}, {question.demand}"
    return f"The work of a {format_rate(question.rate_hz)} loop, {question.demand}"


def _where(search: Search) -> str:
    """Return on which CPU and beside what the code ran."""
    manifest = max(search.trials, key=lambda one: len(one.run.manifest.header.sources)).run.manifest
    load = str(manifest.conditions.load)
    named = dict.fromkeys(one.label.partition(" ")[0] for one in manifest.header.sources)
    cpus = [one.removeprefix("cpu") for one in named if one.startswith("cpu")]
    cpu = f"on CPU{'s' if len(cpus) > 1 else ''} {','.join(cpus)} " if cpus else ""
    return f"{cpu}{'without a load' if load == IDLE else f'beside the load {load}'}"


def _seconds(run: StoredRun) -> float:
    book = run.manifest.books[0] if run.manifest.books else None
    if book is None:
        return 0.0
    return (book.released or book.completed) * run.manifest.header.periods_ns.get(book.source, 0) / 1e9
