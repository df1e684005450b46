"""Debian's packages: from its sources by this machine's apt, unpacked in the cache, nothing is installed."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tautochrone.base.errors import MeasuringError, StoreError, TautoError, UsageError
from tautochrone.target.virtual.cache import (
    Tell,
    cache_folder,
    folder_of,
    is_whole,
    whole_folder,
    write_whole,
)

# Programs that end with the lab, however that ends.


def ends_with_us() -> tuple[str, ...]:
    """Goes before a command, which then ends with the thread that started it; nothing without setpriv."""
    return ("setpriv", "--pdeathsig", "KILL") if shutil.which("setpriv") else ()


# Debian's package sources, asked with this machine's apt, which stays as it is: nothing is installed.
#
# For this machine's own architecture its own lists are asked first. Where they lack a package or are too
# old, and for the other architecture, the lab has lists of its own in its cache, from the same sources with
# the same keys.


ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""What Debian calls the architectures."""

_LOOK_INTERVAL_S = 0.1
_LOOK_AT_SOURCES = "Look at the network, and at the sources in /etc/apt."
_KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_OF_NO_USE = ("Acquire::IndexTargets", "Acquire::Changelogs")  # pictures of applications, and the like


@dataclass(frozen=True)
class Package:
    """One that the lists have.

    Attributes:
        depends: the packages that it needs, by name; of alternatives the first.
    """

    name: str
    version: str
    architecture: str
    depends: tuple[str, ...]
    size: int

    @property
    def file(self) -> str:
        """Return its name as a file or a folder."""
        return f"{self.name}_{self.version.replace(':', '%3a')}_{self.architecture}"


class Lists:
    """Lists of packages of one architecture: the lab's own ones in a folder, or (None) this machine's."""

    def __init__(self, architecture: str, folder: Path | None = None, suite: str | None = None) -> None:
        """Of the suites that this machine's apt knows, or (the lab's own ones) of another one of Debian's."""
        self._architecture = architecture
        self._folder = folder
        self._suite = suite
        self._lacking = ""

    @property
    def are_there(self) -> bool:
        """Return whether they can be asked."""
        return self._folder is None or any(self._folder.glob("lists/*_Packages*"))

    def find(self, name: str, version: str | None = None) -> Package | None:
        """Return the package, the newest of it if no version is given; None: the lists don't have it."""
        wanted = name if version is None else f"{name}={version}"
        command = ["apt-cache", "show", "--no-all-versions", wanted]
        told = subprocess.run(command, env=self._environment(), capture_output=True, text=True, check=False)
        return _read_package(told.stdout) if told.returncode == 0 else None

    def update(self, tell: Tell) -> None:
        """Bring the lists; only the lab's own are ever updated.

        Raises:
            MeasuringError: they can't be brought.
        """
        assert self._folder is not None
        tell(f"lists of Debian's packages for {self._architecture}", 0, 0)
        command = [*ends_with_us(), "apt-get", "update", "-q", *_as_this_user()]
        ended = subprocess.run(command, env=self._environment(), capture_output=True, text=True, check=False)
        # How apt-get ends tells little: well without a network, and badly for one source of many. And what
        # it gets may be refused, or cut off.
        begun, failed = (
            set(re.findall(rf"^(?:{how}):(\d+) ", ended.stdout, re.MULTILINE)) for how in ("Get|Hit", "Err")
        )
        if not begun - failed:
            raise MeasuringError(
                f"the lists of packages can't be brought: {_complaint(ended.stderr)}", _LOOK_AT_SOURCES
            )
        self._lacking = _complaint(ended.stderr) if failed else ""

    def lack(self, what: str, advice: str) -> TautoError:
        """Return the error that these lists have no such package; where some were not brought, it says so."""
        if not self._lacking:
            return UsageError(what, advice)
        return MeasuringError(
            f"{what}; but not all lists could be brought: {self._lacking}", _LOOK_AT_SOURCES
        )

    def download(self, package: Package, folder: Path, tell: Tell) -> Path:
        """Bring the package's file into an empty folder.

        Raises:
            MeasuringError: it can't be brought.
        """
        name = f"{package.name}:{package.architecture}={package.version}"
        command = [*ends_with_us(), "apt-get", "download", "-q", *_as_this_user(), name]
        with tempfile.TemporaryFile("w+") as said:
            process = subprocess.Popen(command, env=self._environment(), cwd=folder, stdout=said, stderr=said)
            try:
                while process.poll() is None:
                    tell(package.file, _bytes_in(folder), package.size)
                    time.sleep(_LOOK_INTERVAL_S)
            finally:
                process.kill()
                process.wait()
            said.seek(0)
            words = _complaint(said.read())
        archives = list(folder.glob("*.deb"))
        if process.returncode or len(archives) != 1:
            raise MeasuringError(
                f"{package.file} can't be brought: {words}", "Look at the network, then try again."
            )
        return archives[0]

    def _environment(self) -> dict[str, str]:
        """In which apt uses these lists."""
        _see_apt()
        environment = os.environ | {"LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
        if self._folder is None:
            return environment
        for name in ("lists/partial", "state", "cache/archives/partial"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        file = self._folder / "apt.conf"
        file.touch(0o600)  # it may repeat what others must not read, such as the password of a proxy
        configuration = _configuration(self._architecture, self._folder)
        if self._suite is not None:
            sources = self._folder / "sources.list"
            sources.write_text("".join(f"{line}\n" for line in _sources(self._suite)))
            configuration += [
                f'Dir::Etc::sourcelist "{sources}";',
                'Dir::Etc::sourceparts "/dev/null";',
                f'APT::Default-Release "{self._suite}";',
            ]
        file.write_text("\n".join(configuration) + "\n")
        return environment | {"APT_CONFIG": str(file)}


def _configuration(architecture: str, folder: Path) -> list[str]:
    """This machine's proxies and the like, but none of what its packages want done after an update."""
    dumped = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
    return [
        *(line for line in re.findall("^Acquire::.*$", dumped, re.M) if not line.startswith(_OF_NO_USE)),
        'Dir::Etc::main "/dev/null";',
        'Dir::Etc::parts "/dev/null";',
        f'APT::Architecture "{architecture}";',
        f'APT::Architectures {{ "{architecture}"; }};',
        f'Dir::State "{folder}/state";',
        f'Dir::State::lists "{folder}/lists/";',
        'Dir::State::status "/dev/null";',
        f'Dir::Cache "{folder}/cache";',
        'Acquire::Languages "none";',
    ]


def _sources(suite: str) -> Iterator[str]:
    """A suite of Debian's, beside the release it belongs to, from where this machine has that release."""
    release = suite.partition("-")[0]
    asked = ["apt-get", "indextargets", "--format", "$(ORIGIN) $(CODENAME) $(REPO_URI)"]
    told = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    places = sorted(
        {line.split()[2] for line in told.splitlines() if line.split()[:2] == ["Debian", release]}
    )
    if not places:
        raise UsageError(
            f"the package sources of this system ({_system()}) have no Debian {release}",
            "Where QEMU 10 or later is installed, that one is taken.",
        )
    signed = f" [signed-by={_KEYS}]" if _KEYS.is_file() else ""
    for one in (release, suite):
        yield f"deb{signed} {places[0]} {one} main"


def _as_this_user() -> list[str]:
    """Root's apt would become _apt, who can't enter root's folders."""
    return ["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []


def _bytes_in(folder: Path) -> int:
    with suppress(FileNotFoundError):  # apt renames it at the end
        return sum(path.stat().st_size for path in folder.iterdir())
    return 0


def architecture_of_this_machine() -> str:
    """As Debian calls it."""
    _see_apt()
    told = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True)
    return told.stdout.strip()


def _read_package(text: str) -> Package | None:
    fields = dict(re.findall(r"^([A-Za-z-]+): (.*)$", text.partition("\n\n")[0], re.MULTILINE))
    if not {"Package", "Version", "Architecture", "Size"} <= fields.keys():
        return None
    needed = (re.match(r"[^\s:|(]+", one.strip()) for one in fields.get("Depends", "").split(","))
    return Package(
        fields["Package"],
        fields["Version"],
        fields["Architecture"],
        tuple(found[0] for found in needed if found),
        int(fields["Size"]),
    )


def _see_apt() -> None:
    for program in ("apt-get", "apt-cache", "apt-config", "dpkg"):
        if shutil.which(program) is None:
            raise UsageError(
                f"what guests are made of comes from Debian's packages, by {program}, which is not here",
                "The virtual lab needs Debian 12, or a system much like it.",
            )


def _system() -> str:
    try:
        found = re.search(r'^PRETTY_NAME="?([^"\n]+)', Path("/etc/os-release").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else "unknown"


def _complaint(text: str) -> str:
    """Return what apt says that went wrong: errors first, warnings where there are none."""
    said = [found for kind in "EW" for found in re.findall(rf"^{kind}: (.*?)\s*$", text, re.MULTILINE)]
    return said[0] if said else "apt says nothing about it"


Find = Callable[[Lists], Package | None]
Finish = Callable[[Path], None]
"""What to make of a package that was just unpacked, before others see it."""


def by_name(name: str, version: str | None = None) -> Find:
    """Return the package of that name."""
    return lambda lists: lists.find(name, version)


def by_meta_package(meta: str) -> Find:
    """Return the package that a meta package stands for: the newest of its kind."""

    def find(lists: Lists) -> Package | None:
        standing = lists.find(meta)
        return lists.find(standing.depends[0]) if standing and standing.depends else None

    return find


def bring(
    wanted: str,
    find: Find,
    architecture: str,
    tell: Tell,
    *,
    newest: bool = False,
    finish: Finish | None = None,
) -> tuple[Package, Path]:
    """Return a package, and the folder in which it lies unpacked; for the sole writer of the cache.

    For packages of "all" architectures it is the lists' one. `newest` asks the sources as they are now.

    Raises:
        UsageError: no sources have it.
        MeasuringError: it can't be brought.
        StoreError: it can't be unpacked.
    """
    failure: MeasuringError | None = None
    for lists in _places(architecture, tell, newest=newest):
        package = find(lists)
        if package is None:
            continue
        place = cache_folder() / "packages" / package.file
        if place.is_dir() and is_whole(place):
            return package, place
        try:
            _unpack(lists, package, place, tell, finish)
        except MeasuringError as error:  # the lists may be old
            failure = error
            continue
        return package, place
    raise failure or lists.lack(
        f"the package sources of this system ({_system()}) have no package {wanted}",
        "The names debian:… mean packages of Debian 12. Any other kernel can be given: "
        "tauto lab fetch --kernel PATH --modules DIR --name NAME.",
    )


def _places(architecture: str, tell: Tell, *, newest: bool) -> Iterator[Lists]:
    """Where to look, one after the other: what costs time comes last."""
    own = Lists(architecture, cache_folder() / "lists" / architecture)
    if not newest:
        if architecture_of_this_machine() == architecture:
            yield Lists(architecture)
        if own.are_there:
            yield own
    own.update(tell)
    yield own


def _unpack(lists: Lists, package: Package, place: Path, tell: Tell, finish: Finish | None) -> None:
    with whole_folder(place) as content:
        unpack_into(content, lists, package, tell)
        if finish is not None:
            finish(content)


def unpack_into(content: Path, lists: Lists, package: Package, tell: Tell) -> None:
    """Bring a package and unpack it into a folder that is being filled (`whole_folder`).

    Raises:
        MeasuringError: it can't be brought.
        StoreError: it can't be unpacked.
    """
    with tempfile.TemporaryDirectory(dir=content.parent) as download:
        archive = lists.download(package, Path(download), tell)
        tell(f"{package.file}: unpacking", 0, 0)
        unpack = [*ends_with_us(), "dpkg", "-x", str(archive), str(content)]
        ended = subprocess.run(unpack, capture_output=True, text=True, check=False)
        if ended.returncode:
            raise StoreError(
                f"{archive.name} can't be unpacked: {ended.stderr.strip()}", "Is there space for it?"
            )


# The busybox of every guest.


def bring_busybox(architecture: str, tell: Tell, *, newest: bool = False) -> None:
    """Have the busybox for guests of an architecture. To be called by the sole writer of the cache."""
    known = _known_busybox(architecture)
    if known is not None and not newest and is_whole(folder_of(known)):
        return
    package = "busybox-static"
    _, place = bring(package, by_name(package), ARCHITECTURES[architecture], tell, newest=newest)
    usual, merged = place / "bin" / "busybox", place / "usr" / "bin" / "busybox"  # merged: from Debian 13 on
    relative = (usual if usual.is_file() else merged).relative_to(cache_folder())
    write_whole(_record(architecture), (json.dumps({"busybox": str(relative)}) + "\n").encode())


def find_busybox(architecture: str) -> Path:
    """Return the busybox for guests of an architecture.

    Raises:
        UsageError: it was not fetched.
    """
    path = _known_busybox(architecture)
    if path is None:
        name = "debian:rt/arm64" if architecture == "aarch64" else "debian:rt"
        raise UsageError(
            f"the busybox for guests of {architecture} was not fetched",
            f"It comes with any kernel of Debian: `tauto lab fetch {name}`.",
        )
    return path


def _known_busybox(architecture: str) -> Path | None:
    try:
        path = cache_folder() / json.loads(_record(architecture).read_text())["busybox"]
    except (OSError, ValueError, KeyError):
        return None
    return path if path.is_file() else None


def _record(architecture: str) -> Path:
    return cache_folder() / "tools" / f"busybox-{architecture}.json"
