"""A process that has loaded tauto once and forks for each command.

A command does what it would do in a fresh interpreter: it has its own process, environment, folder, standard
streams and exit code. Only the second that it takes to load numpy, pyarrow and scipy is spared. What is about
the interpreter itself (terminals, limits, what help loads) starts one: `real.TAUTO`.
"""

import atexit
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from select import select
from typing import IO, Any, NoReturn, TextIO

TAUTO = "tautochrone.cli.app:main"
_LONGEST_JOB = 1 << 20

_LOADED = (
    "jinja2",
    "numpy",
    "pyarrow.parquet",
    "rich.console",
    "rich.progress",
    "rich.table",
    "scipy.special",
    "scipy.stats",
    "tautochrone.analyse.answer",
    "tautochrone.answer.figure",
    "tautochrone.answer.render.folder",
    "tautochrone.answer.render.terminal",
    "tautochrone.answer.report",
    "tautochrone.answer.show",
    "tautochrone.answer.tail.document",
    "tautochrone.campaign.answer",
    "tautochrone.campaign.results",
    "tautochrone.campaign.verb",
    "tautochrone.check.answer",
    "tautochrone.check.verb",
    "tautochrone.cli.app",
    "tautochrone.cli.report",
    "tautochrone.command.batch",
    "tautochrone.command.probe",
    "tautochrone.comparison.answer",
    "tautochrone.comparison.verb",
    "tautochrone.measure.campaign.carry_out",
    "tautochrone.measure.execute",
    "tautochrone.run.catalogue",
    "tautochrone.tire.fast_answer",
    "typer._adapters",
    "vl_convert",
)


class Started:
    """A command that was started, with what `subprocess.Popen` has: its parent is the process that forks.

    Attributes:
        returncode: None until it was seen to have ended.
    """

    def __init__(self, arguments: Sequence[str], pid: int, status: int, out: int, err: int) -> None:
        self.args, self.pid = ["tauto", *arguments], pid
        self.returncode: int | None = None
        self.stdout, self.stderr = (os.fdopen(one, encoding="utf-8") for one in (out, err))
        self._status = os.fdopen(status, "rb", buffering=0)
        self._said: dict[TextIO, bytes] = {self.stdout: b"", self.stderr: b""}

    def poll(self) -> int | None:
        """Return its exit code if it has ended."""
        if self.returncode is None and _is_ready([self._status], 0):
            self.returncode = int(self._status.read(16))
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code."""
        if self.returncode is None and not _is_ready([self._status], timeout):
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        code = self.poll()
        assert code is not None
        return code

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for its end; return what it wrote. Asked again, the same."""
        give_up = None if timeout is None else time.monotonic() + timeout
        while streams := [one for one in self._said if not one.closed]:
            if not (ready := _is_ready(streams, _left(give_up))):
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
            for stream in ready:
                piece = os.read(stream.fileno(), 65536)
                self._said[stream] += piece
                if not piece:
                    stream.close()
        self.wait(_left(give_up))
        out, err = (said.decode("utf-8", "replace") for said in self._said.values())
        return out, err

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


class Forks:
    """The process that has loaded tauto, and a fork of it that forks for each command of this process.

    Processes that are forked from this one may share the first: each has a fork of its own.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._loaded: socket.socket | None = None
        self._owner = 0
        self._control: socket.socket | None = None

    def begin(self) -> socket.socket:
        """Start the process that loads tauto, unless it is there; return where it is asked for forks."""
        if self._loaded is None:
            self._loaded, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._owner = os.getpid()
            with there:
                self._process = subprocess.Popen(
                    [sys.executable, __file__, str(there.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[there.fileno()],
                    process_group=0,  # a Ctrl-C is for the tests
                )
        return self._loaded

    def run(
        self, arguments: Sequence[str], environment: Mapping[str, str], patience_s: float
    ) -> subprocess.CompletedProcess[str]:
        """Run tauto with these arguments; what it leaves behind may keep its output open.

        Raises:
            subprocess.TimeoutExpired: it did not end in time; it was killed.
        """
        with tempfile.TemporaryDirectory() as folder:
            out, err = Path(folder, "out"), Path(folder, "err")
            opened = [os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600) for path in (out, err)]
            pid, status = self._begin(TAUTO, arguments, environment, *opened)
            with os.fdopen(status, "rb", buffering=0) as told:
                in_time = _is_ready([told], patience_s)
                if not in_time:
                    os.kill(pid, signal.SIGKILL)
                code = int(told.read(16))
            said = [path.read_text(encoding="utf-8") for path in (out, err)]
        if not in_time:
            raise subprocess.TimeoutExpired(list(arguments), patience_s, *said)
        return subprocess.CompletedProcess(["tauto", *arguments], code, *said)

    def start(
        self, arguments: Sequence[str], environment: Mapping[str, str], function: str = TAUTO
    ) -> Started:
        """Start tauto, or another function of a module, with these arguments and pipes for its output."""
        (out, out_there), (err, err_there) = os.pipe(), os.pipe()
        pid, status = self._begin(function, arguments, environment, out_there, err_there)
        return Started(arguments, pid, status, out, err)

    def stop(self) -> None:
        """End what forks for this process, if it is there, and what this process started."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None and self._loaded is not None and self._owner == os.getpid():
            self._loaded.close()
            self._process.wait()
            self._process = self._loaded = None

    def _begin(
        self, function: str, arguments: Sequence[str], environment: Mapping[str, str], out: int, err: int
    ) -> tuple[int, int]:
        """Fork, and close its outputs here; return its number, and where its exit code will be read."""
        status, status_there = os.pipe()
        job = json.dumps([function, list(arguments), dict(environment), str(Path.cwd())])
        try:
            control = self._there()
            socket.send_fds(control, [job.encode()], [out, err, status_there])
            return int(control.recv(16)), status
        finally:
            for one in (out, err, status_there):
                os.close(one)

    def _there(self) -> socket.socket:
        if self._control is None:
            self._control, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with there:
                socket.send_fds(self.begin(), [b"."], [there.fileno()])
        return self._control


def _is_ready(streams: Sequence[IO[Any]], patience_s: float | None) -> list[IO[Any]]:
    return select(streams, [], [], patience_s)[0]


def _left(give_up: float | None) -> float | None:
    return None if give_up is None else max(0.0, give_up - time.monotonic())


def load() -> None:
    """Load what tests ask for, so that no fork of this process has to."""
    for name in _LOADED:
        importlib.import_module(name)
    _compile_templates()


def _serve_forks(asked: socket.socket) -> NoReturn:
    load()
    importlib.import_module("duckdb")  # here alone: where an interpreter ends in order, it tells what leaks
    gc.freeze()  # what is loaded stays as it is, and its memory shared
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for its forks
    while controls := socket.recv_fds(asked, 1, 1)[1]:
        control = socket.socket(fileno=controls[0])
        if os.fork() == 0:
            asked.close()
            _serve(control)
        control.close()
    os._exit(0)  # taking down all that was loaded takes a while, too


def _serve(control: socket.socket) -> NoReturn:
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, int] = {}  # where the exit code of each process is told
    while True:
        ready = select([control, woken], [], [])[0]
        if woken in ready:
            os.read(woken, 4096)
            _tell_ended(running)
        if control in ready:
            told, places, *_ = socket.recv_fds(control, _LONGEST_JOB, 3)
            if not told:
                for one in running:
                    os.kill(one, signal.SIGINT)
                os._exit(0)
            child = os.fork()
            if child == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for one in (woken, wake, control.detach(), *running.values()):
                    os.close(one)
                _become(*json.loads(told), *places)
            running[child] = places[2]
            os.close(places[0])
            os.close(places[1])
            control.send(str(child).encode())


def _tell_ended(running: dict[int, int]) -> None:
    for child in list(running):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            place = running.pop(child)
            with suppress(BrokenPipeError):  # nobody waits for it any more
                os.write(place, str(os.waitstatus_to_exitcode(status)).encode())
            os.close(place)


def _compile_templates() -> None:
    """Those of pages, once for all commands."""
    from tautochrone.answer.html import templates

    made = templates()
    for name in made.list_templates(["j2"]):
        made.get_template(name)


def _end_by(command: Callable[[], None]) -> NoReturn:
    """As the interpreter ends, but without taking down every module that was loaded."""
    code: object = 0
    try:
        command()
    except SystemExit as end:
        code = end.code
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


def _become(
    function: str,
    arguments: list[str],
    environment: dict[str, str],
    folder: str,
    out: int,
    err: int,
    status: int,
) -> NoReturn:
    os.close(status)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for stream, opened in enumerate((os.open(os.devnull, os.O_RDONLY), out, err)):
        os.dup2(opened, stream)
        os.close(opened)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    sys.argv = ["tauto", *arguments]
    module, _, name = function.partition(":")
    _end_by(getattr(importlib.import_module(module), name))


if __name__ == "__main__":
    _serve_forks(socket.socket(fileno=int(sys.argv[1])))
