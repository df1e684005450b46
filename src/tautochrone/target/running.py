"""Probes and loads as programs, wherever they run."""

import json
from collections.abc import Iterator

from tautochrone.base.errors import MeasuringError
from tautochrone.target.program import Program, lines_of, refusal, warning_of
from tautochrone.target.target import ProbeEnd

_PATIENCE_S = 10.0


class ProgramProbe:
    """A probe that is measuring; see `RunningProbe`."""

    def __init__(self, program: Program) -> None:
        """It has just been started."""
        self._program = program
        self._asked_to_end = False

    def read(self) -> bytes:
        return self._program.read()

    def stop(self) -> None:
        """Ask it to end; a second call ends it at once."""
        if self._asked_to_end:
            self._program.kill()
        else:
            self._asked_to_end = True
            self._program.stop()

    def end(self) -> ProbeEnd:
        """Wait for its end. One that goes on although its stream has ended is ended."""
        try:
            code = self._program.wait(_PATIENCE_S)
            if code is None:
                self._program.kill()
                code = self._program.wait(_PATIENCE_S)
        finally:
            self._program.release()
        return ProbeEnd(-9 if code is None else code, self._program.messages())


class ProgramLoad:
    """A load that is known to be running; see `RunningLoad`."""

    def __init__(self, program: Program) -> None:
        """Wait for its word that it runs.

        Raises:
            UsageError, NotPermittedError: refused, in the probe's words.
            MeasuringError: it did not start, or the connection was lost.
        """
        self._program = program
        self._lines: Iterator[str] = lines_of(program)
        self._code: int | None = None
        self._report: dict[str, object] | None = None
        started = False
        try:
            started = next(self._lines, None) is not None
            if not started:
                code = self._wait()
                raise refusal(code, program.messages(), "the load did not start")
        finally:
            if not started:
                program.release()

    def failure(self) -> str | None:
        if self._code is None:
            try:
                self._code = self._program.wait(0)
            except MeasuringError as error:
                return str(error)
        if self._code is None:
            return None
        said = [line for line in self._program.messages() if warning_of(line) is None]
        if said:
            return said[-1]
        return "it ended before its time" if self._code == 0 else f"it ended with exit code {self._code}"

    def end(self) -> dict[str, object]:
        if self._report is None:
            try:
                self._program.close_input()
                code = self._wait()  # first: what it still has to say fits into the pipe
                lines = list(self._lines)
            finally:
                self._program.release()
            self._report = self._last_of(lines, code)
        return self._report

    def _last_of(self, lines: list[str], code: int) -> dict[str, object]:
        content = json.loads(lines[-1]) if lines else None
        if not isinstance(content, dict):
            raise refusal(code, self._program.messages(), "the load failed")
        return content

    def _wait(self) -> int:
        if self._code is None:
            self._code = self._program.wait(_PATIENCE_S)
        if self._code is None:
            self._program.kill()
            self._code = self._program.wait(_PATIENCE_S)
        return -9 if self._code is None else self._code


class ProgramService:
    """A program that serves others; see `RunningService`."""

    def __init__(self, program: Program) -> None:
        """Wait for its first line.

        Raises:
            UsageError, NotPermittedError: refused, in the probe's words.
            MeasuringError: it did not start, or the connection was lost.
        """
        self._program = program
        self._wrong: str | None = None
        self._has_ended = False
        said: str | None = None
        try:
            said = next(lines_of(program), None)
            if said is None:
                code = program.wait(_PATIENCE_S)
                raise refusal(-9 if code is None else code, program.messages(), "it did not start")
        finally:
            if said is None:
                program.release()
        self.said = said

    def failure(self) -> str | None:
        if self._has_ended:
            return self._wrong
        try:
            code = self._program.wait(0)
        except MeasuringError as error:
            return str(error)
        return None if code is None else self._how(code) or "it ended before its time"

    def end(self, patience_s: float = 0.0) -> str | None:
        if not self._has_ended:
            self._has_ended = True
            try:
                self._wrong = self._end(patience_s)
            except MeasuringError as error:
                self._wrong = str(error)
            finally:
                self._program.release()
        return self._wrong

    def _end(self, patience_s: float) -> str | None:
        code = self._program.wait(patience_s)
        if code is not None:
            return self._how(code)
        self._program.stop()
        if self._program.wait(_PATIENCE_S) is None:
            self._program.kill()
            self._program.wait(_PATIENCE_S)
        return None  # how it ends now says nothing: it was asked to

    def _how(self, code: int) -> str | None:
        """What went wrong with one that ended so."""
        if code == 0:
            return None
        said = [line for line in self._program.messages() if warning_of(line) is None]
        if said:
            return said[-1]
        return f"signal {-code} ended it" if code < 0 else f"it ended with exit code {code}"
