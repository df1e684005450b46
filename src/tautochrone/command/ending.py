"""How the command ends: what a person sees, and the exit code."""

import errno
import io
import os
import select
import sys
from collections.abc import Callable
from contextlib import suppress

from tautochrone.base import faults
from tautochrone.base.errors import MeasuringError, StoreError, TautoError

INTERRUPTED = 130  # 128 + SIGINT, as shells have it
READER_GONE = 141  # 128 + SIGPIPE
UNEXPECTED = 70  # EX_SOFTWARE of sysexits.h
REFUSED = MeasuringError.exit_code
_LAST_STREAM = 2  # standard error
_REFUSED_WRITES = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}


def run_to_exit_code(command: Callable[[], object]) -> int:
    """Run a command and turn every way it can end into an exit code.

    A `TautoError` becomes its message and advice on standard error and its own code. An interrupt and a
    reader that went away (`tauto list | head`) end quietly. Output that can't be written is told in one line.
    Anything else is a fault in tauto: its traceback goes to a file whose path is told. With TAUTO_DEBUG=1 the
    traceback is shown as well. So does a fault that cost a part of the answer only; it is told when all else
    was, and decides the exit code.
    """
    faults.forget()
    _hold_streams()
    try:
        code = _end(command)
    except KeyboardInterrupt:
        _tell("tauto: stopped.")
        code = INTERRUPTED
    for fault in faults.kept():
        _tell(fault.request)
    if not faults.kept() or code == READER_GONE:
        return code
    return REFUSED if all(fault.refused for fault in faults.kept()) else UNEXPECTED


def _hold_streams() -> None:
    """Give no file the number of a standard stream that is closed: input has nothing, output is refused.

    Output waits for its reader, also where whoever started us, or shares it with us, set it not to.
    An output that has no sign for a character, as in a locale without UTF-8, gets a question mark for it.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    for stream in (1, _LAST_STREAM):
        with suppress(OSError):  # it is closed
            os.set_blocking(stream, True)
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    while (opened := os.open(os.devnull, os.O_RDONLY)) <= _LAST_STREAM:
        pass
    os.close(opened)
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.stdout or io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8")
    sys.stderr = sys.stderr or io.StringIO()  # None means standard output to print


def _end(command: Callable[[], object]) -> int:
    try:
        code = _run(command)
        sys.stdout.flush()
    except TautoError as error:
        faults.show_if_asked(error)
        _tell(f"tauto: {error}")
        if error.advice:
            _tell(error.advice)
        return error.exit_code
    except Exception as error:
        if isinstance(error, BrokenPipeError) and _nobody_reads_output():
            _discard_output()
            return READER_GONE
        if refusal := _refusal_of_output(error):
            _discard_output(1)
            _tell(f"tauto: the output can't be written: {refusal}")
            closed = isinstance(error, OSError) and error.errno == errno.EBADF
            _tell("Open it, or send it elsewhere." if closed else "Make room there, or send it elsewhere.")
            return StoreError.exit_code
        faults.keep(error)
        return UNEXPECTED
    return code


def _run(command: Callable[[], object]) -> int:
    """Undo what typer does to exceptions: it exits, with the reason as the context."""
    try:
        command()
    except SystemExit as end:
        reason = end.__context__
        if isinstance(reason, BrokenPipeError):
            raise reason from None
        if reason is not None and isinstance(reason.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        _tell(end.code)
        return 1
    return 0


def _tell(text: str) -> None:
    with suppress(OSError):  # nobody may be there to be told
        print(text, file=sys.stderr, flush=True)


def _nobody_reads_output() -> bool:
    poll = select.poll()
    for stream in (1, 2):
        poll.register(stream, 0)
    return any(events & (select.POLLERR | select.POLLNVAL) for _, events in poll.poll(0))


def _refusal_of_output(error: Exception) -> str | None:
    """Return why standard output takes nothing any more; None if that is not what failed.

    A refused write names no file. Trying again tells whose it was: what is still buffered, or, where nothing
    is buffered, one more line.
    """
    if not isinstance(error, OSError) or error.errno not in _REFUSED_WRITES or error.filename is not None:
        return None
    try:
        sys.stdout.flush()
        os.write(1, b"\n")
    except OSError as refusal:
        return refusal.strerror or str(refusal)
    return None


def _discard_output(*streams: int) -> None:
    """Send what is still buffered nowhere, or Python complains about it at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams or (1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)
