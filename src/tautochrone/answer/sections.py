"""The sections of a page: one for each measure, or for each experiment that has a presentation."""

from collections.abc import Iterator
from dataclasses import dataclass

from tautochrone.answer import blocks, composition
from tautochrone.answer.evidence import Evidence, Measured, Presented
from tautochrone.answer.experiments import title_of
from tautochrone.answer.series import runs_of
from tautochrone.answer.views import absences, environment, grids, summary
from tautochrone.base.faults import Later
from tautochrone.run.manifest import Manifest


@dataclass(frozen=True)
class Part:
    """One measure of a section: its figures and its summary."""

    title: str
    figures: list[blocks.Figure]
    table: summary.Table


@dataclass(frozen=True)
class Section:
    """About one measure, or about all measures of an experiment that has a presentation.

    Then the presentation's grids and figures stand first, and the summaries are folded away.
    """

    key: list[tuple[int, str]]
    calibrations: list[environment.Clock]
    grids: list[grids.Laid]
    figures: list[blocks.Figure]
    parts: list[Part]

    @property
    def folded(self) -> bool:
        """Whether the summaries are folded away."""
        return bool(self.grids or self.figures)


def sections(seen: Evidence) -> Iterator[tuple[str, Later[Section]]]:
    """Title and section, in the order of what was measured, loops first; all measures of a presented
    experiment together."""
    done: set[str] = set()
    for index, measured in enumerate(seen.measured):
        presented = seen.presented.get(measured.experiment)
        if presented is None:
            yield measured.heading, Later(_section_of, seen, measured, index)
        elif measured.experiment not in done:
            done.add(measured.experiment)
            experiment = measured.experiment
            yield title_of(experiment), Later(_presented_section, seen, experiment, presented, index)


def _section_of(seen: Evidence, measured: Measured, index: int) -> Section:
    figures = composition.compose(measured, f"m{index}")
    table = _summary(seen, measured)
    return Section(
        key=list(enumerate(runs_of(measured.series))),
        calibrations=environment.calibrations(_of(seen, measured.experiment)),
        grids=[],
        figures=[],
        parts=[Part("In numbers", figures, table)],
    )


def _presented_section(seen: Evidence, experiment: str, presented: Presented, index: int) -> Section:
    measures = seen.of(experiment)
    return Section(
        key=list(enumerate(runs_of(measures[0].series))),
        calibrations=[],
        grids=[grids.view(grid) for grid in presented.grids()],
        figures=blocks.all_made("Its figures", lambda: presented.figures(f"m{index}")),
        parts=[Part(one.title, [], _summary(seen, one)) for one in measures],
    )


def _summary(seen: Evidence, measured: Measured) -> summary.Table:
    own = [
        (manifest, label)
        for manifest, label in zip(seen.manifests, seen.labels, strict=True)
        if manifest.experiment == measured.experiment
    ]
    lacking = absences.view([manifest for manifest, _ in own], [label for _, label in own])
    return summary.view(measured.series, loop=measured.loop, absent=lacking)


def _of(seen: Evidence, experiment: str) -> list[Manifest]:
    return [manifest for manifest in seen.manifests if manifest.experiment == experiment]
