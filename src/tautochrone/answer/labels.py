"""Short names for runs that stand side by side: what differs between them, in as few words as will do."""

from collections import Counter
from collections.abc import Mapping, Sequence

from tautochrone.answer.environment import show, words
from tautochrone.base.units import format_rate
from tautochrone.judge.middleware_setting import as_obtained
from tautochrone.measure.cpu_use import CPU_USE
from tautochrone.measure.virtual import BUSY
from tautochrone.run.manifest import Manifest
from tautochrone.run.place import shortest_ids
from tautochrone.run.store import ANSWER

LONGEST = 40
"""Characters of a label: what a key or a panel's title has room for on a phone."""

# How it was typed, and what came of it.
_NOT_CONDITIONS = {ANSWER, "command", "load_reports", "deployment", BUSY, CPU_USE}
_IMPLIED = {"period_ns", "count", "warmup", "ring_rows"}  # by the rate, or they tell nothing of the machine
# These are said wherever they differ; the rest only where it takes more.
_ALWAYS = ("rate", "load", "deployment", "target")


def label_runs(manifests: Sequence[Manifest]) -> list[str]:
    """Return one label per run, all different.

    A title that a person typed is the label. Other runs of one experiment are told apart by rate and load,
    and, where these do not suffice, by the fewest other conditions and parameters that do. The only run of
    its experiment has its load or, among others, its title.
    """
    labels = [""] * len(manifests)
    for experiment in dict.fromkeys(one.experiment for one in manifests):
        where = [index for index, one in enumerate(manifests) if one.experiment == experiment]
        own = [manifests[index] for index in where]
        said = _tell_apart(own) if len(own) > 1 else [_alone(own[0], is_only=len(manifests) == 1)]
        for index, label in zip(where, said, strict=True):
            labels[index] = label
    often = Counter(labels)
    return [
        label if often[label] == 1 else f"{label} ({labels[: index + 1].count(label)})"
        for index, label in enumerate(labels)
    ]


def titled(title: str, label: str) -> str:
    """Return a title with the label of the run that it is about, if it has one."""
    return f"{title}, {label}" if label else title


def typed_title(manifest: Manifest) -> str:
    """Return the title if a person chose it on the command line, otherwise nothing."""
    chosen = manifest.asked("--title") is not None
    return " ".join(manifest.title.split()) if chosen else ""


def _alone(manifest: Manifest, *, is_only: bool) -> str:
    load = _traits(manifest)["load"] if is_only else ""
    return _cut(typed_title(manifest) or load or manifest.title or manifest.experiment)


def _tell_apart(manifests: Sequence[Manifest]) -> list[str]:
    traits = [_traits(manifest) for manifest in manifests]
    titles = [_cut(typed_title(manifest)) for manifest in manifests]
    untitled = [one for one, title in zip(traits, titles, strict=True) if not title]
    chosen = _chosen(untitled)
    said = [", ".join(one[name] for name in chosen if one.get(name)) for one in traits]
    ids = shortest_ids([manifest.id for manifest in manifests])
    # Of traits that are too many to say, the id tells a run; of none of its own, its title.
    return [
        title or (words if 0 < len(words) <= LONGEST else "") or (short if words else _cut(manifest.title))
        for title, words, manifest, short in zip(titles, said, manifests, ids, strict=True)
    ]


def _chosen(traits: Sequence[Mapping[str, str]]) -> list[str]:
    """Return which traits to say: at each step the one that splits most of the runs still alike."""
    names = dict.fromkeys(name for one in traits for name in one)
    differing = [name for name in names if len({one.get(name, "") for one in traits}) > 1]
    chosen = [name for name in _ALWAYS if name in differing]
    while True:
        apart = {name: len({_key(one, [*chosen, name]) for one in traits}) for name in differing}
        best = max(apart, key=lambda name: apart[name], default="")
        if not best or apart[best] == len({_key(one, chosen) for one in traits}):
            return chosen
        chosen.append(best)


def _key(traits: Mapping[str, str], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(traits.get(name, "") for name in names)


def _traits(manifest: Manifest) -> dict[str, str]:
    """Return what a run may be known by, in words, the most telling first; what is not known is left out."""
    traits = {}
    period_ns = manifest.header.schedule.period_ns
    if period_ns:
        traits["rate"] = format_rate(1e9 / period_ns)
    stored = manifest.conditions.stored
    conditions = {name: value for name, value in stored.items() if name not in _NOT_CONDITIONS}
    load = conditions.pop("load", None)
    traits["load"] = " + ".join(map(str, load)) if isinstance(load, (list, tuple)) else str(load or "")
    if under := manifest.conditions.deployment_name:
        traits["deployment"] = under
    if target := conditions.pop("target", None):
        traits["target"] = str(target)
    parameters = as_obtained(manifest)
    traits |= {
        name: f"{words(name)} {show(name, value)}"
        for name, value in {**conditions, **parameters}.items()
        if value is not None and name not in _IMPLIED and not isinstance(value, Mapping)
    }
    return traits


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"
