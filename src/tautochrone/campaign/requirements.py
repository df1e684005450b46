"""Whether each case of a plan run is as its plan requires, and what programs that build and test are told."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from tautochrone.answer.outcome import Case, Outcome
from tautochrone.answer.outcome import Standing as CaseStanding
from tautochrone.answer.phrasing import requirement as words
from tautochrone.answer.phrasing.looks import level_of
from tautochrone.base.errors import UsageError
from tautochrone.base.words import plural
from tautochrone.experiments.requirement import Requirement, parse
from tautochrone.judge.requirement.judge import Judgement, judge, judge_all
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.sequential import confidence_of_look, looks

NOT_MEASURED = "not shown"
TITLE = "What the plan requires"
MEASURED = "is measured"
"""What a case is judged by of which nothing is required, for programs that run tests."""

_STANDINGS: dict[str, CaseStanding] = {
    "holds": "passed",
    "does not hold": "failed",
    "not shown": "not shown",
}
_ORDER = ("does not hold", "not shown", "holds")


@dataclass(frozen=True)
class JudgedCell:
    """One requirement of one case.

    Attributes:
        cell: key of the case.
        name: of the case, for people.
        text: the requirement as it is written.
        judgement: None: no run of the case came to its end, or the text can't be read.
        why: that, where there is no judgement; else why there are not all repetitions, or nothing.
        wrong: whether the measuring went wrong, and was not refused.
        runs: ids of what it is judged by.
        seconds: how long that was measured; None: not known.
        level: of one of several looks, at which level it judges; empty: it is the only one.
    """

    cell: str
    name: str
    text: str
    judgement: Judgement | None
    why: str = ""
    wrong: bool = False
    runs: tuple[str, ...] = ()
    seconds: float | None = None
    level: str = ""

    @property
    def standing(self) -> str:
        """In words: "holds", "does not hold" or "not shown"."""
        return self.judgement.standing if self.judgement is not None else NOT_MEASURED

    @property
    def reason(self) -> str:
        """Return why it stands so, and what is lacking."""
        said = words.why(self.judgement) if self.judgement is not None else ""
        return " ".join(filter(None, (said, self.level, self.why)))

    @property
    def to_settle(self) -> str:
        """Return how long a run would settle it; empty where it is settled or nobody can tell."""
        return words.to_settle(self.judgement) if self.judgement is not None else ""


def judge_cells(
    required: Mapping[str, Sequence[str]],
    cells: Mapping[str, str],
    runs: Mapping[str, Sequence[StoredRun]],
    wanted: int,
    why: Mapping[str, str],
    wrong: Collection[str] = (),
    first: int | None = None,
) -> tuple[JudgedCell, ...]:
    """Judge every case by what is required of it, in the order of the plan's cases.

    Args:
        required: the texts, by the key of the case.
        cells: names by key.
        runs: the finished ones by key.
        wanted: repetitions of each case.
        why: of cases without all of them, the reason.
        wrong: cases whose measuring went wrong.
        first: repetitions at the first of several looks; None: there is one look, at all runs.
    """
    found = []
    for key, name in cells.items():
        own = runs.get(key, ())
        lacking = ""
        if not own:
            lacking = f"Not measured: {why.get(key, 'there is no finished run of it.')}"
        elif len(own) < wanted:
            lacking = f"Judged by {len(own)} of {plural(wanted, 'repetition')}."
        texts = required.get(key, ())
        for text, (judged, unread) in zip(texts, _judge(texts, own, first), strict=True):
            ids = tuple(run.id for run in own)
            reason, went_wrong = unread or lacking, key in wrong
            found.append(
                JudgedCell(
                    key, name, text, judged.judgement, reason, went_wrong, ids, _seconds(own), judged.level
                )
            )
    return tuple(found)


@dataclass(frozen=True)
class LookedAt:
    """A requirement of one case, after some looks.

    Attributes:
        judgement: of the latest look, or the one that decided it; None: there was none.
        look: from 1; 0: none so far, or it is the only one.
        final: it is the only one: the machine repeats to the bit, and no repetition would say more.
    """

    judgement: Judgement | None
    look: int = 0
    level: str = ""
    final: bool = False

    @property
    def takes(self) -> float | None:
        """Return how many times the measuring at that look would probably decide it; None: not known."""
        return self.judgement.takes if self.judgement is not None else None


def looked_at(requirement: Requirement, runs: Sequence[StoredRun], first: int) -> LookedAt:
    """Look at a requirement each time when there are so many repetitions, until it is decided.

    Each look may spend its own share of the chance to err, and rests on the repetitions up to it.

    Args:
        runs: of the case, in the order of its repetitions.
        first: repetitions at the first look, and twice as many at each further one.
    """
    found = LookedAt(None)
    virtual = runs[0].manifest.conditions.virtual if runs else None
    if virtual is not None and virtual.is_counted:
        return LookedAt(judge(requirement, runs[:1]), 1, final=True)
    for look, amount in looks(first, len(runs)):
        sure = confidence_of_look(requirement.confidence, look)
        judgement = judge(replace(requirement, confidence=sure), runs[:amount])
        found = LookedAt(judgement, look, level_of(look, amount, sure, requirement.confidence))
        if judgement.standing != NOT_MEASURED:
            break
    return found


def _judge(texts: Sequence[str], runs: Sequence[StoredRun], first: int | None) -> list[tuple[LookedAt, str]]:
    """Return what is said about each text, and why nothing is: it was kept by another version of tauto."""
    read: list[Requirement | str] = []
    for text in texts:
        try:
            read.append(parse(text))
        except UsageError as error:
            read.append(f"{error}.")
    known = [one for one in read if isinstance(one, Requirement)]
    if first is not None:
        judged = iter([looked_at(one, runs, first) for one in known])
    else:
        judged = map(LookedAt, judge_all(known, runs) if runs else [None] * len(known))
    return [(LookedAt(None), one) if isinstance(one, str) else (next(judged), "") for one in read]


def _seconds(runs: Sequence[StoredRun]) -> float | None:
    """Return how long the releases of the busiest source took, in all runs."""
    total = 0.0
    for run in runs:
        periods = run.manifest.header.periods_ns
        spans = [
            (book.released or book.completed) * periods[book.source] / 1e9
            for book in run.manifest.books
            if book.source in periods
        ]
        if not spans:
            return None
        total += max(spans)
    return total if runs else None


def outcome(
    title: str,
    judged: Sequence[JudgedCell],
    cells: Mapping[str, str],
    finished: Mapping[str, int],
    wanted: int,
    why: Mapping[str, str],
    wrong: Collection[str] = (),
) -> Outcome:
    """Return what programs that run tests are told: a case for each requirement and case.

    A case of which nothing is required is a case by itself, whether it was measured: if it was not, or if the
    plan requires nothing at all.

    Args:
        finished: how many repetitions of each case there are, by key.
    """
    cases = [_case(one) for one in judged]
    with_requirement = {one.cell for one in judged}
    for key, name in cells.items():
        if key in with_requirement:
            continue
        there = finished.get(key, 0)
        words = f"{there} of {plural(wanted, 'repetition')}"
        standing: CaseStanding = "passed"
        if there >= wanted and judged:
            continue
        if there < wanted:
            standing = "error" if key in wrong else "skipped"
            words = " ".join(filter(None, (f"{words}." if there else "", why.get(key, ""))))
        cases.append(Case(name, MEASURED, standing, words))
    return Outcome(title, tuple(cases))


def unmeasured(
    title: str,
    required: Mapping[str, Sequence[str]],
    cells: Mapping[str, str],
    wanted: int,
    why: Mapping[str, str],
    wrong: Collection[str],
) -> Outcome:
    """Return the outcome of a plan of which nothing was measured."""
    judged = judge_cells(required, cells, {}, wanted, why, wrong)
    return outcome(title, judged, cells, {}, wanted, why, wrong)


def exit_code(judged: Sequence[JudgedCell]) -> int:
    """0: every requirement holds, or there is none; 6: one does not; 7: none does not, one is not shown."""
    return Outcome("", tuple(_case(one) for one in judged)).exit_code


def _case(one: JudgedCell) -> Case:
    if one.judgement is None:
        standing: CaseStanding = "error" if one.wrong else "skipped"
        return Case(one.name, one.text, standing, one.reason)
    detail = [line for line in (one.reason, one.to_settle, *words.notes(one.judgement)) if line]
    detail.append(f"Runs: {', '.join(one.runs)}")
    return Case(
        one.name,
        one.text,
        _STANDINGS[one.standing],
        words.in_short(one.judgement),
        "\n".join(detail),
        seconds=one.seconds,
    )


def worst_first(judged: Sequence[JudgedCell]) -> list[JudgedCell]:
    """Those that do not hold first; otherwise as the plan lists them."""
    return sorted(judged, key=lambda one: _ORDER.index(one.standing))


def counted(judged: Sequence[JudgedCell]) -> str:
    """``2 of 3 hold, 1 is not shown.``; empty of none."""
    if not judged:
        return ""
    said = []
    for standing, one, many in (
        ("does not hold", "does not hold", "do not hold"),
        ("not shown", "is not shown", "are not shown"),
        ("holds", "holds", "hold"),
    ):
        count = sum(each.standing == standing for each in judged)
        if count:
            said.append(f"{count} {one if count == 1 else many}")
    return f"Of {plural(len(judged), 'requirement')} {', '.join(said)}."


def notes(judged: Sequence[JudgedCell]) -> list[str]:
    """Return what must be said with them, each once."""
    said = [note for one in judged if one.judgement is not None for note in words.notes(one.judgement)]
    return list(dict.fromkeys(said))


def as_table(judged: Sequence[JudgedCell]) -> list[dict[str, object]]:
    """Return the same as JSON has it."""
    return [
        {
            "cell": one.cell,
            "name": one.name,
            "requirement": one.text,
            "standing": one.standing,
            "why": one.reason,
            "basis": one.judgement.basis if one.judgement is not None else "",
            "to_settle_s": one.judgement.to_settle_s if one.judgement is not None else None,
            "to_settle": one.to_settle,
            "runs": list(one.runs),
        }
        for one in judged
    ]
