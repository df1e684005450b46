"""What options, keys of plans and verbs were called before."""

from collections.abc import Mapping

VERBS: Mapping[str, str] = {"deploy": "tune"}
"""By the old name of a verb."""

OPTIONS: Mapping[tuple[str, str], str] = {
    ("answer", "--seconds"): "--duration 50s",
    ("check", "--seconds"): "--within 60s",
    ("load try", "--seconds"): "--duration 3s",
    ("lab matrix", "--loads"): "--load idle,exit",
    ("analyse", "--fail"): "--fail-on misses",
    ("", "--wake-latency-us"): "--wake-latency 0us",
    ("probe period", "--cpu"): "--cpus 1",
    ("probe interrupt", "--cpu"): "--cpus 1",
}
"""By the verb, empty for every one, and the old name of its option: the new name, with a value.

The options of `tauto probe NAME` are the keys of that experiment in plans.
"""


def renamed(verb: str, option: str) -> tuple[str, str] | None:
    """Return the new name of an option, and an example of it; None: it never had another name.

    Args:
        verb: without ``tauto``.
        option: with its dashes.
    """
    example = OPTIONS.get((verb, option), OPTIONS.get(("", option)))
    return None if example is None else (example.partition(" ")[0], example)
