"""Where and under which deployment a run was measured: runs that differ in these are never taken together."""

from collections.abc import Mapping
from typing import Any

from tautochrone.target.middleware import SERVER, SERVER_ON

LOCAL = "local"
_IN_PART = " in part"

ONLY_HOW_MUCH = frozenset(
    {
        "count", "duration", "duration_ns", "warmup", "warmup_ns", "record", "drain", "ring_rows",
        "budget_ns", "repetitions", "seed",
    }
)  # fmt: skip
"""Parameters that say how long is measured and how it is kept, and not what."""


def remote(conditions: Mapping[str, Any]) -> str:
    """The machine under test as it was reached, and that of its server, if that was another one.

    Empty for the machine that the lab ran on.
    """
    server = server_of(conditions)
    if server:
        return f"{conditions.get('target') or LOCAL}, its server on {server}"
    return target_of(conditions)


def target_of(conditions: Mapping[str, Any]) -> str:
    """The machine under test as it was reached, without its server; empty as above."""
    target = str(conditions.get("target") or LOCAL)
    return "" if target == LOCAL else target


def server_of(conditions: Mapping[str, Any]) -> str:
    """The machine of the server, where it was another than that of its client; empty otherwise."""
    server, target = conditions.get(SERVER_ON), str(conditions.get("target") or LOCAL)
    return str(server) if server and server != target else ""


def server_facts(conditions: Mapping[str, Any]) -> Mapping[str, Any]:
    """The facts about the server's machine, group by group; empty where there is no other one."""
    held = conditions.get(SERVER)
    facts = held.get("facts") if isinstance(held, Mapping) else None
    return facts if isinstance(facts, Mapping) else {}


def deployment_of(conditions: Mapping[str, Any]) -> Mapping[str, Any]:
    """The deployment as it is stored with a run; empty without one."""
    held = conditions.get("deployment")
    return held if isinstance(held, Mapping) else {}


def deployment_name(conditions: Mapping[str, Any]) -> str:
    """Its name, and whether only a part of it was obtained; empty without one."""
    held = deployment_of(conditions)
    if not held:
        return ""
    lacking = any(was_not_obtained(one) for one in held.get("settings") or ())
    return f"{held.get('name')}{_IN_PART}" if lacking else str(held.get("name"))


def whole_name(name: str) -> str:
    """Return the name of a deployment of which only a part may have been obtained."""
    return name.removesuffix(_IN_PART)


def deployment_words(conditions: Mapping[str, Any]) -> str:
    """``deployment MI``; empty without one."""
    name = deployment_name(conditions)
    return f"deployment {name}" if name else ""


def was_not_obtained(setting: Mapping[str, Any]) -> bool:
    """Whether a setting was asked for and is not so, or not known to be so."""
    return setting.get("requested") is not None and bool(setting.get("reason"))
