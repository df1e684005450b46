"""Logging in: keys, passwords, and what can go wrong, in words."""

import getpass
import os
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import asyncssh

from tautochrone.base.errors import NotPermittedError, TautoError, UnreachableError, UsageError
from tautochrone.base.reading import is_file
from tautochrone.target.address import SshAddress
from tautochrone.target.ssh.link import Background

# Is it the machine that it says it is? As ssh checks it, but for asking: an unknown key is a refusal.


_USER_FILES = ("~/.ssh/known_hosts", "~/.ssh/known_hosts2")
_GLOBAL_FILES = ("/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2")


def _at_home(name: str) -> Path:
    """Return a path whose ~ is this user's home directory, and stays where there is none."""
    return Path(os.path.expanduser(name))  # noqa: PTH111 - pathlib's raises


def known_hosts_files(user: Sequence[str] | None, everybody: Sequence[str] | None) -> list[str]:
    """Return the files of known keys that can be read; None: ~/.ssh/config does not name any such."""
    named = [*(_USER_FILES if user is None else user), *(_GLOBAL_FILES if everybody is None else everybody)]
    paths = map(_at_home, named)
    return [str(path) for path in paths if is_file(path) and os.access(path, os.R_OK)]


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
    name: str, address: SshAddress, shown: asyncssh.SSHKey | None, *, is_known: bool
) -> NotPermittedError:
    """Return the error for a machine whose key is unknown, or another than the known one.

    It has shown this key; None: it has none of the known kind.

    Args:
        name: of the machine in the files of known keys.
        is_known: whether there is some key for it.
    """
    key = f": {shown.get_algorithm()} {shown.get_fingerprint()}" if shown is not None else ""
    once = f"once with `ssh {_typed(address)}`"
    if is_known:
        return NotPermittedError(
            f"the host key of {name} is not the one that is known for it{key}. Either the machine was set up "
            "anew, or another one answers in its place",
            f"If you know why it changed: `ssh-keygen -R '{name}'`, then connect {once}.",
        )
    return NotPermittedError(
        f"the host key of {name} is not known here{key}",
        f"Compare it with the machine's own, and accept it by connecting {once}.",
    )


def _typed(address: SshAddress) -> str:
    """Return the machine as ssh takes it, so that ssh finds in its configuration what we found there."""
    port = f"-p {address.port} " if address.port else ""
    return f"{port}{address.user}@{address.host}" if address.user else f"{port}{address.host}"


def is_known(host: str, port: int, files: list[str]) -> bool:
    """Return whether some key is known for this machine."""
    if not files:
        return False
    keys, authorities, *_ = asyncssh.match_known_hosts(
        files, host, "", port if port != asyncssh.DEFAULT_PORT else None
    )
    return bool(keys) or bool(authorities)


# What only the user knows: passphrases and passwords, asked for on a terminal and kept nowhere.


def may_ask() -> bool:
    """Return whether there is somebody to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(address: SshAddress, witness: HostKeyWitness, secrets: dict[str, object]) -> bool:
    """Ask for what was lacking, first for keys, then for a password, and add it to asyncssh's options.

    Returns:
        False: there is nothing to ask for, or no answer came.
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
    default = sorted(_at_home("~/.ssh").glob("id_*"))
    paths = dict.fromkeys([*map(_at_home, named), *default])
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
        return not asyncssh.load_keypairs([str(path)], ignore_encrypted=True)
    except (OSError, ValueError):
        return False


_CONNECT_TIMEOUT_S = 10.0
_KEEPALIVE_S = 1.0
_MOST_SILENCES = 4
"""A machine that answers nothing for some 5 s is taken for gone."""
_TRIALS = 3
_CONFIGS = ("/etc/ssh/ssh_config", "~/.ssh/config")


def log_in(background: Background, address: SshAddress) -> asyncssh.SSHClientConnection:
    """Connect with the user's keys and configuration; ask for a password or passphrase on a terminal.

    Raises:
        UsageError: ~/.ssh/config or a key can't be read.
        NotPermittedError: not let in, or the host key is not the known one.
        UnreachableError: it can't be reached.
    """
    secrets: dict[str, object] = {}
    for trial in range(_TRIALS):
        witness = HostKeyWitness()
        try:
            return background.run(_connect(address, witness, secrets))
        except asyncssh.PermissionDenied as error:
            askable = may_ask()
            if not askable or trial == _TRIALS - 1 or not ask(address, witness, secrets):
                raise _not_let_in(address, str(error), askable) from error
    raise AssertionError("not reached")


async def _connect(
    address: SshAddress, witness: HostKeyWitness, secrets: dict[str, object]
) -> asyncssh.SSHClientConnection:
    options: dict[str, object] = {
        "config": [str(path) for name in _CONFIGS if is_file(path := _at_home(name))],
        **({"port": address.port} if address.port is not None else {}),
        **({"username": address.user} if address.user is not None else {}),
        **secrets,
    }
    name = host = address.host
    port, files = address.port or asyncssh.DEFAULT_PORT, []
    try:
        read = await asyncssh.SSHClientConnectionOptions.construct(host=host, **options)
        host, port = read.host_key_alias or read.host, read.port
        name = host if read.host_key_alias or port == asyncssh.DEFAULT_PORT else f"[{host}]:{port}"
        witness.identity_files = tuple(read.config.get("IdentityFile", ()))
        files = known_hosts_files(
            read.config.get("UserKnownHostsFile"), read.config.get("GlobalKnownHostsFile")
        )
        options |= {
            "known_hosts": files or b"",  # not (): that is asyncssh's own choice; not None: that is no check
            "client_factory": lambda: witness,
            "connect_timeout": _CONNECT_TIMEOUT_S,
            "keepalive_interval": _KEEPALIVE_S,
            "keepalive_count_max": _MOST_SILENCES,
        }
        if is_known(host, port, files):
            with suppress(asyncssh.KeyExchangeFailed):  # it has no key of the known kind: let it show another
                return await asyncssh.connect(address.host, **options)
        return await asyncssh.connect(address.host, server_host_key_algs=KEYS_TO_SHOW, **options)
    except asyncssh.PermissionDenied:
        raise
    except asyncssh.HostKeyNotVerifiable as error:
        if witness.shown is None:  # a machine that is jumped over, or a key that was revoked
            raise NotPermittedError(
                f"no connection to {host}, port {port}: {error.reason}", f"Does `ssh {_typed(address)}` work?"
            ) from error
        known = is_known(host, port, files)
        raise host_key_refusal(name, address, witness.shown, is_known=known) from error
    except (OSError, ValueError, asyncssh.Error) as error:
        raise _in_words(error, address, port) from error


def _in_words(error: Exception, address: SshAddress, port: int) -> TautoError:
    """Return why there is no connection."""
    host = address.host
    match error:
        case socket.gaierror():
            return UnreachableError(f"{host}: no machine of this name is known", "Check the name after --on.")
        case ConnectionRefusedError():
            return UnreachableError(
                f"{host} refuses connections to port {port}", "Does an SSH server run there, on this port?"
            )
        case TimeoutError():
            return UnreachableError(
                f"{host} does not answer within {_CONNECT_TIMEOUT_S:g} s",
                "Is it switched on, and the network between you and it in order?",
            )
        case asyncssh.ConfigParseError() | asyncssh.KeyImportError():
            return UsageError(f"what ssh would use can't be read: {error}", "Look into ~/.ssh/config.")
        case asyncssh.Error():
            return UnreachableError(
                f"no connection to {host}, port {port}: {error.reason}",
                f"Does `ssh -v {_typed(address)}` work?",
            )
        case OSError() if error.filename is not None:
            return UsageError(f"{error.filename} can't be read: {error.strerror}", "~/.ssh/config names it.")
        case _:
            words = error.strerror if isinstance(error, OSError) else None
            return UnreachableError(
                f"no connection to {host}, port {port}: {words or error}",
                f"Does `ssh -v {_typed(address)}` work?",
            )


def _not_let_in(address: SshAddress, said: str, askable: bool) -> NotPermittedError:
    return NotPermittedError(
        f"{address.host} does not let you in: {said}",
        f"Put your public key there: `ssh-copy-id {_typed(address)}`"
        + ("." if askable else "; a password is asked for only on a terminal."),
    )
