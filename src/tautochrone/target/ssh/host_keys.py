"""Is it the machine that it says it is? As ssh checks it, but for asking: an unknown key is a refusal."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import asyncssh

from tautochrone.base.errors import NotPermittedError

_USER_FILES = ("~/.ssh/known_hosts", "~/.ssh/known_hosts2")
_GLOBAL_FILES = ("/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2")


def known_hosts_files(user: Sequence[str] | None, everybody: Sequence[str] | None) -> list[str]:
    """The files of known keys that are there and can be read.

    Args:
        user: UserKnownHostsFile as ~/.ssh/config has it; None: it says nothing.
        everybody: GlobalKnownHostsFile, likewise.
    """
    named = [
        *(_USER_FILES if user is None else user),
        *(_GLOBAL_FILES if everybody is None else everybody),
    ]
    paths = (Path(name).expanduser() for name in named)
    return [str(path) for path in paths if path.is_file() and os.access(path, os.R_OK)]


KEYS_TO_SHOW = (
    *("ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"),
    *("rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"),
)
"""Of a machine without a known key, in the order in which ssh asks: what is shown is what ssh would show."""


class HostKeyWitness(asyncssh.SSHClient):
    """Keeps the key that a machine showed, for the words of a refusal; never accepts one.

    Attributes:
        shown: the key that was not accepted.
        password_was_asked_for: the machine would take a password.
        identity_files: the user's keys that ssh's configuration names.
    """

    def __init__(self) -> None:
        """Nothing was shown yet."""
        self.shown: asyncssh.SSHKey | None = None
        self.password_was_asked_for = False
        self.identity_files: tuple[str, ...] = ()

    def validate_host_public_key(self, _host: str, _addr: str, _port: int, key: asyncssh.SSHKey) -> bool:
        """Called for a key that is in none of the files."""
        self.shown = key
        return False

    def password_auth_requested(self) -> str | None:
        """The machine would take a password; the caller asks for it and connects anew."""
        self.password_was_asked_for = True
        return None

    def kbdint_auth_requested(self) -> str | None:
        """As for a password, which is what nearly all such questions are."""
        self.password_was_asked_for = True
        return None


def host_key_refusal(
    host: str, port: int, shown: asyncssh.SSHKey | None, files: Iterable[str]
) -> NotPermittedError:
    """The error for a machine whose key is unknown, or another than the known one.

    Args:
        host: the name by which its key is known.
        shown: the key that it showed; None: it has none of the known kind.
        files: of known keys.
    """
    key = f": {shown.get_algorithm()} {shown.get_fingerprint()}" if shown is not None else ""
    option = f" -p {port}" if port != asyncssh.DEFAULT_PORT else ""
    name = f"[{host}]:{port}" if port != asyncssh.DEFAULT_PORT else host
    if is_known(host, port, list(files)):
        return NotPermittedError(
            f"the host key of {name} is not the one that is known for it{key}. Either the machine was set up "
            "anew, or another one answers in its place",
            f"If you know why it changed: `ssh-keygen -R '{name}'`, then connect once with "
            f"`ssh{option} {host}`.",
        )
    return NotPermittedError(
        f"the host key of {name} is not known here{key}",
        f"Compare it with the machine's own, and accept it by connecting once with `ssh{option} {host}`.",
    )


def is_known(host: str, port: int, files: list[str]) -> bool:
    """Whether some key is known for this machine."""
    if not files:
        return False
    keys, authorities, *_ = asyncssh.match_known_hosts(
        files, host, "", port if port != asyncssh.DEFAULT_PORT else None
    )
    return bool(keys) or bool(authorities)
