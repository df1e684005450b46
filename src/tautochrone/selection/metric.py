"""By what candidates are ranked: a quantile, the largest, or the misses."""

from dataclasses import dataclass

from tautochrone.base.errors import UsageError
from tautochrone.base.units import format_quantile
from tautochrone.judge.naming import Kind, number_named

_FORMS = "Write 'p99.9', 'median', 'max' or 'misses'; the measure may stand before it: 'latency p99.9'."


@dataclass(frozen=True)
class Metric:
    """What is least in the best candidate.

    Attributes:
        kind: a quantile, the largest, or the share of releases without a sample.
        q: which quantile; None of the others.
        measure: of which measure, as a person wrote it; empty: of the first one.
    """

    kind: Kind
    q: float | None = None
    measure: str = ""

    @property
    def name(self) -> str:
        """For people: ``p99.9``."""
        if self.q is None:
            return self.kind
        return "median" if self.q == 0.5 else format_quantile(self.q)


USUAL = Metric("quantile", 0.999)


def parse_metric(text: str) -> Metric:
    """Read ``latency p99.9``, ``median``, ``max``, ``misses``.

    Raises:
        UsageError: it is none of these.
    """
    words = text.lower().split()
    if not 1 <= len(words) <= 2:
        raise UsageError(f"--metric '{text}' can't be read", _FORMS)
    measure, what = words[0] if len(words) == 2 else "", words[-1]
    try:
        return Metric(*number_named(what), measure)
    except UsageError as error:
        raise UsageError(f"--metric '{text}': {error}", _FORMS) from error
