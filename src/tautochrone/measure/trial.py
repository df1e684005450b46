"""Whether the probe takes its options, found out without measuring anything.

The probe opens its output last, after all that can be refused, so with an output that nobody can open it says
what it refuses, starts its threads, measures nothing and leaves nothing.
"""

from contextlib import ExitStack
from dataclasses import replace

from tautochrone.base.errors import MeasuringError, NotPermittedError, TautoError, UsageError
from tautochrone.base.options import words
from tautochrone.experiments.conditions import NOTHING_KNOWN, CellConditions
from tautochrone.experiments.option import Given
from tautochrone.experiments.step_files import made_for_run
from tautochrone.experiments.tire_threads import SameTeamError, counted
from tautochrone.machine.facts import observe
from tautochrone.target.middleware import provide_program
from tautochrone.target.middleware_server import serving
from tautochrone.target.program import refusal
from tautochrone.target.target import STEP, WATCH, Target

_OUTPUT, NO_OUTPUT = "out", "/dev/null/no-output"

_PATIENCE_S = 30.0
_PATIENCE_OF_STEP_S = 90.0  # its code may take a minute to begin


def refusal_of(
    target: Target, experiment: str, options: Given, conditions: CellConditions = NOTHING_KNOWN
) -> TautoError | None:
    """Return what the probe refuses of these options there, in its own words; None: it would measure.

    What else may go wrong is not told here, but when it is measured. A program to be watched is not started
    for a trial.

    Args:
        options: of the experiment.
        conditions: of the case. If its server runs on another machine, that is started for the trial; why it
            can't be is told, too.
    """
    try:
        options = counted(options, conditions.team, lambda: observe(target.files()))
    except SameTeamError as error:
        return error
    with ExitStack() as stack:
        try:
            server = stack.enter_context(serving(experiment, options, conditions.server, target))
        except TautoError as error:
            return error
        try:
            own = stack.enter_context(
                made_for_run(experiment, replace(options, own=server.options), target.machine)
            )
        except (UsageError, MeasuringError) as error:
            return error
        try:
            there = provide_program(target, experiment, own)
            if experiment == WATCH:
                return None  # its program would run
            arguments = [experiment, *words(there), f"--{_OUTPUT}", NO_OUTPUT]
            answer = target.ask(arguments, _PATIENCE_OF_STEP_S if experiment == STEP else _PATIENCE_S)
        except (UsageError, NotPermittedError) as error:  # what the probe needs is not to be had there
            return error
    if answer.exit_code not in (UsageError.exit_code, NotPermittedError.exit_code):
        return None
    refused = refusal(answer.exit_code, answer.messages, "the probe refused")
    return None if refused.about == _OUTPUT else refused
