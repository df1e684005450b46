"""The question of a check, asked of runs that were measured or imported before."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tautochrone.base.errors import UsageError
from tautochrone.base.units import format_rate
from tautochrone.check.question import CONDITION, AskedCheck, CheckQuestion, question_of
from tautochrone.judge.explained import see_plain
from tautochrone.judge.requirement.evidence import ENDS_OF_WORK, measure_of
from tautochrone.run.folder import StoredRun


def see_that_nothing_is_measured(asked: Mapping[str, object]) -> None:
    """Refuse options that say how it is measured.

    Args:
        asked: by option; what is None or False was not given.

    Raises:
        UsageError: one was given.
    """
    given = [option for option, value in asked.items() if value is not None and value is not False]
    if given:
        raise UsageError(
            f"{given[0]} says how to measure, and --runs judges what was measured", "Leave out one of them."
        )


def question_of_runs(asked: AskedCheck, runs: Sequence[StoredRun]) -> CheckQuestion:
    """Return the question, of the rate that the runs have.

    Args:
        asked: its period may be empty: it is that of the runs.

    Raises:
        UsageError: the runs have no schedule, another rate, or several; or they measure different things.
    """
    see_plain(runs)
    without = next((run for run in runs if measure_of(run, "") is None), None)
    if without is not None:
        raise UsageError(
            f"The run {without.id} has no releases that could be missed",
            f"See how rare large values are in it: tauto tail {without.id} --limit TIME. "
            "Import it with --period if it is of a loop.",
        )
    measures = {str(measure_of(run, "")) for run in runs}
    ends = [measure in ENDS_OF_WORK for measure in sorted(measures)]
    if len(set(ends)) > 1:
        raise UsageError(
            "Some of these runs measure the start of each cycle, others its end", "Name runs of one kind."
        )
    periods = sorted({period for run in runs for period in run.manifest.header.periods_ns.values()})
    question = question_of(replace(asked, period=asked.period or f"{periods[-1]}ns"))
    if periods != [question.period_ns]:
        rates = " and ".join(format_rate(1e9 / period) for period in periods)
        raise UsageError(
            f"These runs are of {rates}",
            "Name runs of one rate." if len(periods) > 1 else "Leave out --rate and --period.",
        )
    checks = [run.manifest.conditions.stored.get(CONDITION) for run in runs]
    works = {one.get("work_ns") if isinstance(one, Mapping) else None for one in checks}
    (work_ns,) = works if len(works) == 1 else (None,)
    return replace(question, work_ns=work_ns if ends[0] else None, of_the_end=ends[0])
