"""How people name the measures of runs, and the numbers of a measure."""

from collections.abc import Collection, Iterable
from typing import Literal

from tautochrone.base.units import parse_quantile

Kind = Literal["quantile", "max", "misses"]

_LARGEST = ("max", "maximum", "worst")
_MISSES = ("misses", "missed", "miss")

ONLY_HOW_MUCH = frozenset(
    {
        "count", "duration", "duration_ns", "warmup", "warmup_ns", "record", "drain", "ring_rows",
        "budget_ns", "repetitions", "seed",
    }
)  # fmt: skip
"""Parameters that say how long is measured and how it is kept, and not what."""


def measure_named(word: str, there: Collection[str]) -> str | None:
    """The measure that a person means: ``latency`` is ``latency_ns``; None: it is none of these."""
    plain = word.lower().replace("-", "_")
    return next((name for name in there if plain in (name, name.removesuffix("_ns"))), None)


def measure_meant(word: str | None, there: Iterable[str]) -> str | None:
    """The measure that a person means, or the word itself, for whoever refuses it to name; None: no word."""
    return word and (measure_named(word, tuple(there)) or word)


def number_named(word: str) -> tuple[Kind, float | None]:
    """Which number of a measure: ``p99.9``, ``median``, ``max``, or ``misses``; and which quantile it is.

    Raises:
        UsageError: it is none of these.
    """
    plain = word.lower()
    if plain in _MISSES:
        return "misses", None
    if plain in _LARGEST:
        return "max", None
    return "quantile", parse_quantile(plain)
