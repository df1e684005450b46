"""What a page of many runs says of each, in a line, and of the books of all."""

from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.answer.typeset import duration, number
from tautochrone.base.words import plural
from tautochrone.run.manifest import Manifest


@dataclass(frozen=True)
class RunLine:
    """One run, as ``plan.html.j2`` and what extends it show it."""

    position: str
    block: str
    name: str
    when: str
    samples: str
    worst: str
    id: str


def run_line(manifest: Manifest, position: object, block: object) -> RunLine:
    """The line of a run; its worst value is that of its first measure."""
    first = manifest.extremes[0].measure if manifest.extremes else ""
    worst = max((one.maximum_ns for one in manifest.extremes if one.measure == first), default=None)
    return RunLine(
        position=str(position),
        block=str(block),
        name=manifest.title,
        when=manifest.created[:19].replace("T", " "),
        samples=number(sum(book.recorded for book in manifest.books)),
        worst=duration(worst),
        id=manifest.id,
    )


def books(manifests: Sequence[Manifest]) -> str:
    """Whether the books of all of them balance, as a sentence."""
    found = [book for manifest in manifests for book in manifest.books]
    wrong = sum(bool(book.problems()) for book in found)
    if wrong:
        return f"{wrong} of {len(found)} books do not balance: tauto show says by how much."
    return (
        f"All {plural(len(found), 'book')} balance: released = completed + missed, completed = recorded + "
        "dropped."
    )
