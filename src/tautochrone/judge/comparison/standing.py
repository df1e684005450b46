"""What a comparison is worth, given what differs: of what it is one, and what speaks against it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tautochrone.judge.comparison.conditions import Aspect, ChangedFact, Changes, Values
from tautochrone.judge.comparison.side import ComparedSide
from tautochrone.run.manifest import RECOVERED

Kind = Literal["void", "of loops", "confounded", "of one thing", "alike"]

_LAB, _MEASURE = "lab:", "measure."
_CAUSES: dict[Aspect, str] = {
    "machine": "machine",
    "kernel": "kernel",
    "deployment": "deployment",
    "load": "load",
    "recorder": "recorder of late cycles",
    "lab": "version of the probe",
}


Code = Literal[
    "experiment", "measure", "clock", "virtual", "cut-off", "kept", "recorder", "within", "unknown"
]  # fmt: skip


@dataclass(frozen=True)
class Objection:
    """Something that limits or voids a comparison.

    Attributes:
        code: never changes: "experiment", "measure" (``names`` has which) and "clock": ``values`` differ;
            "virtual": ``side`` was measured on a virtual machine, and the other was not; "cut-off": a run of
            ``side`` was (``names`` has its id); "kept": one side kept samples and the other a histogram;
            "recorder": what recorded late cycles differs: on ``side`` alone, if it is named, something did
            (``values``: what it cost the median there, in ns, where that was measured);
            "within": runs of ``side`` differ in the facts of ``names``; "unknown": only one side has these.
        values: distinct values of each of the two sides.
        voids: whether better and worse mean nothing then.
    """

    code: Code
    side: str = ""
    names: tuple[str, ...] = ()
    values: tuple[Values, Values] = ((), ())
    voids: bool = False


@dataclass(frozen=True)
class Standing:
    """What the comparison of one side with the first is worth.

    Attributes:
        kind: "void": better and worse mean nothing; "of loops": the measured threads ran differently;
            "confounded": several causes differ; "of one thing"; "alike": nothing differs that is known to
            change a latency.
        sides: the names of the two.
        causes: what differs of machine, kernel, deployment and load.
        facts: which differ of the measured threads; where the two are alike, which differ all the same.
    """

    kind: Kind
    sides: tuple[str, str]
    causes: tuple[str, ...]
    facts: tuple[str, ...]
    objections: tuple[Objection, ...]

    @property
    def void(self) -> bool:
        """Whether no verdict is given."""
        return self.kind == "void"

    @property
    def voided_by(self) -> Objection | None:
        """The first reason that voids it."""
        return next((one for one in self.objections if one.voids), None)


def standing(changes: Changes, sides: tuple[ComparedSide, ...], at: int) -> Standing:
    """Return what the comparison of side ``at`` with the first is worth."""
    own = [one for one in changes.of_conditions if one.differs(at)]
    pair = (sides[0], sides[at])
    objections = (*_voids(own, pair, at), *_limits(changes, own, pair, at))
    causes = tuple(dict.fromkeys(_cause(one, pair) for one in own if one.known and one.cause))
    causes = tuple(cause for cause in causes if cause)
    loop = [one for one in own if one.aspect == "loop" and one.known and one.cause]
    facts: list[ChangedFact] = []
    kind: Kind
    if any(one.voids for one in objections):
        kind = "void"
    elif loop:
        kind, facts = "of loops", loop
    elif causes:
        kind = "confounded" if len(causes) > 1 else "of one thing"
    else:
        kind, facts = "alike", [one for one in own if one.between]
    names = tuple(one.name for one in facts)
    return Standing(kind, (pair[0].name, pair[1].name), causes, names, objections)


def _voids(own: list[ChangedFact], pair: tuple[ComparedSide, ComparedSide], at: int) -> Iterator[Objection]:
    by_name = {one.name: one for one in own}
    if change := by_name.get("experiment"):
        yield Objection("experiment", values=_two(change, at), voids=True)
    for change in own:
        if change.name.startswith(_MEASURE) and all(one[0] is not None for one in _two(change, at)):
            name = change.name.removeprefix(_MEASURE)
            yield Objection("measure", names=(name,), values=_two(change, at), voids=True)
    virtual = [any(one.conditions.virtual for one in side.manifests) for side in pair]
    if virtual[0] != virtual[1]:
        yield Objection("virtual", pair[virtual.index(True)].name, voids=True)
    if change := by_name.get("ruler.clock"):
        yield Objection("clock", values=_two(change, at), voids=True)
    for side in pair:
        cut = [one.id for one in side.manifests if one.state == RECOVERED and not one.header.has_intervals]
        if cut:
            yield Objection("cut-off", side.name, (cut[0],), voids=True)


def _limits(
    changes: Changes, own: list[ChangedFact], pair: tuple[ComparedSide, ComparedSide], at: int
) -> Iterator[Objection]:
    if any(one.name == "kept" for one in own):
        yield Objection("kept")
    yield from _recorders(pair)
    for index, side in ((0, pair[0]), (at, pair[1])):
        within = tuple(one.name for one in changes.of_conditions if len(one.values[index]) > 1)
        if within:
            yield Objection("within", side.name, within)
    unknown = tuple(one.name for one in own if not one.known and one.cause)
    if unknown:
        yield Objection("unknown", names=unknown)


def _recorders(pair: tuple[ComparedSide, ComparedSide]) -> Iterator[Objection]:
    """What recorded the causes of late cycles costs time in every cycle, so it is said where it differs."""
    setups = [[one.header.blame for one in side.manifests] for side in pair]
    names = [{one.recorder if one is not None else None for one in own} for own in setups]
    if names[0] == names[1]:
        return
    recorded = [side for side, own in zip(pair, names, strict=True) if own != {None}]
    costs = tuple(
        one.cost.median_with_ns - one.cost.median_without_ns
        for own in setups
        for one in own
        if one is not None and one.cost is not None
    )
    only = recorded[0].name if len(recorded) == 1 else ""
    told = sorted(name for own in names for name in own if name is not None)
    yield Objection("recorder", only, tuple(dict.fromkeys(told)), (costs, ()))


def _cause(change: ChangedFact, pair: tuple[ComparedSide, ComparedSide]) -> str:
    """What a differing fact is laid to; empty: to none of those that are told apart."""
    if change.name == "target":
        far = [one.conditions.remote for side in pair for one in side.manifests]
        if all(one.startswith(_LAB) for one in far):
            return ""  # what differs between virtual machines is told by their other facts
    return _CAUSES.get(change.aspect, "")


def _two(change: ChangedFact, at: int) -> tuple[Values, Values]:
    return change.values[0], change.values[at]
