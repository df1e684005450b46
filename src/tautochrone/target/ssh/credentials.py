"""What only the user knows: passphrases and passwords, asked for on a terminal and kept nowhere."""

import getpass
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import asyncssh

from tautochrone.base.errors import NotPermittedError
from tautochrone.target.address import SshAddress
from tautochrone.target.ssh.host_keys import HostKeyWitness


def may_ask() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(address: SshAddress, witness: HostKeyWitness, secrets: dict[str, Any]) -> bool:
    """Ask for what was lacking, first for keys, then for a password.

    Args:
        secrets: asyncssh's options; what is told is added.

    Returns:
        False: there is nothing to ask for, or no answer came.

    Raises:
        NotPermittedError: a key can't be unlocked.
    """
    if "client_keys" not in secrets and (keys := _unlocked_keys(witness.identity_files)):
        secrets["client_keys"] = keys
        return True
    if not witness.password_was_asked_for and "password" not in secrets:
        return False
    with suppress(EOFError):
        secrets["password"] = getpass.getpass(
            f"Password of {address.user or getpass.getuser()}@{address.host}: "
        )
        return True
    return False


def _unlocked_keys(named: tuple[str, ...]) -> list[asyncssh.SSHKey]:
    """The keys that a passphrase protects: those that ssh's configuration names, and the default ones."""
    default = sorted(Path("~/.ssh").expanduser().glob("id_*"))
    paths = dict.fromkeys([*(Path(name).expanduser() for name in named), *default])
    return [key for path in paths if _is_locked(path) and (key := _unlocked(path)) is not None]


def _unlocked(path: Path) -> asyncssh.SSHKey | None:
    try:
        passphrase = getpass.getpass(f"Passphrase of {path} (empty: go on without it): ")
        return asyncssh.read_private_key(path, passphrase) if passphrase else None
    except EOFError:
        return None
    except (OSError, ValueError) as error:
        raise NotPermittedError(
            f"{path} can't be unlocked: {error}", f"Load it into the agent: `ssh-add {path}`."
        ) from error


def _is_locked(path: Path) -> bool:
    if path.suffix == ".pub":
        return False
    try:
        asyncssh.read_private_key(path)
    except asyncssh.KeyImportError as error:
        return str(error).startswith("Passphrase")  # asyncssh itself tells it so
    except (OSError, ValueError):
        return False
    return False
