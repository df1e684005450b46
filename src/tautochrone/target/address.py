"""What people write after --on."""

import re
from dataclasses import dataclass

from tautochrone.base.errors import UsageError
from tautochrone.target.virtual.spec import LabAddress, known_kernels, read_lab_address

_FORMS = (
    "Write --on local, --on ssh:[user@]host[:port] (an IPv6 address goes into brackets: "
    "ssh:root@[fe80::1]:22), or --on lab:KERNEL for a virtual machine, as in lab:debian-rt."
)
_SSH = re.compile(
    r"(?:(?P<user>[^@\s]+)@)?"
    r"(?:\[(?P<bracketed>[0-9A-Fa-f:.]+(?:%[\w.-]+)?)\]|(?P<host>[^@:\[\]\s/-][^@:\[\]\s/]*))"
    r"(?::(?P<port>[0-9]{1,5}))?"
)
_HIGHEST_PORT = 65535


@dataclass(frozen=True)
class SshAddress:
    """A machine that SSH reaches; what is None is as ~/.ssh/config or the protocol has it."""

    host: str
    user: str | None = None
    port: int | None = None

    def __str__(self) -> str:
        """As people write it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        user = f"{self.user}@" if self.user else ""
        return f"ssh:{user}{host}{f':{self.port}' if self.port else ''}"


def read_address(where: str) -> SshAddress | LabAddress | None:
    """The machine that is meant; None: this one.

    Raises:
        UsageError: no such kind, or not of its form.
    """
    kind, colon, rest = where.partition(":")
    if where == "local":
        return None
    if kind == "lab" and colon:
        return read_lab_address(rest)
    if kind != "ssh" or not colon:
        kernel = where.partition(",")[0].replace("-", ":", 1)
        meant = f"Did you mean lab:{where}? " if kernel in known_kernels() else ""
        raise UsageError(f"--on {where}: no such kind of machine", meant + _FORMS)
    found = _SSH.fullmatch(rest)
    if found is None:
        raise UsageError(f"--on {where}: not an address", _FORMS)
    port = int(found["port"]) if found["port"] else None
    if port is not None and not 0 < port <= _HIGHEST_PORT:
        raise UsageError(f"--on {where}: a port is a number from 1 to {_HIGHEST_PORT}", _FORMS)
    return SshAddress(found["bracketed"] or found["host"], found["user"], port)
