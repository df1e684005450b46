"""What the figures of garre2014 share: of which of our systems a figure is the counterpart.

Its figures are of one published system each, with one policy. Ours is every system of the same kind: a map of
Xenomai has those of our real-time kernels beside it. Where there is none of that kind, the same policy on the
others is drawn, and the figure says so.
"""

from dataclasses import dataclass

from tautochrone.papers.document import Figure
from tautochrone.papers.measured import Measurements
from tautochrone.papers.systems import System, label_of

_OTHER = {
    "real-time": (
        "No system with a real-time kernel was measured: this is an ordinary one with the same policy. "
        "Add one, such as --on lab:debian-rt."
    ),
    "ordinary": (
        "No system with an ordinary kernel was measured: this is a real-time one with the same policy. "
        "Add one, such as --on lab:debian-stock."
    ),
}


@dataclass(frozen=True)
class Counterpart:
    """Whom a figure shows.

    Attributes:
        systems: of ours, in their order.
        notes: what its reader must know of that.
    """

    systems: tuple[System, ...]
    notes: tuple[str, ...] = ()

    def titles(self, figure: Figure) -> list[str]:
        """Of their panels."""
        policy = figure.settings.get("policy")
        own = f", policy {policy}" if policy else ""
        return [f"{label_of(one.name)}{own}" for one in self.systems]


def counterpart(figure: Figure, measurements: Measurements) -> Counterpart:
    """Those of our systems that were measured and are of the kind that ``settings.role`` names."""
    role = str(figure.settings.get("role", ""))
    measured = tuple(
        one
        for one in measurements.systems
        if any(measurements.runs_of(series.query, one.name) for series in figure.series)
    )
    alike = tuple(one for one in measured if one.role == role or not role)
    return Counterpart(alike) if alike or not measured else Counterpart(measured, (_OTHER[role],))
