"""The registry: one file per experiment, which makes an `Experiment` called `EXPERIMENT`.

A file that is put here is all that the lab needs for its verb, its keys in plans, its requirements, its
estimates and its titles. The entries import nothing heavy before something is prepared or shown.
"""

from importlib import import_module
from pkgutil import iter_modules

from tautochrone.experiments.experiment import Experiment


def found() -> dict[str, Experiment]:
    """Return the entries of all files that lie here, by name, in their order."""
    entries: list[Experiment] = [
        import_module(f"{__name__}.{module.name}").EXPERIMENT for module in iter_modules(__path__)
    ]
    entries.sort(key=lambda one: (one.place, one.name))
    return {one.name: one for one in entries}


EXPERIMENTS = found()
"""By name, in the order in which people are told of them."""
