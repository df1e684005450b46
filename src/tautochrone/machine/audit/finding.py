"""What a check of the audit is, and what it says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from msgspec import structs

from tautochrone.run.facts import Facts

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
    """The knobs of a deployment that change it (`tauto tune show`)."""


def otherwise(_: Facts) -> bool:
    """Hold always: the condition of a last answer."""
    return True


When = Callable[[Facts], object]
"""The condition of an answer."""


@dataclass(frozen=True)
class AuditAnswer:
    """One of the answers to a question.

    Attributes:
        level: how urgent it is.
        title: says it in one phrase.
        observed: what was seen, with values.
        advice: what to do; empty if there is nothing to do.
        certainty: how sure the title is.
        when: the condition under which it is given.
        places: files that should have told, if what was seen is that they can't be read.
    """

    level: Level
    title: str
    observed: str
    advice: str = ""
    certainty: Certainty = "sure"
    when: When = otherwise
    places: tuple[str, ...] = ()


good = partial(AuditAnswer, "good")
note = partial(AuditAnswer, "note")
warning = partial(AuditAnswer, "warning")
unknown = partial(AuditAnswer, "unknown")
"""The answers by level. An unknown's `observed` says why it can't be seen, its `advice` how to see it."""


def unread(
    title: str, *places: str, more: str = ".", advice: str = "", when: When = otherwise
) -> AuditAnswer:
    """Return the answer that these files can't be read; `more` follows. Default advice: read the first."""
    return unknown(title, more, advice or f"cat {places[0]}", when=when, places=places)


@dataclass(frozen=True, kw_only=True)
class Check:
    """A row of the table of checks.

    Attributes:
        code: names the question; stable over versions.
        why: why it matters to a real-time thread.
        source: who says so.
        needs: facts without which the question does not arise, with spaces between.
        answers: the first whose condition holds is given; if none does, the question does not arise. The
            texts are templates: ``{kernel.release}`` is a fact, ``{count}`` a number. Where conditions and
            numbers hang together it is a function, whose texts are as they are to be.
        numbers: what the templates need beside facts.
        of_hardware: it is not asked of a guest of the virtual lab.
    """

    code: str
    why: str
    source: str
    needs: str = ""
    answers: tuple[AuditAnswer, ...] | Callable[[Facts], AuditAnswer | None]
    numbers: Callable[[Facts], Mapping[str, object]] = lambda _: {}
    of_hardware: bool = False

    def ask(self, facts: Facts) -> Finding | None:
        """Return the finding about these facts; None where the question does not arise."""
        if any(facts.named(name) is None for name in self.needs.split()):
            return None
        if callable(self.answers):
            answer = self.answers(facts)
        else:
            answer = next((one for one in self.answers if one.when(facts)), None)
        if answer is None:
            return None
        texts: tuple[str, ...] = (answer.title, answer.observed, answer.advice)
        if not callable(self.answers):
            values = {**structs.asdict(facts), **self.numbers(facts)}
            texts = tuple(text.format_map(values) if "{" in text else text for text in texts)
        title, observed, advice = texts
        if answer.places:
            observed = f"{facts.reading.reason(*answer.places)}{observed}"
        return Finding(
            self.code, title, answer.level, observed, self.why, self.source, advice, answer.certainty
        )
