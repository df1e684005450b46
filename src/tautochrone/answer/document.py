"""The answer to a question as a document: a headline and parts of blocks; each medium has a renderer.

What a document says is plain text: ``us``, spaces that may break. How that is set is the renderer's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from tautochrone.answer.blocks import Figure, Mark, Sheet, SheetCell
from tautochrone.base.faults import Fault, Later, attempt, now
from tautochrone.base.units import format_duration, format_percent, format_rate, format_ratio, format_us

if TYPE_CHECKING:
    from tautochrone.run.manifest import Manifest

Unit = Literal["ns", "count", "share", "rate", "number", "text", "code"]
"""What a cell's value is: a time, how many, a fraction of 1, Hz, another number, words, an identity."""


Style = Literal["", "lead", "strong", "note", "alarm"]
"""Of a sentence: as any other, the answer in short, not to be overlooked, beside the point, to be read before
all else."""

Layout = Literal["", "dense", "upright", "list"]
"""Of a table: as any other; of many narrow columns, which a narrow terminal turns if it is short; whole, or
without what can be spared, never turned; on a phone each row by itself."""

Medium = Literal["", "page", "text"]
"""Where a part is shown: everywhere; only where there is room; only where no page says the same elsewhere."""

UNKNOWN = "N/A"
_WORDS: tuple[Unit, ...] = ("text", "code")
_Shown = TypeVar("_Shown")


@dataclass(frozen=True)
class TypedCell:
    """One cell of a table.

    Attributes:
        value: in its unit, times in ns; None: not known, or there is none.
        unit: what it is.
        text: how it is said where that is not as its unit usually is.
        low, high: the ends of its interval, in the same unit; None: open, or there is none.
        left: whether it stands to the left, though it is a number.
        brief: the same in fewer letters, for narrow terminals.
        strong: whether it is not to be overlooked.
        mark: how it stands.
        beneath: what a page says below it in small letters.
        rank: of which series of a figure it is, whose sign a page has before it; None: of none.
    """

    value: float | str | None
    unit: Unit = "text"
    text: str = ""
    low: float | None = None
    high: float | None = None
    left: bool = False
    brief: str = ""
    strong: bool = False
    mark: Mark = ""
    beneath: tuple[Sentence, ...] = ()
    rank: int | None = None

    @property
    def shown(self) -> str:
        """Return the cell in words."""
        return self.text or _said(self.value, self.unit)

    @property
    def right(self) -> bool:
        """Return whether it stands to the right, as numbers do."""
        return self.whole and not self.left

    @property
    def whole(self) -> bool:
        """Return whether it is better not broken into lines: a number, or an interval."""
        return self.unit not in _WORDS

    @property
    def known(self) -> bool:
        """Return whether there is a value or an interval."""
        return not (self.value is None and self.low is None and self.high is None)


def _said(value: float | str | None, unit: Unit) -> str:
    if value is None:
        return UNKNOWN
    if isinstance(value, str):
        return value
    if unit == "ns":
        return format_duration(value)
    if unit == "share":
        return format_percent(value)
    if unit == "rate":
        return format_rate(value)
    return f"{value:,}" if isinstance(value, int) else format_ratio(value, 4)


def words(text: str) -> TypedCell:
    """Return a cell of words."""
    return TypedCell(text)


def count(many: int | None) -> TypedCell:
    """Return a cell that says how many."""
    return TypedCell(many, "count")


def time(ns: float | None) -> TypedCell:
    """Return a time in the unit of its size."""
    return TypedCell(ns, "ns")


def micros(ns: float | None, missing: str = UNKNOWN) -> TypedCell:
    """Return a time in microseconds, for columns that are compared down the page."""
    return TypedCell(ns, "ns", missing if ns is None else format_us(ns))


def formatted(value: float | None, form: str, unit: Unit = "number") -> TypedCell:
    """Return a number in a form of its own, such as ``{:.2f}``, which may have words as well."""
    return TypedCell(value, unit, "" if value is None else form.format(value))


def millis(ns: float | None, sign: str = "") -> TypedCell:
    """Return a time in milliseconds, for such columns; ``sign``: "+" shows it always."""
    return TypedCell(ns, "ns", UNKNOWN if ns is None else f"{ns / 1e6:{sign},.3f}")


def micros_between(low_ns: float | None, high_ns: float | None, missing: str = UNKNOWN) -> TypedCell:
    """Return an interval in microseconds; without both of its ends there is none."""
    if low_ns is None or high_ns is None:
        return TypedCell(None, "ns", missing)
    return TypedCell(None, "ns", f"{format_us(low_ns)} to {format_us(high_ns)}", low_ns, high_ns)


@dataclass(frozen=True)
class TableColumn:
    """The head of a column.

    Attributes:
        spare: whether a narrow terminal leaves the column out.
        cut: whether of its words the end is left out on a terminal, so that each row is one line.
    """

    head: str
    spare: bool = False
    cut: bool = False


def columns(*heads: str) -> tuple[TableColumn, ...]:
    """Return columns with these heads."""
    return tuple(map(TableColumn, heads))


@dataclass(frozen=True)
class TypedTable:
    """A table. The first column is of the rows' names, and its head may be empty.

    Its notes are sentences below it: why something is N/A, what a number rests on.
    """

    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[TypedCell, ...], ...]
    notes: tuple[str, ...] = ()
    layout: Layout = ""

    @property
    def right(self) -> list[bool]:
        """Return which columns stand to the right: those of numbers; never the first one, of names."""
        return [at > 0 and self._is_right([row[at] for row in self.rows]) for at in range(len(self.columns))]

    def _is_right(self, cells: Sequence[TypedCell]) -> bool:
        telling = [cell for cell in cells if cell.known and cell.shown] or cells
        return bool(telling) and all(cell.right for cell in telling)


def table_of_words(
    title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], notes: tuple[str, ...] = ()
) -> TypedTable:
    """Return a table without a number in it."""
    return TypedTable(title, columns(*heads), tuple(tuple(map(words, row)) for row in rows), notes)


def flattened(sheet: Sheet) -> TypedTable:
    """Return a sheet as a table without merged cells."""
    rows: list[tuple[TypedCell, ...]] = []
    for title, row in sheet.flat_rows():
        if title:
            rows.append((words(title), *[words("")] * (sheet.width - 1)))
        rows.append(tuple(map(_flat, row)))
    notes = [f"[{letter}] {why}" for letter, why in sheet.footnotes]
    return TypedTable(sheet.called, columns(*sheet.flat_heads()), tuple(rows), (*notes, *sheet.notes))


def _flat(cell: SheetCell) -> TypedCell:
    unit: Unit = "text" if cell.words or cell.kind == "name" else "number"
    return TypedCell(None if cell.text == UNKNOWN else cell.noted, unit, cell.noted, mark=cell.mark)


@dataclass(frozen=True)
class Sentence:
    """A sentence, or a few that belong together; ``link``: to another page, from that of the document."""

    text: str
    style: Style = ""
    mark: Mark = ""
    link: str = ""


@dataclass(frozen=True)
class Subheading:
    """A heading inside a part; ``id``: what a link calls it."""

    text: str
    id: str = ""


@dataclass(frozen=True)
class Statements:
    """Sentences that stand below each other, each by itself."""

    entries: tuple[Sentence, ...]


def statements(sentences: Iterable[str], style: Style = "") -> Statements:
    """Return sentences of one style below each other."""
    return Statements(tuple(Sentence(one, style) for one in sentences))


@dataclass(frozen=True)
class Notice:
    """What to know before trusting a number, and what to do about it; ``runs``: of which, if not of all."""

    title: str
    text: str
    advice: str
    runs: str
    source: str = ""


@dataclass(frozen=True)
class Notices:
    """Warnings."""

    entries: tuple[Notice, ...]


@dataclass(frozen=True)
class Recommendation:
    """What was found, what to do about it, and what that was worth here, if it was measured."""

    title: str
    do: str
    worth: str = ""


@dataclass(frozen=True)
class Recommendations:
    """Things to do, the most urgent first."""

    entries: tuple[Recommendation, ...]


@dataclass(frozen=True)
class Drawing:
    """A figure.

    Attributes:
        figure: drawn where it is shown.
        key: which its panels share: the name of each series.
        sketch: a line of text, for media without figures, or what draws lines on a terminal of so many
            columns; None: on no terminal.
    """

    figure: Figure | Later[Figure]
    key: tuple[str, ...] = ()
    sketch: str | Callable[[int | None], Sequence[str]] = ""

    @property
    def ranked(self) -> list[tuple[int, str]]:
        """Return the key with the place of each series."""
        return list(enumerate(self.key))


@dataclass(frozen=True)
class Disclosure:
    """Details, folded away where that is possible."""

    summary: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Properties:
    """What a thing is: names with values and how these were found out; and the names that nobody tells."""

    title: str
    rows: tuple[tuple[str, str, str], ...]
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class PropertyGroups:
    """Several things that belong together."""

    groups: tuple[Properties, ...]


@dataclass(frozen=True)
class Commands:
    """What to type, one line each."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Lost:
    """What stands in the place of a part that could not be made."""

    notice: str


Block = (
    Sentence | Subheading | Statements | TypedTable | Sheet | Drawing | Notices | Recommendations
    | PropertyGroups | Commands | Disclosure | Lost
)  # fmt: skip


@dataclass(frozen=True)
class DocumentPart:
    """A part of a document. If it can't be made, or not be shown, that costs this part only.

    Attributes:
        title: what it is; in its place, if it fails.
        blocks: what it says; nothing is shown of a part without blocks.
        id: where a section begins with this part, what a link calls it.
        heading: of that section; None: its title.
        only: where it is shown.
        decides: whether the exit code follows from it. A terminal shows it last, next to the prompt.
    """

    title: str
    blocks: Later[Sequence[Block]]
    id: str = ""
    only: Medium = ""
    decides: bool = False
    heading: Later[Sentence] | None = None


def part(
    title: str,
    make: Callable[[], Iterable[Block]],
    *,
    id: str = "",  # noqa: A002 - as HTML calls it
    only: Medium = "",
    decides: bool = False,
    heading: Later[Sentence] | None = None,
) -> DocumentPart:
    """Return a part whose blocks are made when a renderer asks for them."""
    return DocumentPart(title, Later(lambda: tuple(make())), id, only, decides, heading)


@dataclass(frozen=True)
class Grounds:
    """The runs that an answer rests on: what to know of them, and how to come by it again.

    Attributes:
        manifests: of all runs, each once.
        places: for each, what stands before its name in the table of the runs.
        heads: of the first three columns of that table, and whether they are of numbers.
        labels: for each, what it is called in sentences; without any, its place and its id.
        one_of_each: whether of runs on one machine and kernel, one stands for its facts and its audit.
        where: on which machine and under what, in a sentence; empty: that goes without saying.
        masthead: what a page has at its top; None: machine, kernel and day.
        notices: what to know before trusting their numbers; None: what each run says of itself.
        deployments: what their deployments are; None: each with the runs that it is of.
        loads: what loads did beside them; None: each with the run that it is of.
        commands: that give this answer, and a closer look; without any, a page does not list the runs.
        again: what the first of them does.
    """

    manifests: tuple[Manifest, ...]
    places: tuple[tuple[str, str], ...] = ()
    heads: tuple[tuple[str, bool], ...] = (("", False),) * 3
    labels: tuple[str, ...] = ()
    one_of_each: bool = False
    where: str | Later[str] = ""
    masthead: Later[str] | None = None
    notices: Later[Sequence[Notice]] | None = None
    deployments: Later[TypedTable | None] | None = None
    loads: Later[TypedTable | None] | None = None
    commands: tuple[str, ...] = ()
    again: str = ""


@dataclass(frozen=True)
class Document:
    """An answer: its headline with a mark, its parts in the order of a page, and what it rests on."""

    headline: str | Later[str]
    parts: tuple[DocumentPart, ...]
    mark: Mark | Later[Mark] = ""
    grounds: Grounds | None = None

    def shown_as(self, medium: Medium) -> list[DocumentPart]:
        """Return the parts that a page or a text shows, in its order."""
        own = [one for one in self.parts if one.only in ("", medium)]
        return sorted(own, key=lambda one: one.decides) if medium == "text" else own

    def heading(self) -> tuple[Mark, str]:
        """Return the headline with its mark.

        Returns:
            Both; in place of a headline that can't be made, a notice.
        """

        def made() -> tuple[Mark, str]:
            return now(self.mark), now(self.headline)

        return attempt("The answer", made, lambda fault: ("", fault.notice))


def whole(what: str, make: Callable[[], Document], headline: Callable[[], str]) -> Document:
    """Make an answer; where that fails unexpectedly, its headline is left, with a notice.

    Args:
        what: it is, as a heading names it: "The comparison".
        headline: said where there is nothing else.
    """

    def left(fault: Fault) -> Document:
        said = attempt(what, headline, lambda _: fault.notice)
        return Document(said, (part(what, lambda: [Lost(fault.notice)]),))

    return attempt(what, make, left)


def each(title: str, *makes: Callable[[], Iterable[Block]]) -> Iterator[Block]:
    """Yield what several make for one part; what can't be made has a notice in its place."""
    for make in makes:
        yield from attempt(title, lambda: list(make()), lambda fault: [Lost(fault.notice)])  # noqa: B023 - now


def attempted(one: DocumentPart, show: Callable[[Sequence[Block]], _Shown]) -> _Shown:
    """Show a part: what can't be made, or not be shown, has a notice in its place."""
    return attempt(one.title, lambda: show(now(one.blocks)), lambda fault: show([Lost(fault.notice)]))
