"""What people write after --on."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields

from tautochrone.base.errors import UsageError
from tautochrone.base.words import near, suggestion

# What people write for a virtual machine: the name of a kernel, and what follows `--on lab:`.
#
# lab:debian-rt, lab:debian-rt/arm64,smp=4, lab:debian-stock,preempt=none,append=isolcpus=1-3 nohz_full=1


FLAVOURS = {
    "stock": "",
    "rt": "rt-",
    "cloud": "cloud-",
    "6.12": "6.12-",
    "6.12-rt": "6.12-rt-",
    "6.12-cloud": "6.12-cloud-",
}
"""Debian 12's kernels, as the lab calls them, and what of it is in the name of their package."""

PREEMPTION_MODELS = ("none", "voluntary", "full", "lazy")
DEFAULT_SHIFT = 1
"""Of 2**shift ns for each instruction: 3 hides outliers, 0 is closer to hardware and slower."""

DEFAULT_TURN_US = 10
"""How long a virtual CPU runs, at most, before it is the next one's turn."""

_DEBIAN_ARCHITECTURES = {"amd64": "", "x86_64": "", "x86-64": "", "arm64": "/arm64", "aarch64": "/arm64"}
_DEBIAN = re.compile(r"debian[:-](?P<flavour>[^/]*)(?:/(?P<architecture>.*))?")
_OWN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_NUMBERS = {
    "smp": ("cpus", 1, 64),
    "threads": ("threads", 1, 8),
    "shift": ("shift", 0, 10),
    "turn": ("turn_us", 1, 10_000),
    "memory": ("memory_mib", 96, 65536),  # with less Debian's RT kernel does not boot
}
"""By option its name in the address, and the least and the most that it can be."""

_UNITS = {"turn": "us"}
_OPTIONS = (*_NUMBERS, "preempt", "append")


@dataclass(frozen=True)
class LabAddress:
    """A virtual machine that somebody wants.

    Attributes:
        kernel: its canonical name, ``debian:rt/arm64`` or one's own.
        cpus: virtual CPUs.
        threads: of them on one core.
        shift: an instruction takes 2**shift ns; None: nobody chose one.
        turn_us: how long a CPU runs before it is the next one's turn; None: nobody chose.
        memory_mib: its memory.
        append: further parameters of the kernel.
    """

    kernel: str
    cpus: int = 1
    threads: int = 1
    shift: int | None = None
    turn_us: int | None = None
    memory_mib: int = 1024
    append: str = ""

    def __str__(self) -> str:
        """Return the kernel's name and what is not usual, as `tauto lab diff` takes and shows it."""
        usual = {field.name: field.default for field in fields(self)}
        words = [self.kernel]
        for option, (name, _, _) in _NUMBERS.items():
            if (value := getattr(self, name)) != usual[name]:
                words.append(f"{option}={value}{_UNITS.get(option, '')}")
        model, appended = self._preemption_first()
        words += [f"preempt={model}"] if model else []
        words += [f"append={appended}"] if appended else []
        return ",".join(words)

    @property
    def where(self) -> str:
        """As one types it after --on, where a kernel has a hyphen: a colon is after `lab` already."""
        return f"lab:{str(self).replace(':', '-', 1) if is_debian(self.kernel) else self}"

    def _preemption_first(self) -> tuple[str, str]:
        """Return the preemption model that `preempt=` can say, or nothing; the other parameters."""
        first, _, others = self.append.partition(" ")
        option, _, model = first.partition("=")
        if option != "preempt" or model not in PREEMPTION_MODELS or "preempt=" in others:
            return "", self.append
        return model, others


def canonical_kernel(text: str) -> str:
    """Return the name of a kernel in the one form in which it is stored and shown.

    Raises:
        UsageError: nothing can have this name.
    """
    found = _DEBIAN.fullmatch(text)
    if found is None:
        if _OWN.fullmatch(text):
            return text
        kind, colon, rest = text.partition(":")
        meant = f" Did you mean 'debian:{rest}'?" if colon and near(kind, ["debian"]) else ""
        raise UsageError(
            f"'{text}' is not the name of a kernel",
            f"Names are debian:rt, debian:stock/arm64, or your own of letters, digits and ._+-.{meant}",
        )
    architecture = found["architecture"]
    if architecture is not None and architecture not in _DEBIAN_ARCHITECTURES:
        raise UsageError(
            f"'{text}': the virtual lab has no kernels for '{architecture}'",
            "Leave it out for x86-64, or write /arm64.",
        )
    if found["flavour"] not in FLAVOURS:
        raise UsageError(
            f"'{text}': the virtual lab has no such kernel of Debian",
            suggestion(
                found["flavour"],
                FLAVOURS,
                f"There are: {', '.join(f'debian:{one}' for one in FLAVOURS)}.",
                "'debian:{}'".format,
            ),
        )
    return f"debian:{found['flavour']}{_DEBIAN_ARCHITECTURES[architecture or 'amd64']}"


def is_debian(kernel: str) -> bool:
    """Return whether a canonical name is one of those that can be fetched from Debian's packages."""
    return kernel.startswith("debian:")


def known_kernels() -> list[str]:
    """Return the canonical names that can be fetched, in the order in which one lists them."""
    return [f"debian:{flavour}{suffix}" for suffix in ("", "/arm64") for flavour in FLAVOURS]


def read_lab_address(text: str) -> LabAddress:
    """Return the virtual machine that is meant by what stands after ``lab:``.

    Raises:
        UsageError: malformed, or an option that is not there.
    """
    words, appended = _split(text)
    kernel = canonical_kernel(words[0])
    given: dict[str, str] = {}
    for word in words[1:]:
        option, equals, value = word.partition("=")
        if not word:
            raise UsageError(f"lab:{text}: an option is missing beside a comma", "Leave the comma out.")
        if option not in _OPTIONS:
            raise UsageError(
                f"lab:{text}: there is no option '{option}'",
                f"{suggestion(option, _OPTIONS)} A parameter of the kernel: append={word}",
            )
        if not equals or not value:
            raise UsageError(f"lab:{text}: '{option}' lacks its value", f"Write {option}=VALUE.")
        if option in given:
            raise UsageError(f"lab:{text}: '{option}' is given twice", "Give it once.")
        given[option] = value
    numbers = {
        name: _number(text, option, given[option], least, most)
        for option, (name, least, most) in _NUMBERS.items()
        if option in given
    }
    cpus, threads = numbers.get("cpus", 1), numbers.get("threads", 1)
    if cpus % threads:
        raise UsageError(
            f"lab:{text}: {cpus} CPUs can't be cores of {threads} threads each",
            "Let smp be a multiple of threads.",
        )
    return LabAddress(kernel, append=_parameters(text, given.get("preempt"), appended), **numbers)


def meant_kernel(word: str, every: str, own: Iterable[str] = ()) -> str:
    """Return which of Debian's kernels and of one's own was meant; `debian:` may have been forgotten."""
    known = known_kernels()
    return suggestion(f"debian:{word}" if f"debian:{word}" in known else word, [*own, *known], every)


def _split(text: str) -> tuple[list[str], str]:
    """Return the words between commas, and what stands after `append=`, commas and all."""
    before, append, appended = text.partition(",append=")
    if append and not appended.strip():
        raise UsageError(f"lab:{text}: 'append' lacks its value", "Write append=PARAMETERS, last of all.")
    if not appended.isprintable():
        raise UsageError(f"lab:{text!r}: not a line of kernel parameters", "Write one line, without tabs.")
    return before.split(","), " ".join(appended.split())


def _number(text: str, option: str, value: str, least: int, most: int) -> int:
    unit = _UNITS.get(option, "")
    digits = value.removesuffix(unit)
    if (
        not digits.isascii()
        or not digits.isdigit()
        or digits + unit != value
        or not least <= int(digits) <= most
    ):
        shown = " (MiB)" if option == "memory" else ""
        raise UsageError(
            f"lab:{text}: {option} is a number from {least}{unit} to {most}{unit}{shown}",
            f"Write {option}={least}{unit} or more.",
        )
    return int(digits)


def _parameters(text: str, preempt: str | None, appended: str) -> str:
    if preempt is None:
        return appended
    if preempt not in PREEMPTION_MODELS:
        raise UsageError(
            f"lab:{text}: there is no preemption model '{preempt}'",
            suggestion(preempt, PREEMPTION_MODELS),
        )
    if any(word.startswith("preempt=") for word in appended.split()):
        raise UsageError(f"lab:{text}: 'preempt' is given twice", "Leave it out of append=.")
    return f"preempt={preempt} {appended}".rstrip()


_FORMS = (
    "Write local, ssh:[user@]host[:port] (an IPv6 address goes into brackets: ssh:root@[fe80::1]:22), "
    "labgrid:PLACE, or lab:KERNEL for a virtual machine, as in lab:debian-rt."
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


@dataclass(frozen=True)
class LabgridAddress:
    """A board that labgrid manages, by the name of its place."""

    place: str

    def __str__(self) -> str:
        """As people write it."""
        return f"labgrid:{self.place}"


_PLACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")


def is_of_lab(where: str) -> bool:
    """Return whether this is the address of a guest of the virtual lab, well formed or not."""
    return where.startswith("lab:")


def read_address(where: str) -> SshAddress | LabAddress | LabgridAddress | None:
    """Return the machine that is meant; None: this one.

    Raises:
        UsageError: no such kind, or not of its form.
    """
    kind, colon, rest = where.partition(":")
    if where == "local":
        return None
    if kind == "lab" and colon:
        return read_lab_address(rest)
    if kind == "labgrid" and colon:
        if not _PLACE.fullmatch(rest):
            raise UsageError(f"{where}: not the name of a place of labgrid", "Write labgrid:PLACE.")
        return LabgridAddress(rest)
    if kind != "ssh" or not colon:
        kernel = where.partition(",")[0].replace("-", ":", 1)
        meant = f"Did you mean lab:{where}? " if kernel in known_kernels() else ""
        raise UsageError(f"{where}: no such kind of machine", meant + _FORMS)
    found = _SSH.fullmatch(rest)
    if found is None:
        raise UsageError(f"{where}: not an address of a machine", _FORMS)
    port = int(found["port"]) if found["port"] else None
    if port is not None and not 0 < port <= _HIGHEST_PORT:
        raise UsageError(f"{where}: a port is a number from 1 to {_HIGHEST_PORT}", _FORMS)
    return SshAddress(found["bracketed"] or found["host"], found["user"], port)
