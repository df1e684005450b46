"""A board that labgrid manages, as a target: its place is acquired, its NetworkService is reached over SSH.

labgrid is used by its command line, so it may be of any version, in an environment of its own
(TAUTO_LABGRID_CLIENT names it). Which coordinator is meant says LG_COORDINATOR, as for labgrid-client.

A place that was acquired stays so after a crash. So a file in the user's state folder, locked for as long as
this process has the place, says that tauto acquired it: a place whose lock is free is taken over.
"""

import ast
import fcntl
import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import IO

from tautochrone.base.errors import MeasuringError, StoreError, UsageError
from tautochrone.base.installation import user_folder
from tautochrone.target.address import LabgridAddress, SshAddress
from tautochrone.target.claim import TakenError

_PATIENCE_S = 60.0
_ACQUIRED = re.compile(r"already acquired|is reserved|reserved for", re.IGNORECASE)
_OURS = re.compile(r"You have already acquired place \S+?\.?$")
_RESOURCE = re.compile(r"Acquired resource '(?P<name>[^']*)' \([^)]*/NetworkService/[^)]*\):")


@contextmanager
def acquired(address: LabgridAddress) -> Iterator[SshAddress]:
    """Have a place for as long as the block lasts; yields where its NetworkService is.

    Raises:
        TakenError: somebody else has it.
        UsageError: as `held`, or it has no NetworkService.
    """
    with held(address):
        yield _service(address)


@contextmanager
def held(address: LabgridAddress) -> Iterator[None]:
    """Have a place for as long as the block lasts, whether its board answers or not.

    Raises:
        TakenError: somebody else has it.
        UsageError: labgrid is not installed, no coordinator answers, or it does not know the place.
        StoreError: it can't be noted that it was acquired.
    """
    with _mark(address.place) as mark:
        answer = _acquire(address.place)
        said = _last(answer)
        ours = _OURS.search(said) is not None and bool(mark.read())
        if answer.returncode != 0 and not ours:
            if _ACQUIRED.search(said):
                raise TakenError(f"{address}: {said}", "Wait until it is released.")
            raise UsageError(
                f"{address} can't be acquired: {said}",
                "Does `labgrid-client places` list it? LG_COORDINATOR says where the coordinator is.",
            )
        try:
            _write(mark, "acquired\n")
            yield
        finally:
            with suppress(MeasuringError, UsageError):
                if _client(address.place, "release").returncode == 0:
                    _write(
                        mark, ""
                    )  # else the coordinator does not answer, and may still know us: taken over


def _service(address: LabgridAddress) -> SshAddress:
    shown = _client(address.place, "show").stdout
    found = _RESOURCE.search(shown)
    if found is None:
        raise UsageError(
            f"{address} has no NetworkService, by which its board is reached",
            "Export one, with address and username, and match it to the place.",
        )
    text = shown[found.end() :].partition("\nAcquired resource")[0].partition("\nOrphaned resource")[0]
    try:
        told: Mapping[str, object] = ast.literal_eval(text.strip())["params"]
        host, user, port = str(told["address"]), str(told["username"]), told.get("port")
    except (ValueError, SyntaxError, KeyError, TypeError) as error:
        raise UsageError(
            f"{address}: what labgrid-client shows of its NetworkService can't be read",
            f"See `labgrid-client -p {address.place} show`.",
        ) from error
    return SshAddress(host.partition("%")[0], user, port if isinstance(port, int) else None)


def power_cycle(place: str) -> str:
    """Return the shell command that switches the board of a place off and on, for who has it."""
    return shlex.join((_program(), "-p", place, "power", "cycle"))


def _program() -> str:
    return os.environ.get("TAUTO_LABGRID_CLIENT") or "labgrid-client"


def _client(place: str, *words: str) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(
            [_program(), "-p", place, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
            start_new_session=True,  # Ctrl-C is for tauto
        )
    except OSError as error:
        raise UsageError(
            f"labgrid's command {_program()} can't be started: {error.strerror}",
            "Install labgrid, or let TAUTO_LABGRID_CLIENT name its labgrid-client.",
        ) from error
    except subprocess.TimeoutExpired as error:
        raise MeasuringError(
            f"labgrid-client {words[0]} did not end within {_PATIENCE_S:g} s", "Does the coordinator answer?"
        ) from error


def _acquire(place: str) -> "subprocess.CompletedProcess[str]":
    """Acquire a place. Ctrl-C meanwhile gives it back: labgrid would keep a place that nobody knows of."""
    with ThreadPoolExecutor(1) as aside:
        asked = aside.submit(_client, place, "acquire")
        try:
            return asked.result()
        except KeyboardInterrupt:
            if asked.result().returncode == 0:
                _client(place, "release")
            raise


def _last(answer: "subprocess.CompletedProcess[str]") -> str:
    lines = [line for line in (*answer.stdout.splitlines(), *answer.stderr.splitlines()) if line.strip()]
    return lines[-1].removeprefix("labgrid-client: error: ") if lines else f"exit code {answer.returncode}"


@contextmanager
def _mark(place: str) -> Iterator[IO[str]]:
    """Lock the file that says whether tauto has acquired the place."""
    folder = user_folder("state") / "labgrid"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / re.sub(r"[^A-Za-z0-9._-]", "_", place)).open("a+")
    except OSError as error:
        raise StoreError(f"{folder} can't be written: {error.strerror}", "Is it this user's?") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise TakenError(
                f"labgrid:{place} is measured by another tauto of this user", "Wait until it ends."
            ) from error
        file.seek(0)
        yield file


def _write(mark: IO[str], text: str) -> None:
    """Replace what is in the file. Nothing is buffered, as what finds no room would be tried again."""
    try:
        os.ftruncate(mark.fileno(), 0)
        os.write(mark.fileno(), text.encode())
    except OSError as error:
        raise StoreError(
            f"{mark.name} can't be written: {error.strerror}", "Is there room for it?"
        ) from error
