"""Looking more than once: rounds of measuring until it is settled, and earlier checks of the same question.

A limit that is looked at again and again, until it suits, is wrong far more often than by one look. So all
that was measured for a question under the same conditions is judged together, by limits that are right for
all looks (`statistics.sequential`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tautochrone.base.errors import DamagedError, StoreError
from tautochrone.check.question import CONDITION, CheckQuestion
from tautochrone.judge.comparison.facts import Facts, alike, facts_of
from tautochrone.judge.naming import ONLY_HOW_MUCH
from tautochrone.judge.requirement.judge import Judgement, judge
from tautochrone.judge.verdict import FEWEST_CYCLES
from tautochrone.measure.cell import Load
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import SEALED
from tautochrone.run.store import Store

_LOOKED_AT = 300  # runs of the store, the latest ones
_NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class CheckedSoFar:
    """What came of all looks together.

    Attributes:
        judgement: over all runs.
        runs: that were measured now, round after round.
        earlier: that were measured for the same question before.
    """

    judgement: Judgement
    runs: tuple[StoredRun, ...]
    earlier: tuple[StoredRun, ...] = ()


def earlier_of(store: Store, runs: Sequence[StoredRun]) -> tuple[StoredRun, ...]:
    """Return the runs of a store that asked what one of these does, under its conditions, before."""
    own, known = {run.id for run in runs}, [_asked(run) for run in runs]
    found = []
    for folder in store.folders()[-_LOOKED_AT:]:
        if folder.name in own or not any(f"-{run.manifest.experiment}-" in folder.name for run in runs):
            continue
        try:
            run = StoredRun.read(folder)
        except (StoreError, DamagedError):
            continue  # `tauto list` tells of it
        if run.manifest.state != SEALED or CONDITION not in run.manifest.conditions.stored:
            continue
        if any(alike(_asked(run), one) for one in known):
            found.append(run)
    return tuple(found)


def _asked(run: StoredRun) -> Facts:
    """Return all that is known of a run but how much it measured, and what came of it."""
    return {
        name: value
        for name, value in facts_of(run.manifest).items()
        if name.removeprefix("parameters.") not in ONLY_HOW_MUCH and name not in ("warnings", "state")
    }


def look(
    question: CheckQuestion, runs: Sequence[StoredRun], earlier: Sequence[StoredRun], *, again: bool
) -> CheckedSoFar:
    """Judge what was measured, with what was before.

    Args:
        again: whether it may be looked at again, and measured until it is settled.
    """
    judgement = judge(
        question.requirement,
        [*earlier, *runs],
        counted=question.counted,
        watched=again or bool(earlier),
    )
    return CheckedSoFar(judgement, tuple(runs), tuple(earlier))


def settle(
    question: CheckQuestion,
    loads: Sequence[Load],
    first: CheckedSoFar,
    until_s: float,
    measure: Callable[[CheckQuestion, Sequence[Load]], Sequence[StoredRun]],
) -> CheckedSoFar:
    """Measure on, beside the loads that are open, until all are settled, one fails, or the time is over.

    Each round is as long as all before it, so that there are few looks.

    Args:
        first: what the first round came to.
        until_s: how long all rounds take together, at most.
        measure: measures one round; nothing where it was stopped.
    """
    found, each_s = first, question.duration_ns / _NS_PER_S
    spent_s = each_s * len(loads)
    while still := _open(found, loads):
        next_s = min(each_s, (until_s - spent_s) / len(still))
        if next_s < FEWEST_CYCLES / question.rate_hz:
            break
        round_of = replace(question, duration_ns=round(next_s * 1_000) * 1_000_000)
        more = measure(round_of, still)
        found = look(question, [*found.runs, *more], found.earlier, again=True)
        if len(more) < len(still):
            break
        each_s, spent_s = each_s + next_s, spent_s + next_s * len(still)
    return found


def _open(found: CheckedSoFar, loads: Sequence[Load]) -> list[Load]:
    """Return the loads beside which it is not settled; none where one has failed, which settles all."""
    lines = found.judgement.lines
    if any(line.standing == "does not hold" for line in lines):
        return []
    runs = {run.id: run.manifest.conditions.load for run in (*found.runs, *found.earlier)}
    names = {runs[run] for line in lines if line.standing == "not shown" for run in line.runs}
    return [one for one in loads if one.name in names]
