"""What experiments show beyond the general summary, by the experiment's name."""

from importlib import import_module
from typing import cast

from tautochrone.answer.blocks import Grid
from tautochrone.answer.experiments.presentation import Presentation
from tautochrone.experiments import EXPERIMENTS

__all__ = ["Grid", "Presentation", "beginning_of", "presentation_of", "title_of"]


def title_of(experiment: str) -> str:
    """Return what an experiment is called above what presents it."""
    heading = EXPERIMENTS[experiment].heading if experiment in EXPERIMENTS else ""
    return heading or experiment.capitalize()


def beginning_of(experiment: str) -> str:
    """Return the experiment's name as a title begins with it: ``Middleware latency``."""
    return (experiment.replace("-", " ", 1) if experiment in EXPERIMENTS else experiment).capitalize()


def presentation_of(experiment: str) -> Presentation | None:
    """Return the presentation of an experiment; None where the general summary says all."""
    named = EXPERIMENTS[experiment].presentation if experiment in EXPERIMENTS else ""
    if not named:
        return None
    module, _, name = named.partition(":")
    return cast("Presentation", getattr(import_module(module), name)())
