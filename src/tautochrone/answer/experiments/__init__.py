"""What an experiment shows beyond the summary that every one has: tables as its paper prints them, figures.

A presentation lives in ``<experiment>.py`` beside this file, and the experiment's entry names it; `period`
has a short one, with a table and a figure. What needs mathematics or judgement lives below, in
``statistics/``, ``schedulability/`` and ``judge/``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from tautochrone.base.words import upper_first
from tautochrone.experiments import EXPERIMENTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tautochrone.answer.blocks import Figure
    from tautochrone.answer.document import TypedTable
    from tautochrone.answer.series import Series
    from tautochrone.run.folder import StoredRun


class Presentation(Protocol):
    """What one experiment shows, also of runs that were cut off, have empty sources or are histograms."""

    def tables(self, runs: Sequence[StoredRun], labels: Sequence[str]) -> list[TypedTable]:
        """Return the tables of all runs of this experiment; the label of the only one is ""."""
        ...

    def figures(self, runs: Sequence[StoredRun], labels: Sequence[str], prefix: str) -> list[Figure]:
        """Draw the figures; the ids of their panels are unique and begin with ``prefix`` and a hyphen.

        What follows is what `tauto figure --kind` calls it.
        """
        ...


@runtime_checkable
class PresentsSeries(Presentation, Protocol):
    """A presentation that shows what every answer reduces anyway, so that no sample is read for it again."""

    def having(self, series: Mapping[tuple[str, str], Sequence[Series]]) -> Presentation:
        """Return it with the series of each run and measure, by the run's id and the measure's name."""
        ...


def lead_of(run: StoredRun) -> Sequence[str]:
    """Return the sentences that an answer about a run of this experiment begins with."""
    experiment = run.manifest.experiment
    module, _, name = (EXPERIMENTS[experiment].lead if experiment in EXPERIMENTS else "").partition(":")
    return cast("Sequence[str]", getattr(import_module(module), name)(run)) if module else ()


def title_of(experiment: str) -> str:
    """Return what an experiment is called above what presents it."""
    heading = EXPERIMENTS[experiment].heading if experiment in EXPERIMENTS else ""
    return heading or upper_first(experiment)


def beginning_of(experiment: str) -> str:
    """Return the experiment's name as a title begins with it: ``Middleware latency``."""
    return upper_first(experiment.replace("-", " ", 1) if experiment in EXPERIMENTS else experiment)


def presents_sources(experiment: str) -> bool:
    """Return whether its presentation tells of every source, so that the general summary can be left out."""
    return experiment in EXPERIMENTS and EXPERIMENTS[experiment].presents_sources


def presentation_of(experiment: str) -> Presentation | None:
    """Return the presentation of an experiment; None where the general summary says all."""
    named = EXPERIMENTS[experiment].presentation if experiment in EXPERIMENTS else ""
    if not named:
        return None
    module, _, name = named.partition(":")
    return cast("Presentation", getattr(import_module(module), name)())
