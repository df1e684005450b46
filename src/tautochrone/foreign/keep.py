"""A recording of another tool as a run: a sample stream as the probe writes it, sealed as any.

What the file does not tell is not made up: no clock, no instants of a histogram, no misses that nobody
counted.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tautochrone.base import stream
from tautochrone.base.reading import open_file
from tautochrone.base.units import format_duration
from tautochrone.base.words import plural, verb
from tautochrone.foreign.recording import (
    LOAD,
    PERIOD,
    SKIPPED,
    ForeignHistogram,
    ForeignSource,
    Recording,
)
from tautochrone.run.conditions import IMPORTED
from tautochrone.run.folder import StoredRun
from tautochrone.run.layout import EXTREMES, MEASURE, SAMPLES
from tautochrone.run.manifest import PROBE_DROPPED
from tautochrone.run.manifest import Warning as RunWarning
from tautochrone.run.records import HISTOGRAM
from tautochrone.run.store import Store

NOT_HERE = "elsewhere"
"""The target of a run whose file does not name its machine."""

NOT_KNOWN = "not known"
"""The load of a run whose file does not tell it: not idle, which a run without a load would be taken for."""

_UNKNOWN = np.iinfo(np.int64).min
_START = "start_ns"
_PIECE_BYTES = 1 << 20

_Whole = Mapping[str, ForeignHistogram]
_Book = dict[str, object]


@dataclass(frozen=True)
class FileOrigin:
    """The file that a run was made of."""

    name: str
    size: int
    sha256: str


def keep(
    recording: Recording,
    store: Store,
    origin: FileOrigin,
    said: Mapping[str, object],
    title: str = "",
    load: str = "",
) -> StoredRun:
    """Make a run of a recording.

    Args:
        said: the options that were given with the file.
        load: what the person says ran beside it; empty: not known.

    Raises:
        DamagedError: the recording contradicts itself.
        StoreError: the store can't be written.
    """
    whole = [{name: one.whole() for name, one in source.histograms.items()} for source in recording.sources]
    books = [_book(recording, at, one, whole[at]) for at, one in enumerate(recording.sources)]
    pieces = (
        _pieces_of(recording.stream)
        if recording.stream is not None
        else list(_frames(recording, whole, books))
    )
    unknown = _unknown(recording, load, books)
    conditions: dict[str, object] = {
        "target": recording.host or NOT_HERE,
        "load": load or NOT_KNOWN,
        IMPORTED: {
            "tool": recording.tool,
            "version": recording.version or None,
            "format": recording.format,
            "file": origin.name,
            "bytes": origin.size,
            "sha256": origin.sha256,
            "command": list(recording.command),
            "unknown": unknown,
            "said": dict(said),
        },
    }
    writer = store.create(
        recording.experiment, title or _title(recording), conditions, measured=recording.measured
    )
    with writer:
        try:
            for warning in (*_warnings(recording, unknown), *recording.warnings):
                writer.add_warning(warning.code, warning.text, warning.advice)
            for piece in pieces:
                writer.append(piece)
            return writer.seal()
        except BaseException:  # a part of it would be taken for the whole the next time
            shutil.rmtree(writer.path, ignore_errors=True)
            raise


def _pieces_of(path: Path) -> Iterator[bytes]:
    with open_file(path) as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


def _unknown(recording: Recording, load: str, books: Sequence[_Book]) -> list[str]:
    """Return what is not known of a run, without what the person has said of it, or follows from the file."""
    said = [LOAD] if load else []
    said += [PERIOD] if all(one.period_ns is not None for one in recording.sources) else []
    said += [SKIPPED] if all("missed" in book for book in books) else []
    return [one for one in recording.unknown if not one.startswith(tuple(said) or "-")]


def _title(recording: Recording) -> str:
    periods = {one.period_ns for one in recording.sources}
    period_ns = next(iter(periods)) if len(periods) == 1 else None
    what = recording.measures[0][1] if recording.measures else recording.experiment
    parts = [what if recording.tool == "a table" else f"{what} by {recording.tool}"]
    if period_ns is not None:
        parts.append(f"period {format_duration(period_ns)}")
    return ", ".join(parts)


def _warnings(recording: Recording, unknown: list[str]) -> Iterator[RunWarning]:
    version = f" {recording.version}" if recording.version else ""
    yield RunWarning(
        IMPORTED, f"Measured by {recording.tool}{version}, not by tauto. Not known: {'; '.join(unknown)}."
    )
    for one in recording.sources:
        for name, histogram in one.histograms.items():
            yield from _clipped(one, name, histogram)
        if one.dropped:
            yield RunWarning(
                PROBE_DROPPED,
                f"Of {one.name}, {plural(one.dropped, 'cycle')} between others "
                f"{verb(one.dropped, 'is')} not in the file.",
            )


def _clipped(one: ForeignSource, measure: str, histogram: ForeignHistogram) -> Iterator[RunWarning]:
    if not histogram.overflow:
        return
    lost = histogram.overflow
    beyond = (
        f"Of {one.name}, {lost:,} of {plural(histogram.total, 'sample')} of {measure} {verb(lost, 'lies')}"
    )
    said = f"{beyond} beyond the histogram's end, {format_duration(histogram.end_ns)}"
    if histogram.maximum_ns is not None:
        yield RunWarning(
            "clipped",
            f"{said}. Of them only the largest is known: at most {format_duration(histogram.maximum_ns)}.",
            "Quantiles among them are told as bounds. Measure with a longer histogram.",
        )
    else:
        yield RunWarning(
            PROBE_DROPPED,
            f"{said}, and the largest of them is not told either.",
            "They count as later than every sample. Measure with a longer histogram.",
        )


# The stream.


def _frames(recording: Recording, whole: Sequence[_Whole], books: Sequence[_Book]) -> Iterator[bytes]:
    raw = all(one.samples is not None for one in recording.sources)
    yield stream.json_frame_bytes(stream.HEADER, 0, _header(recording, raw=raw))
    sequence = 1
    for number, one in enumerate(recording.sources):
        rows = _sample_rows(one) if raw else _bin_rows(recording, whole[number])
        size = max(1, stream.MAX_PAYLOAD_BYTES // rows.itemsize)
        for at in range(0, len(rows), size):
            payload = rows[at : at + size].tobytes()
            yield stream.frame_bytes(stream.ROWS, sequence, payload, source=number)
            sequence += 1
        if not raw and (extremes := _extremes(recording, whole[number])) is not None:
            yield stream.frame_bytes(stream.ROWS, sequence, extremes.tobytes(), table=1, source=number)
            sequence += 1
    yield stream.json_frame_bytes(stream.FOOTER, sequence, {"ended": "complete", "books": books})


def _end_of(measure: str) -> str:
    return f"{measure.removesuffix('_ns')}_end_ns"


def _header(recording: Recording, *, raw: bool) -> dict[str, object]:
    names = [name for name, _ in recording.measures]
    instant = {"type": "i64", "unit": "ns"}
    told = "" if raw else ", which the file does not tell: 0"
    whole_row: list[dict[str, object]] = [
        {"name": _START, **instant, "meaning": f"when the sample began{told}"}
    ]
    for at, name in enumerate(names):
        column: dict[str, object] = {"name": _end_of(name), **instant, "meaning": "when it ended"}
        whole_row.append(column | ({"null": _UNKNOWN} if at else {}))
    bins = [
        {
            "name": MEASURE,
            "type": "u64",
            "unit": "1",
            "meaning": "place of the measure in the header, from 0",
        },
        {"name": "low_ns", **instant, "meaning": "smallest value of the bin"},
        {"name": "high_ns", **instant, "meaning": "largest value of the bin"},
        {"name": "count", "type": "u64", "unit": "1", "meaning": "samples in the bin"},
    ]
    tables = (
        [{"name": SAMPLES, "columns": whole_row}]
        if raw
        else [{"name": HISTOGRAM, "columns": bins}, {"name": EXTREMES, "columns": whole_row}]
    )
    periods = {one.period_ns for one in recording.sources}
    common = next(iter(periods)) if len(periods) == 1 else None
    header: dict[str, object] = {
        "stream": stream.VERSION,
        "program": recording.tool,
        "version": recording.version or None,
        "experiment": recording.experiment,
        "parameters": {
            "tool": recording.tool,
            "record": "raw" if raw else HISTOGRAM,
            **({} if common is None else {"period_ns": common}),
            **({"policy": recording.policy} if recording.policy else {}),
            **({} if recording.priority is None else {"priority": recording.priority}),
            **recording.parameters,
        },
        "system": dict(recording.system),
        "tables": tables,
        "measures": [
            {
                "name": name,
                "table": SAMPLES if raw else EXTREMES,
                "from": _START,
                "to": _end_of(name),
                "meaning": meaning,
            }
            for name, meaning in recording.measures
        ],
        "sources": [_source(recording, number, one) for number, one in enumerate(recording.sources)],
    }
    if common is not None:
        header["schedule"] = {"period_ns": common}
    return header


def _source(recording: Recording, number: int, one: ForeignSource) -> dict[str, object]:
    requested: dict[str, object] = {}
    if recording.policy:
        requested["policy"] = recording.policy
    if recording.priority is not None:
        requested["priority"] = recording.priority
    if one.cpu is not None:
        requested["cpu"] = one.cpu
    told: dict[str, object] = {"source": number, "name": one.name, "requested": requested}
    if one.period_ns is not None:
        told["period_ns"] = one.period_ns
    if one.samples is not None:
        told["start_ns"] = int(one.samples.start[0])
    return told


def _sample_rows(one: ForeignSource) -> "np.ndarray[tuple[int], np.dtype[np.void]]":
    assert one.samples is not None
    rows = np.empty(len(one.samples.value), [(_START, "<i8"), ("end", "<i8")])
    rows[_START] = one.samples.start
    rows["end"] = one.samples.start + one.samples.value
    return rows


def _bin_rows(recording: Recording, whole: _Whole) -> "np.ndarray[tuple[int], np.dtype[np.void]]":
    kind = [(MEASURE, "<u8"), ("low_ns", "<i8"), ("high_ns", "<i8"), ("count", "<u8")]
    parts = []
    for at, (name, _) in enumerate(recording.measures):
        if (histogram := whole.get(name)) is None:
            continue
        rows = np.empty(len(histogram.count), kind)
        rows[MEASURE], rows["low_ns"], rows["high_ns"] = at, histogram.low, histogram.high
        rows["count"] = histogram.count
        parts.append(rows)
    return np.concatenate(parts) if parts else np.empty(0, kind)


def _extremes(recording: Recording, whole: _Whole) -> "np.ndarray[tuple[int], np.dtype[np.int64]] | None":
    """Return the largest value of each measure as a row that begins at 0; None without a sample."""
    found = [0]
    for name, _ in recording.measures:
        histogram = whole.get(name)
        held = histogram.high[histogram.count > 0] if histogram is not None else np.empty(0, np.int64)
        if histogram is None or not len(held):
            found.append(_UNKNOWN)
        else:
            known = histogram.maximum_ns if not histogram.overflow else None
            found.append(int(held.max()) if known is None else known)
    return None if found[1] == _UNKNOWN else np.array(found, "<i8")


def _book(recording: Recording, number: int, one: ForeignSource, whole: _Whole) -> _Book:
    """Return the accounting of a source.

    A loop whose every latency is below its period skipped nothing; of one that never ran that is not known.
    """
    first = whole.get(recording.measures[0][0])
    if one.samples is not None:
        recorded, dropped = len(one.samples.value), one.dropped
        largest: int | None = int(one.samples.value.max()) if recorded else None
    elif first is not None:
        recorded, dropped = int(first.count.sum()), one.dropped + first.overflow
        largest = first.largest_ns
    else:
        recorded, dropped, largest = 0, 0, None
    book: _Book = {
        "source": number,
        "completed": recorded + dropped,
        "recorded": recorded,
        "dropped": dropped,
    }
    is_whole = recording.is_whole and not dropped
    if one.period_ns is not None and is_whole and largest is not None and largest < one.period_ns:
        book |= {"released": recorded, "missed": 0, "overruns": 0}
    if "missed" not in book or len(whole) > 1:
        book["uncounted"] = True
    return book
