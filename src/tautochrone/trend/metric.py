"""Which number of a run a trend is of: ``latency p99.9``, ``latency max``, ``misses``."""

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches

from tautochrone.base.errors import UsageError
from tautochrone.base.units import format_quantile
from tautochrone.judge.naming import Kind, measure_named, number_named

_FORMS = "Write 'latency p99.9', 'latency median', 'latency max' or 'misses'."


@dataclass(frozen=True)
class Metric:
    """One number of a run.

    Attributes:
        text: for people: "latency p99.9".
        kind: what it is.
        measure: its name in the stream; empty: the main one of each experiment, or none, of misses.
        q: which quantile.
    """

    text: str
    kind: Kind
    measure: str = ""
    q: float | None = None

    @property
    def name(self) -> str:
        """What of the measure: "p99.9"; of misses "misses"."""
        return self.text.rpartition(" ")[2]


def parse_metric(text: str, known: Collection[str]) -> Metric:
    """Read a metric.

    Args:
        text: as a person writes it.
        known: the measures there are, with their ``_ns``.

    Raises:
        UsageError: it can't be read, or there is no such measure; the advice says what there is.
    """
    words = text.split()
    if not words:
        raise UsageError("No number is named", choices(known))
    if len(words) > 2 and not measure_named("_".join(words[:-1]), known):
        raise UsageError(f"'{text}' is not a measure and what of it", _FORMS)
    words = ["_".join(words[:-1]), words[-1]] if len(words) > 2 else words  # "round trip p99"
    measure = "" if len(words) == 1 else _measure(words[0], known)
    what = words[-1]
    try:
        kind, q = number_named(what)
    except UsageError as error:
        if len(words) == 1 and measure_named(what, known):
            raise UsageError(f"'{text}' does not say what of it", f"Write '{what} p99.9'.") from error
        raise UsageError(f"'{what}' is no number of a run", _FORMS) from error
    if kind == "misses" and measure:
        raise UsageError(f"'{what}' says nothing of a measure", _FORMS)
    said = f"{measure.removesuffix('_ns')} " if measure else ""
    shown = kind if q is None else "median" if q == 0.5 else format_quantile(q)
    return Metric(f"{said}{shown}", kind, measure, q)


def choices(known: Collection[str]) -> str:
    """What may be asked for, as a sentence."""
    names = ", ".join(one.removesuffix("_ns") for one in known)
    if not names:
        return _FORMS
    return f"There are: {names}, each with median, p99, p99.9 …, max; and misses."


def _measure(name: str, known: Collection[str]) -> str:
    if found := measure_named(name, known):
        return found
    names = [one.removesuffix("_ns") for one in known]
    near = get_close_matches(name.lower().replace("-", "_").removesuffix("_ns"), names, n=1)
    hint = f"Did you mean '{near[0]}'? " if near else ""
    raise UsageError(f"No run here has a measure '{name}'", f"{hint}{choices(known)}")
