"""A side of a comparison: one run, or several repetitions of one measurement."""

from dataclasses import dataclass

from tautochrone.run.folder import Run
from tautochrone.run.manifest import Manifest


@dataclass(frozen=True, eq=False)
class Side:
    """What is compared with another one.

    Attributes:
        name: as short as it is unmistakable: "A", or the label of a chart.
        runs: repetitions of one measurement, at least one.
        named: as the user named it; empty: by its runs.
        label: what it is, in a few words; empty: not said.
        earlier: runs under the conditions of these, to the last known fact; they tell how much such runs
            differ, and nothing else.
    """

    name: str
    runs: tuple[Run, ...]
    named: str = ""
    label: str = ""
    earlier: tuple[Run, ...] = ()

    @property
    def title(self) -> str:
        """The name, and what it is."""
        return f"{self.name} ({self.label})" if self.label and self.label != self.name else self.name

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """Of its runs."""
        return tuple(run.manifest for run in self.runs)

    @property
    def ids(self) -> tuple[str, ...]:
        """Of its runs."""
        return tuple(run.id for run in self.runs)
