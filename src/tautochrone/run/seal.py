"""Turns a raw stream into a run: Parquet and a manifest, the raw stream removed last.

Killed at any point, it leaves either the raw stream, from which it can be done
again, or a finished run. Nothing is removed before what replaces it is durable.
"""

import shutil
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from tautochrone.base import stream
from tautochrone.base.errors import DamagedError
from tautochrone.base.units import format_duration, format_span
from tautochrone.base.words import plural
from tautochrone.run import files, pieces
from tautochrone.run.books import (
    beside_bins,
    books_of,
    lacking,
    of_intervals,
    of_late,
    problems,
    rebuilt,
    source_names,
)
from tautochrone.run.conditions import SOAK, RunConditions
from tautochrone.run.held import HELD
from tautochrone.run.layout import (
    EXTREMES,
    KEPT,
    LATE_CYCLES,
    LATE_EVENTS,
    MEASURE,
    OF_BLAME,
    WHOLE_ROWS,
    table_layouts,
)
from tautochrone.run.manifest import (
    DISK_FULL,
    MEASURING,
    PROBE_DROPPED,
    RECOVERED,
    SCHEMA,
    SEALED,
    SOAK_GAP,
    Books,
    Extremes,
    Manifest,
)
from tautochrone.run.manifest import Warning as RunWarning
from tautochrone.run.records import (
    HISTOGRAM,
    INTERVALS,
    LARGEST,
    Dropped,
    Event,
    Footer,
    Header,
    Progress,
    SourceCounts,
    SourceProgress,
)
from tautochrone.run.table import TableWriter, Tally

# Takes a raw stream apart, frame by frame: rows into table writers, everything else into memory.


_REST = "rest.tauto"
"""What was not in a piece yet, where a piece is damaged."""

_MOST_EVENT_BYTES = 8 << 20
"""Of those that are kept in memory, and written into the manifest."""


class Intake:
    """What a raw stream holds, as far as it is whole.

    Attributes:
        header: the stream's header.
        names: its sources.
        footer: the footer, or None.
        books: the books as the footer states them, or None.
        events: all events but ``progress``.
        progress: the last ``progress`` of each source.
        dropped: rows lost by source, as ``dropped`` events own up to.
        writers: one per table, open.
        missing: what the stream lacks, in words; None if it is complete.
        rest_kept: whether a piece is damaged, so that it and what follows must not be removed.
    """

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        """Read the folder's raw stream.

        Args:
            folder: the run's folder.
            stack: takes over the table writers; leaving it removes what was not published.

        Raises:
            DamagedError: there is no whole header, or it can't be understood.
            OSError: the disk refuses.
        """
        self.header = Header()
        self.names: dict[int, str] = {}
        self.footer: Footer | None = None
        self.books: tuple[Books, ...] | None = None
        self.events: list[Event] = []
        self.progress: dict[int, SourceProgress] = {}
        self.dropped: dict[int, int] = defaultdict(int)
        self.writers: list[TableWriter] = []
        self.rest_kept = False
        self._event_bytes = 0
        self.missing = self._read(folder, stack)

    def tallies(self) -> dict[int, Tally]:
        """How many samples went by of each source, how many were late, when the first and the last began."""
        keeps = any(writer.layout.name == KEPT for writer in self.writers)
        merged = {source: Tally(kept=0 if keeps else None) for source in self.names}
        for writer in self.writers:
            for source, tally in writer.tallies.items():
                known = merged[source]
                known.overruns = max(known.overruns, tally.overruns)
                if writer.layout.name == KEPT:
                    known.kept = tally.samples
                if writer.layout.name in (*WHOLE_ROWS, *OF_BLAME, INTERVALS):
                    continue  # these rows are among the samples of the histogram already, or are none
                known.samples += tally.samples
                known.binned |= tally.binned
                if known.first_start_ns is None:
                    known.first_start_ns, known.last_start_ns = tally.first_start_ns, tally.last_start_ns
        return merged

    def of_table(self, name: str) -> dict[int, Tally]:
        """Return what went by in one table, by source; nothing where there is no such table."""
        return next((one.tallies for one in self.writers if one.layout.name == name), {})

    @property
    def overruns_seen(self) -> bool:
        """Return whether the tallies can tell which samples began a period late or later."""
        return all(writer.layout.lateness is not None for writer in self.writers)

    def extremes(self) -> tuple[Extremes, ...]:
        """Smallest and largest value by source and measure, where there are samples.

        Of a histogram that was cut off before its first part, the running maxima are the samples known; where
        the cut lies within that part, measures that have no bins yet have no samples.
        """
        binned = [w for w in self.writers if w.layout.name == HISTOGRAM]
        of_each = {k for w in binned if MEASURE in (w.layout.dtype.names or ()) for k in w.tallies}
        bins = {source: tally for w in binned for source, tally in w.tallies.items()}
        places = {measure.name: at for at, measure in enumerate(self.header.measures)}
        found = []
        for writer in self.writers:
            if writer.layout.name in (KEPT, LARGEST):
                continue
            for source, tally in sorted(writer.tallies.items()):
                for one in tally.extremes.values():
                    at = places[one.measure]
                    if writer.layout.name == EXTREMES and source in bins and at in bins[source].binned:
                        found.append(
                            replace(
                                one,
                                count=max(one.count, bins[source].binned[at]),
                                minimum_ns=min(bins[source].lowest[at], one.minimum_ns),
                            )
                        )
                    elif writer.layout.name == EXTREMES and source in of_each:
                        found.append(replace(one, count=0))
                    else:
                        found.append(one)
        return tuple(found)

    def _read(self, folder: Path, stack: ExitStack) -> str | None:
        reader = stream.FrameReader()
        try:
            for frame in pieces.read(folder, reader):
                try:
                    self._take(frame, folder, stack)
                except DamagedError as error:
                    if frame.type == stream.HEADER:
                        raise
                    return f"the stream is damaged: {error}, at byte {frame.offset:,}"
        except pieces.DamagedPieceError as error:
            if not self.names:
                raise
            self.rest_kept = True
            return f"{error}; it and what follows are left as they are, in the folder {pieces.FOLDER}"
        if not self.names:
            raise DamagedError(f"{reader.missing()}: not even its header is whole")
        return reader.missing()

    def _take(self, frame: stream.Frame, folder: Path, stack: ExitStack) -> None:
        if frame.type == stream.ROWS:
            self._take_rows(frame)
            return
        content = stream.json_payload(frame)
        if frame.type == stream.HEADER:
            self._take_header(content, folder, stack)
        elif frame.type == stream.EVENT:
            self._take_event(Event.of(content), len(frame.payload))
        else:
            footer = Footer.of(content)
            self.books = books_of(footer, self.names)
            self.footer = footer

    def _take_header(self, content: dict[str, object], folder: Path, stack: ExitStack) -> None:
        if content.get("stream") != stream.VERSION:
            raise DamagedError(
                f"the stream has version {content.get('stream')!r}; this tauto reads {stream.VERSION}",
                "Read it with the version of tauto that belongs to the probe.",
            )
        header = Header.of(content)
        self.names = source_names(header)
        layouts = table_layouts(header)
        self.header = header
        self.writers = [stack.enter_context(TableWriter(layout, folder)) for layout in layouts]

    def _take_rows(self, frame: stream.Frame) -> None:
        if frame.table >= len(self.writers):
            raise DamagedError(f"rows of table {frame.table}, which the header does not describe")
        if frame.source not in self.names:
            raise DamagedError(f"rows of source {frame.source}, which the header does not name")
        writer = self.writers[frame.table]
        rows = stream.rows(frame, writer.layout.dtype)
        writer.layout.check(rows)
        writer.add(frame.source, rows)

    def _take_event(self, event: Event, size: int) -> None:
        if event.event == "progress":
            told = event.told(Progress).sources
            self.progress |= {one.source: one for one in told if one.source in self.names}
            return  # not kept, so that a run of days has as many as it likes
        if event.event == "dropped":
            lost = event.told(Dropped)
            if lost.source not in self.names:
                raise DamagedError("a dropped event does not say rows of which source")
            self.dropped[lost.source] += lost.rows
            if self._event_bytes + size > _MOST_EVENT_BYTES // 2:
                return  # counted; of an overloaded run there are ten a second of each source
        self._event_bytes += size
        if self._event_bytes > _MOST_EVENT_BYTES:
            raise DamagedError(f"its events have more than {_MOST_EVENT_BYTES:,} bytes")
        self.events.append(event)


def seal(folder: Path, ended_hint: str | None = None) -> Manifest:
    """Seal the run in a folder from its raw stream, whose lock the caller holds.

    Args:
        folder: the run's folder, with a raw stream in it.
        ended_hint: how the measuring ended as far as the caller knows; the footer knows better.

    Returns:
        The manifest as written: "sealed", or "recovered" if the stream is not complete.
    """
    draft = _draft(folder)
    with files.store_errors("sealing the run", folder):
        if draft is not None and draft.state != MEASURING:
            # It was killed between the last two steps.
            _remove_raw(folder, rest_kept=(folder / pieces.FOLDER / _REST).exists())
            return draft
        with ExitStack() as stack:
            intake = Intake(folder, stack)
            for writer in intake.writers:
                writer.finish()
            manifest = _manifest(folder.name, draft, intake, ended_hint)
            text = manifest.to_json()
            Manifest.from_json(text)  # what can't be read again is refused while the stream is there
            if intake.rest_kept:
                shutil.copyfile(folder / files.RAW_STREAM, folder / pieces.FOLDER / _REST)
            for writer in intake.writers:
                writer.publish()
            files.sync_folder(folder)
        files.write_text(folder / files.MANIFEST, text)
        _remove_raw(folder, rest_kept=intake.rest_kept)
    return manifest


def _remove_raw(folder: Path, *, rest_kept: bool) -> None:
    files.remove_parts(folder)
    for name in (files.STOP, HELD):
        (folder / name).unlink(missing_ok=True)
    if not rest_kept:
        shutil.rmtree(folder / pieces.FOLDER, ignore_errors=True)
    (folder / files.RAW_STREAM).unlink()
    files.sync_folder(folder)


def _draft(folder: Path) -> Manifest | None:
    """Return the manifest that was written when the run began; None if it is not there or can't be read."""
    try:
        return Manifest.read(folder / files.MANIFEST)
    except (OSError, DamagedError):
        return None


def _manifest(name: str, draft: Manifest | None, intake: Intake, ended_hint: str | None) -> Manifest:
    draft = draft or _substitute(name, intake.header)
    books = _books(intake)
    told_why = any(warning.code in (PROBE_DROPPED, DISK_FULL) for warning in draft.warnings)
    warnings = (*draft.warnings, *_warnings(intake, books, told_why=told_why), *_gap(draft, intake, books))
    return replace(
        draft,
        state=SEALED if intake.missing is None else RECOVERED,
        parameters={**draft.parameters, **intake.header.parameters},
        header=intake.header,
        footer=intake.footer,
        books=books,
        extremes=intake.extremes(),
        warnings=tuple(dict.fromkeys(warnings)),
        ended=(intake.footer.ended if intake.footer else None) or ended_hint,
        damage=intake.missing,
        events=tuple(intake.events),
    )


def _books(intake: Intake) -> tuple[Books, ...]:
    tallies = intake.tallies()
    periods = intake.header.periods_ns
    if intake.books is None:
        books = rebuilt(
            intake.names,
            tallies,
            intake.dropped,
            periods,
            intake.progress,
            overruns_seen=intake.overruns_seen,
        )
        return of_intervals(books, intake.of_table(INTERVALS), periods)
    counted = {source: tally.samples for source, tally in tallies.items()}
    stated = intake.footer.books if intake.footer is not None else ()
    uncounted = {one.source for one in stated or () if one.uncounted}
    found = problems(intake.books, counted, intake.names, periodic=periods.keys() - uncounted)
    unseen = {one.source: one.unseen for one in stated or () if one.unseen is not None}
    nullable = {name for writer in intake.writers for name in writer.layout.nullable}
    counted_alike = [book for book in intake.books if book.source not in uncounted]
    found += beside_bins(counted_alike, tallies, intake.header.measures, unseen, nullable)
    found += of_late(stated or (), intake.names, intake.of_table(LATE_CYCLES), intake.of_table(LATE_EVENTS))
    if found:
        raise DamagedError(
            "The accounting does not balance: " + "; ".join(found),
            "The raw stream is kept as it is. Measure again; if it comes back, the probe has a fault.",
        )
    return intake.books


def _warnings(intake: Intake, books: tuple[Books, ...], *, told_why: bool) -> Iterator[RunWarning]:
    """``told_why``: the probe has said why it dropped samples; otherwise its buffer was full."""
    if intake.missing is not None:
        lost = f"The run is not complete: {intake.missing}."
        if intake.footer is None and intake.header.is_histogram:
            lost += " What its histograms held since they were last written is lost."
            lost += "".join(_last_sign(intake.names[k], seen) for k, seen in sorted(intake.progress.items()))
        if intake.footer is None and intake.header.periods_ns:
            lost += " Misses and overruns are those that are known of; there may have been more."
        yield RunWarning("cut-off", lost, "What is here is whole. Measure again for the rest.")
    stated = (intake.footer.books or ()) if intake.footer is not None else ()
    void = {one.source: one for one in stated if one.voided}
    for book in books:
        yield from _losses(book, void.get(book.source), told_why=told_why)


def _gap(draft: Manifest, intake: Intake, books: tuple[Books, ...]) -> Iterator[RunWarning]:
    """Count what a soak that was cut off lacks of its length: lost, or never measured."""
    asked = draft.conditions.stored.get(SOAK)
    for_s = asked.get("for_s") if isinstance(asked, dict) else None
    if intake.missing is None or not isinstance(for_s, int | float):
        return
    lost_s, cycles = lacking(for_s, books, intake.header.periods_ns)
    if cycles:
        yield RunWarning(
            SOAK_GAP,
            f"Of the {format_span(for_s)} that were asked for, {format_span(lost_s)} lack: {cycles:,} cycles "
            "were lost, or not measured at all.",
            "They are in no count and no quantile.",
        )


def _losses(book: Books, void: SourceCounts | None, *, told_why: bool) -> Iterator[RunWarning]:
    """Say why samples of one source are not in the data: they were void, or not kept."""
    voided = (void.voided or 0) if void is not None else 0
    if void is not None:
        switches = plural(void.inband_switches or 0, "in-band switch", "in-band switches")
        yield RunWarning(
            "voided",
            f"{plural(voided, 'sample')} of {book.name} taken but void, because its thread left the "
            f"real-time domain meanwhile ({switches} in all).",
            "Quantiles and maximum leave these samples out.",
        )
    lost = (book.dropped or 0) - voided
    if lost > 0:
        why = "; another warning says why" if told_why else ", because the buffer was full"
        do = "" if told_why else "Give --ring more rows, or lengthen the period. "
        yield RunWarning(
            "dropped",
            f"{plural(lost, 'sample')} of {book.name} taken but lost{why}.",
            f"{do}Quantiles and maximum leave these samples out.",
        )


def _last_sign(name: str, seen: SourceProgress) -> str:
    if seen.worst_ns is None:
        return ""
    skipped = "" if seen.missed is None else f", {seen.missed:,} missed"
    worst = format_duration(seen.worst_ns)
    return f" {name} was last seen at {seen.completed:,} completed{skipped}, worst {worst}."


def _substitute(name: str, header: Header) -> Manifest:
    """A manifest for a run whose own was lost: what the stream's header tells."""
    experiment = header.experiment or "unknown"
    realtime_ns = max(0, header.epoch.realtime_ns) if header.epoch is not None else 0
    moment = datetime.fromtimestamp(realtime_ns / 1e9, UTC)
    return Manifest(
        schema=SCHEMA,
        id=name,
        state=MEASURING,
        created=moment.isoformat(timespec="seconds"),
        title=experiment,
        experiment=experiment,
        conditions=RunConditions(),
        parameters={},
        facts={},
        header=header,
    )
