"""Runs of files of other tools."""

from pathlib import Path

from tautochrone.foreign.formats import ImportOptions
from tautochrone.foreign.read import bring_in
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.statistics.summary import Summary, summarise_counts
from where import ROOT

SAMPLES = ROOT / "tests" / "foreign" / "samples"
MILLISECOND = 1_000_000


def brought(store: Store, path: Path, period_ns: int | None = None, **options: object) -> StoredRun:
    """The run of one file."""
    (one,) = bring_in([path], store, ImportOptions(period_ns=period_ns, **options))  # type: ignore[arg-type]
    return one.run


def written(folder: Path, name: str, text: str) -> Path:
    """A file with this text."""
    path = folder / name
    path.write_text(text)
    return path


def summary(run: StoredRun, source: int = 0, measure: str | None = None) -> Summary:
    """What is said of a source of a histogram run."""
    return summarise_counts(*run.histogram(source, measure))
