"""The claims of a paper with what became of each here."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tautochrone.base.words import capital, listed
from tautochrone.papers.claims.evidence import Answer, Asked
from tautochrone.papers.numbers import set_apart
from tautochrone.papers.systems import label_of

Mark = Literal["holds", "missed", "not-shown"]
MARKS: dict[Answer, Mark] = {"holds": "holds", "does not hold": "missed", "can't be told": "not-shown"}
SIGNS: dict[Mark, str] = {"holds": "+", "missed": "x", "not-shown": "?"}
_HERE = {"can't be told": "can't be told here"}
_COUNTED: dict[Answer, tuple[str, str]] = {
    "holds": ("holds", "hold"),
    "does not hold": ("does not hold", "do not hold"),
    "can't be told": ("can't be told here", "can't be told here"),
}
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])")
_OFTEN = 3  # answers from which on what they all say is said once, below them
_LONG = 40  # letters: a shorter sentence is no longer than a reference to it


@dataclass(frozen=True)
class Verdict:
    """What became of a claim on one system, on several alike, or between two.

    Attributes:
        systems: by name; of none where nobody could be asked.
        is_pair: whether it is about two beside each other.
        standing: in words.
        mark: the sign of it.
        evidence: on what it rests, with the numbers: of whom, and what; without what the notes say.
        in_short: the numbers alone.
        notes: letters of what is said of many, below the table.
    """

    systems: tuple[str, ...]
    is_pair: bool
    answer: Answer
    standing: str
    mark: Mark
    evidence: tuple[tuple[str, str], ...]
    in_short: str
    notes: tuple[str, ...] = ()

    @property
    def on(self) -> str:
        """``lab:a against lab:b``; ``each of lab:a and lab:b``; one name; empty of none."""
        return _on(self.systems, is_pair=self.is_pair)


@dataclass(frozen=True)
class Line:
    """A claim with all its verdicts.

    Attributes:
        short: its name as words: ``general purpose misses``.
        reading: which of its numbers are our reading of the paper's words; empty: none.
        besides: whether it is a question of ours, which the paper does not answer.
    """

    name: str
    short: str
    says: str
    where: str
    found: str
    reading: str
    besides: bool
    verdicts: tuple[Verdict, ...]

    @property
    def is_told(self) -> bool:
        """Whether there is an answer to it on any system."""
        return any(one.answer != "can't be told" for one in self.verdicts)


@dataclass(frozen=True)
class Group:
    """Claims below a heading of their own; an empty one for the first."""

    title: str
    lines: tuple[Line, ...]


def lines(asked: Sequence[Asked]) -> list[Line]:
    """One for each claim, in the paper's order."""
    found: dict[str, list[Asked]] = {}
    for one in asked:
        found.setdefault(one.claim.name, []).append(one)
    return [
        Line(
            name,
            name.replace("-", " "),
            own[0].claim.says,
            section(own[0].claim.where),
            set_apart(own[0].claim.found),
            own[0].claim.reading,
            own[0].claim.besides,
            tuple(_merged(own)),
        )
        for name, own in found.items()
    ]


def in_groups(found: Sequence[Line]) -> list[Group]:
    """What can be told first, then what can't be told on any system, then what is asked besides."""
    groups = (
        Group("", tuple(one for one in found if one.is_told and not one.besides)),
        Group("Can't be told here", tuple(one for one in found if not one.is_told and not one.besides)),
        Group("Asked besides: not answered by the paper", tuple(one for one in found if one.besides)),
    )
    return [one for one in groups if one.lines]


def with_notes(found: Sequence[Line]) -> tuple[list[Line], tuple[tuple[str, str], ...]]:
    """The same where a sentence that many answers have is a letter; and what each letter means."""
    sentences = Counter(
        sentence
        for line in found
        for one in line.verdicts
        for _, text in one.evidence
        for sentence in set(_sentences(text))
    )
    often = [one for one, count in sentences.items() if count >= _OFTEN and len(one) >= _LONG]
    letters = {sentence: _letter(at) for at, sentence in enumerate(often)}
    noted = [replace(line, verdicts=tuple(_noted(one, letters) for one in line.verdicts)) for line in found]
    return noted, tuple((letter, sentence) for sentence, letter in letters.items())


def section(where: str) -> str:
    """Where it stands in the paper: of a bare number, that it is a section."""
    return f"section {where}" if where[:1].isdigit() else where


def counted(asked: Sequence[Asked]) -> str:
    """How many hold: a sentence; empty where nothing was asked."""
    if not asked:
        return ""
    own = [one for one in asked if not one.claim.besides]
    claims = len({one.claim.name for one in own})
    besides = len({one.claim.name for one in asked if one.claim.besides})
    found = Counter(one.finding.answer for one in own)
    parts = [
        f"{found[answer]} {words[found[answer] != 1]}" for answer, words in _COUNTED.items() if found[answer]
    ]
    subject = f"{claims} claim{'' if claims == 1 else 's'}"
    said = f"{subject}: of {len(own)} answers, " if len(own) != claims else f"{subject}: "
    more = f" Besides, {besides} question{'' if besides == 1 else 's'} of ours." if besides else ""
    return f"{said}{listed(parts)}.{more}" if own else more.strip()


def _merged(asked: Sequence[Asked]) -> Iterator[Verdict]:
    """One for all single systems of which the same is said in short; each pair by itself."""
    found: dict[tuple[Answer, str, int], list[Asked]] = {}
    for at, one in enumerate(asked):
        finding, place = one.finding, 0 if len(one.systems) == 1 else at + 1
        found.setdefault((finding.answer, finding.in_short, place), []).append(one)
    for own in found.values():
        yield _verdict(own)


def _verdict(asked: Sequence[Asked]) -> Verdict:
    first = asked[0]
    answer, is_pair = first.finding.answer, len(first.systems) > 1
    texts: dict[str, list[str]] = {}
    for one in asked:
        texts.setdefault(_begun(one.finding.evidence, one.systems), []).extend(one.systems)
    return Verdict(
        tuple(name for one in asked for name in one.systems),
        is_pair,
        answer,
        _HERE.get(answer, answer),
        MARKS[answer],
        tuple((_on(systems, is_pair=is_pair), text) for text, systems in texts.items()),
        first.finding.in_short,
    )


def _on(systems: Sequence[str], *, is_pair: bool) -> str:
    names = [label_of(one) for one in systems]
    if is_pair:
        return " against ".join(names)
    return f"each of {listed(names)}" if len(names) > 1 else "".join(names)


def _begun(evidence: str, systems: Sequence[str]) -> str:
    """With a capital first letter, unless it begins with a name."""
    return evidence if evidence.startswith((*systems, "lab:", "ssh:")) else capital(evidence)


def _sentences(evidence: str) -> list[str]:
    return _SENTENCE.split(evidence)


def _noted(verdict: Verdict, letters: dict[str, str]) -> Verdict:
    notes: set[str] = set()
    rest = []
    for on, text in verdict.evidence:
        said = _sentences(text)
        notes.update(letters[one] for one in said if one in letters)
        own = " ".join(one for one in said if one not in letters)
        rest += [(on, own)] if own else []
    ordered = tuple(sorted(notes, key=lambda one: (len(one), one)))
    return replace(verdict, evidence=tuple(rest), notes=ordered)


def _letter(index: int) -> str:
    before, at = divmod(index, 26)
    return (_letter(before - 1) if before else "") + chr(ord("a") + at)
