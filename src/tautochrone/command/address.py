"""Addresses of this machine at which something is received or served, and what keeps them from being had."""

import ipaddress
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from errno import EACCES, EADDRINUSE, EADDRNOTAVAIL, EPERM
from urllib.parse import urlsplit

from tautochrone.base.errors import NotPermittedError, TautoError, UsageError

_HIGHEST_PORT = 65535
_FORM = re.compile(r"(?:\[(?P<bracketed>[0-9A-Fa-f:.]+)\]|(?P<host>[^\s\[\]:/]+))(?::(?P<port>[0-9]{1,5}))?")


@dataclass(frozen=True)
class Address:
    """An IP address and a port; port 0: one that is free."""

    host: str
    port: int

    def __str__(self) -> str:
        """Write it as people and the probe do."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def only_here(self) -> bool:
        """Return whether no other machine reaches it."""
        return ipaddress.ip_address(self.host).is_loopback

    @property
    def every(self) -> bool:
        """Return whether it stands for all addresses of this machine."""
        return ipaddress.ip_address(self.host).is_unspecified

    @property
    def seen_here(self) -> "Address":
        """Return where this machine reaches it."""
        if not self.every:
            return self
        return Address("::1" if ":" in self.host else "127.0.0.1", self.port)

    @property
    def family(self) -> socket.AddressFamily:
        """Return the family of its sockets."""
        return socket.AF_INET6 if ":" in self.host else socket.AF_INET


def read_address(option: str, text: str, usual_port: int) -> Address:
    """Read ``127.0.0.1:8117``, ``[::1]:8117``, ``localhost:8117``, or one without a port."""
    found = _FORM.fullmatch(text)
    host = found and (found["bracketed"] or found["host"])
    port = int(found["port"]) if found and found["port"] else usual_port
    if host == "localhost":
        host = "127.0.0.1"
    try:
        ipaddress.ip_address(host or "")
    except ValueError:
        host = None
    if not host or port > _HIGHEST_PORT:
        raise UsageError(
            f"{option} '{text}' is not an address",
            "Write it in numbers, as 127.0.0.1:8117 or [::1]:8117; the port may be left out.",
        )
    return Address(host, port)


def is_of_this_machine(host: str | None) -> bool:
    """Return whether a request's Host is an address in numbers, or this machine's own name.

    Any other name is not enough: whoever owns one can have it resolved to this machine for a page of theirs.
    """
    own = socket.gethostname().lower()
    try:
        name = urlsplit(f"//{host or ''}").hostname or ""
        return name in ("localhost", own, f"{own}.local") or bool(ipaddress.ip_address(name))
    except ValueError:  # it is no address, or "[", which is no host at all
        return False


def listen(wanted: Address) -> tuple[socket.socket, Address]:
    """Return a place where connections arrive, and its address with the port that it got."""
    return _bound(
        "--listen", wanted, lambda: socket.create_server((wanted.host, wanted.port), family=wanted.family)
    )


def receive(option: str, wanted: Address, buffer_bytes: int) -> tuple[socket.socket, Address]:
    """Return a place where datagrams arrive; see `listen`."""

    def make() -> socket.socket:
        made = socket.socket(wanted.family, socket.SOCK_DGRAM)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
            made.bind((wanted.host, wanted.port))
        except OSError:
            made.close()
            raise
        return made

    return _bound(option, wanted, make)


def _bound(option: str, wanted: Address, make: Callable[[], socket.socket]) -> tuple[socket.socket, Address]:
    try:
        made = make()
    except OSError as error:
        raise _in_words(option, wanted, error) from error
    made.setblocking(False)
    return made, Address(wanted.host, made.getsockname()[1])


def _in_words(option: str, wanted: Address, error: OSError) -> TautoError:
    other = Address(wanted.host, wanted.port % _HIGHEST_PORT + 1)
    if error.errno == EADDRINUSE:
        return UsageError(
            f"{wanted} is in use: another program, perhaps another view, has this port",
            f"End that one, or take another port: {option} {other}; port 0 is one that is free.",
        )
    if error.errno == EADDRNOTAVAIL:
        return UsageError(
            f"{option} {wanted}: {wanted.host} is not an address of this machine",
            "`ip address` lists those that it has.",
        )
    if error.errno in (EACCES, EPERM):
        return NotPermittedError(
            f"port {wanted.port} is not permitted to this user", f"Take one above 1023 with {option}."
        )
    return UsageError(f"{option} {wanted} can't be had: {error.strerror or error}", "Take another address.")
