"""Short names for runs that stand side by side: what differs between them, in as few words as will do."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tautochrone.run.manifest import Manifest
from tautochrone.units import format_rate

_NOT_CONDITIONS = {"command", "load_reports"}  # how it was typed, and what came of the load
_ALWAYS = ("rate", "load")  # these are said wherever they differ; the rest only where it takes more


def label_runs(manifests: Sequence[Manifest]) -> list[str]:
    """One label per run, all different.

    Runs of one experiment are told apart by rate and load, and, where these do not suffice, by other
    conditions and parameters. The only run of its experiment has its load or, among others, its title.
    """
    labels = [""] * len(manifests)
    for experiment in dict.fromkeys(one.experiment for one in manifests):
        where = [index for index, one in enumerate(manifests) if one.experiment == experiment]
        own = [manifests[index] for index in where]
        words = _tell_apart(own) if len(own) > 1 else [_alone(own[0], is_only=len(manifests) == 1)]
        for index, label in zip(where, words, strict=True):
            labels[index] = label
    often = Counter(labels)
    return [
        label if often[label] == 1 else f"{label} ({labels[: index + 1].count(label)})"
        for index, label in enumerate(labels)
    ]


def _alone(manifest: Manifest, *, is_only: bool) -> str:
    return (_traits(manifest)["load"] if is_only else "") or manifest.title or manifest.experiment


def _tell_apart(manifests: Sequence[Manifest]) -> list[str]:
    traits = [_traits(manifest) for manifest in manifests]
    names = dict.fromkeys(name for one in traits for name in one)
    differing = [name for name in names if len({one.get(name) for one in traits}) > 1]
    chosen = [name for name in differing if name in _ALWAYS]
    for name in differing:
        if len({_say(one, chosen) for one in traits}) == len(traits):
            break
        if name not in chosen:
            chosen.append(name)
    return [_say(one, chosen) or manifest.title for one, manifest in zip(traits, manifests, strict=True)]


def _say(traits: Mapping[str, str], names: Sequence[str]) -> str:
    return ", ".join(traits[name] for name in names if traits.get(name))


def _traits(manifest: Manifest) -> dict[str, str]:
    """What a run may be known by, in words, the most telling first."""
    traits = {}
    period_ns = (manifest.header.get("schedule") or {}).get("period_ns")
    if period_ns:
        traits["rate"] = format_rate(1e9 / period_ns)
    conditions = {name: value for name, value in manifest.conditions.items() if name not in _NOT_CONDITIONS}
    traits["load"] = _words(conditions.pop("load", None))
    traits |= {name: f"{name} {_words(value)}" for name, value in conditions.items()}
    parameters: Mapping[str, Any] = manifest.header.get("parameters") or manifest.parameters
    traits |= {
        f"parameter {name}": f"{name.replace('_', ' ')} {_words(value)}" for name, value in parameters.items()
    }
    return traits


def _words(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return " + ".join(str(part) for part in value)
    return "" if value is None else str(value)
