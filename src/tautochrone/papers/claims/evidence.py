"""What a claim rests on: its queries, each on the system that it is asked of, and their samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tautochrone.base.errors import UsageError
from tautochrone.base.units import parse_duration_ns
from tautochrone.measure.document.expand import PlanPoint
from tautochrone.papers.document import Claim, Datum, Given, Query, list_of
from tautochrone.papers.measured import Found, Measurements, QueryPlace
from tautochrone.papers.quantities import evaluate
from tautochrone.papers.quantities.general import lost_without_sample, sources_of
from tautochrone.statistics.difference.sides import Side, SourceSamples
from tautochrone.statistics.quantiles import CONFIDENCE
from tautochrone.statistics.sequential import confidence_of_look

# What is said of a claim.

Answer = Literal["yes", "no", "open", "not asked"]
"""Whether it is so: that is shown, the contrary is shown, neither; or nobody is there who could be asked."""

Reason = Literal[
    "not measured",
    "not here",
    "not had",
    "not planned",
    "no ordinary kernel",
    "no real-time kernel",
    "no kernels",
    "kinds of machines",
    "one point",
    "few points",
    "few that differ",
    "none on either side",
    "zero",
    "no ratio",
    "no trend",
    "missed",
    "no choice",
    "none so far",
    "not shown",
]
"""Why a claim can't be told; `words.SHORT` says it to people."""

NOT_ASKED: frozenset[Reason] = frozenset(
    ("not here", "not had", "not planned", "no ordinary kernel", "no real-time kernel", "no kernels",
     "kinds of machines")
)  # fmt: skip
"""Reasons that no measuring removes: what the claim is about is not among the systems, or not to be had."""


@dataclass(frozen=True)
class ClaimFinding:
    """What a test found.

    Attributes:
        sentences: a few, with the numbers; of what can't be told, why.
        in_short: the numbers alone, for a table: "412 us < 578 us"; of what can't be told, the reason in a
            few words.
        reason: of what can't be told, or was not asked; None: there is a number, which does not tell it.
        takes: of what can't be told, how many times the measuring so far would probably tell it; None: not
            known.
    """

    answer: Answer
    sentences: tuple[str, ...]
    in_short: str
    reason: Reason | None = None
    takes: float | None = None

    @property
    def evidence(self) -> str:
        """Return on what it rests, as one text."""
        return " ".join(self.sentences)


class UntoldError(Exception):
    """A claim can't be told.

    Attributes:
        sentences: why, with the numbers.
        samples: of which none is beyond a limit so far, where that is the reason.
        takes: how many times the measuring so far would probably tell it; None: not known.
    """

    def __init__(self, reason: Reason, *sentences: str, samples: int = 0, takes: float | None = None) -> None:
        super().__init__(reason)
        self.reason, self.sentences, self.samples, self.takes = reason, sentences, samples, takes


@dataclass(frozen=True)
class AskedClaim:
    """A claim, asked of one system of ours, or of an ordinary and a real-time one.

    Attributes:
        systems: their names; none: there is none that it could be asked of.
    """

    claim: Claim
    systems: tuple[str, ...]
    finding: ClaimFinding


ORDINARY, REAL_TIME = "ordinary", "real-time"


@dataclass(frozen=True)
class QueriedSystem(QueryPlace):
    """One query of a claim on one system.

    Attributes:
        point: what tells it from others that the same query means; empty: the query means one thing.
    """

    point: tuple[tuple[str, str], ...] = ()

    def found(self, statistic: str = "") -> Found:
        """Return its number, or another statistic of the same."""
        return evaluate(self.asking(statistic=statistic or self.query.statistic))

    def side(self) -> Side:
        """Return its runs that have samples, and in each its sources, as the tests of difference take them.

        Releases of a source without any sample are given to another one of its run, and those of a run
        without any to another run, so that they count.
        """
        found: list[list[SourceSamples]] = []
        without = 0
        for run in self.runs:
            without += lost_without_sample(self, run)
            if own := [one.as_source() for one in sources_of(self, run)]:
                found.append([_also_lost(own[0], without), *own[1:]])
                without = 0
        if found and without:
            found[-1][0] = _also_lost(found[-1][0], without)
        return found

    def lost(self) -> int:
        """Return how many releases are known to have no sample, of all runs."""
        return sum(source.missing for run in self.side() for source in run)

    @property
    def lacking(self) -> list[str]:
        """Return the keys of the points that it means and that have no run."""
        return [key for key in self.keys if not self.measurements.runs.get(key)]

    @property
    def keys(self) -> list[str]:
        """Return the keys of the points that it means; none: the plan does not measure it."""
        return [one.key for one in self.points]

    def repetitions(self) -> list["QueriedSystem"]:
        """Return the same for each repetition, as far as every point that was measured has it."""
        runs = self.measurements.runs
        own = {one.key: runs.get(one.key, ()) for one in self.points}
        return [
            replace(
                self,
                measurements=replace(
                    self.measurements, runs={key: each[number : number + 1] for key, each in own.items()}
                ),
            )
            for number in range(min(map(len, filter(None, own.values())), default=0))
        ]


def _also_lost(source: SourceSamples, lost: int) -> SourceSamples:
    return replace(source, lost=None if source.lost is None else source.lost + lost)


Known = dict[tuple[str, str], object]
"""What was estimated before, by query and system; `compare.numbers_of` knows what it is."""


@dataclass(frozen=True)
class ClaimEvidence:
    """A claim, what was measured, and of which systems it is asked.

    Attributes:
        systems: by key of the claim's queries: of a pair "ordinary" and "real-time"; otherwise one, under "".
        known: what was estimated for other claims.
        look: which of several it is, from 1; 0: it is the only one.
    """

    claim: Claim
    measurements: Measurements
    systems: Mapping[str, str]
    known: Known = field(default_factory=dict)
    look: int = 0

    @property
    def confidence(self) -> float:
        """Return at what confidence it is judged."""
        return self.surer(CONFIDENCE)

    def surer(self, confidence: float) -> float:
        """Return a confidence as this look must have it."""
        return confidence_of_look(confidence, self.look) if self.look else confidence

    @property
    def given(self) -> Given:
        """Return what the test is told."""
        return self.claim.given

    @property
    def is_turned(self) -> bool:
        """Return whether the claim is that its test comes to the contrary."""
        return bool(self.given.get("turned"))

    def places(self, key: str) -> tuple[QueriedSystem, ...]:
        """Return the queries under a key; of ``by-point``, one for each point that they mean."""
        if key not in self.claim.queries:
            raise ValueError(f"claim {self.claim.name}: there is no '{key}' in ours")
        asked = self.asked_under(key)
        if not self.given.get("by-point"):
            return asked
        return tuple(self._of_point(one.query, one.system, point) for one in asked for point in one.points)

    @property
    def asked(self) -> tuple[QueriedSystem, ...]:
        """Return all queries on their systems."""
        return tuple(one for key in self.claim.queries for one in self.asked_under(key))

    def asked_under(self, key: str) -> tuple[QueriedSystem, ...]:
        """Return the queries of a key on its system, whatever points they mean."""
        system = self.systems.get(key, self.systems.get("", ""))
        return tuple(QueriedSystem(one, system, self.measurements) for one in self.claim.queries[key])

    def takes(self, several: int = 1) -> list[int]:
        """Return how many samples the study had, for each of so many numbers; 0: it is not given."""
        each = [int(one) for one in list_of(self.given, "takes") or (0,)]
        if len(each) == 1:
            return each * several
        if len(each) != several and several > 1:
            raise ValueError(f"claim {self.claim.name}: given.takes has not one number for each query")
        return each

    def pairs(self, first: str, second: str) -> list[tuple[QueriedSystem, QueriedSystem]]:
        """Return the places of two keys that belong together: of the same point, or one after the other."""
        one, other = self.places(first), self.places(second)
        if self.given.get("by-point"):
            of = {place.point: place for place in other}
            return [(place, of[place.point]) for place in one if place.point in of]
        if len(one) == 1 or len(other) == 1:
            return [(a, b) for a in one for b in other]
        if len(one) != len(other):
            raise ValueError(f"claim {self.claim.name}: {first} and {second} are not equally many")
        return list(zip(one, other, strict=True))

    def _of_point(self, query: Query, system: str, point: PlanPoint) -> QueriedSystem:
        free = {name: str(point.options[name]) for name in point.varying if name not in query.options}
        load, deployment = query.load or point.load_spec, query.deployment or point.deployment.short
        whole = replace(query, options={**query.options, **free}, load=load, deployment=deployment)
        where = {} if query.load else {"load": load}
        where |= {} if query.deployment else {"deployment": deployment}
        return QueriedSystem(whole, system, self.measurements, tuple(sorted({**free, **where}.items())))

    def roles(self, of: str, otherwise: tuple[str, str]) -> tuple[str, str]:
        """Return the two keys of a test: of a pair, the role that is given under ``of`` and the other one."""
        if self.claim.about != "pair":
            return otherwise
        named = self.given.get(of)
        if named not in (ORDINARY, REAL_TIME):
            raise ValueError(f"claim {self.claim.name}: given.{of} is the role of a system")
        return named, REAL_TIME if named == ORDINARY else ORDINARY


def limit(told: Datum) -> float:
    """Return a limit as a study's file has it: a number, or a time in ns of ``"500us"``."""
    if not isinstance(told, str):
        return float(str(told))
    try:
        return float(parse_duration_ns(told))
    except UsageError as error:
        raise ValueError(str(error)) from error


@dataclass(frozen=True)
class PlaceLabel:
    """What tells a place from others.

    Attributes:
        system: its name, where the others are on another one.
        traits: experiment, number, source, options, load, deployment, as far as the others have another one.
    """

    system: str = ""
    traits: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """Return all that tells it, one by one."""
        return (self.system, *self.traits) if self.system else self.traits

    @property
    def words(self) -> str:
        """Return all that tells it, as one text."""
        return ", ".join(self.parts)

    def also(self, other: "PlaceLabel") -> "PlaceLabel":
        """Return this label with what else tells the place from others."""
        return PlaceLabel(self.system or other.system, tuple(dict.fromkeys((*self.traits, *other.traits))))


def labels(places: Sequence[QueriedSystem]) -> list[PlaceLabel]:
    """Return what tells each place from the others."""
    traits = [_traits(one) for one in places]
    several = len({one.system for one in places}) > 1
    differing = [at for at, own in enumerate(zip(*traits, strict=True)) if len(set(own)) > 1]
    return [
        PlaceLabel(
            place.system if several else "", tuple(part for at in differing for part in own[at] if part)
        )
        for place, own in zip(places, traits, strict=True)
    ]


def _traits(place: QueriedSystem) -> tuple[tuple[str, ...], ...]:
    query = place.query
    options = tuple(f"{name} {value}" for name, value in query.options.items())
    return ((query.of,), (number_name(query),), (query.source,), options, (query.load,), (query.deployment,))


_PHRASES = {
    "max": "largest {}",
    "min": "least {}",
    "p50": "median {}",
    "mean": "mean {}",
    "repeated-mean": "mean {}",
    "samples": "{}",
    "synchronized": "synchronised switch",
    "rate": "calls in a second",
    "elapsed": "time taken",
    "met up to": "tire that meets every deadline",
    "cost": "cost of taking the time",
    "most threads": "threads with which most tires meet every deadline",
}
_NOUNS = {
    "sd": "standard deviation",
    "mean-size": "mean size",
    "range-width": "width of the range",
    "fullest-bin": "share of the fullest bin",
    "share-above": "share of late samples",
}
_MEASURES = {"koh_semaphore_ns": "response", "koh_round_trip_ns": "response", "duration_ns": "duration"}


def number_name(query: Query) -> str:
    """Return what a query's number is called: ``p99.9 of latency``, ``mean response``."""
    measure = _MEASURES.get(query.measure, query.measure.removesuffix("_ns").replace("_", " "))
    if query.statistic == "largest-over-usual":
        return f"largest {measure} over its median"
    if query.statistic == "switch-share":
        return f"share of its two switches in {measure or 'sample'}"
    if number := query.given.get("number"):
        return _named(str(number), query.statistic)
    return _named(query.statistic, measure)


def _named(statistic: str, what: str) -> str:
    if statistic in _PHRASES:
        return _PHRASES[statistic].format(what or "sample")
    noun = _NOUNS.get(statistic, statistic)
    return f"{noun} of {what}" if what else noun
