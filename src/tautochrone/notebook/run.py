"""One run as a notebook has it, and a quantile of it with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from tautochrone.answer.render import notebook as html
from tautochrone.answer.typeset import micro, number, plain
from tautochrone.base.errors import UsageError
from tautochrone.base.units import format_duration, format_percent, format_quantile
from tautochrone.base.words import plural
from tautochrone.judge.naming import measure_named
from tautochrone.judge.reduced import Reduced, lower_edges_of, reduce_run
from tautochrone.notebook import answers
from tautochrone.notebook.samples import Integers, RunSamples
from tautochrone.statistics.counts import Counts, merge
from tautochrone.statistics.difference.dependence import design_effect
from tautochrone.statistics.quantiles import interval_ranks, rank, samples_needed

if TYPE_CHECKING:
    import pyarrow as pa

    from tautochrone.judge.course import Courses
    from tautochrone.judge.tail.tails import RunTails
    from tautochrone.notebook.answers import DrawnChart, Shown
    from tautochrone.run import folder
    from tautochrone.run.manifest import Books, Manifest
    from tautochrone.statistics.summary import Summary


# A quantile of a run with its interval: one that knows that neighbouring cycles are alike.


@dataclass(frozen=True, repr=False)
class Interval:
    """A quantile.

    Attributes:
        q: which one, between 0 and 1.
        value_ns: the smallest value that at least the share ``q`` of the releases does not exceed. None: it
            lies among releases that have no sample, later than every sample.
        low_ns, high_ns: ends of its interval, in ns; of a histogram the outer edges of their bins. None: it
            lies among releases without a sample, or, of fewer than ``needed``, there is no interval.
        confidence: with which the interval covers the quantile, as a fraction.
        samples: of which these are; ``lost``: releases without a sample, which count as later than all; None:
            not known, and then none counts.
        design_effect: so many neighbouring samples say as much as one independent one; 1 where the samples'
            order is not known.
        needed: how many releases it takes for an interval.
    """

    q: float
    value_ns: int | None
    low_ns: int | None
    high_ns: int | None
    confidence: float
    samples: int
    lost: int | None
    design_effect: float
    needed: int

    def sentence(self) -> str:
        """Return the quantile in words."""
        name = format_quantile(self.q)
        value = "later than every sample" if self.value_ns is None else format_duration(self.value_ns)
        if self.samples + (self.lost or 0) < self.needed:
            between = f"no interval: it takes {number(self.needed)} samples"
        elif self.low_ns is None:
            between = f"its whole interval, too, at {format_percent(self.confidence)} confidence"
        else:
            high = "later than every sample" if self.high_ns is None else format_duration(self.high_ns)
            sure = f"at {format_percent(self.confidence)} confidence"
            between = f"{format_duration(self.low_ns)} to {high} {sure}"
        without = f"; {plural(self.lost, 'release')} without a sample counted as later" if self.lost else ""
        return f"{name} {value} ({between}), of {number(self.samples)} samples{without}"

    def _repr_html_(self) -> str:
        return html.paragraphs([micro(self.sentence())])

    def __repr__(self) -> str:
        """Return the same as plain text."""
        return self.sentence()


def interval_of(
    parts: Sequence[Reduced], q: float, confidence: float, lower_edges: Counts | None = None
) -> Interval:
    """Return a quantile of several sources together; at least one source.

    The interval is that of the binomial distribution of ranks (Conover, Practical Nonparametric Statistics,
    1999, section 3.2), for as many samples as these are worth: their number over the design effect of the
    share above the quantile (Kish, Survey Sampling, 1965, section 8.2), the largest of all sources.

    ``lower_edges`` has the samples of a histogram at the lower edges of their bins, for the lower end.
    """
    counts = merge(one.counts for one in parts)
    known = [one.lost for one in parts]
    lost = None if None in known else sum(one or 0 for one in known)
    total = counts.total + (lost or 0)
    value = counts.found_at(rank(total, q))
    effect = max(1.0, *(_effect(one, value) for one in parts))
    worth = max(1, int(total / effect))
    ranks = interval_ranks(worth, q, confidence)
    low = high = None
    if ranks is not None:
        low = (lower_edges or counts).found_at(max(1, int((ranks[0] - 1) / worth * total) + 1))
        high = counts.found_at(min(total, -int(-ranks[1] / worth * total // 1)))
    needed = samples_needed(q, confidence)
    return Interval(
        q, value, low, high, confidence, counts.total, lost, effect, int(-(-needed * effect // 1))
    )


def _effect(one: Reduced, value_ns: int | None) -> float:
    if one.reduction is None:
        return 1.0
    limit = int(one.counts.value[-1]) if value_ns is None else value_ns
    return design_effect(one.reduction, limit)


class Run:
    """A run that was measured.

    It is read as far as it is asked: facts and conditions at once, columns of samples when they are used, the
    reduction that all statistics start from with the first statistic, in one pass over the file.
    """

    def __init__(self, run: folder.StoredRun) -> None:
        """Take a run of the store; ``tautochrone.open`` finds one."""
        self._run = run
        self._samples = RunSamples(run)
        self._reduced: dict[str, tuple[Reduced, ...]] = {}

    @property
    def id(self) -> str:
        """Return the run's name, which is that of its folder."""
        return self._run.id

    @property
    def title(self) -> str:
        """Return what the run is, for people."""
        return self._run.manifest.title

    @property
    def stored(self) -> folder.StoredRun:
        """Return the run as the store has it, without what a notebook adds."""
        return self._run

    @property
    def path(self) -> Path:
        """Return the folder that the run lies in."""
        return self._run.path

    @property
    def manifest(self) -> Manifest:
        """Return all that is known beside the samples: the file ``run.json`` (docs/runs.md)."""
        return self._run.manifest

    @property
    def measures(self) -> Mapping[str, str]:
        """Return each measure's name and what it means, the one that the experiment is about first."""
        header = self._run.manifest.header
        return MappingProxyType({name: header.meaning_of(name) for name in self._run.measures})

    @property
    def sources(self) -> Mapping[int, str]:
        """Return number and name of each source, a thread that took samples: ``{0: "cpu0"}``."""
        return MappingProxyType(self._run.sources)

    @property
    def facts(self) -> Mapping[str, object]:
        """Return what is known of the machine, by group and name; None where the system does not tell."""
        return MappingProxyType(self._run.manifest.facts)

    @property
    def conditions(self) -> Mapping[str, object]:
        """Return under what it ran: load, deployment, target, the command that was typed."""
        return MappingProxyType(self._run.manifest.conditions.stored)

    @property
    def books(self) -> tuple[Books, ...]:
        """Return what each source says it did, counts: ``released == completed + missed``, and so on."""
        return self._run.manifest.books

    @cached_property
    def samples(self) -> pa.Table:
        """Return all samples as an Arrow table, source after source, in the order in which they were taken.

        Columns: ``source`` (int32), the instants and other values that were recorded, and the measures; times
        in ns, int64. Shape (n, columns), n samples. Each column is one chunk without nulls, so that
        ``.column(name).chunk(0).to_numpy(zero_copy_only=True)`` copies nothing. Memory: 4 bytes a sample for
        ``source``, 8 for every other column, read once and shared with ``values``; ``values`` alone reads one
        column.

        Raises:
            UsageError: the run kept a histogram; ask for ``bins``.
            DamagedError: the samples can't be read.

        Source: docs/stream.md, docs/runs.md.
        """
        return self._samples.table()

    @property
    def bins(self) -> pa.Table:
        """Return the bins: ``source``, ``measure``, ``low_ns``, ``high_ns`` (both included), ``count``.

        Shape (bins, 5), ascending in each measure of each source.

        Raises:
            UsageError: the run has samples and no histogram.
            DamagedError: the bins can't be read.

        Source: docs/runs.md.
        """
        return self._samples.bins()

    def values(self, measure: str | None = None, source: int | str | None = None) -> Integers:
        """Return the samples of a measure as a NumPy array, a view of the bytes that ``samples`` has.

        Args:
            measure: its name, ``latency_ns`` or ``latency``; also any other column of ``samples``; None: the
                first measure.
            source: number or name; None: all, one after the other.

        Returns:
            ns, int64, shape (n,), in the order in which they were taken; it can't be written to. 8 bytes a
            sample, once.

        Raises:
            UsageError: there is no such measure or source, or the run kept a histogram.
            DamagedError: the samples can't be read.

        Source: docs/runs.md.
        """
        return self._samples.values(self._column(measure), None if source is None else self._source(source))

    def quantile(
        self,
        q: float,
        measure: str | None = None,
        source: int | str | None = None,
        *,
        confidence: float = 0.95,
    ) -> Interval:
        """Return a quantile with its interval. Releases without a sample count as later than every sample.

        Args:
            q: which, above 0 and below 1: 0.999.
            measure: its name; None: the first.
            source: number or name; None: all together.
            confidence: of the interval, as a fraction.

        Returns:
            ``value_ns``, ``low_ns``, ``high_ns`` and what they rest on; the interval is wider than that of
            `tauto show --intervals`, as far as neighbouring samples are alike.

        Raises:
            UsageError: no such measure or source, no sample, or ``q`` is no share.
            DamagedError: the samples can't be read.

        Source: Hyndman and Fan, Sample Quantiles in Statistical Packages, The American Statistician 50, 1996,
        type 1; Conover, Practical Nonparametric Statistics, 1999, section 3.2.
        """
        if isinstance(q, str) or not 0 < q < 1 or not 0 < confidence < 1:
            raise UsageError(
                f"quantile({q!r}, confidence={confidence!r}): both lie above 0 and below 1",
                "Write 0.999 for 99.9 %.",
            )
        parts = self._parts(measure, source)
        lower_edges = None
        if self._run.is_histogram:
            name = self._measure(measure)
            lower_edges = lower_edges_of(self._run, name, [one.source for one in parts])
        return interval_of(parts, q, confidence, lower_edges)

    def summary(self, measure: str | None = None) -> Shown[dict[str, Summary]]:
        """Return count, least, mean, deviation, quantiles with intervals, and the largest, of each source.

        Args:
            measure: its name; None: the first.

        Returns:
            ``result``: by source its ``Summary``, times in ns, as `tauto show` has it.

        Raises:
            UsageError: there is no such measure, or no sample.
            DamagedError: the samples can't be read.

        Source: docs/runs.md; Conover, Practical Nonparametric Statistics, 1999, section 3.2.
        """
        return answers.summary(self._run, self._parts(measure, None), self._measure(measure))

    def tail(
        self,
        limit: str | int | None = None,
        measure: str | None = None,
        source: int | str | None = None,
        *,
        confidence: float = 0.95,
    ) -> Shown[RunTails]:
        """Estimate how rare values are that are larger than those measured, or say why that can't be told.

        Args:
            limit: above which a value is late: ns, or with a unit, ``"100us"``; None: half of the period, the
                period, and round values.
            measure: its name; None: the first.
            source: number or name; None: each by itself.
            confidence: of intervals and bounds, as a fraction.

        Returns:
            ``result.sources``: of each ``limits`` (chance of an activation to be later, with interval and the
            bound that assumes no distribution), ``levels`` (in ns, exceeded once in an hour, day, year),
            ``tail`` (checks and fits) and ``refusal``.

        Raises:
            UsageError: no such measure or source, no sample, or a limit that can't be read.
            DamagedError: the samples can't be read.

        Source: Coles, An Introduction to Statistical Modeling of Extreme Values, 2001, chapters 3 to 5;
        docs/tails.md.
        """
        parts = self._parts(measure, source)
        return answers.tail(self._run, parts, self._measure(measure), limit, confidence)

    def course(self, measure: str | None = None) -> Shown[Courses]:
        """Find what stands out over time: changes of level, spikes that return, sources late together.

        Args:
            measure: its name; None: the first.

        Returns:
            ``result``: of each source its changes (instants in ns on the stream's clock) and periods (ns).

        Raises:
            UsageError: there is no such measure, or the run kept a histogram.
            DamagedError: the samples can't be read.

        Source: docs/course.md.
        """
        return answers.course(self._run, self._parts(measure, None), self._measure(measure))

    def check(self, requirement: str) -> Shown[answers.Checked]:
        """Judge whether a requirement holds, does not hold, or is not shown.

        Args:
            requirement: one line: ``"latency p99.9 < 100us"``, ``"misses < 1 per hour at 99%"``.

        Returns:
            ``result.standing``: "holds", "does not hold" or "not shown"; ``result.why``; ``result.lines``: of
            each source, times in ns, shares as fractions.

        Raises:
            UsageError: the requirement can't be read.
            DamagedError: the samples can't be read.

        Source: docs/check.md.
        """
        return answers.check([self._run], requirement)

    def chart(self, kind: str = "histogram", measure: str | None = None) -> DrawnChart:
        """Draw a chart, as `tauto figure` draws it.

        Args:
            kind: "histogram", "cumulative", "time", "cpus", or one of ``chart_kinds``.
            measure: which, for a general kind; None: the first.

        Returns:
            What the notebook shows without any network; ``.save("x.pdf")``, ``.altair()``.

        Raises:
            UsageError: there is no such kind or measure, or no sample.
            DamagedError: the samples can't be read.

        Source: docs/python.md; colours of Okabe and Ito, Color Universal Design, 2008.
        """
        return answers.chart(self._run, kind, None if measure is None else self._measure(measure))

    @property
    def chart_kinds(self) -> list[str]:
        """Return every kind of chart that this run has."""
        return answers.chart_kinds(self._run)

    def _parts(self, measure: str | None, source: int | str | None) -> tuple[Reduced, ...]:
        name = self._measure(measure)
        if name not in self._reduced:
            self._reduced[name] = reduce_run(self._run, name)
        only = None if source is None else self._source(source)
        found = tuple(one for one in self._reduced[name] if only in (None, one.source))
        if not found:
            raise UsageError(
                f"Run {self.id} has no sample of {name}", "Look at its accounting; measure for longer."
            )
        return found

    def _measure(self, wanted: str | None) -> str:
        names = self._run.measures
        if not names:
            raise UsageError(f"Run {self.id} has no measure", "Look at its accounting.")
        if wanted is None:
            return names[0]
        found = measure_named(wanted, names)
        if found is None:
            raise UsageError(f"Run {self.id} has no measure '{wanted}'", f"It has: {', '.join(names)}.")
        return found

    def _column(self, wanted: str | None) -> str:
        try:
            return self._measure(wanted)
        except UsageError:
            if wanted is None:
                raise
            return wanted

    def _source(self, wanted: int | str) -> int:
        found = next((number for number, name in self.sources.items() if wanted in (number, name)), None)
        if found is None:
            known = ", ".join(f"{number} ({name})" for number, name in self.sources.items())
            raise UsageError(f"Run {self.id} has no source {wanted!r}", f"It has: {known}.")
        return found

    def _facts(self) -> list[tuple[str, str]]:
        from tautochrone.run.manifest import sum_if_known

        manifest = self._run.manifest
        missed = sum_if_known(one.missed for one in manifest.books)
        first = next(iter(self._run.measures), None)
        largest = [one.maximum_ns for one in manifest.extremes if one.measure == first]
        deployment = manifest.conditions.deployment
        said = {
            "run": self.id,
            "experiment": manifest.experiment,
            "when": f"{manifest.created[:19].replace('T', ' ')} UTC",
            "state": ", ".join(filter(None, [manifest.state, manifest.ended])),
            "load": (manifest.conditions.load or ""),
            "deployment": deployment.name if deployment is not None else "",
            "system": (manifest.conditions.target or ""),
            "sources": ", ".join(self.sources.values()),
            "samples": number(sum(one.recorded for one in manifest.books)),
            "missed": "" if missed is None else number(missed),
            "worst": micro(format_duration(max(largest))) if largest else "",
            "warnings": "; ".join(one.text for one in manifest.warnings),
        }
        return [(name, words) for name, words in said.items() if words]

    def _repr_html_(self) -> str:
        return html.heading(self.title) + html.pairs(self._facts())

    def __repr__(self) -> str:
        """Return the same as plain text."""
        lines = [f"{name:<11} {plain(words)}" for name, words in self._facts()]
        return "\n".join([self.title, *lines])
