"""Two networks with a cable, machines that SSH reaches in both, and a server of middleware on one of them."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cells import worded
from networks import Networks, two_networks
from real import a_cpu, policy_options, wait_until
from ssh_servers import SshServer, ssh_server
from tautochrone.experiments.conditions import CellConditions
from tautochrone.measure.cell import Cell
from tautochrone.run.folder import StoredRun
from tautochrone.target.middleware_server import ServerPlace

THROUGHPUT = "middleware-throughput"
CALLS = 300
LONG = 10_000_000  # calls: more than any test waits for
OTHER_CLOCK = ("unshare", "--time", "--monotonic", "100000", "--boottime", "100000", "--fork", "--kill-child")


@dataclass(frozen=True)
class Hosts:
    """Two networks, each with an SSH server that lets the same user in.

    Attributes:
        first: beside the lab.
        second: at the other end of the cable.
        aside: there too, with a clock of its own.
    """

    networks: Networks
    first: SshServer
    second: SshServer
    aside: SshServer


@contextmanager
def two_hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    """For as long as the block lasts."""
    with ExitStack() as stack:
        networks = stack.enter_context(two_networks())
        with networks.inside_second():
            there = tmp_path_factory.mktemp("second")
            second = stack.enter_context(ssh_server("openssh", there, networks.there))
            folder = tmp_path_factory.mktemp("aside")
            aside = stack.enter_context(ssh_server("openssh", folder, networks.there, OTHER_CLOCK))
        with networks.inside_first():
            folder = tmp_path_factory.mktemp("first")
            first = stack.enter_context(ssh_server("openssh", folder, networks.here))
        _know_each_other(second, aside, first)
        yield Hosts(networks, first, second, aside)


def _know_each_other(home: SshServer, *others: SshServer) -> None:
    """One home folder is enough to reach all."""
    key = (home.home / ".ssh/id_ed25519.pub").read_text()
    for other in others:
        with (other.home / ".ssh/authorized_keys").open("a") as accepted:
            accepted.write(key)
        with (home.home / ".ssh/known_hosts").open("a") as known:
            known.write(f"[{other.host}]:{other.port} {other.host_key}\n")


@contextmanager
def in_the_first(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The lab runs in the first network; nothing of it is left on either side."""
    monkeypatch.setenv("HOME", str(hosts.second.home))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    with hosts.networks.inside_first():
        yield
    for server in (hosts.first, hosts.second, hosts.aside):
        wait_until(lambda one=server: one.left() == [], "nothing of it is left")  # type: ignore[misc]
    assert servers_running() == []


def servers_running() -> list[int]:
    """The processes of these tests that serve, wherever."""
    ours = f"TAUTO_TEST_SESSION={os.environ['TAUTO_TEST_SESSION']}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            serves = words[0].rpartition(b"/")[2].startswith(b"tauto-middleware-") and b"serve" in words
            if serves and ours in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


def options(count: int = CALLS, transport: str = "tcp", *more: str) -> tuple[str, ...]:
    own = ("--transport", transport, "--types", "octet", "--directions", "two-way", "--count", str(count))
    return (*own, "--cpus", a_cpu(), *policy_options(), *more)


def apart(where: str, **place: Any) -> CellConditions:
    """The conditions of a cell whose server runs there."""
    return CellConditions(ServerPlace(where, **place))


def a_cell(where: str, arguments: tuple[str, ...] | None = None, **place: Any) -> Cell:
    return worded(THROUGHPUT, arguments or options(), "a test", conditions=apart(where, **place))


def see_measured(run: StoredRun) -> None:
    """Every call has its row, and took some time."""
    (book,) = run.manifest.books
    assert book.completed == book.recorded == CALLS
    values = run.values(source=0)
    assert values.size == CALLS
    assert np.min(values) > 0
    assert np.median(values) < 1e9
