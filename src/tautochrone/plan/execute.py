"""Carrying out one cell: load, probe, stream to the run's folder as it comes, seal."""

import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from tautochrone.errors import MeasuringError, NotPermittedError, TautoError, UsageError
from tautochrone.plan.cautions import cautions_of_loads, cautions_of_probe, cautions_of_stream
from tautochrone.plan.cell import Cell
from tautochrone.run.folder import Run
from tautochrone.run.store import Store
from tautochrone.run.writer import RunWriter
from tautochrone.stream import EVENT, FOOTER, HEADER, FrameReader, json_payload
from tautochrone.target.target import ProbeEnd, RunningLoad, RunningProbe, Target


@dataclass(frozen=True)
class Progress:
    """How far a cell is; times in nanoseconds, over all sources.

    Attributes:
        elapsed_s: since the probe was started.
        worst_ns: largest value so far; None before the first.
        last_ns: largest of the sources' latest values.
    """

    elapsed_s: float
    completed: int = 0
    missed: int = 0
    worst_ns: int | None = None
    last_ns: int | None = None


Watch = Callable[[Progress], None]


class NothingMeasuredError(MeasuringError):
    """The probe ended before it began to measure: what was asked for is not to be had here."""


def run_cell(
    cell: Cell, store: Store, target: Target, facts: Mapping[str, Any], watch: Watch = lambda _: None
) -> Run:
    """Measure one cell and seal its run.

    SIGINT and SIGTERM end the probe early; what was measured until then is sealed and marked. A second one
    ends the probe at once.

    Args:
        facts: about the target machine, stored with the run.
        watch: called with the progress, about once a second.

    Raises:
        UsageError, NotPermittedError: the probe refused; nothing is left in the store.
        NothingMeasuredError: it ended before it began to measure; nothing is left in the store.
        MeasuringError: the probe or the load failed; what was whole is kept in the store.
        StoreError: the store can't be written.
    """
    writer = store.create(
        experiment=cell.experiment,
        title=cell.title,
        conditions={
            "load": cell.load.name,
            "target": target.name,
            **({"command": " ".join(cell.command)} if cell.command else {}),
            **cell.conditions,
        },
        facts=dict(facts),
        parameters={},
    )
    with ExitStack() as stack:
        stack.callback(writer.close)
        loads = _start_loads(cell, target, writer, stack)
        probe = target.start_probe([cell.experiment, *cell.arguments])
        end, header, footer = _record(probe, writer, watch)
        reports = [load.end() for load in loads]
        if end.exit_code in (UsageError.exit_code, NotPermittedError.exit_code):
            writer.discard()
            raise _refusal(end)
        if not header:
            writer.discard()
            raise NothingMeasuredError(f"the probe failed: {_last_words(end)}")
        cautions = [
            *cautions_of_probe(end.messages),
            *cautions_of_loads(reports),
            *cautions_of_stream(header, footer),
        ]
        for caution in cautions:
            writer.add_warning(caution.code, caution.text, caution.advice)
        if reports:
            writer.add_condition("load_reports", reports)
        run = writer.seal()
    if end.exit_code != 0:
        raise MeasuringError(
            f"the probe failed: {_last_words(end)}", f"What was whole is kept: tauto show {run.manifest.id}"
        )
    return run


def _last_words(end: ProbeEnd) -> str:
    return end.messages[-1] if end.messages else f"it ended with exit code {end.exit_code} and said nothing"


def _start_loads(cell: Cell, target: Target, writer: RunWriter, stack: ExitStack) -> list[RunningLoad]:
    loads: list[RunningLoad] = []
    try:
        for part in cell.load.parts:
            load = target.start_load(part)
            stack.callback(load.end)
            loads.append(load)
    except TautoError:
        writer.discard()
        raise
    return loads


def _record(
    probe: RunningProbe, writer: RunWriter, watch: Watch
) -> tuple[ProbeEnd, dict[str, Any], dict[str, Any] | None]:
    """The stream to the run's folder, its progress to the watcher; header and footer as they came by."""
    started = time.monotonic()
    reader = FrameReader()
    header: dict[str, Any] = {}
    footer: dict[str, Any] | None = None
    try:
        with _signals_stop(probe):
            while data := probe.read():
                writer.append(data)
                for frame in reader.feed(data):
                    if frame.type == EVENT:
                        _show(json_payload(frame), time.monotonic() - started, watch)
                    elif frame.type == HEADER:
                        header = json_payload(frame)
                    elif frame.type == FOOTER:
                        footer = json_payload(frame)
    except BaseException:
        probe.stop()
        raise
    finally:
        end = probe.end()
    return end, header, footer


def _show(event: Mapping[str, Any], elapsed_s: float, watch: Watch) -> None:
    if event.get("event") == "started":
        watch(Progress(elapsed_s))
    if event.get("event") != "progress" or not event.get("sources"):
        return
    sources = event["sources"]
    seen = [source for source in sources if source["completed"] > 0]
    watch(
        Progress(
            elapsed_s,
            completed=sum(source["completed"] for source in sources),
            missed=sum(source["missed"] for source in sources),
            worst_ns=max((source["worst_ns"] for source in seen), default=None),
            last_ns=max((source["last_ns"] for source in seen), default=None),
        )
    )


@contextmanager
def _signals_stop(probe: RunningProbe) -> Iterator[None]:
    """While inside, an interrupt ends the probe, not the lab: the last samples and the footer are to come."""

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        probe.stop()

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _refusal(end: ProbeEnd) -> TautoError:
    """The probe's own words: a statement, then what to do."""
    kind = NotPermittedError if end.exit_code == NotPermittedError.exit_code else UsageError
    message = next((line for line in end.messages if not line.startswith("warning: ")), "the probe refused")
    statement, stop, advice = message.partition(". ")
    return kind(statement.removesuffix("."), advice if stop else "")
