"""A store on a machine that SSH reaches: what must be there is a POSIX shell, find, tar and sha256sum."""

import os
import re
import shlex
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import IO, NoReturn, Self

from tautochrone.base.errors import StoreError, TautoError, UnreachableError, UsageError
from tautochrone.base.own_folder import own_folder
from tautochrone.base.words import printable
from tautochrone.merging.places import RUN_ID, TABLE, Hashes, Listing, Sizes
from tautochrone.run import files
from tautochrone.run.arrival import ARRIVING
from tautochrone.run.remarks import REMARKS
from tautochrone.target.address import SshAddress, read_address

_FORM = re.compile(r"(ssh:(?:[^@\s/]+@)?(?:\[[^\]]+\]|[^:\s/\[\]]+)(?::[0-9]{1,5})?)(?::(.+))?", re.DOTALL)
_DEFAULT = '"${TAUTO_STORE:-${XDG_DATA_HOME:-$HOME/.local/share}/tautochrone/runs}"'
_OF_SSH = ("-T", "-o", "ConnectTimeout=20", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=6")
_LONGEST_SOCKET = 50
_SSH_FAILED = 255

_NAME = (
    rf"\./({RUN_ID})/({re.escape(files.MANIFEST)}|{re.escape(REMARKS)}|{re.escape(files.RAW_STREAM)}|{TABLE})"
)
_SIZE = re.compile(rf"-\S*\s+\d+\s+\S+\s+\S+\s+(\d+)\s.*\s{_NAME}")
_SUM = re.compile(rf"([0-9a-f]{{64}}) [ *]{_NAME}")

# What is run there: no exclamation mark, so that any login shell passes it on as it is. Where another push
# has just brought a run, mv puts ours into it, which is taken away again.

_SUMS = 'if command -v sha256sum >/dev/null; then sum=sha256sum; else sum="shasum -a 256"; fi'
_LIST = (
    'cd -- "$store" && export LC_ALL=C && find . -mindepth 2 -maxdepth 2 -type f '
    f"\\( -name {files.MANIFEST} -o -name '*.parquet' -o -name {REMARKS} -o -name {files.RAW_STREAM} \\) "
    "-exec ls -ln {} +"
)
_SEALS = (
    f'{_SUMS}; cd -- "$store" && '
    f"find . -mindepth 2 -maxdepth 2 -type f -name {files.MANIFEST} -exec $sum {{}} +"
)
_HASHES = f'{_SUMS}; cd -- "$store" && tr "\\n" "\\0" | xargs -0 $sum 2>/dev/null; true'
_SEND = 'cd -- "$store" && tr "\\n" "\\0" | xargs -0 tar -cf -'
_BEGIN = (
    'mkdir -p -- "$store" && cd -- "$store" && '
    f"find . -maxdepth 1 -name '{ARRIVING}*' -mtime +0 -exec rm -rf {{}} + ; mkdir -m 700 \"$stage\""
)
_RECEIVE = 'cd -- "$store/$stage" && tar -xf -'
_CHECK = f'{_SUMS}; cd -- "$store/$stage" && find . -mindepth 2 -maxdepth 2 -type f -exec $sum {{}} +'
_ADMIT = (
    'cd -- "$store" && sync && while read -r run; do '
    '[ -e "$run" ] || { mv "$stage/$run" "$run" && '
    'if [ -e "$run/$run" ]; then rm -rf "$run/$run"; else echo "$run"; fi; }; done'
)
_END = 'cd -- "$store" && rm -rf "$stage"'


class FarPlace:
    """A store that SSH reaches, by the system's own ssh, which logs in once."""

    def __init__(self, text: str, *, must_be_there: bool) -> None:
        """Read ``ssh:[USER@]HOST[:PORT][:PATH]``; nobody is asked yet.

        Args:
            must_be_there: a store that is not there is a mistake; otherwise it has no runs, and is made.

        Raises:
            UsageError: it is not of this form.
        """
        found = _FORM.fullmatch(text)
        address = read_address(found[1]) if found is not None else None
        if found is None or not isinstance(address, SshAddress):
            raise UsageError(
                f"{printable(text)}: not an address of a store", "Write ssh:[user@]host[:port][:path]."
            )
        self.name, self.address = text, address
        self._list = _LIST if must_be_there else f'if [ -e "$store" ]; then {_LIST}; fi'
        self._store = _quoted(found[2]) if found[2] else _DEFAULT
        self._held = ExitStack()

    def __enter__(self) -> Self:
        """Hold one connection for all that follows."""
        if shutil.which("ssh") is None:
            raise UsageError(
                "There is no ssh here, which reaches other machines", "apt-get install openssh-client"
            )
        folder = str(self._held.enter_context(own_folder("tauto-merge-")))
        self._shared: tuple[str, ...] = ()
        if len(folder) <= _LONGEST_SOCKET:
            self._shared = (
                *("-o", "ControlMaster=auto", "-o", f"ControlPath={folder}/%C", "-o", "ControlPersist=30"),
            )
            self._held.callback(self._hang_up)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the connection."""
        self._held.close()

    def listing(self) -> Listing:
        """Return what it has."""
        runs: dict[str, dict[str, int]] = {}
        for line in self._said(self._list).splitlines():
            if (found := _SIZE.fullmatch(line)) is not None:
                runs.setdefault(found[2], {})[found[3]] = int(found[1])
        whole = {run: sizes for run, sizes in sorted(runs.items()) if _is_whole(sizes)}
        return Listing(dict(whole), tuple(run for run in runs if run not in whole))

    def seals(self, runs: Sequence[str]) -> dict[str, str]:
        """Return the SHA-256 of the manifests of runs."""
        if not runs:
            return {}
        wanted = set(runs)
        return {run: one for (run, _), one in _sums(self._said(_SEALS)).items() if run in wanted}

    def hashes(self, runs: Mapping[str, Sizes]) -> Hashes:
        """Return the SHA-256 of every file of these runs."""
        return _sums(self._said(_HASHES, _lines(f"./{run}/{name}" for run in runs for name in runs[run])))

    def bring(self, runs: Mapping[str, Sizes], into: Path) -> None:
        """Take a tar stream of the files of these runs apart; nothing else is written."""
        for run in runs:
            (into / run).mkdir()
        wanted = {f"./{run}/{name}": size for run, sizes in runs.items() for name, size in sizes.items()}
        with self._talk(_SEND) as talk:
            assert talk.stdin is not None
            assert talk.stdout is not None
            with suppress(BrokenPipeError):
                talk.stdin.write(_lines(wanted))  # of one batch: no more than a pipe holds
                talk.stdin.close()
            with suppress(tarfile.TarError, EOFError):  # what is missing then is seen by its hash
                _extract(talk.stdout, wanted, into)

    def take(
        self, source: Path, runs: Mapping[str, Sizes], hashes: Hashes
    ) -> tuple[list[str], dict[str, str]]:
        """Store runs of a folder there; return those that arrived whole, and why others did not."""
        stage = f"{ARRIVING}{token_hex(8)}"
        self._said(_BEGIN, stage=stage)
        try:
            with self._talk(_RECEIVE, stage) as talk:
                assert talk.stdin is not None
                with suppress(BrokenPipeError):
                    _send(talk.stdin, source, runs)
                    talk.stdin.close()
            there = _sums(self._said(_CHECK, stage=stage))
            whole = [run for run in runs if _arrived(run, runs[run], hashes, there)]
            admitted = set(self._said(_ADMIT, _lines(whole), stage).splitlines())
        finally:
            with suppress(TautoError):
                self._said(_END, stage=stage)
        refused = {run: "it did not arrive as it is here" for run in runs if run not in whole}
        refused |= {run: "another program has brought it meanwhile" for run in whole if run not in admitted}
        return [run for run in whole if run in admitted], refused

    # One command there.

    def _said(self, script: str, told: bytes = b"", stage: str = "") -> str:
        with self._talk(script, stage) as talk:
            said, _ = talk.communicate(told)
        return said.decode(errors="replace")

    @contextmanager
    def _talk(self, script: str, stage: str = "") -> Iterator[subprocess.Popen[bytes]]:
        """Run a script there, and see that it did its work.

        Raises:
            UnreachableError: the machine can't be reached, or does not let us in.
            StoreError: something went wrong there.
        """
        inside = f"store={self._store}; stage={stage}; {script}"
        command = [*self._ssh(), "--", self.address.host, f"exec sh -c {shlex.quote(inside)}"]
        with tempfile.TemporaryFile() as errors:
            talk = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
            try:
                yield talk
            except BaseException:
                talk.kill()
                raise
            finally:
                for pipe in (talk.stdin, talk.stdout):
                    with suppress(OSError):
                        pipe and pipe.close()
                talk.wait()
            if talk.returncode:
                errors.seek(0)
                self._refuse(talk.returncode, errors.read().decode(errors="replace"))

    def _ssh(self) -> list[str]:
        port, user = self.address.port, self.address.user
        named = [*(("-p", str(port)) if port else ()), *(("-l", user) if user else ())]
        return ["ssh", *_OF_SSH, *self._shared, *named]

    def _refuse(self, code: int, told: str) -> NoReturn:
        lines = [one.strip() for one in told.splitlines() if one.strip()]
        said = printable(lines[-1 if code == _SSH_FAILED else 0]) if lines else "it said nothing"
        if code == _SSH_FAILED:
            raise UnreachableError(
                f"{self.name} can't be reached: {said}", f"Try: ssh {self.address.host} true"
            )
        raise StoreError(
            f"{self.name} refused: {said}",
            "Runs that arrived stay, and the same command goes on. Another folder there: ssh:HOST:PATH.",
        )

    def _hang_up(self) -> None:
        command = [*self._ssh(), "-O", "exit", "--", self.address.host]
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False)


def _quoted(path: str) -> str:
    """A path for a shell; one that is not absolute begins at the user's home folder there."""
    if path == "~" or path.startswith("~/"):
        return f'"$HOME"/{shlex.quote(path[2:])}' if path[2:] else '"$HOME"'
    return shlex.quote(path) if path.startswith("/") else f'"$HOME"/{shlex.quote(path)}'


def _is_whole(sizes: Sizes) -> bool:
    return files.MANIFEST in sizes and files.RAW_STREAM not in sizes


def _lines(words: Iterable[str]) -> bytes:
    return "".join(f"{word}\n" for word in words).encode()


def _sums(text: str) -> Hashes:
    found = (_SUM.fullmatch(line) for line in text.splitlines())
    return {(one[2], one[3]): one[1] for one in found if one is not None}


def _arrived(run: str, sizes: Sizes, hashes: Hashes, there: Hashes) -> bool:
    return all((run, name) in hashes and hashes[run, name] == there.get((run, name)) for name in sizes)


def _send(stream: IO[bytes], source: Path, runs: Mapping[str, Sizes]) -> None:
    with tarfile.open(fileobj=stream, mode="w|") as archive:
        for run, sizes in runs.items():
            for name in sizes:
                with suppress(FileNotFoundError):  # what is missing then is seen by its hash
                    archive.add(source / run / name, f"{run}/{name}", recursive=False, filter=_of_nobody)


def _of_nobody(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """There it belongs to whoever receives it: root's tar would give it to the user of the same number."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def _extract(stream: IO[bytes], wanted: Mapping[str, int], into: Path) -> None:
    """Write what was asked for, of the sizes that were told, and stop at anything else.

    The stream may be several archives, one after the other, where xargs could not name all files at once.
    """
    with tarfile.open(fileobj=stream, mode="r|", ignore_zeros=True) as archive:
        for entry in archive:
            name = f"./{entry.name.removeprefix('./')}"
            content = archive.extractfile(entry) if entry.isreg() else None
            if content is None or wanted.get(name) != entry.size or os.path.lexists(into / name):
                return
            with (into / name).open("xb") as target:
                shutil.copyfileobj(content, target)
