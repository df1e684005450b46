"""What the lab asks of the place where a probe runs; one driver per kind of place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class ProbeEnd:
    """How a probe ended.

    Attributes:
        exit_code: 0 measured, 1 failed while measuring, 2 usage, 3 not permitted; negative: a signal.
        messages: what it said on standard error, a line each, without its name.
    """

    exit_code: int
    messages: tuple[str, ...]


class RunningProbe(Protocol):
    """A probe that is measuring."""

    def read(self) -> bytes:
        """The next bytes of its sample stream, as soon as there are any; empty at the end."""
        ...

    def stop(self) -> None:
        """Ask it to end early and to write its footer; the stream goes on until then.

        A second call ends it at once. Safe to call from a signal handler.
        """
        ...

    def end(self) -> ProbeEnd:
        """Wait for its end, after the stream has ended."""
        ...


class RunningLoad(Protocol):
    """A background load that is known to be running."""

    def end(self) -> dict[str, object]:
        """End it, if it still runs, and say what it did: operations, unit, elapsed_ns, cpu_time_ns."""
        ...


class Target(Protocol):
    """A machine under test."""

    @property
    def name(self) -> str:
        """As people write it after --on."""
        ...

    def start_probe(self, arguments: Sequence[str]) -> RunningProbe:
        """Start `tauto-probe` with these arguments; its stream goes to standard output."""
        ...

    def start_load(self, arguments: Sequence[str]) -> RunningLoad:
        """Start `tauto-probe load` with these arguments and wait until it says that it runs."""
        ...
