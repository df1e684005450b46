"""The middleware programs, started as a person would, and what the system says of their threads meanwhile."""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from middleware_servers import needs
from real import PATIENCE_S, children, policy_options, sealed, wait_until
from tautochrone.run.folder import Run
from tautochrone.stream import EVENT, HEADER, FrameReader, json_payload
from tautochrone.target.local import find_probe

TRANSPORTS = ("tcp", "udp", "unix", "zeromq", "cyclonedds", "omniorb")
MS = 1_000_000


def latency_command(transport: str, *arguments: str) -> list[str]:
    needs(transport)
    words = ["middleware-latency", "--transport", transport, *arguments, *policy_options()]
    return [str(find_probe()), *words]


def latency(transport: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        latency_command(transport, *arguments),
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def measured(store: Path, transport: str, *arguments: str) -> Run:
    """The sealed run of a measurement that came to its end."""
    ended = latency(transport, *arguments, "--out", "-")
    assert ended.returncode == 0, ended.stderr.decode()
    return sealed(ended.stdout, store)


class Running:
    """A client that measures, and its stream as far as it has come."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(
            [*command, "--out", "-"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.stream = b""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        while piece := os.read(self.process.stdout.fileno(), 65536):
            self.stream += piece

    def header(self) -> dict[str, Any]:
        """Waits until it measures."""
        wait_until(
            lambda: self.process.poll() is not None or bool(_payloads(self.stream, EVENT)), "it measures"
        )
        (header,) = _payloads(self.stream, HEADER)
        return header

    def server(self) -> int:
        """The process that serves, which it started."""
        (found,) = [pid for pid in descendants(self.process.pid) if threads(pid, "tauto-servant")]
        return found

    def end(self) -> tuple[int, str]:
        """Waits for its end: exit code and messages."""
        assert self.process.stderr is not None
        code = self.process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        return code, self.process.stderr.read().decode()


@contextmanager
def running(command: list[str]) -> Iterator[Running]:
    found = Running(command)
    try:
        yield found
    finally:
        found.process.kill()
        found.end()
        for pipe in (found.process.stdout, found.process.stderr):
            assert pipe is not None
            pipe.close()


def _payloads(stream: bytes, kind: int) -> list[dict[str, Any]]:
    return [json_payload(frame) for frame in FrameReader().feed(stream) if frame.type == kind]


def result_of(run: Run) -> list[dict[str, Any]]:
    """What the server said of its threads after the run."""
    (result,) = [event for event in run.manifest.events if event["event"] == "result"]
    servants: list[dict[str, Any]] = result["servants"]
    return servants


def see_balance(run: Run) -> None:
    for book in run.manifest.books:
        assert book.released == book.completed + (book.missed or 0), book
        assert book.completed == book.recorded + book.dropped, book


def see_schedule(run: Run) -> None:
    """Release k of each client lies at start + k * period, and what is read is read in that order."""
    for source in run.manifest.header["sources"]:
        scheduled = run.column("scheduled_ns", source["source"])
        sent = run.column("sent_ns", source["source"])
        answered = run.column("answered_ns", source["source"])
        assert ((scheduled - source["start_ns"]) % source["period_ns"] == 0).all()
        assert (np.diff(scheduled) >= source["period_ns"]).all()
        assert (scheduled <= sent).all()
        assert (sent < answered).all()
        assert (sent[1:] > answered[:-1]).all()
        number = source["source"]
        assert (run.values("round_trip_ns", number) == answered - sent).all()
        assert (run.values("response_ns", number) == answered - scheduled).all()
        assert (run.values("latency_ns", number) == sent - scheduled).all()


def descendants(pid: int) -> list[int]:
    found = []
    with suppress(OSError):  # it may end meanwhile
        for child in children(pid):
            found += [child, *descendants(child)]
    return found


def threads(pid: int, name: str) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(OSError):
            if (task / "comm").read_text().strip() == name:
                found.append(int(task.name))
    return found


def is_gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"
