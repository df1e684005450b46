"""A machine that SSH reaches: nothing need be installed there."""

import re
import secrets
import shlex
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from tautochrone.base.errors import (
    MeasuringError,
    NotPermittedError,
    TautoError,
    UnreachableError,
    UsageError,
)
from tautochrone.base.installation import own_version
from tautochrone.machine.tree import Files
from tautochrone.target.address import SshAddress
from tautochrone.target.keeper import FarFiles, Keeper
from tautochrone.target.middleware import find_program_for, program_name
from tautochrone.target.own_code import PROGRAM, BroughtCode, brought_code, brought_files, find_step_for
from tautochrone.target.probes import find_agent_for, find_probe_for, how_to_build
from tautochrone.target.program import ProbeAnswer, Program, ask, said_in
from tautochrone.target.ssh.connect import log_in
from tautochrone.target.ssh.link import Background, Link, RemoteProgram
from tautochrone.target.ssh.windows import WindowsTarget, machine_of
from tautochrone.target.target import Target

# Getting probe and agent onto the machine: a fresh folder, and a shell that removes it at the end.
#
# One shell holds all together. It makes the folder, waits for the word that both are there, becomes the
# parent of the keeper, and removes the folder when the keeper has ended: because it was told to, or because
# the connection was cut, which the keeper notices. If that happens earlier, the shell's own input ends.


_PATIENCE_S = 60.0

# One line without an exclamation mark, so that any login shell passes it on as it is. A folder counts if a
# program in it can be started (noexec).
_HOLD = (
    "umask 077; trap : HUP TERM INT; found=; "
    'for place in "${{XDG_RUNTIME_DIR:-/run}}" /run /tmp /var/tmp /dev/shm "${{HOME:-/tmp}}"; do '
    'folder="$place/{name}"; mkdir -m 700 "$folder" 2>/dev/null || continue; '
    'if printf "#\\041/bin/sh\\nexit 0\\n" >"$folder/try" && chmod 700 "$folder/try" && "$folder/try"; '
    'then found="$folder"; rm -f "$folder/try"; break; fi 2>/dev/null; rm -rf "$folder"; done; '
    'if [ -z "$found" ]; then echo "$(uname -m) -"; exit 1; fi; '
    'echo "$(uname -m) $found"; '
    'if read word && [ "$word" = keep ]; then "$found/tauto-agent" {keep}; fi; '
    'rm -rf "$found" || rm -rf "$found"'  # again, for somebody may just have written into it
)


_OURS = re.compile(r"\S+ (?:/.*|-)")
"""The first words of that shell."""


class NoShellError(MeasuringError):
    """It has no POSIX shell."""


class Landing:
    """The pushed probe and agent, and the keeper that stays as long as we do.

    Attributes:
        machine: its kind, as ``uname -m`` has it.
        probe: its path there; the agent lies beside it.
        keeper: the program; its end removes everything.
    """

    def __init__(self, link: Link, name: str, keep: Sequence[str]) -> None:
        """Push both to the machine of this name and start the keeper with the arguments `keep`.

        Raises:
            UsageError: one of them is not there for its architecture, or of another version.
            NotPermittedError: there is no folder that this user may write into and start programs from.
            MeasuringError: the connection was lost, or one of them can't run there.
        """
        folder_name = f"tautochrone-{secrets.token_hex(8)}"
        script = _HOLD.format(name=folder_name, keep=" ".join(shlex.quote(word) for word in keep))
        self.keeper = link.start(f"exec sh -c {shlex.quote(script)}", beats=False)
        try:
            self.machine, folder = _first_words(self.keeper, name)
            self.probe, self.agent = f"{folder}/tauto-probe", f"{folder}/tauto-agent"
            pushed = find_probe_for(self.machine), find_agent_for(self.machine)
            for file, place in zip(pushed, (self.probe, self.agent), strict=True):
                _push(link, file, folder, place, name)
        except BaseException:
            self.keeper.release()  # its input ends: it removes the folder
            raise
        self.keeper.write(b"keep\n")
        link.beat(self.keeper)


def _first_words(holder: RemoteProgram, name: str) -> tuple[str, str]:
    """Return what kind of machine it is, and the folder that was made."""
    said, begun_s = b"", time.monotonic()
    late = threading.Timer(_PATIENCE_S, holder.kill)
    late.daemon = True
    late.start()
    try:
        while b"\n" not in said and (data := holder.read()):
            said += data
    finally:
        late.cancel()
    if b"\n" not in said and time.monotonic() - begun_s >= _PATIENCE_S:
        raise UnreachableError(
            f"{name} lets us in, and then its shell says nothing for {_PATIENCE_S:g} s",
            "Does `ssh HOST uname -m` print a word? Its disk, or one that it has over a network, may hang.",
        )
    if b"\n" not in said:
        raise NoShellError(
            f"{name} has no POSIX shell that can be used: {said_in(holder.messages(), 'it said nothing')}",
            "`ssh HOST uname -m` must print a word, and nothing else.",
        )
    first = said.decode(errors="replace").partition("\n")[0]
    if not _OURS.fullmatch(first):
        raise NoShellError(
            f"{name} says something else than what it is asked: '{first.strip()}'",
            "`ssh HOST uname -m` must print a word, and nothing else: let ~/.bashrc there be silent.",
        )
    machine, _, folder = first.partition(" ")
    if not folder.startswith("/"):
        raise NotPermittedError(
            f"{name} has no folder into which this user may write and from which it may start programs",
            "Log in as another user, or mount one of /run, /tmp, /var/tmp, /dev/shm without noexec.",
        )
    return machine, folder


def _push(link: Link, file: Path, landed: str, place: str, name: str) -> None:
    answer = push(link, file, landed, place, name)
    if answer.exit_code != 0:
        raise MeasuringError(
            f"{file.name} does not run on {name}: {said_in(answer.messages, 'it said nothing')}"
        )
    ours, theirs = own_version(), answer.text.strip().removeprefix(f"{place.rpartition('/')[2]} ")
    if ours is not None and theirs != ours:
        raise UsageError(f"{file} is version {theirs}, and this is version {ours}", how_to_build())


def push(link: Link, file: Path, landed: str, place: str, name: str) -> ProbeAnswer:
    """Write a program to this place, and ask it there for its version.

    Raises:
        MeasuringError: it could not be written, or the connection was lost.
    """
    return _write(link, file.read_bytes(), landed, place, name, f"{shlex.quote(place)} --version")


def _write(link: Link, content: bytes, landed: str, place: str, name: str, then: str) -> ProbeAnswer:
    """Write a file to this place below where we landed, and run a command; see `push`.

    Where we landed is never made again: if we are killed now, that is noticed there, and it is removed.
    """
    folder, quoted = str(PurePosixPath(place).parent.relative_to(landed)), shlex.quote(place)
    script = (
        f"cd {shlex.quote(landed)} && mkdir -p {shlex.quote(folder)} && cat >{quoted} && "
        f"chmod 700 {quoted} && wc -c <{quoted} && {then}"
    )
    program = link.start(f"exec sh -c {shlex.quote(script)}", beats=False)
    program.write(content)
    program.close_input()
    answer = ask(program, f"--version on {name}", _PATIENCE_S)
    size, _, version = answer.text.strip().partition("\n")
    if size.strip() != str(len(content)):
        raise MeasuringError(
            f"{place.rpartition('/')[2]} could not be written to {place} on {name}: "
            f"{said_in(answer.messages, 'no words')}",
            "Is there room for it?",
        )
    return ProbeAnswer(answer.exit_code, version, answer.messages)


# The programs of the middleware, and the user's own code, beside a pushed probe: pushed when first needed.


_MISSING_LIBRARY = re.compile(r"loading shared libraries: (?P<library>[^\s:]+): cannot open")
_OLD_LIBRARY = re.compile(r"(?P<library>[^\s:/]+): version `(?P<version>[^']+)' not found")
_PACKAGES = {
    "libzmq": "libzmq5",
    "libddsc": "libddsc0debian",
    "libomni": "libomniorb4-2 libomnithread4",
    "libstdc++": "libstdc++6",
}
"""Of Debian, that have the libraries whose names begin so."""


class PushedPrograms:
    """What lies beside the probe on one machine."""

    def __init__(self, link: Link, landing: Landing, name: str) -> None:
        self._link, self._machine, self._name = link, landing.machine, name
        self._folder = landing.probe.rpartition("/")[0]
        self._code: set[str] = set()
        self._there: set[str] = set()
        self._refused: dict[str, TautoError] = {}

    def provide(self, transport: str) -> None:
        self._provide(
            program_name(transport),
            f"transport {transport}",
            lambda: find_program_for(transport, self._machine),
            "or use a transport of sockets, whose programs need no library there",
        )

    def own_code(self, code: str) -> BroughtCode:
        """See that the user's code is there, with what of the user's it needs, and what runs it."""
        brought = brought_code(code, f"{self._folder}/own", self._machine, self._name)
        self._provide(
            PROGRAM,
            "your own code",
            lambda: find_step_for(self._machine, self._name),
            "or log in there and type the same",
        )
        for place, file in brought.files.items():
            if place not in self._code:
                _write(self._link, file.read_bytes(), self._folder, place, self._name, "true")
                self._code.add(place)
        return brought

    def own_files(self, path: Path) -> str:
        """See that these files are there; what is there already stays."""
        there, files = brought_files(path, f"{self._folder}/own")
        for place, content in files.items():
            if place not in self._code:
                _write(self._link, content, self._folder, place, self._name, "true")
                self._code.add(place)
        return there

    def _provide(self, name: str, shown: str, find: Callable[[], Path | None], otherwise: str) -> None:
        if name in self._there:
            return
        if name not in self._refused:
            try:
                self._bring(name, shown, find, otherwise)
            except UsageError as error:
                self._refused[name] = error
        if name in self._refused:
            raise self._refused[name]

    def _bring(self, name: str, shown: str, find: Callable[[], Path | None], otherwise: str) -> None:
        place = f"{self._folder}/{name}"
        if not self._has_own(name, place):
            file = find()
            if file is None:
                return
            answer = push(self._link, file, self._folder, place, self._name)
            if answer.exit_code != 0 or not _is_ours(answer.text, name):
                self._run(["rm", "-f", place])
                raise self._why_not(file, shown, answer, otherwise)
        self._there.add(name)

    def _has_own(self, name: str, place: str) -> bool:
        """Return whether it is installed there, in this version; then it is linked to."""
        version = own_version()
        if version is None:
            return False
        script = (
            f"own=$(command -v {name}) || exit 1; case $($own --version 2>/dev/null) in "
            f'"{name} {version}"|"{name} {version} "*) ln -s "$own" {shlex.quote(place)};; *) exit 1;; esac'
        )
        return self._run(["sh", "-c", script]).exit_code == 0

    def _run(self, command: Sequence[str]) -> ProbeAnswer:
        program = self._link.start(f"exec {shlex.join(command)}", beats=False)
        program.close_input()
        return ask(program, f"{command[0]} on {self._name}", _PATIENCE_S)

    def _why_not(self, file: Path, shown: str, answer: ProbeAnswer, otherwise: str) -> UsageError:
        """Return what the loader of programs said there, in words."""
        said = said_in(answer.messages, answer.text.strip() or "it said nothing")
        here = f"{shown} can't be had on {self._name}"
        if missing := _MISSING_LIBRARY.search(said):
            library = missing["library"]
            packages = next((held for begin, held in _PACKAGES.items() if library.startswith(begin)), None)
            return UsageError(
                f"{here}: it needs the library {library}, which is not there",
                f"Install it there; on Debian: `apt install {packages}`."
                if packages
                else "Install it there.",
            )
        if old := _OLD_LIBRARY.search(said):
            return UsageError(
                f"{here}: its {old['library']} is older than the one of this machine ({old['version']} is "
                "wanted)",
                "Install tautochrone there, in the same version, or use a system as new as this one.",
            )
        if answer.exit_code in (126, 127):
            return UsageError(
                f"{here}: {file.name} can't be started there: {said}",
                "It is linked with the C library of this machine (glibc). Install tautochrone there, in the "
                f"same version, {otherwise}.",
            )
        return UsageError(f"{here}: {file.name} says there: {said}", "Build it anew: `make setup`.")


def _is_ours(said: str, name: str) -> bool:
    """Return whether it says that it is of this version, as far as this version is known."""
    version = own_version()
    words = said.split()
    return words[:1] == [name] and (version is None or words[1:2] == [version])


_OF_A_COPY = {"TAUTO_INSTEAD_OF_SETCAP": "log in there as root (--on ssh:root@HOST)"}
"""The environment of the pushed probe: its file can't be given rights, as it is new each time."""


def connect(address: SshAddress, root: str | None = None) -> Target:
    """Log in, push the probe, start the keeper where it is Linux; see `Target` for `root`.

    Raises:
        UsageError: there is no probe for it.
        NotPermittedError: it does not let this user in, or its host key is not the known one.
        MeasuringError: it can't be reached.
    """
    background = Background()
    try:
        link = Link(background, log_in(background, address), str(address))
    except BaseException:
        background.close()
        raise
    try:
        try:
            return SshTarget(address, background, link, root)
        except NoShellError:
            if (machine := machine_of(link, str(address))) is None:
                raise
            return WindowsTarget(str(address), machine, background, link)
    except BaseException:
        link.close()
        background.close()
        raise


class SshTarget(Target):
    """Probes, loads and keeper as programs over one connection.

    When it is cut, guards end what they started, and keepers undo what they changed.
    """

    patience = ("--patience", "5s")

    def __init__(
        self, address: SshAddress, background: Background, link: Link, root: str | None = None
    ) -> None:
        super().__init__("", "", root)
        self.name = str(address)
        self._background = background
        self._link = link
        landing = Landing(link, self.name, [*self.keeper_words(), *self.patience])
        self.probe, self.agent, self._machine = landing.probe, landing.agent, landing.machine
        self._programs = PushedPrograms(link, landing, self.name)
        self._standing = Keeper(landing.keeper)
        self._files = FarFiles(self.keeper)

    def address_here(self) -> str | None:
        return self._link.address_here

    def address_there(self) -> str | None:
        return self._link.address_there

    def files(self) -> Files:
        return self._files

    def provide(self, transport: str) -> None:
        self._programs.provide(transport)

    def own_code(self, code: str) -> str:
        brought = self._programs.own_code(code)
        self.environment = brought.environment
        return brought.named

    @property
    def machine(self) -> str:
        return self._machine

    def own_files(self, path: Path) -> str:
        return self._programs.own_files(path)

    def forget_files(self) -> None:
        self._files.forget()

    def run(self, command: Sequence[str], environment: Mapping[str, str]) -> Program:
        words = [f"{name}={value}" for name, value in {**_OF_A_COPY, **environment}.items()]
        return self._link.start(f"exec {shlex.join(['env', *words, *command])}", beats=True)

    def close(self) -> None:
        """End the keeper, which removes the probe, then the connection."""
        try:
            super().close()
        except MeasuringError:
            pass  # the connection is gone already, and that was told by whatever needed it
        finally:
            self._link.close()
            self._background.close()
