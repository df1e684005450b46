"""Interrupt and preemption latency of a thread of the kernel, as the kernel's timerlat tells them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tautochrone.answer.experiments.interrupt import InterruptPresentation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tautochrone.answer.blocks import Grid
    from tautochrone.run.folder import Run

_NOTE = (
    "The thread is one of the kernel's, FIFO 95, and timerlat's own work at every interrupt and every switch "
    "lies within t1 and t2. A thread in user space: tauto probe interrupt."
)


@dataclass(frozen=True)
class TimerlatPresentation(InterruptPresentation):
    """Presentation of the experiment `timerlat`: that of `interrupt`, and whose thread it was."""

    def grids(self, runs: Sequence[Run], labels: Sequence[str]) -> list[Grid]:
        """The tables of laurich2004, as `interrupt` has them."""
        first, *others = super().grids(runs, labels)
        return [replace(first, notes=(*first.notes, _NOTE)), *others]
