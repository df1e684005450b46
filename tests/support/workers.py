"""Tests of several files at once: with `--workers 4` four forks of the process that read all tests run them.

Each worker of pytest-xdist reads every test itself: some 10 s of CPU time, many times that in a fresh clone.
"""

import atexit
import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, pairwise
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any
from warnings import WarningMessage

import pytest

_NUMBER_BYTES = 4


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--workers", type=int, default=0, metavar="N", help="run tests of N files at once, each in a process"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests file after file, each in the first worker that is free; nothing without `--workers`."""
    config = session.config
    if not config.option.workers or config.option.collectonly or session.testsfailed:
        return None
    files = [list(items) for _, items in groupby(session.items, key=lambda item: item.path)]
    config.pluginmanager.getplugin("terminalreporter").showfspath = False
    folder = config._tmp_path_factory.getbasetemp()
    queue, filled = os.pipe()
    os.write(filled, b"".join(number.to_bytes(_NUMBER_BYTES) for number in range(len(files))))
    os.close(filled)
    config.pluginmanager.getplugin("capturemanager").suspend_global_capture(in_=True)  # dots show at once
    workers: list[_Worker] = []
    for at in range(config.option.workers):
        workers.append(_start(session, files, queue, folder / f"worker-{at}", workers))
    os.close(queue)
    _listen(session, workers)
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    told = set().union(*(worker.told for worker in workers))
    for item in session.items:
        if item.nodeid not in told:
            config.hook.pytest_runtest_logreport(report=_not_told(item, workers))
    return True


@dataclass
class _Worker:
    """A process that runs files of tests.

    Attributes:
        began: the last test that it began.
        told: those of which it told all.
        code: with which it ended.
    """

    pid: int
    reports: Connection
    began: str = ""
    told: set[str] = field(default_factory=set)
    code: int | None = None

    def interrupt(self) -> None:
        """Interrupt it, once, unless it has ended."""
        if self.code is None:
            os.kill(self.pid, signal.SIGINT)

    def wait(self) -> None:
        """Wait until it has ended."""
        if self.code is None:
            self.reports.close()
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def _start(
    session: pytest.Session,
    files: list[list[pytest.Item]],
    queue: int,
    folder: Path,
    others: Sequence[_Worker],
) -> _Worker:
    ours, theirs = multiprocessing.Pipe(duplex=False)
    pid = os.fork()
    if not pid:
        for reports in (ours, *(one.reports for one in others)):
            reports.close()  # whoever writes there is not to wait for us once nobody listens
        _work(session, chain.from_iterable(_taken(files, queue)), theirs, folder)
    theirs.close()
    return _Worker(pid, ours)


def _taken(files: list[list[pytest.Item]], queue: int) -> Iterator[list[pytest.Item]]:
    while number := os.read(queue, _NUMBER_BYTES):
        yield files[int.from_bytes(number)]


def _work(session: pytest.Session, items: Iterator[pytest.Item], reports: Connection, folder: Path) -> None:
    """Run tests in this process, which is a fork, and end it."""
    code, plugins = 1, session.config.pluginmanager
    capture = plugins.getplugin("capturemanager")
    try:
        os.setpgid(0, 0)  # Ctrl-C is for the first process, which passes it on once
        capture.stop_global_capturing()  # it went into a file of the first process
        capture.start_global_capturing()
        plugins.unregister(name="terminalreporter")
        plugins.register(_Reporter(session.config, reports))
        folder.mkdir()
        session.config._tmp_path_factory._basetemp = folder
        for item, following in pairwise(chain(items, [None])):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        code = 0
    except (KeyboardInterrupt, BrokenPipeError):  # nobody listens any more
        session._setupstate.teardown_exact(None)
    except BaseException:
        capture.stop_global_capturing()
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        atexit._run_exitfuncs()
        os._exit(code)


class _Reporter:
    """Tells the first process how tests ended."""

    def __init__(self, config: pytest.Config, reports: Connection) -> None:
        self._config, self._reports = config, reports

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._reports.send(("began", nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._reports.send(("report", data))

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._reports.send(("told", nodeid))

    def pytest_warning_recorded(self, warning_message: WarningMessage, when: str, nodeid: str) -> None:
        where = warning_message.filename, warning_message.lineno
        self._reports.send(("warning", (str(warning_message.message), where, when, nodeid)))


def _listen(session: pytest.Session, workers: Sequence[_Worker]) -> None:
    """Report what workers tell until each has ended; if that is ended, so are they."""
    by_connection = {worker.reports: worker for worker in workers}
    try:
        while by_connection and not session.shouldfail:
            for ready in wait(list(by_connection)):
                worker = by_connection[ready]
                try:
                    _hear(session.config, worker, *ready.recv())
                except EOFError:
                    del by_connection[ready]
                    worker.wait()
    finally:
        for worker in workers:
            worker.interrupt()
        for worker in workers:
            worker.wait()


def _hear(config: pytest.Config, worker: _Worker, kind: str, what: Any) -> None:
    if kind == "began":
        worker.began = what
    elif kind == "told":
        worker.told.add(what)
    elif kind == "report":
        report = config.hook.pytest_report_from_serializable(config=config, data=what)
        config.hook.pytest_runtest_logreport(report=report)
    else:
        text, where, when, nodeid = what
        warning = WarningMessage(UserWarning(text), UserWarning, *where)
        config.hook.pytest_warning_recorded.call_historic(
            kwargs={"warning_message": warning, "when": when, "nodeid": nodeid, "location": None}
        )


def _not_told(item: pytest.Item, workers: Sequence[_Worker]) -> pytest.TestReport:
    """Return the failure of a test of which no worker told all."""
    by = next((worker for worker in workers if worker.began == item.nodeid), None)
    why = "no worker came to it" if by is None else f"its worker ended with {by.code} in the middle of it"
    return pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call")
