"""Knobs that are one file with a few words in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from tautochrone.base.errors import UsageError
from tautochrone.machine.knob.knob import Advice, Plain
from tautochrone.machine.settings import Change, Write
from tautochrone.machine.tree import Tree


@dataclass(frozen=True)
class Place:
    """A file that has the setting, and what it holds for each word that people use."""

    path: str
    words: Mapping[str, str]


def check_word(wanted: str, words: Sequence[str]) -> None:
    """See whether this is one of the words.

    Raises:
        UsageError: it is none; the nearest is suggested.
    """
    if wanted in words:
        return
    near = get_close_matches(wanted, words, 1)
    advice = f"Did you mean {near[0]}?" if near else f"Write {' or '.join(words)}."
    raise UsageError(f"'{wanted}' is none of {', '.join(words)}", advice)


@dataclass(frozen=True)
class FileKnob(Plain):
    """A setting in the first of some files that a machine has.

    Attributes:
        name: see `Knob`.
        summary: see `Knob`.
        places: where it is, by kernel or driver.
        missing: why some machines do not have it.
        at_boot: word -> kernel parameter or firmware setting that does the same for good.
    """

    name: str
    summary: str
    places: tuple[Place, ...]
    missing: str
    at_boot: Mapping[str, str] = field(default_factory=dict)

    def available(self, tree: Tree) -> str | None:
        """Whether one of the files is there; see `Knob`."""
        return None if self._place(tree) else self.missing

    def read(self, tree: Tree) -> str | None:
        """The word for what the file holds, or what it holds; see `Knob`."""
        place = self._place(tree)
        held = _held(place.path, tree) if place else None
        if place is None or held is None:
            return None
        return next((word for word, text in place.words.items() if text == held), held)

    def check(self, wanted: str) -> None:
        """See `Knob`."""
        check_word(wanted, list(dict.fromkeys(word for place in self.places for word in place.words)))

    def canonical(self, wanted: str, tree: Tree) -> str:
        """The word itself; see `Knob`."""
        self.check(wanted)
        return wanted

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """One write; see `Knob`."""
        place = self._place(tree)
        if place is None or self.read(tree) == wanted:
            return ()
        return (Write(place.path, place.words[wanted], undo=tree.chosen(place.path)),)

    def advice(self, wanted: str, tree: Tree) -> Advice:
        """The same by hand, and at boot; see `Knob`."""
        place = self._place(tree)
        now = f"echo {place.words[wanted]} | sudo tee {place.path}" if place else ""
        return Advice(now=now, at_boot=self.at_boot.get(wanted, ""))

    def _place(self, tree: Tree) -> Place | None:
        return next((place for place in self.places if tree.text(place.path)), None)


def _held(path: str, tree: Tree) -> str | None:
    return tree.chosen(path) or tree.text(path)
