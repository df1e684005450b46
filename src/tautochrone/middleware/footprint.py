"""Memory of middleware: libraries, programs and the running server, as Figure 7 of schmidt2002 (3.4)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from msgspec import Struct, field, structs
from msgspec.structs import replace

from tautochrone.answer.blocks import Figure, Panel
from tautochrone.answer.charts.signs import Sign
from tautochrone.answer.charts.theme import series_tone
from tautochrone.answer.document import TypedCell, TypedTable, columns, count, formatted, words
from tautochrone.base.words import plural
from tautochrone.judge.middleware_setting import CallSetting, setting_of
from tautochrone.middleware import charts
from tautochrone.middleware.charts import MemoryBar
from tautochrone.middleware.lanes import Lane
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


FootprintLane = Lane[FootprintRun]

_KIB = 1024
_SIZES = columns("", "what", *SECTIONS, "together")
_RESIDENT = columns(
    "", "servants", "threads", "private", "shared", "resident", "proportional", "anonymous", "peak"
)
_GROWTH = columns("", *MOMENTS, "per servant")
_LINKED = {"static": "statically", "dynamic": "dynamically"}
_PARTS, _COLORS = ("private", "shared"), (0, 4, 2, 1)
_SQUARE = "M5 1h12v10h-12z"
_SECTIONS = (
    "text: code; rodata: constants and tables that are only read; data: variables with a value; bss: those "
    "that begin as zeros and take no room in the file. 1 KiB is 1,024 bytes."
)
_STATIC = (
    "Static library: all of its members, as a program would have them that uses every feature (schmidt2002, "
    "3.4); a linker takes what is used."
)
_READ = (
    "Read after the calls. Private: pages of this process alone; shared: the rest of what is resident, such "
    "as the code of libraries that other processes use, too. Proportional: each shared page divided by how "
    "many use it."
)
_FIRST = "Of several runs with as many servants, the first."


def tables(lanes: Sequence[FootprintLane]) -> list[TypedTable]:
    """Return sizes by section, memory of the server, and how it grew with the servants."""
    return [*_sizes(lanes), *_resident(lanes), *_growth(lanes)]


def sentences(lanes: Sequence[FootprintLane]) -> list[str]:
    """Return which is smallest, of each kind of size."""
    libraries = {lane.name: own.total for lane in lanes if (own := _static(lane)) is not None}
    resident = {lane.name: one.resident for lane in lanes if (one := served(lane.runs)) is not None}
    said = []
    for what, sizes in (("Static library", libraries), ("Running server, resident", resident)):
        found = {name: size for name, size in sizes.items() if size is not None}
        if len(found) > 1:
            least, most = (end(found, key=lambda name: found[name]) for end in (min, max))
            low, high = (_kib(found[name]).shown for name in (least, most))
            said.append(
                f"{what}: {least} has the smallest with {low} KiB, {most} the largest with {high} KiB."
                if low != high
                else f"{what}: all have the same size, {low} KiB."
            )
    return said


def figures(lanes: Sequence[FootprintLane], prefix: str) -> list[Figure]:
    """Draw bars for the libraries, the programs, and the running servers."""
    libraries, programs, resident = [], [], []
    for lane in lanes:
        library, memory = lane.runs[0].library, served(lane.runs)
        if library is not None and (parts := _known(library.sections)):
            libraries.append(
                MemoryBar(lane.name if library.linked == STATIC else f"{lane.name}, shared", parts)
            )
        several = len(lane.runs[0].programs) > 1
        programs += [
            MemoryBar(f"{lane.name}, {one.linked}" if several else lane.name, parts)
            for one in lane.runs[0].programs
            if (parts := _known(one.sections))
        ]
        if memory is not None and (parts := _known((memory.private, memory.shared))):
            resident.append(MemoryBar(lane.name, parts))
    sizes = [("library", "library", libraries), ("program", "server program", programs)]
    return [
        *_bars(
            "Size by section, as Figure 7 of schmidt2002", prefix, sizes, SECTIONS, _STATIC * bool(libraries)
        ),
        *_bars(
            f"Resident memory of the running server{_with(lanes)}",
            prefix,
            [("resident", "", resident)],
            _PARTS,
            _READ,
        ),
    ]


def _bars(
    title: str,
    prefix: str,
    panels: Sequence[tuple[str, str, Sequence[MemoryBar]]],
    parts: Sequence[str],
    caption: str,
) -> Iterator[Figure]:
    """Yield a panel for each kind of memory that there is, all in the colours of the same parts."""
    tones = [series_tone(rank) for rank in _COLORS[: len(parts)]]
    drawn = tuple(
        Panel(f"{prefix}-{name}", words, charts.memory(own, parts, tones, title="KiB"))
        for name, words, own in panels
        if own
    )
    if drawn:
        key = tuple(Sign(name, path=_SQUARE, tone=tone) for name, tone in zip(parts, tones, strict=True))
        yield Figure(title, drawn, (caption,) if caption else (), key)


def _with(lanes: Sequence[FootprintLane]) -> str:
    """Say ``, with 50 servants``; of lanes that differ in that, from the least to the most."""
    counts = sorted(
        {one.servants for lane in lanes if (one := served(lane.runs)) and one.servants is not None}
    )
    if not counts:
        return ""
    span = plural(counts[0], "servant") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} servants"
    return f", with {span}"


def as_table(lanes: Sequence[FootprintLane]) -> dict[str, object]:
    """Return the sizes in bytes, as JSON has them."""
    return {
        "lanes": [
            {
                "name": lane.name,
                "transport": lane.setting.transport,
                "version": lane.setting.version,
                "runs": [
                    {
                        "run": run.id,
                        "libraries": [asdict(one) for one in run.libraries],
                        "programs": [asdict(one) for one in run.programs],
                        "memory": [structs.asdict(one) for one in run.memory],
                        "absent": dict(run.absent),
                    }
                    for run in lane.runs
                ],
            }
            for lane in lanes
        ]
    }


def _sizes(lanes: Sequence[FootprintLane]) -> Iterator[TypedTable]:
    rows: list[tuple[TypedCell, ...]] = []
    notes: dict[str, None] = {_SECTIONS: None}
    lacking: dict[str, list[str]] = {}

    def lacks(lane: FootprintLane, name: str, what: str) -> None:
        rows.append((words(lane.name), words(what), *(_kib(None),) * 5))
        lacking.setdefault(_why(lane, name, what), []).append(lane.setting.title)

    for lane in lanes:
        run = lane.runs[0]
        rows += [_binary(lane, f"{one.name}, {one.linked} library", one) for one in run.libraries]
        if not any(one.linked == STATIC for one in run.libraries):
            lacks(lane, "libraries", "static library")
        rows += [
            _binary(lane, " ".join(filter(None, (f"{one.name}, linked", _LINKED.get(one.linked)))), one)
            for one in run.programs
        ]
        if not run.programs:
            lacks(lane, "program", "server program")
        if STATIC in run.absent:
            lacks(lane, STATIC, "program, static")
    notes |= {f"N/A, {', '.join(dict.fromkeys(names))}, {why}": None for why, names in lacking.items()}
    if any(one.linked == STATIC for lane in lanes for one in lane.runs[0].libraries):
        notes[_STATIC] = None
    built = dict.fromkeys(lane.runs[0].built for lane in lanes if lane.runs[0].built)
    if built:
        notes[f"Programs built with {'; '.join(built)}."] = None
    yield TypedTable("Size in KiB by section, as Figure 7 of schmidt2002", _SIZES, tuple(rows), tuple(notes))


def _why(lane: FootprintLane, name: str, what: str) -> str:
    why = lane.runs[0].absent.get(name) or (
        "there is a shared one alone"
        if name == "libraries" and lane.runs[0].libraries
        else "the run does not tell the sizes of files"
    )
    return f"{what}: {why}."


def _binary(lane: FootprintLane, what: str, one: Binary) -> tuple[TypedCell, ...]:
    return words(lane.name), words(what), *map(_kib, (*one.sections, one.total))


def _resident(lanes: Sequence[FootprintLane]) -> Iterator[TypedTable]:
    rows = []
    for lane in lanes:
        if (one := served(lane.runs)) is not None:
            sizes = (one.private, one.shared, one.resident, one.proportional, one.anonymous, one.peak)
            rows.append((words(lane.name), count(one.servants), count(one.threads), *map(_kib, sizes)))
    if rows:
        notes = (_READ, *_repeated(lanes))
        yield TypedTable("Memory of the running server in KiB", _RESIDENT, tuple(rows), notes)


def _growth(lanes: Sequence[FootprintLane]) -> Iterator[TypedTable]:
    rows = []
    for lane in lanes:
        memory = _first_of_each(lane)
        counts = sorted({one.servants for one in memory if one.servants is not None})
        for servants in counts:
            at = {one.moment: one.private for one in memory if one.servants == servants}
            rows.append(
                (
                    words(f"{lane.name}, {plural(servants, 'servant')}"),
                    *(_kib(at.get(moment)) for moment in MOMENTS),
                    _per_servant(memory, counts)
                    if servants == counts[-1]
                    else TypedCell(None, "number", "-"),
                )
            )
    if rows:
        note = (
            "Per servant: what one servant more takes after the calls, from the least to the largest number."
        )
        notes = (note, *_repeated(lanes))
        yield TypedTable("Private memory of the server as it went on, in KiB", _GROWTH, tuple(rows), notes)


def _first_of_each(lane: FootprintLane) -> list[Resident]:
    """Return the readings of a lane, of each moment with as many servants the first, as `served` does."""
    found: dict[tuple[str, int | None], Resident] = {}
    for run in lane.runs:
        for one in run.memory:
            found.setdefault((one.moment, one.servants), one)
    return list(found.values())


def _repeated(lanes: Sequence[FootprintLane]) -> Iterator[str]:
    if any(len(_first_of_each(lane)) < sum(len(run.memory) for run in lane.runs) for lane in lanes):
        yield _FIRST


def _per_servant(memory: Sequence[Resident], counts: Sequence[int]) -> TypedCell:
    there = {one.servants: one.private for one in memory if one.moment == MOMENTS[-1]}
    first, last = there.get(counts[0]), there.get(counts[-1])
    if first is None or last is None or counts[0] == counts[-1]:
        return _kib(None)
    return _kib((last - first) / (counts[-1] - counts[0]))


def _static(lane: FootprintLane) -> Binary | None:
    library = lane.runs[0].library
    return library if library is not None and library.linked == STATIC else None


def _known(parts: Sequence[int | None]) -> tuple[int, ...]:
    held = tuple(part for part in parts if part is not None)
    return held if len(held) == len(parts) else ()


def _kib(size: float | None) -> TypedCell:
    return formatted(None if size is None else size / _KIB, "{:,.1f}")
