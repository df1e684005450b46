"""Applies a deployment to a machine and stops after a step, for tests that kill it there.

Its arguments are FILE STEP [ROOT]. It says "more" on a line once STEP changes are made, "all" if there are
fewer, then waits to be killed. `FORKS` starts it.
"""

import sys
import time
from pathlib import Path

from tautochrone.machine.deployment import read_deployment
from tautochrone.machine.deployment.apply import deployed
from tautochrone.machine.settings import Change, MachineSettings
from tautochrone.target.local import LocalTarget

_LIVES_LONGEST_S = 60


class StopsAfter:
    """Settings that wait after so many changes."""

    def __init__(self, settings: MachineSettings, steps: int) -> None:
        self._settings = settings
        self._left = steps

    def apply(self, change: Change) -> None:
        self._settings.apply(change)
        self._left -= 1
        if self._left == 0:
            wait("more")

    def undo(self) -> tuple[str, ...]:
        return self._settings.undo()

    def leave(self) -> None:
        self._settings.leave()


def wait(what: str) -> None:
    print(what, flush=True)
    time.sleep(_LIVES_LONGEST_S)


def main() -> None:
    file, steps, *root = sys.argv[1:]
    target = LocalTarget(root=root[0] if root else None)
    with deployed(
        read_deployment(Path(file)),
        target.files(),
        lambda name: StopsAfter(target.change_settings(name), int(steps)),
    ):
        wait("all")
