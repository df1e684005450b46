"""What experiments show beyond the general summary, by the experiment's name."""

from importlib import import_module
from typing import cast

from tautochrone.judgement.middleware.names import FOOTPRINT, LATENCY, THROUGHPUT
from tautochrone.report.presentations.presentation import Grid, Presentation

__all__ = ["Grid", "Presentation", "beginning_of", "presentation_of", "title_of"]

# Imported when they are asked for: each brings its mathematics along.
_CLASSES = {
    "switch": "SwitchPresentation",
    "rhealstone": "RhealstonePresentation",
    "inversion": "InversionPresentation",
    "period": "PeriodPresentation",
    "response": "ResponsePresentation",
    "interrupt": "InterruptPresentation",
    "timerlat": "TimerlatPresentation",
    "kernel": "KernelPresentation",
    "taskset": "TasksetPresentation",
    "tire": "TirePresentation",
    THROUGHPUT: "MiddlewareThroughputPresentation",
    LATENCY: "MiddlewareLatencyPresentation",
    FOOTPRINT: "MiddlewareFootprintPresentation",
}
_OF_MIDDLEWARE = (THROUGHPUT, LATENCY, FOOTPRINT)
_TITLES = {
    "switch": "Context switch",
    "inversion": "Priority inversion",
    "period": "Error of the period",
    "response": "Response time",
    "interrupt": "Interrupt and preemption latency",
    "timerlat": "Interrupt and preemption latency of a kernel thread",
    "kernel": "In kernel space",
    "taskset": "Task set",
    "tire": "The tire",
    THROUGHPUT: "Middleware: operations per second",
    LATENCY: "Middleware: latency and jitter",
    FOOTPRINT: "Middleware: memory",
}


def title_of(experiment: str) -> str:
    """What an experiment is called above what presents it."""
    return _TITLES.get(experiment, experiment.capitalize())


def beginning_of(experiment: str) -> str:
    """The experiment's name as a title begins with it, in the words of its verb: ``Middleware latency``."""
    return (experiment.replace("-", " ", 1) if experiment in _OF_MIDDLEWARE else experiment).capitalize()


def presentation_of(experiment: str) -> Presentation | None:
    """The presentation of an experiment; None where the general summary says all."""
    if experiment not in _CLASSES:
        return None
    module = import_module(f"{__name__}.{experiment.replace('-', '_')}")
    return cast("Presentation", getattr(module, _CLASSES[experiment])())
