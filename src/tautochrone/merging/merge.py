"""Brings the runs of one store into another: each whole or not at all, and none twice."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from tautochrone.merging.far import FarPlace
from tautochrone.merging.places import FolderPlace, Place, Sizes

_MOST_RUNS, _MOST_BYTES = 200, 256 << 20
"""Of a batch, which arrives together. A stop between two loses nothing of what arrived."""


@dataclass
class Merged:
    """What became of the runs of a store.

    Attributes:
        source, into: the stores.
        new: runs that arrived.
        known: that were there already, with the same manifest and the same sizes.
        conflicts: that are there with other contents; both stay as they are.
        refused: that did not arrive whole, and why.
        incomplete: that are not complete where they are.
    """

    source: str
    into: str
    new: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    incomplete: list[str] = field(default_factory=list)


def merge(
    source: Place, into: FolderPlace | FarPlace, tell: Callable[[int, int], object] = lambda *_: None
) -> Merged:
    """Bring the complete runs of a store into another one that lacks them.

    The seal of a run is the SHA-256 of its manifest, in which all its counts and extremes stand. A run whose
    seal is there under its id is not brought again.

    Args:
        source: where runs come from; a folder, where they go to a far store.
        tell: is told how many runs have arrived, and of how many.
    """
    theirs, ours = source.listing(), into.listing()
    both = [run for run in theirs.runs if run in ours.runs]
    here, there = into.seals(both), source.seals(both)
    done = Merged(source.name, into.name, incomplete=list(theirs.incomplete))
    for run in both:
        is_same = here.get(run, "") == there.get(run) and _tables(ours.runs[run]) == _tables(theirs.runs[run])
        (done.known if is_same else done.conflicts).append(run)
    busy = set(ours.incomplete)
    done.conflicts += [run for run in theirs.runs if run in busy]
    lacking = {run: sizes for run, sizes in theirs.runs.items() if run not in ours.runs and run not in busy}
    for batch in _batches(lacking):
        tell(len(done.new), len(lacking))
        hashes = source.hashes(batch)
        if isinstance(into, FarPlace):
            assert isinstance(source, FolderPlace)
            damaged = source.damaged(batch)
            whole = {run: sizes for run, sizes in batch.items() if run not in damaged}
            arrived, refused = into.take(source.path, whole, hashes) if whole else ([], {})
            refused |= damaged
        else:
            with into.receiving(sum(sum(sizes.values()) for sizes in batch.values())) as stage:
                source.bring(batch, stage)
                arrived, refused = into.admit(stage, batch, hashes)
        done.new += arrived
        done.refused |= refused
    return done


def _tables(sizes: Sizes) -> dict[str, int]:
    return {name: size for name, size in sizes.items() if name.endswith(".parquet")}


def _batches(runs: Mapping[str, Sizes]) -> Iterator[dict[str, Sizes]]:
    batch: dict[str, Sizes] = {}
    size = 0
    for run, sizes in runs.items():
        batch[run] = sizes
        size += sum(sizes.values())
        if len(batch) >= _MOST_RUNS or size >= _MOST_BYTES:
            yield batch
            batch, size = {}, 0
    if batch:
        yield batch
