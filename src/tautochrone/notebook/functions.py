"""What ``import tautochrone as tc`` has beside a run: opening, listing, comparing, selecting, planning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from warnings import warn

from tautochrone.base.errors import UsageError
from tautochrone.notebook.answers import Shown
from tautochrone.notebook.run import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from tautochrone.judge.comparison.compare import Comparison
    from tautochrone.judge.tail.sample_plan import SamplePlan
    from tautochrone.run import folder
    from tautochrone.run.store import Store
    from tautochrone.selection.judge import Selected

Named = str | Path | Run
"""A run as a person names it: an id, its beginning, ``latest``, ``latest~1``, a path; or one that is open."""


def open(name: Named = "latest", store: str | Path | None = None) -> Run:  # noqa: A001 - tc.open
    """Open a run.

    Args:
        name: its id, the beginning of it, "latest", "latest~1" (the one before), or the path of its folder.
        store: the folder of the runs; None: ``TAUTO_STORE``, otherwise your data folder.

    Returns:
        The run; its samples, times in ns, are read when they are asked for.

    Raises:
        StoreError: there is no such run, several match, or it is not sealed.
        DamagedError: its manifest can't be read.

    Source: docs/runs.md.
    """
    return name if isinstance(name, Run) else Run(_found(name, _store(store)))


def runs(store: str | Path | None = None) -> pa.Table:
    """Return all runs of a store, oldest first.

    Args:
        store: the folder of the runs; None: ``TAUTO_STORE``, otherwise your data folder.

    Returns:
        An Arrow table with a row for each run, shape (runs, 12): ``id``, ``created`` (UTC), ``experiment``,
        ``title``, ``load``, ``deployment``, ``sources``, ``samples``, ``missed``, ``worst_ns`` (ns, the
        largest of the first measure), ``state``, ``path``. What is not known is null.

    Raises:
        StoreError: the store can't be read.

    Source: docs/runs.md.
    """
    from tautochrone.notebook.samples import table

    return table(_store(store))


def compare(
    *sides: Named | Sequence[Named],
    measure: str | None = None,
    confidence: float = 0.95,
    store: str | Path | None = None,
) -> Shown[Comparison]:
    """Compare runs: their conditions first, then their numbers, each with an interval.

    Args:
        sides: two or more; the first is what the others are compared with. A list is one side: repetitions
            of the same.
        measure: which; None: all that they have in common.
        confidence: of intervals, as a fraction.
        store: the folder of the runs; None: ``TAUTO_STORE``, otherwise your data folder.

    Returns:
        ``result``: a ``Comparison``, times in ns, differences as second less first.

    Raises:
        UsageError: fewer than two sides, or they have no measure in common.
        StoreError: there is no such run.
        DamagedError: samples can't be read.

    Source: docs/compare.md, docs/comparing.md.
    """
    from tautochrone.notebook.answers import compared

    if len(sides) < 2:
        raise UsageError(f"There is {len(sides)} side to compare", "Name two or more runs, or lists of runs.")
    place = _store(store)
    named = [tuple(_run(one, place) for one in _listed(side)) for side in sides]
    _see_distinct([run for side in named for run in side])
    return compared(named, measure, confidence, place)


def select(
    *names: Named,
    by: str | None = None,
    reference: str | None = None,
    metric: str | None = None,
    measure: str | None = None,
    per: int | None = None,
    confidence: float = 0.95,
    store: str | Path | None = None,
) -> Shown[Selected]:
    """Select the best of several deployments, kernels or systems, and what can't be told apart from it.

    Args:
        names: runs, or one plan run: "plan-latest".
        by: in what the candidates differ: "deployment", "system", "load", a parameter; None: see
            docs/select.md.
        reference: by which the others are measured; None: Single, as-is, or the first.
        metric: by what they are ranked: "latency p99.9", "max", "misses"; None: p99.9.
        measure: which; None: the one that the experiment is about.
        per: scale histograms of the paper's test to so many samples; None: they stay as they are.
        confidence: of intervals, as a fraction; 1 - confidence is what the ranking allows.
        store: the folder of the runs; None: ``TAUTO_STORE``, otherwise your data folder.

    Returns:
        ``result.selections``: of each its ``ranking``, ``best``, and ``against``: every candidate against
        the reference; times in ns.

    Raises:
        UsageError: there is nothing to select from; no such axis, reference, metric.
        StoreError: there is no such run or plan run.
        DamagedError: samples can't be read.

    Source: delgado2020, section IV; docs/select.md.
    """
    from tautochrone.measure.campaign.campaign import PREFIXES
    from tautochrone.notebook.answers import selected

    place = _store(store)
    if len(names) == 1 and isinstance(names[0], str) and names[0].startswith(PREFIXES):
        chosen = _of_campaign(names[0], place)
    else:
        chosen = [_run(one, place) for one in names]
    _see_distinct(chosen)
    return selected(
        chosen, by=by, reference=reference, metric=metric, measure=measure, per=per, confidence=confidence
    )


def plan_samples(
    quantile: float | str | None = None,
    confidence: float | str = 0.95,
    *,
    misses: str | None = None,
    rate: str | None = None,
    like: Named | None = None,
    store: str | Path | None = None,
) -> Shown[SamplePlan]:
    """Plan how many samples, and how long a run, it takes to show how rare late cycles are.

    Args:
        quantile: what share shall be in time: a fraction, 0.99999, or as people write it, "p99.999".
        confidence: how sure it shall be: a fraction, or "95%".
        misses: in place of the quantile, how many may be late: "1 per hour", "1 in 1e6".
        rate: at which rate: "1kHz"; None: 100 Hz, 1 kHz and 10 kHz.
        like: a run; how alike its neighbouring samples are is reckoned in. None: independent samples.
        store: the folder of the runs; None: ``TAUTO_STORE``, otherwise your data folder.

    Returns:
        ``result.needs``: of each way of saying it the number of samples, by rate; ``result.seconds(need)``:
        how long that takes, in s.

    Raises:
        UsageError: one of them can't be read, or not just one of quantile and misses was given.
        StoreError: there is no such run.
        DamagedError: its samples can't be read.

    Source: Wilks, Determination of Sample Sizes for Setting Tolerance Limits, The Annals of Mathematical
    Statistics 12, 1941; Clopper and Pearson, Biometrika 26, 1934; docs/tails.md.
    """
    from tautochrone.notebook.answers import planned

    return planned(quantile, misses, confidence, rate, None if like is None else _run(like, _store(store)))


def _listed(side: Named | Sequence[Named]) -> Sequence[Named]:
    return [side] if isinstance(side, (str, Path, Run)) else side


def _see_distinct(found: Sequence[folder.StoredRun]) -> None:
    ids = [run.id for run in found]
    if twice := next((one for one in ids if ids.count(one) > 1), None):
        raise UsageError(f"The run {twice} is named twice", "Name each run once.")


def _store(path: str | Path | None) -> Store:
    from tautochrone.run.store import Store, default_store

    return Store(default_store() if path is None else Path(path), lambda words: warn(words, stacklevel=2))


def _found(name: str | Path, store: Store) -> folder.StoredRun:
    from tautochrone.run import folder

    return folder.StoredRun.read(name) if isinstance(name, Path) else store.open(name)


def _run(name: Named, store: Store) -> folder.StoredRun:
    return name.stored if isinstance(name, Run) else _found(name, store)


def _of_campaign(name: str, store: Store) -> list[folder.StoredRun]:
    from tautochrone.measure.campaign.campaign import open_campaign
    from tautochrone.run.repeated import each_once

    return each_once(open_campaign(store, name).finished_runs())
