"""Rows that a system can't give: N/A wherever a run's sources are tabled, with the reason."""

from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.run.manifest import Manifest


@dataclass(frozen=True)
class Absent:
    """One row that is not there. ``runs`` are the labels of the runs that lack it, "" if all do."""

    name: str
    why: str
    runs: str = ""


def view(manifests: Sequence[Manifest], labels: Sequence[str]) -> list[Absent]:
    """The absent rows of runs of one experiment; what several runs lack for one reason is said once."""
    where: dict[tuple[str, str], list[str]] = {}
    for manifest, label in zip(manifests, labels, strict=True):
        for one in manifest.header.absent:
            where.setdefault((one.name, one.why), []).append(label)
    return [
        Absent(name, why, "" if len(lacking) == len(manifests) else ", ".join(lacking))
        for (name, why), lacking in where.items()
    ]


def sentence(absent: Absent) -> str:
    """``suspend-resume: N/A, POSIX has no such call``."""
    return f"{absent.name}{f' ({absent.runs})' if absent.runs else ''}: N/A, {absent.why}"
