"""What a deployment is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Deployment:
    """How the CPUs of one machine are used.

    Attributes:
        name: as people write it: "MI", or the name in its file.
        title: what it is, in words.
        settings: knob -> value as people write it; what is not named stays as it is.
        measure: CPUs of the measuring threads, as a CPU list; None: as each experiment chooses.
        load: CPUs of the background loads, as a CPU list; None: all.
        origin: where it is from: "delgado2020, Table 1", or a file's path.
    """

    name: str
    title: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    measure: str | None = None
    load: str | None = None
    origin: str = ""


@dataclass(frozen=True)
class Obtained:
    """One setting after it was asked for, read back.

    Attributes:
        knob: its name.
        requested: what was asked for; None: it was not asked for, but another knob changed it.
        before: what it was.
        obtained: what it is.
        reason: why it differs from what was asked for, or may not stay so, in words; empty: it is so.
    """

    knob: str
    requested: str | None
    before: str | None
    obtained: str | None
    reason: str = ""


def as_condition(deployment: Deployment, obtained: tuple[Obtained, ...]) -> dict[str, Any]:
    """What is stored with a run, as JSON has it.

    Returns:
        name, title, origin, measure, load, and ``settings``: a list of knob, requested, before, obtained,
        reason.
    """
    return {
        "name": deployment.name,
        "title": deployment.title,
        "origin": deployment.origin,
        "measure": deployment.measure,
        "load": deployment.load,
        "settings": [
            {
                "knob": one.knob,
                "requested": one.requested,
                "before": one.before,
                "obtained": one.obtained,
                "reason": one.reason,
            }
            for one in obtained
        ],
    }
