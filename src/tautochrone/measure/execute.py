"""Carrying out one case: deployment, loads, probe; the stream to the run's folder as it comes; seal."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass, field, replace
from signal import SIGKILL, strsignal

from tautochrone.base.errors import (
    CodeFailedError,
    MeasuringError,
    NotPermittedError,
    StoreError,
    TautoError,
    UsageError,
)
from tautochrone.base.options import words
from tautochrone.base.stream import EVENT, FOOTER, HEADER, FrameReader, json_payload
from tautochrone.base.words import upper_first
from tautochrone.experiments.step_files import made_for_run
from tautochrone.experiments.tire_threads import SameTeamError
from tautochrone.machine.settings import NotPutBackError, SettingError
from tautochrone.measure.cautions import (
    CUT_SHORT,
    SMIS,
    SmiCounter,
    caution_of_claim,
    caution_of_smis,
    cautions_of_facts,
    cautions_of_probe,
    cautions_of_stream,
)
from tautochrone.measure.cell import Cell
from tautochrone.measure.conditions import Conditions, conditions_of
from tautochrone.measure.cpu_use import CPU_USE, CpuUse, Used, cautions_of_cpu_use
from tautochrone.measure.held import held_apart
from tautochrone.measure.interrupts import HeldInterrupts
from tautochrone.measure.loads.cautions import cautions_of_loads
from tautochrone.measure.loads.running import LoadFailure, Loads
from tautochrone.measure.placing import allowed_in, measured_cpus, placed_in, placed_loads
from tautochrone.measure.soak import Soak, phase_of
from tautochrone.measure.virtual import (
    BUSY,
    BusyCpus,
    as_condition,
    cautions_of_busy_cpus,
    cautions_of_virtual,
)
from tautochrone.run.conditions import LoadReport
from tautochrone.run.facts import FactTable
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Warning as RunWarning
from tautochrone.run.records import Event, Footer, Header, SourceProgress
from tautochrone.run.records import Progress as SourcesProgress
from tautochrone.run.store import Store
from tautochrone.run.writer import RunWriter
from tautochrone.target.local import LocalTarget
from tautochrone.target.middleware import provide_before_boot, provide_program
from tautochrone.target.middleware_server import Server, serving_with_sizes
from tautochrone.target.program import ProbeEnd, RunningProbe, refusal
from tautochrone.target.target import Target, Virtual

LOAD_FAILED = "load-failed"
"""Code of the warning of a run that ended because its load did."""

SERVER_FAILED = "server-failed"
"""Code of the warning of a run after which the server on another machine did not end as it should."""

INTERRUPTED = "interrupted"
"""How a run ended that somebody stopped."""


@dataclass(frozen=True)
class CellProgress:
    """How far a case is; times in nanoseconds, over all sources.

    Attributes:
        elapsed_s: of the machine's time, since the probe was started.
        worst_ns: largest value so far; None before the first.
        last_ns: largest of the sources' latest values.
        waiting: for what, in words, while nothing is measured yet.
        reaching: the machine does not answer yet.
    """

    elapsed_s: float
    completed: int = 0
    missed: int = 0
    worst_ns: int | None = None
    last_ns: int | None = None
    waiting: str = ""
    reaching: bool = False


Watch = Callable[[CellProgress], None]


class ProbeFailedError(MeasuringError):
    """The probe failed.

    Attributes:
        why: what it said last.
    """

    def __init__(self, why: str, advice: str = "", *, about: str = "") -> None:
        """Say what the probe said last."""
        super().__init__(f"the probe failed: {why}", advice, about=about)
        self.why = why

    def __reduce__(self) -> tuple[object, ...]:
        """Come out of another process as it went in: made anew from the reason, not from the message."""
        return type(self), (self.why, self.advice), self.__dict__


class NothingMeasuredError(MeasuringError):
    """The probe ended before it began to measure: what was asked for is not to be had here."""


class ProbeDidNotMeasureError(ProbeFailedError, NothingMeasuredError):
    """The probe failed before it began to measure."""


class CodeDidNotBeginError(CodeFailedError, NothingMeasuredError):
    """The user's own code ended before its first step."""


class StoppedAfterRunError(KeyboardInterrupt):
    """Ctrl-C after the last sample: the run is whole and sealed, and nothing is to follow it."""

    def __init__(self, run: StoredRun) -> None:
        """After this run."""
        super().__init__()
        self.run = run


def is_refusal(error: TautoError) -> bool:
    """Return whether what was asked for is not to be had here; otherwise it went wrong while measuring."""
    refusals = (UsageError, NotPermittedError, SettingError, NothingMeasuredError, SameTeamError)
    return isinstance(error, refusals)


def what_stood_in_the_way(error: TautoError) -> str:
    """Return it as a sentence, without what to do about it."""
    why = error.why if isinstance(error, ProbeFailedError) else str(error)
    return f"{upper_first(why.rstrip('.'))}."


@dataclass
class _Measured:
    """What came of the measuring.

    Attributes:
        lost: the connection to the probe, and why; None: it ended, as `end` says.
        failure: of a load.
        server: of middleware, or that there is none; None: it was not started.
        server_failure: what went wrong with it, as a sentence.
        sources: how far each is, as it was last told; a long run tells of a few at a time.
        smis: system management interrupts meanwhile; None: not known.
        virtual: the virtual machine on which it was measured.
        busy: the share of its time in which each CPU of that was busy; None: not known.
        used: how the CPUs of another machine spent their time; None: not known.
        idle: whether there was no load.
    """

    header: dict[str, object] = field(default_factory=dict)
    footer: dict[str, object] = field(default_factory=dict)
    end: ProbeEnd = field(default_factory=lambda: ProbeEnd(0, ()))
    lost: MeasuringError | None = None
    reports: list[LoadReport] = field(default_factory=list)
    failure: LoadFailure | None = None
    server: Server | None = None
    server_failure: str | None = None
    sources: dict[int, SourceProgress] = field(default_factory=dict)
    smis: int | None = None
    virtual: Virtual | None = None
    busy: list[float] | None = None
    used: Used | None = None
    idle: bool = True


def run_cell(
    cell: Cell,
    store: Store,
    target: Target,
    facts: FactTable,
    watch: Watch = lambda _: None,
    under: Conditions | None = None,
    soak: Soak | None = None,
) -> StoredRun:
    """Measure one case and seal its run.

    The deployment is applied first and undone before the run is sealed; the loads are known to be running
    before the probe is started. A virtual machine is booted afresh for it, unless a deployment is in force
    there for several cases. SIGINT and SIGTERM end the probe early; what was measured until then is sealed
    and marked. A second one ends the probe at once, and what was whole by then is sealed.

    Args:
        facts: about the target machine, stored with the run; gathered anew where a deployment changes it.
        watch: called with the progress, about once a second.
        under: the conditions that hold already, for several cases; the case's deployment is then in force.
        soak: of a long run in intervals, how it is kept and which loads take turns.

    Raises:
        UsageError, NotPermittedError, SettingError: the probe, a load or a setting was refused; nothing is
            left in the store.
        NothingMeasuredError: it ended before it began to measure; nothing is left in the store.
        MeasuringError: the probe or a load failed, or the connection was lost; what was whole is kept in the
            store.
        NotPutBackError: a setting could not be put back, whatever else went wrong; what was measured is
            sealed.
        StoreError: the store can't be written.
        KeyboardInterrupt: stopped before anything was measured; nothing is left in the store.
        StoppedAfterRunError: stopped when it was measured.
    """
    not_put_back: NotPutBackError | None = None
    measured: _Measured | None = None
    if under is None or under.deployment is None:
        provide_before_boot(target, cell.experiment, cell.options)
    if under is not None and under.deployment is None:
        target.renew()  # otherwise `conditions_of` does
    applied = conditions_of(cell.deployment, target, facts) if under is None else nullcontext(under)
    with ExitStack() as stack:
        interrupts = HeldInterrupts()
        stack.callback(interrupts.release)
        try:
            with applied as conditions:
                placed = placed_in(cell, conditions)
                writer = stack.enter_context(_begin(placed, store, target, conditions, soak))
                with held_apart(placed, target, writer, soak) as place:
                    measured = _measure(placed, conditions, target, place, writer, watch, interrupts, soak)
        except NotPutBackError as error:
            not_put_back = error
        except MeasuringError as error:
            if measured is None:
                raise
            # Lost by the time when settings were to be put back: what was measured is kept all the same.
            measured.lost = measured.lost or error
        if measured is None:
            assert not_put_back is not None
            raise not_put_back
        try:
            run = _keep(writer, measured, interrupts)
        except BaseException as error:
            # A machine that is not as it was weighs more, unless nobody can tell: the connection is lost.
            if not_put_back is not None and measured.lost is None:
                raise not_put_back from error
            raise
    if not_put_back is not None:
        not_put_back.run = run.id
        raise not_put_back
    if (interrupts.late or interrupts.insisted) and run.manifest.ended != INTERRUPTED:
        raise StoppedAfterRunError(run)
    return run


def _keep(writer: RunWriter, measured: _Measured, interrupts: HeldInterrupts) -> StoredRun:
    """Seal what was measured.

    Raises:
        TautoError: nothing was, or not to its end.
        KeyboardInterrupt: nothing was, because it was stopped before.
    """
    if nothing := _nothing(measured):
        writer.discard()
        raise KeyboardInterrupt if interrupts.asked else nothing
    killed = interrupts.insisted and measured.end.exit_code == -SIGKILL
    run = _seal(writer, measured, INTERRUPTED if killed else None)
    if wrong := _what_went_wrong(measured, run, killed=killed):
        raise wrong
    return run


def _begin(cell: Cell, store: Store, target: Target, conditions: Conditions, soak: Soak | None) -> RunWriter:
    if soak is not None and soak.resumes:
        return soak.resumed(store)
    writer = store.create(
        experiment=cell.experiment,
        title=cell.title,
        conditions={
            "load": cell.load.name,
            "target": target.name,
            **({"deployment": conditions.deployment} if conditions.deployment else {}),
            **({"command": list(cell.command)} if cell.command else {}),
            **as_condition(target.virtual()),
            **({"unclaimed": target.unclaimed} if target.unclaimed else {}),
            **cell.conditions.stored,
        },
        facts=dict(conditions.facts),
    )
    try:
        known = (*cautions_of_virtual(target.virtual()), *cautions_of_facts(conditions.known))
        for warning in (*cell.cautions, *caution_of_claim(target), *known, *conditions.warnings):
            writer.add_warning(warning.code, warning.text, warning.advice)
    except BaseException:
        _forget(writer)
        raise
    return writer


def _forget(writer: RunWriter) -> None:
    """Remove a run in which nothing was measured; that it can't be removed is not what went wrong first."""
    with suppress(StoreError):
        writer.discard()
    writer.close()


def _measure(
    placed: Cell,
    conditions: Conditions,
    target: Target,
    place: Target,
    writer: RunWriter,
    watch: Watch,
    interrupts: HeldInterrupts,
    soak: Soak | None,
) -> _Measured:
    """Loads, then the probe, then what the loads did. From the probe's start on, interrupts only end that.

    Args:
        place: the target, or that with programs that go on when the connection to it is lost.
    """
    allowed = allowed_in(conditions)
    cpus = measured_cpus(placed, allowed)
    loads = Loads(conditions.load or allowed)
    if soak is not None:
        loads = soak.loads(loads, lambda phase: placed_loads(phase_of(placed, phase), cpus, conditions.load))
    measured = _Measured(virtual=target.virtual(), idle=not placed.load.parts)
    if soak is not None:
        measured.header, measured.footer = soak.header, soak.footer
    try:
        parts = placed_loads(placed, cpus, conditions.load) if soak is None else ()
        loads.start(
            place, parts, conditions.load_placement, lambda said: watch(CellProgress(0.0, waiting=said))
        )
        smis = SmiCounter(place.files(), conditions.known)
        use = CpuUse(
            place.files(), here=isinstance(target, LocalTarget), virtual=measured.virtual is not None
        )
        busy = BusyCpus(place.files(), measured.virtual)
        apart = placed.conditions.server
        with serving_with_sizes(placed.experiment, placed.options, apart, target) as server:
            for name, known in server.conditions.items():
                writer.add_condition(name, known)
            interrupts.hold()
            of_client = replace(placed.options, own=server.options)  # the server may have taken some
            with made_for_run(placed.experiment, of_client, target.machine) as options:
                there = provide_program(target, placed.experiment, options)
                probe = place.start_probe([placed.experiment, *words(there)], conditions.probe_placement)
                with loads.watched(probe.stop):
                    _record(probe, writer, watch, measured, interrupts, target.now_s, soak)
            if soak is None or not soak.resumes:  # otherwise nobody counted from the beginning
                measured.smis, measured.busy, measured.used = smis.since(), busy.since(), use.since()
            measured.server, measured.server_failure = server, server.end()
        measured.reports = loads.end()
        measured.failure = loads.failure
    except BaseException:
        if not measured.header:
            _forget(writer)
        raise
    finally:
        loads.abandon()
    return measured


def _nothing(measured: _Measured) -> TautoError | None:
    """Return why there is nothing to keep; None: there is something."""
    if measured.header:
        return None
    if measured.lost is not None:
        return measured.lost
    if measured.failure is not None:
        return MeasuringError(measured.failure.sentence)
    if measured.end.exit_code in (UsageError.exit_code, NotPermittedError.exit_code):
        return refusal(measured.end.exit_code, measured.end.messages, "the probe refused")
    if measured.server_failure is not None:
        return NothingMeasuredError(measured.server_failure)
    if measured.end.exit_code == CodeFailedError.exit_code:
        refused = refusal(measured.end.exit_code, measured.end.messages, "nothing was measured")
        return CodeDidNotBeginError(str(refused), refused.advice)
    nothing = ProbeDidNotMeasureError(_last_words(measured.end), about=_about(measured.end))
    unreached = measured.server.unreached(nothing) if measured.server is not None else None
    return nothing if unreached is None else NothingMeasuredError(*unreached)


def _seal(writer: RunWriter, measured: _Measured, ended_hint: str | None) -> StoredRun:
    for caution in _cautions(measured):
        writer.add_warning(caution.code, caution.text, caution.advice)
    if measured.reports:
        writer.add_condition("load_reports", [one.stored for one in measured.reports])
    if measured.smis is not None:
        writer.add_condition(SMIS, measured.smis)
    if measured.busy is not None:
        writer.add_condition(BUSY, measured.busy)
    if measured.used is not None:
        writer.add_condition(CPU_USE, measured.used.stored)
    return writer.seal(ended_hint)


def _cautions(measured: _Measured) -> Iterator[RunWarning]:
    header, footer = Header.of(measured.header), Footer.of(measured.footer)
    yield from cautions_of_busy_cpus(measured.busy, header, measured.virtual)
    yield from cautions_of_cpu_use(measured.used, header, footer, idle=measured.idle)
    yield from cautions_of_probe(measured.end.messages)
    failure = measured.failure if measured.lost is None else None
    if failure is not None:
        yield RunWarning(
            LOAD_FAILED, failure.sentence, "The run ended with it; what came before was measured beside it."
        )
    if measured.server_failure is not None:
        yield RunWarning(SERVER_FAILED, measured.server_failure, "What came before was measured with it.")
    yield from cautions_of_loads(measured.reports, header, footer)
    yield from caution_of_smis(measured.smis)
    told = failure is not None or measured.server_failure is not None
    for caution in cautions_of_stream(header, footer):
        if not told or caution.code != CUT_SHORT:  # that it ended early, and why, is told already
            yield caution


def _what_went_wrong(measured: _Measured, run: StoredRun, *, killed: bool) -> MeasuringError | None:
    """``killed``: the probe, by somebody who asked twice; that is how it was to end."""
    kept = f"What was measured until then is kept: tauto show {run.manifest.id}"
    if measured.lost is not None:
        return MeasuringError(str(measured.lost), kept)
    if measured.failure is not None:
        return MeasuringError(measured.failure.sentence, kept)
    if measured.end.exit_code != 0 and not killed and measured.server_failure is not None:
        return MeasuringError(measured.server_failure, kept)
    if measured.end.exit_code == CodeFailedError.exit_code and not killed:
        return CodeFailedError(_last_words(measured.end), kept)
    if measured.end.exit_code != 0 and not killed:
        return ProbeFailedError(_last_words(measured.end), kept)
    return None


def _last_words(end: ProbeEnd) -> str:
    if end.exit_code < 0:
        memory = "; where memory ran out, the kernel's log says so" if end.exit_code == -SIGKILL else ""
        return f"the probe was ended by signal {-end.exit_code} ({strsignal(-end.exit_code)}){memory}"
    said = [one for one in end.messages if one.warning is None]
    return str(said[-1]) if said else f"it ended with exit code {end.exit_code} and said nothing"


def _about(end: ProbeEnd) -> str:
    return end.messages[-1].about if end.messages else ""


def _record(
    probe: RunningProbe,
    writer: RunWriter,
    watch: Watch,
    measured: _Measured,
    interrupts: HeldInterrupts,
    now_s: Callable[[], float],
    soak: Soak | None,
) -> None:
    """The stream to the run's folder, its progress to the watcher, header and footer as they came by."""
    started_s = now_s()
    reader = FrameReader() if soak is None else soak.reader()
    try:
        interrupts.end(probe)
        while data := _read(probe, measured):
            frames = reader.feed(data)
            if soak is None:
                writer.append(data)
            elif soak.keep(writer, frames, reader.pending_bytes):
                probe.stop()
            for frame in frames:
                if frame.type == EVENT:
                    _show(Event.of(json_payload(frame)), measured.sources, now_s() - started_s, watch)
                elif frame.type == HEADER:
                    measured.header = json_payload(frame)
                elif frame.type == FOOTER:
                    measured.footer = json_payload(frame)
    except BaseException:
        probe.stop()
        probe.stop()  # at once: nobody reads its stream any more
        with suppress(MeasuringError):
            probe.end()
        raise
    try:
        measured.end = probe.end()
    except MeasuringError as error:
        measured.lost = measured.lost or error
    interrupts.probe_has_ended()


def _read(probe: RunningProbe, measured: _Measured) -> bytes:
    """Return the next bytes; none at the end, nor when the connection is lost."""
    try:
        return probe.read()
    except MeasuringError as error:
        measured.lost = error
        return b""


def _show(event: Event, known: dict[int, SourceProgress], elapsed_s: float, watch: Watch) -> None:
    if event.event == "started":
        watch(CellProgress(elapsed_s))
    if event.event != "progress" or not (told := event.told(SourcesProgress).sources):
        return
    known.update((one.source, one) for one in told)
    sources = known.values()
    seen = [source for source in sources if source.completed > 0]
    watch(
        CellProgress(
            elapsed_s,
            completed=sum(source.completed for source in sources),
            missed=sum(source.missed or 0 for source in sources),
            worst_ns=max((one.worst_ns for one in seen if one.worst_ns is not None), default=None),
            last_ns=max((one.last_ns for one in seen if one.last_ns is not None), default=None),
        )
    )
