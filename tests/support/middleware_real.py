"""The middleware programs, started as a person would, and what the system says of their threads meanwhile."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from middleware_servers import needs
from real import PATIENCE_S, Measuring, children, policy_options, sealed
from tautochrone.base.stream import EVENT, json_payload
from tautochrone.run.folder import StoredRun
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


def measured(store: Path, transport: str, *arguments: str) -> StoredRun:
    """The sealed run of a measurement that came to its end."""
    ended = latency(transport, *arguments, "--out", "-")
    assert ended.returncode == 0, ended.stderr.decode()
    return sealed(ended.stdout, store)


class Running(Measuring):
    """A client that measures."""

    def header(self) -> dict[str, Any]:
        """Wait until it measures."""
        self.wait_for(lambda: any(frame.type == EVENT for frame in self.frames), "it measures")
        return json_payload(self.frames[0])

    def server(self) -> int:
        """The process that serves, which it started."""
        (found,) = [pid for pid in descendants(self.process.pid) if threads(pid, "tauto-servant")]
        return found


@contextmanager
def running(command: list[str]) -> Iterator[Running]:
    found = Running(command)
    try:
        yield found
    finally:
        found.close()


def result_of(run: StoredRun) -> list[dict[str, Any]]:
    """What the server said of its threads after the run."""
    (result,) = [event.stored for event in run.manifest.events if event.event == "result"]
    servants: list[dict[str, Any]] = result["servants"]
    return servants


def see_balance(run: StoredRun) -> None:
    for book in run.manifest.books:
        assert book.released == book.completed + (book.missed or 0), book
        assert book.completed == book.recorded + book.dropped, book


def see_schedule(run: StoredRun) -> None:
    """Release k of each client lies at start + k * period, and what is read is read in that order."""
    for source in run.manifest.header.stored["sources"]:
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
