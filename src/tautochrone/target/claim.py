"""Having a machine under test for oneself: `tauto-agent claim` there, as long as a block lasts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from tautochrone.base.errors import MeasuringError, TautoError, UnreachableError
from tautochrone.machine.tree import Files
from tautochrone.target.program import Program, lines_of, refusal
from tautochrone.target.target import Target

_PATIENCE_S = 10.0
_TICKS_PER_S = 100  # of the times in /proc, on every architecture that has a probe


class TakenError(TautoError):
    """Somebody else measures on the machine."""

    exit_code = UnreachableError.exit_code


@contextmanager
def claimed(target: Target, wait_s: float, tell: Callable[[str], object] = lambda _: None) -> Iterator[None]:
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
    if not target.agent:  # nothing there can claim it, which stands in no one's way
        target.unclaimed = f"{target.name} runs Windows, and claims are of tauto-agent, a program of Linux"
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
        said += _more_of(numbers[0], target.files())
        tell(said)
    code = program.wait(_PATIENCE_S)
    if said:
        raise TakenError(said, "Wait until it has ended; `tauto run --fleet` waits by itself.")
    raise refusal(1 if code is None else code, program.messages(), "the machine can't be claimed")


def _more_of(pid: str, files: Files) -> str:
    """Return from where the process was started and when, as far as this user may see it."""
    said = ""
    with suppress(OSError, LookupError, ValueError):
        words = (one.partition(b"=") for one in files.read(f"/proc/{pid}/environ").split(b"\0"))
        client = {name: value for name, _, value in words}[b"SSH_CONNECTION"].split()[0]
        said += f" from {ip_address(client.decode())}"
    with suppress(OSError, LookupError, ValueError):
        begun_s = int(files.read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[19]) / _TICKS_PER_S
        age_s = float(files.read("/proc/uptime").split()[0]) - begun_s
        said += f", since {datetime.now(UTC) - timedelta(seconds=age_s):%Y-%m-%d %H:%M} UTC"
    return said
