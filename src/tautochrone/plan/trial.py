"""Whether the probe takes its arguments, found out without measuring anything.

The probe opens its output last, after all that can be refused, so with an output that nobody can open it says
what it refuses, starts its threads, measures nothing and leaves nothing.
"""

from collections.abc import Sequence

from tautochrone.errors import NotPermittedError, TautoError, UsageError
from tautochrone.target.program import refusal
from tautochrone.target.target import Target

NO_OUTPUT = "/dev/null/no-output"


def refusal_of(target: Target, arguments: Sequence[str]) -> TautoError | None:
    """What the probe refuses of these arguments there, in its own words; None: it would measure.

    What else may go wrong is not told here, but when it is measured.

    Args:
        arguments: the experiment, and what is after it.

    Raises:
        MeasuringError: the connection to the target was lost, or the probe did not end.
    """
    answer = target.ask([*arguments, "--out", NO_OUTPUT])
    if answer.exit_code not in (UsageError.exit_code, NotPermittedError.exit_code):
        return None
    error = refusal(answer.exit_code, answer.messages, "the probe refused")
    return None if NO_OUTPUT in str(error) else error
