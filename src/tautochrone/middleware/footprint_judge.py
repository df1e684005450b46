"""Memory of middleware: libraries and programs by section, the running server (schmidt2002, 3.4)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec import Struct, field
from msgspec.structs import replace

from tautochrone.judge.middleware_setting import CallSetting, setting_of
from tautochrone.run.folder import StoredRun
from tautochrone.target.middleware import SIZES

SECTIONS = ("text", "rodata", "data", "bss")
MOMENTS = ("started", "connected", "served")
STATIC, SHARED = "static", "shared"
_MEMORY = "memory"


class Binary(Struct, frozen=True):
    """A library or a program, in bytes; None: not known.

    Attributes:
        linked: "static" or "dynamic" of a program, "static" or "shared" of a library.
    """

    name: str = "not known"
    text: int | None = None
    rodata: int | None = None
    data: int | None = None
    bss: int | None = None
    linked: str = ""

    @property
    def sections(self) -> tuple[int | None, ...]:
        """Return the sizes as `SECTIONS` has them."""
        return self.text, self.rodata, self.data, self.bss

    @property
    def total(self) -> int | None:
        """Return the size of all sections; None: one is not known."""
        return _sum(self.sections)


class _Library(Binary, frozen=True):
    """A library as the build noted it; how it is linked is its kind there."""

    linked: str = field(name="kind", default="")


class _Sizes(Struct, frozen=True):
    """What the build noted of a transport."""

    libraries: tuple[_Library, ...] = ()
    shared: tuple[_Library, ...] = ()
    programs: tuple[Binary, ...] = ()
    absent: dict[str, str] = field(default_factory=dict)
    built: dict[str, str | int | None] | None = None


class Resident(Struct, frozen=True):
    """Memory of the running server, in bytes; None: the system can't tell.

    Attributes:
        moment: one of `MOMENTS`.
        servants: how many it had.
        private: of its resident memory what no other process shares.
        proportional: each shared page divided by how many processes share it.
    """

    moment: str = field(name="at", default="")
    servants: int | None = None
    calls: int | None = None
    threads: int | None = None
    resident: int | None = field(name="resident_bytes", default=None)
    proportional: int | None = field(name="proportional_bytes", default=None)
    private: int | None = field(name="private_bytes", default=None)
    anonymous: int | None = field(name="anonymous_bytes", default=None)
    peak: int | None = field(name="peak_bytes", default=None)

    @property
    def shared(self) -> int | None:
        """Return what is resident and not private."""
        if self.resident is None or self.private is None:
            return None
        return max(0, self.resident - self.private)


@dataclass(frozen=True)
class FootprintRun:
    """One run.

    Attributes:
        libraries: of which the middleware consists, static and shared; none of the system's own sockets.
        programs: the server, linked statically or dynamically.
        built: by which compiler and how, in words; empty: not told.
        absent: "libraries", "program", or "static", the program that is linked statically; and why there is
            none, or nothing is known of it.
        memory: in the order in which it was read.
    """

    id: str
    setting: CallSetting
    libraries: tuple[Binary, ...]
    programs: tuple[Binary, ...]
    absent: Mapping[str, str]
    memory: tuple[Resident, ...]
    built: str = ""

    @property
    def library(self) -> Binary | None:
        """Return all static libraries together, or without one the shared ones; None: there is none."""
        for kind in (STATIC, SHARED):
            own = [one for one in self.libraries if one.linked == kind]
            if own:
                columns = zip(*(one.sections for one in own), strict=True)
                text, rodata, data, bss = map(_sum, columns)
                return Binary(" + ".join(one.name for one in own), text, rodata, data, bss, kind)
        return None


def footprint_of(run: StoredRun) -> FootprintRun:
    """Return what a run says of memory; it may have been cut off."""
    manifest = run.manifest
    told = manifest.conditions.told(SIZES, _Sizes) or _Sizes()
    return FootprintRun(
        id=run.id,
        setting=setting_of(manifest),
        libraries=(
            *(replace(one, linked=one.linked or STATIC) for one in told.libraries),
            *(replace(one, linked=one.linked or SHARED) for one in told.shared),
        ),
        programs=told.programs,
        absent=told.absent,
        memory=tuple(event.told(Resident) for event in manifest.events if event.event == _MEMORY),
        built=", ".join(_built(told.built or {})),
    )


def served(runs: Iterable[FootprintRun]) -> Resident | None:
    """Return the memory after the calls with the most servants, else the last reading, if there is one."""
    memory = [one for run in runs for one in run.memory]
    there = [one for one in memory if one.moment == MOMENTS[-1]] or memory
    return max(there, key=lambda one: one.servants or 0, default=None)


def _built(told: Mapping[str, object]) -> Iterator[str]:
    """Say ``gcc 12.2.0, -O3``: the compiler with its version, and how much it was to optimise."""
    level = told.get("optimization")
    rest = [str(one) for name, one in told.items() if name != "optimization" and one]
    if rest:
        yield " ".join(rest)
    if level is not None and str(level):
        yield f"-O{level}"


def _sum(parts: Sequence[int | None]) -> int | None:
    known = [one for one in parts if one is not None]
    return sum(known) if len(known) == len(parts) else None
