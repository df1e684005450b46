"""Measuring a check: beside each load, once or until it is settled, or trial after trial of a search.

A limit that is looked at again and again, until it suits, is wrong far more often than by one look. So all
that was measured for a question under the same conditions is judged together, by limits that are right for
all looks (`statistics.sequential`).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tautochrone.base.errors import DamagedError, StoreError
from tautochrone.check.question import CONDITION, cell_of, cells, first_cpu
from tautochrone.check.results import results_of
from tautochrone.command.batch import introduce
from tautochrone.command.permission import permitted
from tautochrone.judge.comparison.facts import alike, facts_of
from tautochrone.judge.naming import ONLY_HOW_MUCH
from tautochrone.judge.requirement.judge import Judgement, judge
from tautochrone.judge.verdict import FEWEST_CYCLES
from tautochrone.run.facts import Facts, FactTable
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import SEALED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from tautochrone.check.question import CheckQuestion
    from tautochrone.check.results import CheckResults
    from tautochrone.check.search import Kind
    from tautochrone.command.batch import Batch
    from tautochrone.command.beside import Beside
    from tautochrone.judge.comparison.facts import Facts as ComparedFacts
    from tautochrone.machine.deployment import Deployment
    from tautochrone.machine.settings import NotPutBackError
    from tautochrone.measure.cell import Load
    from tautochrone.run.store import Store
    from tautochrone.target.target import Target

_LOOKED_AT = 300  # runs of the store, the latest ones
_NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class LoopCheck:
    """What is asked, and where it is measured; `console` is where the course of it is told."""

    question: CheckQuestion
    loads: Sequence[Load]
    beside: Beside
    store: Store
    console: Console

    def answer(self, until_s: float | None, *, afresh: bool) -> CheckResults | None:
        """Measure beside each load, and judge; None: it was stopped before anything was measured.

        Args:
            until_s: measure on until it is settled, for so long at most; None: once.
            afresh: leave out earlier checks of the same question.
        """
        from tautochrone.command.batch import run_batch

        batches: list[Batch] = []

        with self.beside.target() as target:
            site = self._site(target)
            if site.question.why_so_long:
                self.console.print(
                    f"Measuring for {site.question.why_so_long}.", style="dim", highlight=False
                )

            def measure(asked: CheckQuestion, loads: Sequence[Load]) -> Sequence[StoredRun]:
                own = cells(asked, loads, site.cpu, _command(), deployment=site.deployment)
                batches.append(run_batch(own, self.store, target, site.facts, lambda _: False))
                return batches[-1].runs

            runs = measure(site.question, self.loads)
            whole = len(runs) == len(self.loads) and not batches[-1].stopped
            looked = None
            if runs:
                earlier = () if afresh else earlier_of(self.store, runs)
                looked = look(site.question, runs, earlier, again=until_s is not None)
                if whole and until_s is not None:
                    looked = settle(site.question, self.loads, looked, until_s, measure)
        not_put_back = next((one.not_put_back for one in batches if one.not_put_back is not None), None)
        if looked is None:
            if not_put_back is not None:
                raise not_put_back
            return None
        return replace(
            results_of(site.question, looked.judgement, looked.runs, self.store),
            not_measured=tuple(one.name for one in self.loads[len(runs) :]),
            stopped=any(one.stopped for one in batches),
            earlier=tuple(run.id for run in looked.earlier),
            not_put_back=not_put_back,
        )

    def find(self, kind: Kind, seconds: float, *, duration_given: bool) -> CheckResults | None:
        """Search for the largest that holds; None: it was stopped before anything was measured."""
        from tautochrone.check.search import make_search, search_of
        from tautochrone.command.live import watching_campaign
        from tautochrone.machine.settings import NotPutBackError
        from tautochrone.measure.conditions import conditions_of
        from tautochrone.measure.outlook import Countdown
        from tautochrone.measure.trials import TrialSite
        from tautochrone.target.middleware import provide_before_boot

        with self.beside.target() as target:
            site = self._site(target)
            if site.deployment is not None:  # a guest is booted once, around all trials
                cell = cell_of(site.question, self.loads[0], site.cpu)
                provide_before_boot(target, cell.experiment, cell.options)
            not_put_back: NotPutBackError | None = None
            search = search_of(kind, site.question, seconds, duration_given=duration_given)
            try:
                with (
                    conditions_of(site.deployment, target, site.facts) as under,
                    watching_campaign(Countdown(seconds), "at most") as begin,
                ):
                    where = TrialSite(self.store, target, under, _command())
                    make_search(search, self.loads[0], site.cpu, where, begin)
            except NotPutBackError as error:
                not_put_back = error
        if not search.trials:
            if not_put_back is not None:
                raise not_put_back
            return None
        best = search.best or search.trials[-1]
        judgement = judge(best.question.requirement, [best.run], counted=site.question.counted)
        runs = [best.run, *([search.above.run] if search.above is not None else [])]
        results = results_of(best.question, judgement, runs, self.store, search)
        return replace(results, stopped=search.stopped, not_put_back=not_put_back)

    def _site(self, target: Target) -> _Site:
        """Return where it is measured, found out before: facts, permissions, the CPU."""
        from tautochrone.machine.facts import gather
        from tautochrone.machine.tree import Tree

        facts = gather(target.files())
        introduce(self.console, Facts.from_table(facts))
        deployment = self.beside.chosen_deployment(target)
        question = self.question
        if question.policy is None:
            permission = permitted(target, self.console)
            question = replace(question, policy=permission.policy, memory_lock=permission.memory_lock)
        for words in question.cautions:
            self.console.print(words, style="yellow", highlight=False, markup=False, soft_wrap=True)
        cpu = first_cpu(Facts.from_table(facts), deployment, Tree(target.files()))
        return _Site(question, facts, deployment, cpu)


@dataclass(frozen=True)
class _Site:
    """Where a check is measured, and the question as it can be asked there."""

    question: CheckQuestion
    facts: FactTable
    deployment: Deployment | None
    cpu: int


def _command() -> tuple[str, ...]:
    return ("tauto", *sys.argv[1:])


# Looking more than once.


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


def _asked(run: StoredRun) -> ComparedFacts:
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
        question.requirement, [*earlier, *runs], counted=question.counted, watched=again or bool(earlier)
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
