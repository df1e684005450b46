"""What runs beside the probe while an experiment does, such as a server on another machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from tautochrone.base.errors import TautoError
    from tautochrone.target.target import Target


class Companion(Protocol):
    """It runs, or there is none."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The probe's, after the experiment's name."""

    @property
    def conditions(self) -> Mapping[str, Any]:
        """What is known of it and of what it needs, by the names under which that is kept with the run."""

    def end(self) -> str | None:
        """See it end after the probe, and say what went wrong with it, as a sentence; None: nothing did."""

    def explained(self, error: TautoError) -> TautoError:
        """Why there is no run, where it is for its sake."""


Beside = Callable[[Sequence[str], Mapping[str, Any], "Target"], AbstractContextManager[Companion]]
"""Of the experiment with what is after it, the conditions of its cell, and the probe's target."""


@dataclass(frozen=True)
class Nobody:
    """Of most experiments."""

    arguments: tuple[str, ...]

    @property
    def conditions(self) -> Mapping[str, Any]:
        """None."""
        return {}

    def end(self) -> str | None:
        """Nothing went wrong."""
        return None

    def explained(self, error: TautoError) -> TautoError:
        """As it is."""
        return error


@contextmanager
def alone(arguments: Sequence[str], _conditions: Mapping[str, Any], _target: Target) -> Iterator[Companion]:
    """The probe by itself."""
    yield Nobody(tuple(arguments[1:]))
