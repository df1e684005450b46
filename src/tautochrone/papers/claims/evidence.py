"""What a claim rests on: its queries, each on the system that it is asked of, and their samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tautochrone.base.errors import UsageError
from tautochrone.base.units import parse_duration_ns
from tautochrone.measure.document.expand import PlanPoint
from tautochrone.papers.document import Claim, Datum, Given, Query
from tautochrone.papers.measured import Measurements, matches
from tautochrone.papers.quantities.general import sources_of
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.difference.sides import Side, SourceSamples

# What is said of a claim.


Answer = Literal["holds", "does not hold", "can't be told"]


@dataclass(frozen=True)
class ClaimFinding:
    """What a test found.

    Attributes:
        evidence: in a sentence or two, with the numbers; of what can't be told, why.
        in_short: the numbers alone, for a table: "412 us < 578 us"; of what can't be told, the reason in a
            few words.
    """

    answer: Answer
    evidence: str
    in_short: str


class UntoldError(Exception):
    """A claim can't be told: why, in a sentence or two, and in a few words."""

    def __init__(self, why: str, in_short: str = "not measured") -> None:
        super().__init__(why)
        self.finding = ClaimFinding("can't be told", why, in_short)


@dataclass(frozen=True)
class AskedClaim:
    """A claim, asked of one system of ours, or of an ordinary and a real-time one.

    Attributes:
        systems: by the names of `systems.System`; none: there is none that it could be asked of.
    """

    claim: Claim
    systems: tuple[str, ...]
    finding: ClaimFinding


ORDINARY, REAL_TIME = "ordinary", "real-time"


@dataclass(frozen=True)
class QueriedSystem:
    """One query on one system.

    Attributes:
        point: what tells it from others that the same query means; empty: the query means one thing.
    """

    query: Query
    system: str
    point: tuple[tuple[str, str], ...] = ()


Known = dict[tuple[str, str], object]
"""What was estimated before, by query and system; `tally` knows what it is."""


@dataclass(frozen=True)
class ClaimEvidence:
    """A claim, what was measured, and of which systems it is asked.

    Attributes:
        systems: by key of the claim's queries: of a pair "ordinary" and "real-time"; otherwise one, under "".
        known: what was estimated for other claims.
    """

    claim: Claim
    measurements: Measurements
    systems: Mapping[str, str]
    known: Known = field(default_factory=dict)

    @property
    def given(self) -> Given:
        """What the test is told."""
        return self.claim.given

    def places(self, key: str) -> tuple[QueriedSystem, ...]:
        """The queries under a key; of ``by-point``, one for each point that they mean."""
        if key not in self.claim.queries:
            raise ValueError(f"claim {self.claim.name}: there is no '{key}' in ours")
        system = self.systems.get(key, self.systems.get("", ""))
        queries = self.claim.queries[key]
        if not self.given.get("by-point"):
            return tuple(QueriedSystem(one, system) for one in queries)
        return tuple(
            _of_point(query, system, point)
            for query in queries
            for point in self.measurements.points_of(query, system)
        )

    def pairs(self, first: str, second: str) -> list[tuple[QueriedSystem, QueriedSystem]]:
        """The places of two keys that belong together: those of the same point, or one after the other."""
        one, other = self.places(first), self.places(second)
        if self.given.get("by-point"):
            of = {place.point: place for place in other}
            return [(place, of[place.point]) for place in one if place.point in of]
        if len(one) == 1 or len(other) == 1:
            return [(a, b) for a in one for b in other]
        if len(one) != len(other):
            raise ValueError(f"claim {self.claim.name}: {first} and {second} are not equally many")
        return list(zip(one, other, strict=True))

    def roles(self, of: str, otherwise: tuple[str, str]) -> tuple[str, str]:
        """The two keys of a test: of a pair, the role that is given under ``of`` and the other one."""
        if self.claim.about != "pair":
            return otherwise
        named = self.given.get(of)
        if named not in (ORDINARY, REAL_TIME):
            raise ValueError(f"claim {self.claim.name}: given.{of} is the role of a system")
        return named, REAL_TIME if named == ORDINARY else ORDINARY


def _of_point(query: Query, system: str, point: PlanPoint) -> QueriedSystem:
    free = {name: str(point.options[name]) for name in point.varying if name not in query.options}
    load, deployment = query.load or point.load_spec, query.deployment or point.deployment.short
    whole = replace(query, options={**query.options, **free}, load=load, deployment=deployment)
    where = {} if query.load else {"load": load}
    where |= {} if query.deployment else {"deployment": deployment}
    return QueriedSystem(whole, system, tuple(sorted({**free, **where}.items())))


def limit(told: Datum) -> float:
    """A limit as a study's file has it: a number, or a time in ns of ``"500us"``."""
    if not isinstance(told, str):
        return float(str(told))
    try:
        return float(parse_duration_ns(told))
    except UsageError as error:
        raise ValueError(str(error)) from error


def labels(places: Sequence[QueriedSystem]) -> list[str]:
    """What tells each place from the others, in words."""
    return [", ".join(one) for one in telling(places)]


def telling(places: Sequence[QueriedSystem]) -> list[tuple[str, ...]]:
    """What tells each place from the others, one by one."""
    traits = [_traits(one) for one in places]
    differing = [name for name in traits[0] if len({one[name] for one in traits}) > 1] if traits else []
    return [tuple(filter(None, (part for name in differing for part in one[name]))) for one in traits]


def _traits(place: QueriedSystem) -> dict[str, tuple[str, ...]]:
    query = place.query
    return {
        "system": (place.system,),
        "of": (query.of,),
        "number": (number_name(query),),
        "source": (query.source,),
        "options": tuple(f"{name} {value}" for name, value in query.options.items()),
        "load": (query.load,),
        "deployment": (query.deployment,),
    }


_NAMES = {
    "sd": "standard deviation of {}",
    "max": "largest {}",
    "min": "least {}",
    "p50": "median {}",
    "mean": "mean {}",
    "repeated-mean": "mean {}",
    "mean-size": "mean size of {}",
    "samples": "{}",
    "range-width": "width of the range of {}",
    "fullest-bin": "share of the fullest bin of {}",
    "share-above": "share of late samples of {}",
    "switch-share": "share of its two switches in {}",
    "synchronized": "synchronised switch",
    "rate": "calls in a second",
    "elapsed": "time taken",
    "met up to": "tire that meets every deadline",
    "cost": "cost of taking the time",
    "most threads": "threads with which most tires meet every deadline",
}
_MEASURES = {"koh_semaphore_ns": "response", "koh_round_trip_ns": "response", "duration_ns": "duration"}


def number_name(query: Query) -> str:
    """``p99.9 of latency``, ``mean response``."""
    measure = _MEASURES.get(query.measure, query.measure.removesuffix("_ns").replace("_", " "))
    if query.statistic == "largest-over-usual":
        return f"largest {measure} over its median"
    if number := query.given.get("number"):
        return _NAMES.get(str(number), f"{number} of {{}}").format(query.statistic)
    name = _NAMES.get(query.statistic, f"{query.statistic} of {{}}" if measure else query.statistic)
    return name.format(measure or "sample").replace(" of sample", "")


# The samples that a query means, as the tests of difference take them.


def side_of(place: QueriedSystem, measurements: Measurements) -> Side:
    """Its runs that have samples, and in each its sources.

    Releases of a source that has no sample at all are given to another one of its run, so that they count.
    """
    found: list[list[SourceSamples]] = []
    for run in measurements.runs_of(place.query, place.system):
        own = [one.as_source() for one in sources_of(place.query, measurements, run)]
        silent = _lost_without_sample(place, run)
        if own:
            lost = None if own[0].lost is None else own[0].lost + silent
            found.append([replace(own[0], lost=lost), *own[1:]])
    return found


def lost_of(place: QueriedSystem, measurements: Measurements) -> int:
    """Releases that are known to have no sample, of all its runs."""
    return sum(source.missing for run in side_of(place, measurements) for source in run)


def repetition(place: QueriedSystem, measurements: Measurements, number: int) -> Measurements:
    """The same with one run of each point that a place means."""
    own = {one.key for one in measurements.points_of(place.query, place.system)}
    runs = {key: tuple(runs[number : number + 1]) for key, runs in measurements.runs.items() if key in own}
    return replace(measurements, runs=runs)


def _lost_without_sample(place: QueriedSystem, run: StoredRun) -> int:
    periods = run.manifest.header.periods_ns
    return sum(
        (book.missed or 0) + (book.dropped or 0)
        for book in run.manifest.books
        if book.source in periods and not book.recorded and matches(place.query.source, book.name)
    )
