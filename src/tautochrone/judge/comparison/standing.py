"""What a comparison is worth, given what differs: of what it is one, and what speaks against it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tautochrone.base.words import capital, listed
from tautochrone.judge.circumstances import remote
from tautochrone.judge.comparison.conditions import Change, Changes
from tautochrone.judge.comparison.importance import Aspect
from tautochrone.judge.comparison.side import Side
from tautochrone.run.manifest import RECOVERED

Kind = Literal["void", "of loops", "confounded", "of one thing", "alike"]

_LAB = "lab:"
_CAUSES: dict[Aspect, str] = {
    "machine": "machine",
    "kernel": "kernel",
    "deployment": "deployment",
    "load": "load",
    "lab": "version of the probe",
}


@dataclass(frozen=True)
class Objection:
    """Something that limits or voids a comparison.

    Attributes:
        code: never changes: "experiment", "measure", "clock", "virtual", "cut-off", "kept", "loop", "causes",
            "within", "unknown".
        sentence: what it is, and what follows from it.
        voids: whether better and worse mean nothing then.
    """

    code: str
    sentence: str
    voids: bool = False


@dataclass(frozen=True)
class Standing:
    """What the comparison of one side with the first is worth.

    Attributes:
        kind: "void": better and worse mean nothing; "of loops": the measured threads ran differently;
            "confounded": several causes differ; "of one thing"; "alike": nothing differs.
        sentence: that, in words.
        causes: what differs of machine, kernel, deployment and load.
    """

    kind: Kind
    sentence: str
    causes: tuple[str, ...]
    objections: tuple[Objection, ...]

    @property
    def void(self) -> bool:
        """Whether no verdict is given."""
        return self.kind == "void"


def standing(changes: Changes, sides: tuple[Side, ...], at: int) -> Standing:
    """Of the comparison of side ``at`` with the first."""
    own = [one for one in changes.of_conditions if one.differs(at)]
    pair = (sides[0], sides[at])
    objections = [*_voids(own, pair, at), *_limits(changes, own, pair, at)]
    causes = tuple(dict.fromkeys(_cause(one, pair) for one in own if one.known and one.cause))
    causes = tuple(cause for cause in causes if cause)
    loop = [one for one in own if one.aspect == "loop" and one.known and one.cause]
    first, second = pair[0].name, pair[1].name
    if any(one.voids for one in objections):
        kind: Kind = "void"
        why = next(one.sentence for one in objections if one.voids)
        said = f"{first} and {second} can't be compared: {why[:1].lower()}{why[1:]}"
    elif loop:
        kind = "of loops"
        named = ", ".join(dict.fromkeys(_last(one.name) for one in loop[:4]))
        also = f", and {listed(causes)} {'differs' if len(causes) == 1 else 'differ'} too" if causes else ""
        said = (
            f"The measured threads differ ({named}){also}: this compares two loops, and says nothing of the "
            "systems below them alone."
        )
    elif len(causes) > 1:
        kind = "confounded"
        said = (
            f"{capital(listed(causes))} differ at once: what differs in the numbers can't be laid to "
            "one of them."
        )
    elif causes:
        kind = "of one thing"
        said = f"Of what is known, only the {causes[0]} differs."
    else:
        kind = "alike"
        details = [_last(one.name) for one in own if one.between]
        but = f", but for {listed(tuple(dict.fromkeys(details))[:5])}" if details else ""
        said = f"Nothing that is known to change a latency differs: a repeated measurement{but}."
    return Standing(kind, said, causes, tuple(objections))


def _voids(own: list[Change], pair: tuple[Side, Side], at: int) -> Iterator[Objection]:
    by_name = {one.name: one for one in own}
    if change := by_name.get("experiment"):
        said = _both(change, at)
        yield Objection("experiment", f"They are of different experiments, {said}.", voids=True)
    for change in own:
        if change.name.startswith("measure.") and all(one[0] is not None for one in _two(change, at)):
            name = change.name.partition(".")[2]
            yield Objection("measure", f"What {name} means differs: {_both(change, at, '; ')}.", voids=True)
    virtual = [any(one.conditions.get("virtual") for one in side.manifests) for side in pair]
    if virtual[0] != virtual[1]:
        guest = pair[virtual.index(True)].name
        yield Objection(
            "virtual",
            f"{guest} was measured on a virtual machine of the lab, whose time is counted otherwise than "
            "that of hardware.",
            voids=True,
        )
    if change := by_name.get("ruler.clock"):
        yield Objection(
            "clock", f"Their time was read from different clocks, {_both(change, at)}.", voids=True
        )
    for side in pair:
        cut = [one.id for one in side.manifests if one.state == RECOVERED]
        if cut:
            yield Objection(
                "cut-off",
                f"{side.name} holds a run that was cut off ({cut[0]}), of which the last samples and the "
                "count of missed releases are not known.",
                voids=True,
            )


def _limits(changes: Changes, own: list[Change], pair: tuple[Side, Side], at: int) -> Iterator[Objection]:
    if any(one.name == "kept" for one in own):
        yield Objection(
            "kept",
            "One side kept all samples and the other a histogram, whose quantiles are the upper edges of its "
            "bins: a difference as small as a bin is wide can't be told.",
        )
    for index, side in ((0, pair[0]), (at, pair[1])):
        within = [one.name for one in changes.of_conditions if len(one.values[index]) > 1]
        if within:
            more = f" and {len(within) - 3} more" if len(within) > 3 else ""
            yield Objection(
                "within",
                f"The runs of {side.name} do not agree among themselves in {', '.join(within[:3])}{more}, so "
                "they are no repetitions of one measurement.",
            )
    unknown = [one for one in own if not one.known and one.cause]
    if unknown:
        named = ", ".join(one.name for one in unknown[:3])
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        yield Objection("unknown", f"Only one side tells of {named}{more}: whether they differ is not known.")


def _cause(change: Change, pair: tuple[Side, Side]) -> str:
    """What a differing fact is laid to; empty: to none of those that are told apart."""
    if change.name == "target":
        far = [remote(one.conditions) for side in pair for one in side.manifests]
        if all(one.startswith(_LAB) for one in far):
            return ""  # what differs between virtual machines is told by their other facts
    return _CAUSES.get(change.aspect, "")


def _two(change: Change, at: int) -> tuple[tuple[object, ...], tuple[object, ...]]:
    return change.values[0], change.values[at]


def _both(change: Change, at: int, between: str = " and ") -> str:
    return between.join(", ".join(map(str, own)) for own in _two(change, at))


def _last(name: str) -> str:
    return name.rpartition(".")[2].removesuffix("_ns").replace("_", " ")
