"""Words put together for people."""

import re
import shlex
from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches

UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def printable(text: str) -> str:
    """Return the text with U+FFFD for each character that has no shape: controls, half surrogates.

    A terminal obeys some of them, XML has no place for others, and a name of a run can have them all.
    """
    return UNSEEN.sub("\ufffd", text)


def listed(parts: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; empty of none."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def some(parts: Sequence[str], most: int, between: str = ", ", last: str = " and ") -> str:
    """``a, b and 3 more``: the first of many, and how many there are besides."""
    more = f"{last}{len(parts) - most} more" if len(parts) > most else ""
    return f"{between.join(parts[:most])}{more}"


def plural(count: int, noun: str, many: str = "") -> str:
    """``1 run``, ``2 runs``; ``many``: the noun of several, where no s makes it."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {many or f'{noun}s'}"


def ordinal(number: int) -> str:
    """``1st``, ``2nd``, ``10th``, ``1,000th``."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


_OF_SEVERAL = {
    "is": "are",
    "was": "were",
    "has": "have",
    "does": "do",
    "differs": "differ",
    "holds": "hold",
    "lies": "lie",
}


def verb(count: int, of_one: str) -> str:
    """Return the verb that goes with so many: ``was`` or ``were``."""
    return of_one if count == 1 else _OF_SEVERAL[of_one]


def capital(text: str) -> str:
    """With a capital first letter; a name such as ``p99.9`` stays as it is."""
    return text if text[1:2].isdigit() else text[:1].upper() + text[1:]


def upper_first(text: str) -> str:
    """With its first letter large, whatever it is."""
    return text[:1].upper() + text[1:]


def lower_first(text: str) -> str:
    """With its first letter small."""
    return text[:1].lower() + text[1:]


def sentence(words: str) -> str:
    """Return the words as a sentence: a capital first letter, and one full stop."""
    return f"{words[:1].upper()}{words[1:].rstrip('.')}."


def on_machine(address: str | None) -> str:
    """Return the option of a command that names a machine, as a shell takes it; empty: it is this one."""
    return f" --on {shlex.quote(address)}" if address not in (None, "", "local") else ""


def near(word: str, known: Collection[str]) -> str:
    """Return the name that may have been meant, whatever the case of its letters; empty: none is like it."""
    spelt = {name.casefold(): name for name in known}
    found = get_close_matches(word.casefold(), spelt, n=1)
    return spelt[found[0]] if found else ""


def same_letters(word: str, known: Collection[str]) -> str:
    """Return the name that is written like the word but for the case of its letters; else the word."""
    return next((name for name in known if name.casefold() == word.casefold()), word)


def suggestion(
    word: str, known: Collection[str], every: str = "", form: Callable[[str], str] = "'{}'".format
) -> str:
    """Return the name that was meant, or all there are.

    Args:
        every: says all there are; empty: their names do.
        form: how the name that was meant is written.
    """
    meant = near(word, known)
    return f"Did you mean {form(meant)}?" if meant else every or f"There are: {', '.join(known)}."
