"""Having a machine under test for oneself: `tauto-agent claim` there, as long as a block lasts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from tautochrone.base.errors import MeasuringError, TautoError
from tautochrone.target.program import Program, lines_of, refusal
from tautochrone.target.target import Target

_PATIENCE_S = 10.0


class TakenError(TautoError):
    """Somebody else measures on the machine."""


@contextmanager
def claimed(target: Target, wait_s: float, tell: Callable[[str], object]) -> Iterator[None]:
    """Claim it, waiting so long for whoever has it; a guest of the virtual lab belongs to nobody else anyway.

    The kernel of the machine under test keeps the claim for the agent's process there. So it ends with that:
    told to, by its guard when the connection is lost, or killed.

    Args:
        tell: is told who has it.

    Raises:
        TakenError: somebody else still has it.
        MeasuringError: the connection was lost.
    """
    if target.virtual() is not None:
        yield
        return
    program = target.start_agent(["claim", "--wait", f"{max(1, round(wait_s * 1000))}ms"])
    try:
        _wait(target, program, tell)
        yield
    finally:
        with suppress(MeasuringError):  # the connection is gone, and with it the claim
            program.close_input()
            program.wait(_PATIENCE_S)
        program.release()


def _wait(target: Target, program: Program, tell: Callable[[str], object]) -> None:
    said = ""
    for line in lines_of(program):
        word, *numbers = line.split()
        if word == "claimed":
            return
        process = f"process {numbers[0]}" if numbers[0] != "0" else "a process in another container"
        said = f"{target.name} is claimed by {process} there, of user {numbers[1]}"
        tell(said)
    code = program.wait(_PATIENCE_S)
    if said:
        raise TakenError(said, "Wait until it has ended.")
    raise refusal(1 if code is None else code, program.messages(), "the machine can't be claimed")
