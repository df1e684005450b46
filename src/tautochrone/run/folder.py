"""A sealed run: its manifest, and its samples as arrays."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tautochrone.base.errors import DamagedError, StoreError, UsageError
from tautochrone.run import files
from tautochrone.run.columns import UNKNOWN, batches, gather, schema, small_table, stretches
from tautochrone.run.facts import FactTable
from tautochrone.run.held import goes_on
from tautochrone.run.layout import (
    HISTOGRAM_COLUMNS,
    INTERVAL_COLUMNS,
    KEPT,
    LATE_CYCLES,
    MEASURE,
    SAMPLES,
    TableLayout,
    table_layouts,
)
from tautochrone.run.manifest import MEASURING, Manifest
from tautochrone.run.records import HISTOGRAM, INTERVALS, REAL, Measure

Integers = npt.NDArray[np.integer[Any]]
"""Nanoseconds, int64 unless said otherwise; counts are uint64."""


class StoredRun:
    """A run that is sealed or recovered.

    Attributes:
        path: its folder.
        manifest: its facts.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        """Take a folder and its manifest as they are; ``StoredRun.read`` reads and checks them."""
        self.path = path
        self.manifest = manifest

    @classmethod
    def read(cls, path: Path) -> "StoredRun":
        """Read a run's manifest; samples are read when they are asked for.

        Raises:
            StoreError: there is no run, it can't be read, or it is not sealed.
            DamagedError: its manifest is damaged.
        """
        try:
            manifest = Manifest.read(path / files.MANIFEST)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise StoreError(
                f"There is no run in {path}", "Type tauto list to see the runs there are."
            ) from error
        except OSError as error:
            raise StoreError(
                f"The run in {path} can't be read: {error.strerror}", files.READ_ADVICE
            ) from error
        except DamagedError as error:
            raise DamagedError(f"The run in {path} is damaged: {error}", error.advice) from error
        if manifest.state == MEASURING:
            raise _not_sealed(path, manifest)
        return cls(path, manifest)

    @property
    def id(self) -> str:
        """Return the run's name."""
        return self.manifest.id

    @property
    def is_histogram(self) -> bool:
        """Return whether it kept a histogram and running maxima instead of samples."""
        return self.manifest.header.is_histogram

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures, the first one being what the experiment is about."""
        return tuple(dict.fromkeys(m.name for layout in self._layouts() for m in layout.measures))

    @property
    def sources(self) -> dict[int, str]:
        """Name of each source, by number."""
        return {book.source: book.name for book in self.manifest.books}

    def count(self, measure: str | None = None, source: int | None = None) -> int:
        """Return how many samples of a measure there are, of one source or of all.

        Of a histogram that was cut off before its first part was written, the running maxima are known, and
        no sample can be counted.
        """
        name = self._measure(measure)[1].name
        recorded = {book.source: book.recorded for book in self.manifest.books} if self.is_histogram else {}
        return sum(
            min(one.count, recorded.get(one.source, one.count))
            for one in self.manifest.extremes
            if one.measure == name and source in (None, one.source)
        )

    def values(
        self, measure: str | None = None, source: int | None = None, *, narrow: bool = False
    ) -> Integers:
        """The samples of a measure in ns, shape (n,), int64: each source in the order in which it took them.

        Args:
            measure: which measure; None for the first.
            source: of which source; None for all, one after the other.
            narrow: give uint32 where every value fits, for half the memory.
        """
        whole, parts = self.values_by_source(measure, narrow=narrow, only=source)
        return whole if source is None else parts[source]

    def values_by_source(
        self, measure: str | None = None, *, narrow: bool = False, only: int | None = None
    ) -> tuple[Integers, dict[int, Integers]]:
        """Return the samples of a measure in ns, read in one pass for all sources, or for ``only`` one.

        Returns:
            All samples, source after source, shape (n,); and each source's part of them. The parts are
            views: to sort one leaves the whole complete.
        """
        layout, known = self._measure(measure)
        extremes = [one for one in self.manifest.extremes if one.measure == known.name]
        fits = narrow and all(one.minimum_ns >= 0 and one.maximum_ns < 2**32 for one in extremes)
        return gather(
            self.path / layout.file,
            known.name,
            self._sizes(known, only),
            np.uint32 if fits else np.int64,
            known.name,
            layout.nullable,
        )

    def stretches(self, measure: str | None = None) -> Iterator[tuple[int, Integers, Integers]]:
        """Return all samples of a measure in one pass, never more than a million rows at a time.

        Yields:
            A source, and of some of its rows, in the order in which it took them, the instants (the measure's
            ``from`` in ns on the stream's clock) and the values in ns; both int64 of shape (k,).
        """
        layout, known = self._measure(measure)
        self._sizes(known, None)
        return stretches(self.path / layout.file, known.start, known.name, layout.nullable)

    def instants(self, source: int, measure: str | None = None) -> Integers:
        """When each sample of one source began: the measure's ``from`` in ns on the stream's clock, (n,).

        In the order of ``values(measure, source)``.
        """
        layout, known = self._measure(measure)
        sizes = self._sizes(known, source)
        return gather(self.path / layout.file, known.start, sizes, np.int64, known.name, layout.nullable)[0]

    def column(self, name: str, source: int) -> Integers:
        """Any column of instants or counts of one source's rows as it was recorded, shape (n,), int64.

        In the order of ``values``.

        Also a measure's ``to``, which the file does not keep: it is given back as ``from`` plus the measure.
        A value that is not known is the least 64-bit integer.

        Args:
            name: a column of the stream's table of samples.
            source: of which source.

        Raises:
            UsageError: there is no such column or source, or the run kept a histogram.
            DamagedError: the samples can't be read.
        """
        layout = next((one for one in self._layouts() if one.name == SAMPLES), None)
        if self.is_histogram or layout is None:
            raise UsageError(
                f"Run {self.id} kept a histogram, not single samples", "Record raw to have them."
            )
        self._needs_source(source)
        sizes = {book.source: book.recorded for book in self.manifest.books if book.source == source}
        if name in layout.kept:
            return gather(self.path / layout.file, name, sizes, np.int64, may_lack=layout.nullable)[0]
        for measure in layout.measures:
            if measure.end == name:
                end = self.column(measure.start, source).astype(np.int64)
                file, lacking = self.path / layout.file, layout.nullable
                length = gather(file, measure.name, sizes, np.int64, may_lack=lacking)[0]
                is_known = (end != UNKNOWN) & (length != UNKNOWN)
                return np.where(is_known, end + length, UNKNOWN)
        known = ", ".join(layout.dtype.names or ())
        raise UsageError(f"Run {self.id} has no column '{name}'", f"It has: {known}.")

    def reals(self, name: str, source: int) -> npt.NDArray[np.float64]:
        """Return a column of real numbers of one source's rows, shape (n,), in the order of ``values``.

        Raises:
            DamagedError: the samples can't be read, or have no such column.
        """
        sizes = {book.source: book.recorded for book in self.manifest.books if book.source == source}
        return gather(self.path / f"{SAMPLES}.parquet", name, sizes, np.float64)[0]

    @property
    def names_of_reals(self) -> tuple[str, ...]:
        """Return the columns of the samples that have real numbers; none where a histogram was kept."""
        tables = [one for one in self.manifest.header.tables if one.name == SAMPLES]
        return tuple(column.name for one in tables for column in one.columns if column.type == REAL)

    def has_histogram(self, measure: str) -> bool:
        """Return whether there are bins of this measure; older streams have those of the first one alone."""
        return self.is_histogram and (self._bins_tell_measures or measure == self._described(0))

    def histogram(
        self, source: int | None = None, measure: str | None = None
    ) -> tuple[Integers, Integers, Integers]:
        """The bins of a histogram run, ascending: lowest value, highest (both included), count, each (n,).

        Args:
            source: of which source; None for all, merged.
            measure: of which measure; None for the first.

        Raises:
            UsageError: the run has samples, or no histogram of that measure, or there is no such source.
            DamagedError: the bins can't be read.
        """
        if not self.is_histogram:
            raise UsageError(f"Run {self.id} has samples and no histogram")
        if source is not None:
            self._needs_source(source)
        name = self._measure(measure)[1].name
        if not self.has_histogram(name):
            raise UsageError(
                f"Run {self.id} kept a histogram of another measure", "Record raw to have this one."
            )
        columns = (*HISTOGRAM_COLUMNS, MEASURE) if self._bins_tell_measures else HISTOGRAM_COLUMNS
        low, high, count, *of = small_table(self.path / f"{SAMPLES}.parquet", columns, source)
        if of:
            at = next(k for k, one in enumerate(self.manifest.header.measures) if one.name == name)
            own = of[0] == at
            low, high, count = low[own], high[own], count[own]
        # The probe writes what came since it last wrote, so a bin can stand there several times.
        low, first, bins = np.unique(low, return_index=True, return_inverse=True)
        totals = np.zeros(len(low), np.int64)
        np.add.at(totals, bins, count)
        return low, high[first], totals

    def running_maxima(self, source: int, measure: str | None = None) -> tuple[Integers, Integers]:
        """Return each new maximum of a histogram run as it occurred: instants and values in ns, each (n,).

        Raises:
            UsageError: the run has samples and no histogram, or there is no such source or measure.
            DamagedError: they can't be read.
        """
        if not self.is_histogram:
            raise UsageError(f"Run {self.id} has samples and no running maxima")
        self._needs_source(source)
        layout, known = self._measure(measure)
        instants, values = small_table(
            self.path / layout.file, (known.start, known.name), source, known.name, layout.nullable
        )
        rises = np.ones(len(values), bool)
        rises[1:] = values[1:] > np.maximum.accumulate(values)[:-1]
        return instants[rises], values[rises]  # other rows are maxima of other measures

    @property
    def has_intervals(self) -> bool:
        """Return whether it is a long run with counts and a histogram of each interval."""
        return self.manifest.header.has_intervals

    def intervals(self, source: int) -> dict[str, Integers]:
        """Return the columns of the intervals of a source (`INTERVAL_COLUMNS`), each (n,), in their order.

        A value that is not known is the least 64-bit integer.

        Raises:
            UsageError: it has no intervals.
            DamagedError: they can't be read.
        """
        if not self.has_intervals:
            raise UsageError(f"Run {self.id} has no intervals", "tauto soak measures in intervals.")
        layout = next(one for one in self._layouts() if one.name == INTERVALS)
        columns = small_table(self.path / layout.file, INTERVAL_COLUMNS, source, may_lack=layout.nullable)
        return {
            name: values.view(np.int64) if values.dtype == np.uint64 else values
            for name, values in zip(INTERVAL_COLUMNS, columns, strict=True)
        }

    def interval_bins(
        self, source: int, measure: str | None = None
    ) -> tuple[Integers, Integers, Integers, Integers]:
        """The bins of the intervals of a source: number of the interval, low, high, count; each (n,).

        What came after the last interval of a run that was cut off is left out.
        """
        name = self._measure(measure)[1].name
        at = next(k for k, one in enumerate(self.manifest.header.measures) if one.name == name)
        columns = (*HISTOGRAM_COLUMNS, MEASURE)
        low, high, count, of = small_table(self.path / f"{SAMPLES}.parquet", columns, source)
        bins = self.intervals(source)["bins"]
        number = np.repeat(np.arange(len(bins)), bins)[: len(low)]
        own = np.flatnonzero(of[: len(number)] == at)
        return number[own], low[own], high[own], count[own].astype(np.int64)

    @property
    def keeps_rows(self) -> bool:
        """Return whether whole rows were kept beside histograms."""
        return any(layout.name == KEPT for layout in self._layouts())

    def kept(self, *columns: str) -> tuple[Integers, ...]:
        """Columns of the whole rows that were kept beside histograms, each (n,): as they came, all sources.

        A value that is not known is the least 64-bit integer.

        Args:
            columns: "source", a recorded instant but a measure's ``to``, or a measure.

        Raises:
            UsageError: no rows were kept.
            DamagedError: they can't be read.
        """
        if not self.keeps_rows:
            raise UsageError(f"Run {self.id} kept no rows beside histograms", "--keep-above has them kept.")
        return self._rows(KEPT, columns)

    @property
    def is_blamed(self) -> bool:
        """Return whether it has the late cycles, each with what happened meanwhile."""
        return any(layout.name == LATE_CYCLES for layout in self._layouts())

    def late(self, table: str, *columns: str) -> tuple[Integers, ...]:
        """Return columns of the late cycles, or of their events: as they came, all sources.

        A value that is not known is the least 64-bit integer. A run without a recorder has no events.

        Args:
            table: one of `OF_BLAME`.

        Raises:
            UsageError: late cycles were not recorded.
            DamagedError: they can't be read.
        """
        if not self.is_blamed:
            raise UsageError(f"Run {self.id} recorded no late cycles", "--blame has them recorded.")
        if not any(layout.name == table for layout in self._layouts()):
            return tuple(np.empty(0, np.int64) for _ in columns)
        return self._rows(table, columns)

    def _rows(self, table: str, columns: Sequence[str]) -> tuple[Integers, ...]:
        layout = next(one for one in self._layouts() if one.name == table)
        return small_table(self.path / layout.file, columns, None, may_lack=layout.nullable)

    @property
    def _bins_tell_measures(self) -> bool:
        return any(
            layout.name == HISTOGRAM and MEASURE in (layout.dtype.names or ()) for layout in self._layouts()
        )

    def _described(self, at: int) -> str | None:
        measures = self.manifest.header.measures
        return measures[at].name if at < len(measures) else None

    def schema(self) -> pa.Schema:
        """Return the columns of the samples, or of the histogram, with unit and meaning."""
        return schema(self.path / f"{SAMPLES}.parquet")

    def batches(self, columns: Sequence[str] | None = None, table: str = SAMPLES) -> Iterator[pa.RecordBatch]:
        """Return the samples, or another table, as they lie in the file, about a million rows at a time."""
        path = self.path / f"{table}.parquet"
        nullable = next((one.nullable for one in self._layouts() if one.file == path.name), ())
        return batches(path, columns, nullable)

    def _layouts(self) -> tuple[TableLayout, ...]:
        return table_layouts(self.manifest.header)

    def _measure(self, name: str | None) -> tuple[TableLayout, Measure]:
        for layout in self._layouts():
            for measure in layout.measures:
                if name in (None, measure.name):
                    return layout, measure
        known = ", ".join(self.measures) or "none"
        raise UsageError(f"Run {self.id} has no measure '{name}'", f"It has: {known}.")

    def _sizes(self, measure: Measure, only: int | None) -> dict[int, int]:
        """Return how many samples of a measure each source has, or ``only`` one."""
        if self.is_histogram:
            raise UsageError(
                f"Run {self.id} kept a histogram, not single samples", "Record raw to have them."
            )
        if only is not None:
            self._needs_source(only)
        wanted = self.sources if only is None else (only,)
        return {source: self.count(measure.name, source) for source in wanted}

    def _needs_source(self, source: int) -> None:
        if source not in self.sources:
            known = ", ".join(f"{number} ({name})" for number, name in self.sources.items())
            raise UsageError(f"Run {self.id} has no source {source}", f"It has: {known}.")


def _not_sealed(path: Path, manifest: Manifest) -> StoreError:
    if files.is_locked(path / files.RAW_STREAM):
        return StoreError(f"Run {manifest.id} is still being measured", "Wait until it is finished.")
    if goes_on(path):
        return StoreError(
            f"Run {manifest.id} goes on without tauto", f"Take it over: tauto soak resume {manifest.id}."
        )
    if manifest.damage:
        return StoreError(
            f"Run {manifest.id} can't be completed: {manifest.damage}",
            "Its raw stream is kept. Measure again.",
        )
    return StoreError(f"Run {manifest.id} was cut off", "Type: tauto recover.")


# Many runs at once.


def read_runs(folders: Iterable[Path]) -> list[StoredRun]:
    """The runs in these folders, in this order. What all of them know of the machine is in memory once."""
    runs: list[StoredRun] = []
    facts: list[FactTable] = []
    for folder in folders:
        run = StoredRun.read(folder)
        known = next((one for one in facts if one == run.manifest.facts), None)
        if known is None:
            facts.append(run.manifest.facts)
        else:
            run.manifest = replace(run.manifest, facts=known)
        runs.append(run)
    return runs
