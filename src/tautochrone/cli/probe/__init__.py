"""`tauto probe EXPERIMENT`: run one experiment and store it. Each verb is made of the experiment's entry."""

from __future__ import annotations

from importlib import import_module
from inspect import cleandoc
from typing import TYPE_CHECKING

from tautochrone.cli.group import group

if TYPE_CHECKING:
    from collections.abc import Callable

    from tautochrone.cli.group import Rows
    from tautochrone.command.verbs import Typed
    from tautochrone.experiments import Experiment


def _rows() -> Rows:
    from tautochrone.experiments import EXPERIMENTS

    with_verb = [one for one in EXPERIMENTS.values() if one.has_verb]
    rows: dict[str, tuple[str | Callable[..., None], str]] = {
        one.name: (verb_of_experiment(one), one.summary) for one in with_verb
    }
    return {**rows, "all": ("cli.probe.all:verb", "Every experiment once, one report.")}


def verb_of_experiment(experiment: Experiment) -> Callable[..., None]:
    """Return the verb that measures this experiment."""
    from tautochrone.command.verbs import OF_PROBE, verb_of

    def do(typed: Typed) -> None:
        from tautochrone.command.probe import AskedExperiment, measure

        asked = AskedExperiment(
            experiment, typed.options, typed.title, typed.beside, typed.store, typed.as_json
        )
        module, _, own = experiment.verb.partition(":")
        (getattr(import_module(module), own) if module else measure)(asked)

    examples = "".join(f"\n    {line}" for line in experiment.examples)
    do.__doc__ = f"{cleandoc(experiment.help)}\n\nExamples:{examples}"
    return verb_of([one for one in experiment.options if one.in_verb], OF_PROBE, do)


app = group("Run one experiment on this machine and store it.", _rows)
