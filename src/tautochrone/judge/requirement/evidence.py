"""From runs to what requirements are judged by: each source under each set of conditions.

Runs whose conditions are the same are repetitions of one another, and their samples are taken together.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tautochrone.base.units import format_rate
from tautochrone.experiments.step_code import CodeFile
from tautochrone.experiments.step_inputs import KeptInputs
from tautochrone.experiments.taskset_run import outcomes_of
from tautochrone.judge.naming import ONLY_HOW_MUCH
from tautochrone.judge.reduced import Reduced, reduce_run
from tautochrone.judge.step_run import unanswered_of
from tautochrone.run.conditions import IMPORTED
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Books, Manifest
from tautochrone.run.records import LATENCY
from tautochrone.run.repeated import each_once
from tautochrone.statistics.arrays import Integers

RESPONSE, _ROUND_TRIP = "response_ns", "round_trip_ns"
ENDS_OF_WORK = (RESPONSE, _ROUND_TRIP)
_DIGITS = 8  # of the digest of a file, as people are told it
BY_ITSELF = (RESPONSE, LATENCY, "preemption_latency_ns", _ROUND_TRIP)


@dataclass(frozen=True, eq=False)
class SeenSource:
    """One source of one run.

    Attributes:
        period_ns: between two releases; None without a schedule.
        deadline_ns: of each release, its own or else the period; None without a schedule.
        missed: releases that were passed over, and of round trips messages without an answer; of a run that
            was cut off, those that are known of.
        known: whether all misses are known.
        lowest: of a histogram, by bin its lower edge and count; None of samples.
    """

    run: StoredRun
    name: str
    reduced: Reduced | None
    period_ns: int | None
    deadline_ns: int | None
    missed: int
    dropped: int
    known: bool
    lowest: tuple[Integers, Integers] | None = None

    @property
    def cut_off(self) -> bool:
        """Whether the run has no end. Where one has, and its misses are not known, its tool counts none."""
        return self.run.manifest.footer is None

    @property
    def taken(self) -> int:
        """Samples that there are."""
        return 0 if self.reduced is None else self.reduced.counts.total

    @property
    def samples(self) -> int:
        """Samples and releases without one."""
        return self.taken + self.missed + self.dropped

    @property
    def seconds(self) -> float:
        """How long that took."""
        if self.period_ns is not None:
            return self.samples * self.period_ns / 1e9
        held = self.reduced.reduction if self.reduced is not None else None
        return 0.0 if held is None else held.seconds

    @property
    def worst_ns(self) -> int | None:
        """The largest; None without samples."""
        return int(self.reduced.counts.value[-1]) if self.reduced is not None else None

    def above(self, limit_ns: int) -> tuple[int, int]:
        """How many samples are above a limit: for certain, and at most."""
        if self.reduced is None:
            return 0, 0
        most = self.reduced.counts.above(limit_ns)
        if self.lowest is None:
            return most, most
        low, count = self.lowest
        surely = int(count[low > limit_ns].sum())
        # The largest is exact, also where the limit lies in its bin; that of another tool may be an edge.
        is_exact = IMPORTED not in self.run.manifest.conditions.stored
        return max(surely, min(1, most)) if is_exact else surely, most


@dataclass(frozen=True, eq=False)
class SourceGroup:
    """A source under one set of conditions, in all repetitions.

    Attributes:
        where: the conditions in words, as far as they tell groups apart; may be empty.
        source: its name.
        seen: one for each repetition, at least one.
    """

    where: str
    source: str
    seen: tuple[SeenSource, ...]


def measure_of(run: StoredRun, measure: str) -> str | None:
    """The measure of a run that a requirement is about; empty: the one that ends when the work of a release
    does. None: it has none of that kind."""
    if measure:
        return measure if measure in run.measures else None
    if not run.manifest.header.periods_ns:
        return None
    return next((one for one in BY_ITSELF if one in run.measures), None)


def groups_of(runs: Sequence[StoredRun], measure: str) -> list[SourceGroup]:
    """Each source under each set of conditions, in the order in which they were measured; runs without the
    measure (see `measure_of`) are left out, and the repetitions of a guest.
    """
    found: dict[tuple[str, str], list[SeenSource]] = {}
    traits: dict[str, dict[str, str]] = {}
    for run in each_once(runs):
        name = measure_of(run, measure)
        if name is None or (run.is_histogram and not run.has_histogram(name)):
            continue
        key = _key(run)
        traits[key] = _traits(run)
        for seen in _sources(run, name):
            found.setdefault((key, seen.name), []).append(seen)
    said = _words(traits)
    return [SourceGroup(said[key], source, tuple(seen)) for (key, source), seen in found.items()]


def _sources(run: StoredRun, measure: str) -> list[SeenSource]:
    header = run.manifest.header
    periods = header.periods_ns
    described = header.by_number
    reduced = {one.source: one for one in reduce_run(run, measure)}
    histogram = run.is_histogram
    cut_off = _cut_off(run)
    unanswered = unanswered_of(run.manifest, measure)
    found = []
    for book in run.manifest.books:
        period_ns = periods.get(book.source)
        if period_ns is None and book.source not in reduced:
            continue
        deadline = described[book.source].deadline_ns if book.source in described else None
        found.append(
            SeenSource(
                run=run,
                name=book.name,
                reduced=reduced.get(book.source),
                period_ns=period_ns,
                deadline_ns=deadline if deadline is not None and deadline > 0 else period_ns,
                missed=max(0, (book.missed or 0) - cut_off.get(book.name, 0)) + unanswered
                if period_ns
                else 0,
                dropped=book.dropped or 0,
                known=_is_known(run, book, period_ns),
                lowest=run.histogram(book.source, measure)[::2]
                if histogram and book.source in reduced
                else None,
            )
        )
    return found


def _is_known(run: StoredRun, book: Books, period_ns: int | None) -> bool:
    """A run that was cut off tells only the misses that it came to tell of."""
    if run.manifest.footer is None and not run.has_intervals:
        return False
    return book.dropped is not None and (period_ns is None or book.missed is not None)


def _cut_off(run: StoredRun) -> Mapping[str, int]:
    """By task, releases that an early end left unserved before their deadline: they were not missed."""
    ended_early = run.manifest.ended not in (None, "complete")
    if run.manifest.experiment != "taskset" or not ended_early or run.is_histogram:
        return {}
    return {one.task.name: one.cut_off for one in outcomes_of(run)}


def _key(run: StoredRun) -> str:
    manifest = run.manifest
    parameters = manifest.header.parameters
    code, inputs = _code_of(manifest), _inputs_of(manifest)
    return json.dumps(
        [
            manifest.experiment,
            {name: value for name, value in parameters.items() if name not in ONLY_HOW_MUCH},
            sorted(set(manifest.header.periods_ns.values())),
            manifest.conditions.load,
            manifest.conditions.deployment_name,
            manifest.conditions.remote,
            _kernel_of(manifest),
            manifest.known.cpu.model,
            code.sha256 if code is not None else None,
            (inputs.constants, inputs.sha256) if inputs is not None else None,
        ],
        sort_keys=True,
        default=str,
    )


def _kernel_of(manifest: Manifest) -> str:
    """Return the release, and the real-time core beside it whose threads were measured."""
    return " with ".join(filter(None, (manifest.known.kernel.release, manifest.header.system.core)))


def _code_of(manifest: Manifest) -> CodeFile | None:
    return manifest.conditions.told(CodeFile.CONDITION, CodeFile)


def _inputs_of(manifest: Manifest) -> KeptInputs | None:
    return manifest.conditions.told(KeptInputs.CONDITION, KeptInputs)


def _traits(run: StoredRun) -> dict[str, str]:
    """By what a person tells conditions apart, in words; the load always."""
    manifest = run.manifest
    load = manifest.conditions.load or "idle"
    periods = sorted(set(manifest.header.periods_ns.values()))
    code, inputs = _code_of(manifest), _inputs_of(manifest)
    return {
        "load": "idle" if load == "idle" else f"load {load}",
        "deployment": manifest.conditions.deployment_words,
        "machine": manifest.conditions.remote,
        "kernel": _kernel_of(manifest),
        "rate": format_rate(1e9 / periods[0]) if len(periods) == 1 else "",
        "experiment": manifest.experiment,
        "code": f"{code.name} (version {code.sha256[:_DIGITS]})" if code is not None else "",
        "inputs": _inputs_words(inputs),
    }


def _inputs_words(inputs: KeptInputs | None) -> str:
    if inputs is None:
        return "without inputs"
    constants = (f"{name}={value}" for name, value in inputs.constants.items())
    file = (f"{Path(inputs.file).name} (version {inputs.sha256[:_DIGITS]})",) if inputs.file else ()
    return f"inputs {' '.join((*constants, *file))}"


def _words(traits: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    always = ("load", "deployment", "machine")
    names = [
        name
        for name in ("load", "deployment", "machine", "rate", "kernel", "experiment", "code", "inputs")
        if name in always or len({one[name] for one in traits.values()}) > 1
    ]
    said = {key: ", ".join(filter(None, (one[name] for name in names))) for key, one in traits.items()}
    numbered: dict[str, int] = {}
    for key, words in said.items():  # what differs otherwise has a number
        numbered[words] = numbered.get(words, 0) + 1
        said[key] = words if numbered[words] == 1 else f"{words} ({numbered[words]})"
    return said
