"""What a check says."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tautochrone.machine.facts import Facts

Level = Literal["warning", "unknown", "note", "good"]
Certainty = Literal["sure", "likely"]

LEVELS: tuple[Level, ...] = ("warning", "unknown", "note", "good")
"""All levels, the most urgent first.

- ``warning``: can cost a deadline, and there is something to do about it;
- ``unknown``: can't be seen from here;
- ``note``: worth knowing when reading results; not wrong by itself;
- ``good``: as a real-time system should be.
"""


@dataclass(frozen=True)
class Finding:
    """The answer to one question about the machine."""

    code: str
    """Names the question; stable over versions."""
    title: str
    level: Level
    observed: str
    """What was seen, with values."""
    why: str
    """Why it matters to a real-time thread."""
    source: str
    """Who says so: kernel documentation, manual page, paper."""
    advice: str
    """What to do, with a command or boot parameter; empty if there is nothing to do."""
    certainty: Certainty
    """How sure it is that the observation means what the title says."""
    knobs: tuple[str, ...] = ()
    """The knobs of a deployment that change it (`tauto deploy show`)."""


@dataclass(frozen=True)
class Question:
    """What all answers to one question share; the methods make the answers."""

    code: str
    why: str
    source: str

    def good(self, title: str, observed: str, certainty: Certainty = "sure") -> Finding:
        """As it should be."""
        return self._answer("good", title, observed, "", certainty)

    def note(self, title: str, observed: str, advice: str = "", certainty: Certainty = "sure") -> Finding:
        """Worth knowing."""
        return self._answer("note", title, observed, advice, certainty)

    def warning(self, title: str, observed: str, advice: str, certainty: Certainty = "sure") -> Finding:
        """Can cost a deadline."""
        return self._answer("warning", title, observed, advice, certainty)

    def unknown(self, title: str, observed: str, advice: str) -> Finding:
        """Can't be seen; `observed` says why, `advice` how to see it."""
        return self._answer("unknown", title, observed, advice, "sure")

    def _answer(self, level: Level, title: str, observed: str, advice: str, certainty: Certainty) -> Finding:
        return Finding(self.code, title, level, observed, self.why, self.source, advice, certainty)


Check = Callable[[Facts], Finding | None]
"""Answers one question from facts; None where the question does not arise."""
