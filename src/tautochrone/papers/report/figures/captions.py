"""What a publication writes below a figure: what it is, on which systems it was measured, how, and when."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tautochrone.answer import composition
from tautochrone.papers.document import Figure, Paper
from tautochrone.papers.measured import Measurements
from tautochrone.papers.systems import System, label_of
from tautochrone.run.folder import Run

if TYPE_CHECKING:
    from tautochrone.papers.report.figures import Drawn


def caption_of(figure: Figure, parts: Sequence[composition.Figure], measurements: Measurements) -> str:
    """Of one figure, as a text that can stand by itself."""
    said = dict.fromkeys(sentence for part in parts for sentence in (*part.caption, *part.notes))
    return " ".join([f"{figure.title.rstrip('.')}.", *said, *_measured(figure, measurements)])


def markdown(paper: Paper, drawn: Sequence["Drawn"]) -> str:
    """All captions of a study's figures, to be taken into a text."""
    told = [f"# Captions: figures as in {paper.short}, measured anew\n"]
    for one in drawn:
        words = one.words or f"{one.figure.title.rstrip('.')}. Nothing was drawn. {one.nothing}"
        told.append(f"## {one.figure.name}\n\n{words}\n")
    return "\n".join(told)


def _measured(figure: Figure, measurements: Measurements) -> Iterator[str]:
    """The systems of a figure, each with its kernel; the day."""
    days: set[str] = set()
    systems = []
    for system in measurements.systems:
        runs = [run for one in figure.series for run in measurements.runs_of(one.query, system.name)]
        if runs:
            systems.append(_system(system, runs))
            days |= {run.manifest.created[:10] for run in runs}
    if systems:
        first, last = min(days), max(days)
        yield f"Measured {first if first == last else f'{first} to {last}'} on {'; '.join(systems)}."


def _system(system: System, runs: Sequence[Run]) -> str:
    """This machine (Linux 6.1.0-31-rt-amd64, under the loads idle and comms)."""
    kernel = (system.facts.get("kernel") or {}).get("release")
    loads = dict.fromkeys(str(run.manifest.conditions.get("load") or "") for run in runs)
    named = [one for one in loads if one]
    told = [
        f"Linux {kernel}" if kernel else "",
        "a virtual machine of the lab" if system.virtual is not None else "",
        f"under {' and '.join(named)}" if named else "",
    ]
    words = ", ".join(filter(None, told))
    return f"{label_of(system.name)} ({words})" if words else label_of(system.name)
