"""A process that has loaded tauto once and forks for each command.

A command does what it would do in a fresh interpreter: it has its own process, environment, folder, standard
streams and exit code. Only the second that it takes to load numpy, pyarrow and scipy is spared. For what is
about the interpreter itself (signals, terminals, what help loads) start one: `real.start_tauto`.
"""

import atexit
import gc
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from select import select
from typing import NoReturn

_LOADED = (
    "duckdb",
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


class Forks:
    """The process, started with the first command."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(
        self, arguments: list[str], environment: dict[str, str], patience_s: float
    ) -> subprocess.CompletedProcess[str]:
        """Run tauto with these arguments.

        Raises:
            subprocess.TimeoutExpired: it did not end in time; it was killed.
        """
        process = self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        with tempfile.TemporaryDirectory() as folder:
            out, err = Path(folder, "out"), Path(folder, "err")
            job = [arguments, environment, str(Path.cwd()), str(out), str(err)]
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
            if not select([process.stdout], [], [], patience_s)[0]:
                self._kill_command()
                raise subprocess.TimeoutExpired(arguments, patience_s, _text(out), _text(err))
            code = int(process.stdout.readline())
            return subprocess.CompletedProcess(["tauto", *arguments], code, _text(out), _text(err))

    def stop(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            with self._process as ending:  # waits for its end, and closes its streams
                assert ending.stdin is not None
                ending.stdin.close()
            self._process = None

    def _start(self) -> "subprocess.Popen[str]":
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        return self._process

    def _kill_command(self) -> None:
        assert self._process is not None
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(int(child), 9)
        self.stop()


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _serve() -> None:
    for name in _LOADED:
        importlib.import_module(name)
    _compile_templates()
    gc.freeze()  # what is loaded stays as it is, and its memory shared
    while line := sys.stdin.readline():
        arguments, environment, folder, out, err = json.loads(line)
        child = os.fork()
        if child == 0:
            _become(environment, folder, out, err)
            from tautochrone.cli.app import main

            sys.argv = ["tauto", *arguments]
            _end_by(main)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


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


def _become(environment: dict[str, str], folder: str, out: str, err: str) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for path, flags, stream in ((os.devnull, os.O_RDONLY, 0), (out, _NEW, 1), (err, _NEW, 2)):
        opened = os.open(path, flags, 0o600)
        os.dup2(opened, stream)
        os.close(opened)


_NEW = os.O_WRONLY | os.O_CREAT | os.O_APPEND

if __name__ == "__main__":
    _serve()
