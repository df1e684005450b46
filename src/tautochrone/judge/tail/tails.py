"""From a run to what its samples say about rare late cycles."""

from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.base.errors import UsageError
from tautochrone.judge.reduced import Reduced, reduce_run
from tautochrone.judge.soak import SoakRun, soak_of
from tautochrone.judge.tail.source import SourceTail
from tautochrone.run.folder import StoredRun


@dataclass(frozen=True, eq=False)
class RunTails:
    """All sources of one run.

    Attributes:
        loop: whether it is how late a loop's cycles begin.
        soak: of a long run what its intervals say; None: it has none, or they are of another measure.
    """

    run: str
    measure: str
    meaning: str
    loop: bool
    histogram: bool
    sources: tuple[SourceTail, ...]
    soak: SoakRun | None = None


def tails_of(
    run: StoredRun,
    measure: str | None = None,
    *,
    limits_ns: Sequence[int] = (),
    sources: Sequence[str] = (),
    confidence: float = 0.95,
    reduced: Sequence[Reduced] | None = None,
) -> RunTails:
    """What a run says about values that are larger than most, or than all, of those measured.

    Args:
        measure: which; None: the first one.
        limits_ns: above which values are late; none: half the period, the period, and round values.
    """
    parts = _chosen(run, reduce_run(run, measure) if reduced is None else reduced, sources)
    name = measure if measure is not None else next(iter(run.measures), "")
    limits = tuple(sorted(set(limits_ns)))
    return RunTails(
        run=run.id,
        measure=name,
        meaning=run.manifest.header.meaning_of(name),
        loop=run.manifest.header.is_about_a_loop and name == run.measures[0],
        histogram=run.is_histogram,
        sources=tuple(SourceTail(one, limits, confidence) for one in parts),
        soak=soak_of(run) if run.has_intervals and name == run.measures[0] else None,
    )


def _chosen(run: StoredRun, parts: Sequence[Reduced], sources: Sequence[str]) -> list[Reduced]:
    if not parts:
        raise UsageError(
            f"Run {run.id} has no sample of this",
            "`tauto show` tells what it has, and what became of the rest.",
        )
    known = {name for one in parts for name in (one.name, str(one.source))}
    for name in sources:
        if name not in known:
            said = ", ".join(one.name for one in parts)
            raise UsageError(f"Run {run.id} has no samples of a source '{name}'", f"It has: {said}.")
    return [one for one in parts if not sources or one.name in sources or str(one.source) in sources]
