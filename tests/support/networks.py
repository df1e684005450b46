"""Two networks of the tests' own, joined by a cable; both vanish with the processes that hold them."""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from real import skip_or_fail, wait_until

_HERE, _THERE = "10.117.0.1", "10.117.0.2"
_CLONE_NEWNET = 0x40000000


@dataclass(frozen=True)
class Networks:
    """Each with its own loopback, and one end of the cable.

    Attributes:
        here: the address of the first.
        there: the address of the second.
    """

    first: int
    second: int
    here: str = _HERE
    there: str = _THERE

    def in_first(self, command: Sequence[str]) -> list[str]:
        """The command as one that runs there."""
        return ["nsenter", "--net", f"--target={self.first}", "--", *command]

    def in_second(self, command: Sequence[str]) -> list[str]:
        """See `in_first`."""
        return ["nsenter", "--net", f"--target={self.second}", "--", *command]

    @contextmanager
    def inside_first(self) -> Iterator[None]:
        """While inside, this thread, and the threads and processes that it starts, are in the first one."""
        with _inside(self.first):
            yield

    @contextmanager
    def inside_second(self) -> Iterator[None]:
        """See `inside_first`."""
        with _inside(self.second):
            yield


@contextmanager
def two_networks() -> Iterator[Networks]:
    """For as long as the block lasts."""
    if os.geteuid() != 0:
        pytest.skip("networks of one's own need root")
    for program in ("unshare", "nsenter", "ip"):
        if shutil.which(program) is None:
            skip_or_fail(f"needs {program}")
    holders = [
        subprocess.Popen(["unshare", "--net", "sleep", "infinity"], stdin=subprocess.DEVNULL)
        for _ in range(2)
    ]
    try:
        wait_until(lambda: all(_has_own_network(holder.pid) for holder in holders), "they are there")
        networks = Networks(holders[0].pid, holders[1].pid)
        cable = ["ip", "link", "add", "cable0", "type", "veth", "peer", "name", "cable1", "netns"]
        made = subprocess.run(
            networks.in_first([*cable, str(networks.second)]), capture_output=True, text=True, check=False
        )
        if made.returncode:
            skip_or_fail(f"networks can't be joined here: {made.stderr.strip()}")
        for enter, device, address in (
            (networks.in_first, "cable0", _HERE), (networks.in_second, "cable1", _THERE)
        ):  # fmt: skip
            for command in (
                ["ip", "address", "add", f"{address}/24", "dev", device],
                ["ip", "link", "set", device, "up"],
                ["ip", "link", "set", "lo", "up"],
            ):
                subprocess.run(enter(command), check=True)
        yield networks
    finally:
        for holder in holders:
            holder.kill()
            holder.wait()


def _has_own_network(pid: int) -> bool:
    return Path(f"/proc/{pid}/ns/net").readlink() != Path("/proc/self/ns/net").readlink()


@contextmanager
def _inside(pid: int) -> Iterator[None]:
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        _enter(f"/proc/{pid}/ns/net")
        try:
            yield
        finally:
            _enter(f"/proc/self/fd/{before}")
    finally:
        os.close(before)


def _enter(place: str) -> None:
    network = os.open(place, os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).setns(network, _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"{place} can't be entered")
    finally:
        os.close(network)
