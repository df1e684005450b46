"""What runs beside the probe while an experiment does, such as a server on another machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tautochrone.base.options import Options
from tautochrone.base.reading import Json

if TYPE_CHECKING:
    from tautochrone.base.errors import TautoError
    from tautochrone.target.target import Target


class Companion(Protocol):
    """It runs, or there is none."""

    @property
    def options(self) -> Options:
        """The probe's."""

    @property
    def conditions(self) -> Json:
        """What is known of it and of what it needs, by the names under which that is kept with the run."""

    def end(self) -> str | None:
        """See it end after the probe, and say what went wrong with it, as a sentence; None: nothing did."""

    def explained(self, error: TautoError) -> TautoError:
        """Why there is no run, where it is for its sake."""


Beside = Callable[[str, Options, Json, "Target"], AbstractContextManager[Companion]]
"""Of the experiment, its options, the conditions of its cell, and the probe's target."""


@dataclass(frozen=True)
class Nobody:
    """Of most experiments."""

    options: Options

    @property
    def conditions(self) -> Json:
        """None."""
        return {}

    def end(self) -> str | None:
        """Nothing went wrong."""
        return None

    def explained(self, error: TautoError) -> TautoError:
        """As it is."""
        return error


@contextmanager
def alone(_experiment: str, options: Options, _conditions: Json, _target: Target) -> Iterator[Companion]:
    """The probe by itself."""
    yield Nobody(options)
