"""The claims of a paper with what became of each here, for every medium."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tautochrone.answer.blocks import Mark, Sheet, SheetBand, SheetCell, SheetRow
from tautochrone.answer.document import Block, Sentence, Statements, Subheading, TypedCell, TypedTable
from tautochrone.answer.document import columns as heads
from tautochrone.base.words import listed, plural
from tautochrone.papers.claims.evidence import Answer, AskedClaim
from tautochrone.papers.claims.words import ANSWERS, counted_as
from tautochrone.papers.document import Claim
from tautochrone.papers.measured import label_of
from tautochrone.papers.side_by_side import letter, set_apart

_MARKS: dict[Answer, Mark] = {"yes": "holds", "no": "missed", "open": "not-shown", "not asked": ""}
_SIGNS: dict[Answer, str] = {"yes": "+", "no": "x", "open": "?", "not asked": "-"}
_NOT_ASKED = "Not asked here"
_NOT_TOLD, _BESIDES = "Can't be told here", "Asked besides: not answered by the paper"
_OFTEN = 3  # answers from which on what they all say is said once, below them
_LONG = 40  # letters: a shorter sentence is no longer than a reference to it


@dataclass(frozen=True)
class ClaimVerdict:
    """What became of a claim on one system, on several alike, or between two.

    Attributes:
        systems: by name; of none where nobody could be asked.
        is_pair: whether it is about two beside each other.
        evidence: on what it rests, in sentences with the numbers: of whom, and what; without the notes.
        in_short: the numbers alone.
        notes: letters of what is said of many, below the table.
    """

    systems: tuple[str, ...]
    is_pair: bool
    answer: Answer
    evidence: tuple[tuple[str, tuple[str, ...]], ...]
    in_short: str
    notes: tuple[str, ...] = ()

    @property
    def standing(self) -> str:
        """Return the answer in words."""
        return counted_as(self.answer, 1)

    @property
    def mark(self) -> Mark:
        """Return the sign of the answer on a page."""
        return _MARKS[self.answer]

    @property
    def on(self) -> str:
        """Return the systems: ``lab:a against lab:b``, ``each of lab:a and lab:b``, one name, or nothing."""
        return _on(self.systems, is_pair=self.is_pair)


@dataclass(frozen=True)
class ClaimLine:
    """A claim with all its verdicts."""

    claim: Claim
    verdicts: tuple[ClaimVerdict, ...]

    @property
    def short(self) -> str:
        """Return its name as words: ``general purpose misses``."""
        return self.claim.name.replace("-", " ")

    @property
    def where(self) -> str:
        """Return where it stands in the paper: of a bare number, that it is a section."""
        where = self.claim.where
        return f"section {where}" if where[:1].isdigit() else where

    @property
    def is_told(self) -> bool:
        """Return whether there is an answer to it on any system."""
        return any(one.answer in ("yes", "no") for one in self.verdicts)

    @property
    def is_asked(self) -> bool:
        """Return whether it could be asked of any system."""
        return any(one.answer != "not asked" for one in self.verdicts)


def lines(asked: Sequence[AskedClaim]) -> list[ClaimLine]:
    """Return a line for each claim, in the paper's order."""
    found: dict[str, list[AskedClaim]] = {}
    for one in asked:
        found.setdefault(one.claim.name, []).append(one)
    return [ClaimLine(own[0].claim, tuple(_merged(own))) for own in found.values()]


def in_groups(found: Sequence[ClaimLine]) -> dict[str, list[ClaimLine]]:
    """Return claims by title: told, not told on any system, asked of none, and what is asked besides."""
    groups: dict[str, list[ClaimLine]] = {"": [], _NOT_TOLD: [], _NOT_ASKED: [], _BESIDES: []}
    for line in found:
        untold = _NOT_TOLD if line.is_asked else _NOT_ASKED
        groups[_BESIDES if line.claim.besides else "" if line.is_told else untold].append(line)
    return {title: own for title, own in groups.items() if own}


def sheet(found: Sequence[ClaimLine], paper: str) -> Sheet:
    """Return each claim, what the paper found, and a row for each verdict."""
    noted, footnotes = with_notes(found)
    bands = tuple(
        SheetBand(title, tuple(row for line in own for row in _rows(line, paper)))
        for title, own in in_groups(noted).items()
    )
    above = tuple(SheetCell(one, "head") for one in ("The claim", f"{paper} found", "Here", "Because"))
    title = f"Claims of {paper}, asked of what was measured here"
    return Sheet("", title, 1, len(above), (above,), bands, footnotes, telling=True)


def _rows(line: ClaimLine, paper: str) -> Iterator[SheetRow]:
    many = len(line.verdicts)
    where = ". ".join(filter(None, (line.where, line.claim.reading)))
    claim: SheetRow = (
        SheetCell(line.claim.says, "name", rows=many, small=where),
        SheetCell(set_apart(line.claim.found), "theirs", rows=many, words=True, label=f"{paper} found"),
    )
    for one in line.verdicts:
        several = len(one.evidence) > 1
        grounds = tuple(
            f"{on}: {' '.join(said)}" if several and on else " ".join(said) for on, said in one.evidence
        )
        yield (
            *claim,
            SheetCell(one.standing, "ours", words=True, small=one.on, mark=one.mark),
            SheetCell(one.in_short, "ours", one.notes, words=True, grounds=grounds),
        )
        claim = ()


def at_a_glance(found: Sequence[ClaimLine], systems: Sequence[str]) -> Iterator[TypedTable]:
    """Return how all claims stand, a column for each system and each two of them; of one system nothing."""
    pairs = dict.fromkeys(one.on for line in found for one in line.verdicts if one.is_pair)
    if len(systems) + len(pairs) < 2:
        return
    rows = []
    for line in found:
        of = {
            name: one
            for one in line.verdicts
            for name in ([one.on] if one.is_pair else one.systems or (*systems, *pairs))
        }
        cells = [of.get(name) for name in (*systems, *pairs)]
        rows.append((TypedCell(line.short), *(_sign(one) for one in cells)))
    yield TypedTable("", heads("Claim", *map(label_of, systems), *pairs), tuple(rows))


def _sign(verdict: ClaimVerdict | None) -> TypedCell:
    return TypedCell("") if verdict is None else TypedCell(verdict.standing, mark=verdict.mark)


def in_lines(asked: Sequence[AskedClaim], paper: str) -> Iterator[Block]:
    """Return a line for each answer, for media with less room."""
    found = lines(asked)
    if not found:
        return
    yield Subheading(f"Do the claims of {paper} hold here?")
    for title, own in in_groups(found).items():
        if title:
            yield Subheading(title)
        yield Statements(tuple(_answer(line, one) for line in own for one in line.verdicts))
    yield Sentence(counted(asked))


def _answer(line: ClaimLine, one: ClaimVerdict) -> Sentence:
    """Return a sign, the answer, the claim's name and its numbers; whose it is where that differs."""
    of_all = len(line.verdicts) == 1 and not one.is_pair
    on = f", {one.on}" if one.on and not of_all else ""
    words = f"{_SIGNS[one.answer]} {one.standing}: {line.short}{on} ({one.in_short})"
    return Sentence(words, mark=one.mark)


def with_notes(found: Sequence[ClaimLine]) -> tuple[list[ClaimLine], tuple[tuple[str, str], ...]]:
    """Put a letter for a sentence that many answers have; return what each letter means, too."""
    sentences = Counter(
        sentence
        for line in found
        for one in line.verdicts
        for _, said in one.evidence
        for sentence in set(said)
    )
    often = [one for one, count in sentences.items() if count >= _OFTEN and len(one) >= _LONG]
    letters = {sentence: letter(at) for at, sentence in enumerate(often)}
    noted = [replace(line, verdicts=tuple(_noted(one, letters) for one in line.verdicts)) for line in found]
    return noted, tuple((letter, sentence) for sentence, letter in letters.items())


def counted(asked: Sequence[AskedClaim]) -> str:
    """Return how many hold: a sentence; empty where nothing was asked."""
    if not asked:
        return ""
    own = [one for one in asked if not one.claim.besides]
    claims = len({one.claim.name for one in own})
    besides = len({one.claim.name for one in asked if one.claim.besides})
    found = Counter(one.finding.answer for one in own)
    parts = [f"{found[answer]} {counted_as(answer, found[answer])}" for answer in ANSWERS if found[answer]]
    subject = plural(claims, "claim")
    said = f"{subject}: of {len(own)} answers, " if len(own) != claims else f"{subject}: "
    more = f" Besides, {plural(besides, 'question')} of ours." if besides else ""
    return f"{said}{listed(parts)}.{more}" if own else more.strip()


def _merged(asked: Sequence[AskedClaim]) -> Iterator[ClaimVerdict]:
    """Join all single systems of which the same is said in short; each pair stands by itself."""
    found: dict[tuple[Answer, str, int], list[AskedClaim]] = {}
    for at, one in enumerate(asked):
        finding, place = one.finding, 0 if len(one.systems) == 1 else at + 1
        found.setdefault((finding.answer, finding.in_short, place), []).append(one)
    yield from map(_verdict, found.values())


def _verdict(asked: Sequence[AskedClaim]) -> ClaimVerdict:
    first = asked[0]
    answer, is_pair = first.finding.answer, len(first.systems) > 1
    found: dict[tuple[str, ...], list[str]] = {}
    for one in asked:
        found.setdefault(one.finding.sentences, []).extend(one.systems)
    return ClaimVerdict(
        tuple(name for one in asked for name in one.systems),
        is_pair,
        answer,
        tuple((_on(systems, is_pair=is_pair), sentences) for sentences, systems in found.items()),
        first.finding.in_short,
    )


def _on(systems: Sequence[str], *, is_pair: bool) -> str:
    names = [label_of(one) for one in systems]
    if is_pair:
        return " against ".join(names)
    return f"each of {listed(names)}" if len(names) > 1 else "".join(names)


def _noted(verdict: ClaimVerdict, letters: dict[str, str]) -> ClaimVerdict:
    notes: set[str] = set()
    rest = []
    for on, said in verdict.evidence:
        notes.update(letters[one] for one in said if one in letters)
        own = tuple(one for one in said if one not in letters)
        rest += [(on, own)] if own else []
    ordered = tuple(sorted(notes, key=lambda one: (len(one), one)))
    return replace(verdict, evidence=tuple(rest), notes=ordered)
