"""The loads of one run: started before it, watched while it lasts, ended after it."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from tautochrone.base.errors import DamagedError, MeasuringError, TautoError
from tautochrone.measure.cell import LoadPart
from tautochrone.run.conditions import LoadReport
from tautochrone.target.program import RunningLoad
from tautochrone.target.target import Placement, Target

_LONG_S = 2.0
_LOOK_INTERVAL_S = 0.1


@dataclass(frozen=True)
class LoadFailure:
    """A load that ended before it was told to: which one, and why, in words."""

    load: str
    why: str

    @property
    def sentence(self) -> str:
        """For people."""
        return f"the load '{self.load}' failed: {self.why.rstrip('.')}"


@dataclass(frozen=True)
class _Running:
    part: LoadPart
    program: RunningLoad


class Loads:
    """Loads that are known to be running.

    Attributes:
        failure: the first one that ended by itself; None while all run.
        allowed: the CPUs that a load may use which names none, as a CPU list.
    """

    _takes_turns = False

    def __init__(self, allowed: str | None) -> None:
        """None yet.

        Args:
            allowed: the CPUs that a load may use which names none, as a CPU list.
        """
        self.failure: LoadFailure | None = None
        self.allowed = allowed
        self._running: list[_Running] = []

    def start(
        self,
        target: Target,
        parts: Sequence[LoadPart],
        placement: Placement,
        announce: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Start all of them; each runs when this returns.

        Args:
            announce: told from another thread what is being waited for when that takes long: to fill most
                of a large memory takes some ten seconds.

        Raises:
            UsageError, NotPermittedError: one was refused.
            MeasuringError: one did not start, or has ended again already.
        """
        for part in parts:
            waits = threading.Timer(_LONG_S, announce, (f"waiting until the load '{part.name}' runs",))
            waits.daemon = True
            waits.start()
            try:
                program = target.start_load(part.words, placement)
            except TautoError as error:
                raise type(error)(f"load '{part.name}': {error}", error.advice, about=error.about) from error
            finally:
                waits.cancel()
            self._running.append(_Running(part, program))
        if failure := self.look():
            raise MeasuringError(failure.sentence)

    def look(self) -> LoadFailure | None:
        """Return the first load that ended by itself, if one has. Never blocks."""
        for one in self._running:
            if self.failure is None and (why := one.program.failure()) is not None:
                self.failure = LoadFailure(one.part.name, why)
        return self.failure

    @contextmanager
    def watched(self, on_failure: Callable[[], None]) -> Iterator[None]:
        """While inside, the first failure of a load calls `on_failure`, from another thread."""
        if not self._running and not self._takes_turns:
            yield
            return
        over = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(over, on_failure), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()

    def _watch(self, over: threading.Event, on_failure: Callable[[], None]) -> None:
        while not over.wait(_LOOK_INTERVAL_S):
            if self.look():
                on_failure()
                return

    def end(self) -> list[LoadReport]:
        """End all, and say what each did: its own report, what it was asked to do, and its CPUs.

        A load without a report has failed.
        """
        self.look()
        reports = []
        for one in self._running:
            part = one.part
            own = {
                "name": part.name,
                "asked": " ".join(part.words),
                "options": dict(part.options),
                "cpus": self._cpus(part),
            }
            try:
                reports.append(LoadReport.of({**own, **one.program.end()}))
            except (MeasuringError, DamagedError) as error:
                self.failure = self.failure or LoadFailure(part.name, str(error))
        return reports

    def abandon(self) -> None:
        """End what still runs; nobody asks what it did. May be called after `end`."""
        for one in self._running:
            with suppress(TautoError):
                one.program.end()

    def _cpus(self, part: LoadPart) -> str | None:
        cpus = part.option("cpus")
        return self.allowed if cpus in (None, "all") else cpus
