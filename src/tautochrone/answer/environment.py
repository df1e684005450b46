"""The conditions: facts about the machine, settings asked for against settings obtained, the clock."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tautochrone.answer import document as doc
from tautochrone.answer.typeset import duration, number
from tautochrone.base.words import plural, upper_first, verb
from tautochrone.run.facts import FactTable
from tautochrone.run.manifest import Manifest
from tautochrone.run.records import Clock, HybridWait, Process, Source, Thread

_UNKNOWN = "N/A"
_UNREADABLE = "can't be told"
_MOST_SETTINGS = 12
_ORIGIN = "_found_by"  # "preemption_found_by" says where "preemption" was read
_ACRONYMS = {"cpus": "CPUs", "warmup": "warm-up"}
_ACRONYMS |= {name.lower(): name for name in ("CPU", "RT", "SMT", "NUMA", "TSC", "NMI")}
_SUFFIXES = {"_ns": "ns", "_us": "µs", "_khz": "kHz", "_hz": "Hz", "_bytes": "bytes", "_s": "s"}


@dataclass(frozen=True)
class SettingRow:
    """What was asked for and what the system said afterwards.

    What can't be read back is no difference: ``unknown`` then.
    """

    name: str
    requested: str
    obtained: str
    differs: bool
    unknown: bool


@dataclass(frozen=True)
class SettingTable:
    """The settings of one source (or of the whole process) of one run."""

    run: str
    who: str
    settings: tuple[SettingRow, ...]


def facts(manifests: Sequence[Manifest]) -> list[doc.Properties]:
    """Return the facts of all runs by group, those of servers last; one value where all agree."""
    return [
        *_groups([manifest.facts for manifest in manifests]),
        *_groups([manifest.conditions.server_facts for manifest in manifests], ", the server's machine"),
    ]


def parameters(manifests: Sequence[Manifest]) -> doc.TypedTable:
    """Return the experiment's parameters as the probe wrote them down."""
    found = _rows([manifest.header.parameters for manifest in manifests])
    return doc.TypedTable(
        "", doc.columns("", ""), tuple((doc.words(name), doc.words(value)) for name, value, _ in found)
    )


def settings(manifests: Sequence[Manifest], labels: Sequence[str]) -> list[SettingTable]:
    """Return requested beside obtained: the process, then each source, and the threads that met with it."""
    found = []
    for manifest, label in zip(manifests, labels, strict=True):
        parts: list[tuple[str, Process | Thread]] = [("process", manifest.header.process)]
        for source in manifest.header.sources:
            role = f", {source.role}" if source.partners and source.role else ""
            parts.append((f"{source.label}{role}", source))
            parts += [(f"{source.label}, {one.role or 'partner'}", one) for one in source.partners]
        learnt = hybrid_waits(manifest)
        for who, part in parts:
            names = dict.fromkeys([*part.requested, *part.obtained])
            compared = [_setting(name, part.requested.get(name), part.obtained.get(name)) for name in names]
            if isinstance(part, Source) and (wait := learnt.get(part.source)):
                compared.append(SettingRow("hybrid wait", "", wait, False, False))
            if compared:
                found.append(SettingTable(label, who, tuple(compared)))
    return found


def hybrid_waits(manifest: Manifest) -> dict[int, str]:
    """Return how each source of a hybrid wait waited, as it learnt it in its warm-up."""
    books = manifest.footer.books if manifest.footer is not None else ()
    return {book.source: _hybrid_wait(book.hybrid) for book in books or () if book.hybrid is not None}


def _hybrid_wait(wait: HybridWait) -> str:
    learnt = f"learnt from {plural(wait.wake_ups, 'wake-up')}"
    if wait.sleeps:
        return f"polled the last {duration(wait.margin_ns)} before each release, {learnt}"
    waking, arming = duration(wait.margin_ns), duration(wait.arming_ns)
    return f"polled throughout, as to sleep takes {arming} to program and {waking} to wake, {learnt}"


def settings_blocks(manifests: Sequence[Manifest], labels: Sequence[str]) -> Iterator[doc.Block]:
    """Yield the same as a page has it: how many differ, and a row for each; many are folded away."""
    yield doc.Subheading("Settings: what was asked for and what was obtained")
    found = settings(manifests, labels)
    if not found:
        yield doc.Sentence("This run stored no settings.")
        return
    yield doc.Sentence(_as_asked([one for own in found for one in own.settings]))
    several = len(manifests) > 1
    heads = doc.columns(*(("Run",) if several else ()), "Of", "Obtained (and asked for, where it differs)")
    rows = tuple(
        (
            *((doc.words(one.run),) if several else ()),
            doc.words(one.who),
            doc.TypedCell(
                ", ".join(map(_said, one.settings)), strong=any(each.differs for each in one.settings)
            ),
        )
        for one in found
    )
    table = doc.TypedTable("", heads, rows)
    folded = len(found) > _MOST_SETTINGS
    yield doc.Disclosure(f"All {len(found)} of them", (table,)) if folded else table


def _as_asked(found: Sequence[SettingRow]) -> str:
    wrong, unknown = sum(one.differs for one in found), sum(one.unknown for one in found)
    if wrong:
        differ = f"{plural(wrong, 'setting')} {verb(wrong, 'differs')}"
        return f"{differ} from what was asked for, marked below."
    if unknown:
        return f"What could be read back is what was asked for; {plural(unknown, 'setting')} can't be told."
    return "Everything that was asked for was obtained, as read back from the system."


def _said(one: SettingRow) -> str:
    if one.differs:
        return f"{one.name} {one.obtained} \u2260 {one.requested} asked for"
    return f"{one.name} {one.obtained}{f' ({one.requested} asked for)' if one.unknown else ''}"


def clocks(manifests: Sequence[Manifest], labels: Sequence[str]) -> Iterator[doc.Block]:
    """Yield the clock's calibration, before and after each run."""
    yield doc.Subheading("The clock")
    found = [
        (label, *each)
        for manifest, label in zip(manifests, labels, strict=True)
        for each in _clocks_of(manifest)
    ]
    if not found:
        yield doc.Sentence("The stream says nothing about its clock.")
        return
    yield doc.Sentence("Every latency contains the cost of one reading of the clock.")
    several = len(manifests) > 1
    steps = ("Smallest step before", "after", "Cost of a reading before", "after")
    rows = tuple(
        (
            *((doc.words(label),) if several else ()),
            *_name_and_resolution(before),
            doc.words(who),
            *map(doc.time, (before.step_ns, after.step_ns, before.cost_ns, after.cost_ns)),
        )
        for label, who, before, after in found
    )
    heads = ("Run",) if several else ()
    names = doc.columns(*heads, "Clock", "Reported resolution", "Read by", *steps)
    table = doc.TypedTable("", names, rows)
    folded = len(rows) > _MOST_SETTINGS
    yield doc.Disclosure(f"All {len(rows)} of them", (table,)) if folded else table


def _clocks_of(manifest: Manifest) -> Iterator[tuple[str, Clock, Clock]]:
    """Yield who read the clock, and what it was before and after: measuring threads, or the probe."""
    header, footer = manifest.header, manifest.footer
    last = {one.source: one.clock for one in footer.clocks} if footer else {}
    alike: dict[tuple[Clock, Clock], list[str]] = {}
    for one in header.sources:
        if one.clock.name is not None:
            alike.setdefault((one.clock, last.get(one.source, Clock())), []).append(one.label)
    for (before, after), who in alike.items():
        yield who[0] if len(who) == 1 else f"{who[0]} and {len(who) - 1} more", before, after
    if not alike and header.clock.name is not None:
        yield "the probe", header.clock, footer.clock if footer else Clock()


def housekeeping(manifests: Sequence[Manifest], labels: Sequence[str]) -> Iterator[doc.Block]:
    """Yield where the probe's other threads were, which take the samples out of memory."""
    for manifest, label in zip(manifests, labels, strict=True):
        if (kept := manifest.header.housekeeping) is None:
            continue
        whose = f"{label}: the probe" if len(manifests) > 1 else "The probe"
        if kept.obtained is not None:
            said = f"{whose} drained its samples on CPU {kept.obtained}."
        else:
            said = f"{whose} drained its samples on any CPU, also on those that were measured."
        yield doc.Sentence(said)


def calibrations(manifests: Sequence[Manifest]) -> Iterator[doc.Block]:
    """Yield the calibration of each source that is itself a clock; nothing where there is none."""
    found = [
        source.calibration
        for manifest in manifests
        for source in manifest.header.sources
        if source.calibration.name is not None
    ]
    if found:
        yield doc.Subheading("Cost and resolution of each clock")
        heads = doc.columns("Clock", "Reported resolution", "Smallest step seen", "Cost of a reading")
        rows = tuple(
            (*_name_and_resolution(one), doc.time(one.step_ns), doc.time(one.cost_ns)) for one in found
        )
        yield doc.TypedTable("", heads, rows)


def _name_and_resolution(clock: Clock) -> tuple[doc.TypedCell, doc.TypedCell]:
    return doc.words(clock.name or _UNKNOWN), doc.time(clock.reported_resolution_ns)


def words(name: str) -> str:
    """Return a key as words: ``timer_slack_ns`` is ``timer slack``, ``cpu`` is ``CPU``."""
    return " ".join(_ACRONYMS.get(word, word) for word in _unit(name)[0].split("_"))


def show(name: str, value: object) -> str:
    """Return a value in words, with the unit that its name carries."""
    unit = _unit(name)[1]
    if value == -1 and unit in ("ns", "µs"):
        return "-1 (no limit)"
    if value is None:
        return _UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        if unit in ("ns", "µs"):
            return duration(value if unit == "ns" else value * 1000)
        if unit == "bytes":
            return _bytes(value)
        if unit:
            return f"{number(value)}\u00a0{unit}"
        return str(value) if abs(value) < 10_000 else number(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(show(name, part) for part in value) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{words(str(key))} {show(str(key), part)}" for key, part in value.items()) or "none"
    return str(value) or "none"


def _groups(tables: Sequence[FactTable], whose: str = "") -> list[doc.Properties]:
    titles = dict.fromkeys(title for table in tables for title in table)
    found = []
    for title in titles:
        rows = _rows([table.get(title) for table in tables])
        known = tuple(row for row in rows if row[1] != _UNKNOWN)
        unknown = tuple(row[0] for row in rows if row not in known)
        found.append(doc.Properties(upper_first(f"{words(title)}{whose}"), known, unknown))
    return found


def _rows(per_run: Sequence[dict[str, object] | None]) -> list[tuple[str, str, str]]:
    """Return name, value in each run, and how that was found out."""
    names = dict.fromkeys(name for facts in per_run for name in facts or {})
    values = {}
    for name in names:
        shown = [show(name, (facts or {}).get(name)) for facts in per_run]
        values[name] = shown[0] if len(set(shown)) == 1 else " / ".join(shown)
    origins = {name: f"{name}{_ORIGIN}" for name in names if f"{name}{_ORIGIN}" in names}
    return [
        (words(name), values[name], values[origins[name]] if name in origins else "")
        for name in names
        if name not in origins.values()
    ]


def _setting(name: str, wanted: object, got: object) -> SettingRow:
    return SettingRow(
        name=words(name),
        requested="" if wanted is None else show(name, wanted),
        obtained=_UNREADABLE if got is None else show(name, got),
        differs=wanted is not None and got is not None and wanted != got,
        unknown=wanted is not None and got is None,
    )


def _unit(name: str) -> tuple[str, str]:
    for suffix, unit in _SUFFIXES.items():
        if name.endswith(suffix):
            return name.removesuffix(suffix), unit
    return name, ""


def _bytes(value: float) -> str:
    if value >= 1000 and value % 1000 == 0 and value % 1024:  # meant in powers of ten, as 60,000 is
        return f"{value / 1000:,.6g}\u00a0kB"
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if abs(value) >= size:
            return f"{value / size:,.4g}\u00a0{unit}"
    return f"{value:,}\u00a0bytes"
