"""Getting the probe onto the machine: a fresh folder, the program, and a shell that removes them at the end.

One shell holds all together. It makes the folder, waits for the word that the probe is there, becomes the
parent of the keeper, and removes the folder when the keeper has ended: because it was told to, or because the
connection was cut, which the keeper notices. If that happens earlier, the shell's own input ends.
"""

import secrets
import shlex
from collections.abc import Sequence
from pathlib import Path

from tautochrone.base.errors import MeasuringError, NotPermittedError, UsageError
from tautochrone.target.probes import find_probe_for, how_to_build
from tautochrone.target.program import ask
from tautochrone.target.ssh.link import Link
from tautochrone.target.ssh.program import RemoteProgram
from tautochrone.target.target import Answer

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
    'if read word && [ "$word" = keep ]; then "$found/tauto-probe" {keep}; fi; rm -rf "$found"'
)


class Landing:
    """The pushed probe, and the keeper that stays as long as we do.

    Attributes:
        machine: its kind, as ``uname -m`` has it.
        probe: its path there.
        keeper: the program; its end removes everything.
    """

    def __init__(self, link: Link, name: str, keep: Sequence[str]) -> None:
        """Push the probe and start the keeper.

        Args:
            name: of the machine, for people.
            keep: the keeper's arguments.

        Raises:
            UsageError: there is no probe for its architecture.
            NotPermittedError: there is no folder that this user may write into and start programs from.
            MeasuringError: the connection was lost, or the probe can't run there.
        """
        folder_name = f"tautochrone-{secrets.token_hex(8)}"
        script = _HOLD.format(name=folder_name, keep=" ".join(shlex.quote(word) for word in keep))
        self.keeper = link.start(f"exec sh -c {shlex.quote(script)}", _as_it_is, beats=False)
        try:
            self.machine, folder = _first_words(self.keeper, name)
            self.probe = f"{folder}/tauto-probe"
            _push(link, find_probe_for(self.machine), self.probe, name)
        except BaseException:
            self.keeper.release()  # its input ends: it removes the folder
            raise
        self.keeper.write(b"keep\n")
        link.beat(self.keeper)


def _first_words(holder: RemoteProgram, name: str) -> tuple[str, str]:
    """What kind of machine it is, and the folder that was made."""
    said = b""
    while b"\n" not in said:
        data = holder.read()
        if not data:
            raise MeasuringError(
                f"{name} has no POSIX shell that can be used: "
                f"{' '.join(holder.messages()) or 'it said nothing'}",
                "`ssh HOST uname -m` must print a word, and nothing else.",
            )
        said += data
    machine, _, folder = said.decode(errors="replace").splitlines()[-1].partition(" ")
    if not folder.startswith("/"):
        raise NotPermittedError(
            f"{name} has no folder into which this user may write and from which it may start programs",
            "Log in as another user, or mount one of /run, /tmp, /var/tmp, /dev/shm without noexec.",
        )
    return machine, folder


def _push(link: Link, probe: Path, place: str, name: str) -> None:
    answer = push(link, probe, place, name)
    if answer.exit_code != 0:
        raise MeasuringError(
            f"{probe.name} does not run on {name}: {' '.join(answer.messages) or 'it said nothing'}"
        )
    _check_version(answer.text, probe)


def push(link: Link, file: Path, place: str, name: str) -> Answer:
    """Write a program to this place, and ask it there for its version.

    Raises:
        MeasuringError: it could not be written, or the connection was lost.
    """
    content = file.read_bytes()
    quoted = shlex.quote(place)
    script = f"cat >{quoted} && chmod 700 {quoted} && wc -c <{quoted} && {quoted} --version"
    program = link.start(f"exec sh -c {shlex.quote(script)}", _as_it_is, beats=False)
    program.write(content)
    program.close_input()
    answer = ask(program, f"--version on {name}", _PATIENCE_S)
    size, _, version = answer.text.strip().partition("\n")
    if size.strip() != str(len(content)):
        raise MeasuringError(
            f"{file.name} could not be written to {place} on {name}: "
            f"{' '.join(answer.messages) or 'no words'}",
            "Is there room for it?",
        )
    return Answer(answer.exit_code, version, answer.messages)


def _check_version(said: str, probe: Path) -> None:
    from tautochrone.base.version import own_version

    ours = own_version()
    theirs = said.strip().removeprefix("tauto-probe ")
    if ours is not None and theirs != ours:
        raise UsageError(
            f"{probe} is version {theirs}, and this is version {ours}",
            how_to_build(),
        )


def _as_it_is(line: str) -> str:
    return line
