"""The claims of a study with what became of each here."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tautochrone.paper.claims.answer import Answer, Asked, Finding
from tautochrone.phrases import capital, listed
from tautochrone.report.reproduction.figures.looks import label_of

MARKS: dict[Answer, str] = {"holds": "holds", "does not hold": "missed", "can't be told": "not-shown"}
_HERE = {"can't be told": "can't be told here"}
_COUNTED: dict[Answer, tuple[str, str]] = {
    "holds": ("holds", "hold"),
    "does not hold": ("does not hold", "do not hold"),
    "can't be told": ("can't be told here", "can't be told here"),
}


@dataclass(frozen=True)
class Verdict:
    """What became of a claim on one system, on several alike, or between two.

    Attributes:
        on: the systems' names, or both of a pair: "lab:debian-stock and lab:debian-rt"; empty: of none.
        standing: in words.
        mark: the sign of it.
    """

    on: str
    answer: Answer
    standing: str
    mark: str
    evidence: str
    in_short: str


@dataclass(frozen=True)
class Line:
    """A claim with all its verdicts."""

    name: str
    says: str
    where: str
    found: str
    verdicts: tuple[Verdict, ...]


def lines(asked: Sequence[Asked]) -> list[Line]:
    """One for each claim, in the study's order."""
    found: dict[str, list[Asked]] = {}
    for one in asked:
        found.setdefault(one.claim.name, []).append(one)
    return [
        Line(
            name,
            own[0].claim.says,
            section(own[0].claim.where),
            own[0].claim.found,
            tuple(_merged(own)),
        )
        for name, own in found.items()
    ]


def section(where: str) -> str:
    """Where it stands in the study: of a bare number, that it is a section."""
    return f"section {where}" if where[:1].isdigit() else where


def counted(asked: Sequence[Asked]) -> str:
    """How many hold: a sentence; empty where nothing was asked."""
    if not asked:
        return ""
    claims = len({one.claim.name for one in asked})
    found = Counter(one.finding.answer for one in asked)
    parts = [
        f"{found[answer]} {words[found[answer] != 1]}" for answer, words in _COUNTED.items() if found[answer]
    ]
    subject = f"{claims} claim{'' if claims == 1 else 's'}"
    if len(asked) != claims:
        return f"{subject}, asked {len(asked)} times, of each system that it is about: {listed(parts)}."
    return f"{subject}: {listed(parts)}."


def _merged(asked: Sequence[Asked]) -> Iterator[Verdict]:
    """One for all single systems of which the same is said; each pair by itself."""
    found: dict[tuple[Finding, int], list[Asked]] = {}
    for at, one in enumerate(asked):
        found.setdefault((one.finding, 0 if len(one.systems) == 1 else at + 1), []).append(one)
    for own in found.values():
        yield _verdict(own[0], [name for one in own for name in one.systems])


def _verdict(one: Asked, systems: Sequence[str]) -> Verdict:
    answer = one.finding.answer
    return Verdict(
        listed([label_of(name) for name in systems]),
        answer,
        _HERE.get(answer, answer),
        MARKS[answer],
        capital(one.finding.evidence),
        one.finding.in_short,
    )
