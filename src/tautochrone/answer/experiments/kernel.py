"""What is measured in kernel space, shown as the experiment in user space that measures the same."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tautochrone.answer.blocks import Figure
from tautochrone.answer.document import TypedTable
from tautochrone.answer.experiments import Presentation
from tautochrone.answer.experiments.interrupt import InterruptPresentation
from tautochrone.answer.experiments.period import PeriodPresentation
from tautochrone.answer.experiments.response import ResponsePresentation
from tautochrone.base.words import lower_first, on_machine
from tautochrone.run.folder import StoredRun

_IN_KERNEL_SPACE = (
    "The paper's FIFO is RTAI's, or a message pipe of Xenomai; here it is a kfifo with a wait queue. Its "
    "mailbox is an rt_mutex with wait queues. `user` goes from a thread of the kernel to one in user space, "
    "and back."
)
_AS: dict[str, Presentation] = {
    "interrupt": InterruptPresentation(),
    "period": PeriodPresentation(),
    "response": ResponsePresentation(_IN_KERNEL_SPACE),
}
_COUNTERPARTS = {
    "interrupt": "tauto probe interrupt --period {first}",
    "period": "tauto probe period --periods {periods}",
    "response": "tauto probe response --mechanisms semaphore,fifo,message-queue --period {first}",
}


@dataclass(frozen=True)
class KernelPresentation:
    """Presentation of the experiment `kernel`, whose runs are each about one of three others."""

    def tables(self, runs: Sequence[StoredRun], labels: Sequence[str]) -> list[TypedTable]:
        """Return the tables of `interrupt`, `period` and `response`, and how to get them from user space."""
        found: list[TypedTable] = []
        for measure, own, said in _by_measure(runs, labels):
            own_tables = [
                replace(one, title=f"In kernel space: {lower_first(one.title)}")
                for one in _AS[measure].tables(own, said)
            ]
            if own_tables:
                *others, last = own_tables
                commands = "; ".join(dict.fromkeys(_counterpart(measure, run) for run in own))
                note = f"The same in user space: {commands}. tauto report puts both on one page."
                found += [*others, replace(last, notes=(*last.notes, note))]
        return found

    def figures(self, runs: Sequence[StoredRun], labels: Sequence[str], prefix: str) -> list[Figure]:
        """Draw the figures of `interrupt`, `period` and `response`."""
        return [
            replace(one, title=f"In kernel space: {lower_first(one.title)}")
            for measure, own, said in _by_measure(runs, labels)
            for one in _AS[measure].figures(own, said, f"{prefix}-{measure}")
        ]


def _by_measure(
    runs: Sequence[StoredRun], labels: Sequence[str]
) -> Iterator[tuple[str, list[StoredRun], list[str]]]:
    for measure in _AS:
        held = [
            (run, label)
            for run, label in zip(runs, labels, strict=True)
            if _parameter(run, "measure") == measure
        ]
        if held:
            yield measure, [run for run, _ in held], [label for _, label in held]


def _counterpart(measure: str, run: StoredRun) -> str:
    periods = _parameter(run, "periods")
    first, *others = periods.split(",")
    command = _COUNTERPARTS[measure].format(periods=periods, first=first)
    said = f"{command}{on_machine(run.manifest.conditions.remote)}"
    return f"{said}, likewise with {', '.join(others)}" if others and periods not in command else said


def _parameter(run: StoredRun, name: str) -> str:
    return str(run.manifest.header.parameters.get(name) or "")
