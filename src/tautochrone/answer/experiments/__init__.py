"""What experiments show beyond the general summary, by the experiment's name."""

from importlib import import_module
from typing import cast

from tautochrone.answer.blocks import Grid
from tautochrone.answer.experiments.presentation import Presentation
from tautochrone.target.middleware import FOOTPRINT, LATENCY, THROUGHPUT

__all__ = ["Grid", "Presentation", "beginning_of", "presentation_of", "title_of"]

_HERE, _MIDDLEWARE = "tautochrone.answer.experiments", "tautochrone.middleware"
_PRESENTATIONS = {
    "switch": ("Context switch", f"{_HERE}.switch", "SwitchPresentation"),
    "rhealstone": ("Rhealstone", f"{_HERE}.rhealstone", "RhealstonePresentation"),
    "inversion": ("Priority inversion", f"{_HERE}.inversion", "InversionPresentation"),
    "period": ("Error of the period", f"{_HERE}.period", "PeriodPresentation"),
    "response": ("Response time", f"{_HERE}.response", "ResponsePresentation"),
    "interrupt": ("Interrupt and preemption latency", f"{_HERE}.interrupt", "InterruptPresentation"),
    "timerlat": (
        "Interrupt and preemption latency of a kernel thread",
        f"{_HERE}.timerlat",
        "TimerlatPresentation",
    ),
    "kernel": ("In kernel space", f"{_HERE}.kernel", "KernelPresentation"),
    "taskset": ("Task set", f"{_HERE}.taskset", "TasksetPresentation"),
    "tire": ("The tire", "tautochrone.tire.run_answer", "TirePresentation"),
    THROUGHPUT: (
        "Middleware: operations per second",
        f"{_MIDDLEWARE}.offered",
        "MiddlewareThroughputPresentation",
    ),
    LATENCY: (
        "Middleware: latency and jitter",
        f"{_MIDDLEWARE}.offered",
        "MiddlewareLatencyPresentation",
    ),
    FOOTPRINT: ("Middleware: memory", f"{_MIDDLEWARE}.offered", "MiddlewareFootprintPresentation"),
}
"""Title, module and class; imported when they are asked for: each brings its mathematics along."""
_OF_MIDDLEWARE = (THROUGHPUT, LATENCY, FOOTPRINT)


def title_of(experiment: str) -> str:
    """What an experiment is called above what presents it."""
    return _PRESENTATIONS[experiment][0] if experiment in _PRESENTATIONS else experiment.capitalize()


def beginning_of(experiment: str) -> str:
    """The experiment's name as a title begins with it, in the words of its verb: ``Middleware latency``."""
    return (experiment.replace("-", " ", 1) if experiment in _OF_MIDDLEWARE else experiment).capitalize()


def presentation_of(experiment: str) -> Presentation | None:
    """The presentation of an experiment; None where the general summary says all."""
    if experiment not in _PRESENTATIONS:
        return None
    _, module, name = _PRESENTATIONS[experiment]
    return cast("Presentation", getattr(import_module(module), name)())
