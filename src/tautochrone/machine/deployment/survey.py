"""What a machine can have: of deployments, and of the settings of one."""

from dataclasses import dataclass
from typing import Literal

from tautochrone.base.errors import UsageError
from tautochrone.machine.deployment.apply import canonical_settings, read_knobs
from tautochrone.machine.deployment.choose import built_in, own_files
from tautochrone.machine.deployment.deployment import Deployment, read_deployment
from tautochrone.machine.knob.table import KNOBS
from tautochrone.machine.tree import Tree

How = Literal["as it is", "run time", "at boot", "can't", ""]


@dataclass(frozen=True)
class Prospect:
    """One deployment on one machine.

    Attributes:
        name: of the deployment.
        title: what it is, in words.
        origin: where it is from.
        can: whether the machine can have it: "yes", "in part" or "no".
        reason: what it can't have, and why; or that another is the same here.
        same_as: the name of another that is the same thing here; None: there is none.
    """

    name: str
    title: str
    origin: str
    can: Literal["yes", "in part", "no"]
    reason: str = ""
    same_as: str | None = None


@dataclass(frozen=True)
class Setting:
    """One knob on one machine.

    Attributes:
        knob: its name.
        summary: what it is.
        now: what it is now; None: it can't be told.
        wanted: what a deployment asks for; None: nothing.
        how: how that is had; empty: nothing is asked for.
        reason: why it can't be had at run time, in words.
        now_type: a command that does it by hand.
        at_boot: what does it for good.
    """

    knob: str
    summary: str
    now: str | None
    wanted: str | None
    how: How
    reason: str
    now_type: str
    at_boot: str


def survey(tree: Tree) -> tuple[Prospect, ...]:
    """The built-in deployments and the user's own."""
    now = read_knobs(tree)
    found = []
    for one in built_in(tree):
        if one.cannot:
            deployment = one.deployment
            found.append(Prospect(deployment.name, deployment.title, deployment.origin, "no", one.cannot))
        else:
            found.append(_prospect(one.deployment, now, tree, one.same_as, one.note))
    for path in own_files():
        try:
            found.append(_prospect(read_deployment(path), now, tree))
        except UsageError as error:
            found.append(Prospect(path.stem, "", str(path), "no", str(error)))
    return tuple(found)


def settings_of(deployment: Deployment | None, tree: Tree) -> tuple[Setting, ...]:
    """All knobs, and how what a deployment asks for can be had.

    Raises:
        UsageError: the machine can't have one of its values.
    """
    now = read_knobs(tree)
    wanted = {} if deployment is None else canonical_settings(deployment, tree)
    rows = []
    for knob in KNOBS:
        asked = wanted.get(knob.name)
        advice = None if asked in (None, now[knob.name]) else knob.advice(asked or "", tree)
        unavailable = knob.available(tree)
        at_boot = advice.at_boot if advice else ""
        rows.append(
            Setting(
                knob=knob.name,
                summary=knob.summary,
                now=now[knob.name],
                wanted=asked,
                how=_how(asked, now[knob.name], unavailable, at_boot),
                reason=unavailable or "",
                now_type=advice.now if advice and not unavailable else "",
                at_boot=at_boot,
            )
        )
    return tuple(rows)


def _how(asked: str | None, now: str | None, unavailable: str | None, at_boot: str) -> How:
    if asked is None:
        return ""
    if asked == now:
        return "as it is"
    if unavailable is None:
        return "run time"
    return "at boot" if at_boot else "can't"


def _prospect(
    deployment: Deployment,
    now: dict[str, str | None],
    tree: Tree,
    same_as: str | None = None,
    note: str = "",
) -> Prospect:
    try:
        wanted = canonical_settings(deployment, tree)
    except UsageError as error:
        return Prospect(deployment.name, deployment.title, deployment.origin, "no", str(error))
    missing = [
        f"{knob.name}: {unavailable}"
        for knob in KNOBS
        if wanted.get(knob.name) not in (None, now[knob.name]) and (unavailable := knob.available(tree))
    ]
    return Prospect(
        deployment.name,
        deployment.title,
        deployment.origin,
        "in part" if missing else "yes",
        "; ".join([*missing, *([note] if note else [])]),
        same_as,
    )
