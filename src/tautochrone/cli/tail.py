"""How rare a late cycle is, beyond what was measured (`tauto tail`), and how long to measure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tautochrone.command import completion
from tautochrone.command.options import JsonOption, RunArgument, StoreOption, open_store
from tautochrone.command.told import tell_document

# ``tauto plan-samples``: how long to measure.


def plan_samples(
    quantile: Annotated[
        str | None,
        typer.Option(
            "--quantile",
            "-q",
            metavar="QUANTILE",
            help="Share of the cycles that must be in time, in percent: 99.999.",
        ),
    ] = None,
    misses: Annotated[
        str | None,
        typer.Option(metavar="HOW-OFTEN", help="Or how many cycles may be late: '1 per hour', '1 in 1e6'."),
    ] = None,
    confidence: Annotated[
        str, typer.Option("--confidence", metavar="PERCENT", help="Confidence of the claim.")
    ] = "95%",
    rate: Annotated[
        list[str] | None,
        typer.Option(metavar="RATE", help="Rate of the loop; repeatable. [100Hz, 1kHz, 10kHz]"),
    ] = None,
    period: Annotated[
        list[str] | None, typer.Option(metavar="TIME", help="Period instead of a rate; repeatable.")
    ] = None,
    exceeding: Annotated[
        list[int] | None,
        typer.Option(metavar="COUNT", help="Number of late cycles to allow for; repeatable. [1, 2, 5]"),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Account for the correlation of samples in this run.",
            autocompletion=completion.runs,
        ),
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Compute how many samples, and how long a run, show that late cycles are as rare as you claim.

    The answer is given for the largest sample, with some late cycles allowed, for an interval, and for
    an estimate. Nothing is assumed about the distribution.

    Examples:
        tauto plan-samples --quantile 99.999 --rate 1kHz
        tauto plan-samples --misses '1 per hour' --period 250us
    """
    from tautochrone.base.units import parse_confidence, parse_frequency, parse_period_ns, parse_quantile

    q = None if quantile is None else parse_quantile(quantile)
    often = None if misses is None else parse_frequency(misses)
    rates = [1e9 / parse_period_ns(part) for part in _periods(rate, period)]
    sure = parse_confidence(confidence)
    from tautochrone.answer.tail import sample_plan
    from tautochrone.judge.tail.sample_plan import plan_samples as plan_them

    plan = plan_them(q, often, rates_hz=rates, exceeding=exceeding or (), confidence=sure)
    if like is not None:
        effect, run = _effect(like, 1 - min(plan.shares), store)
        plan = plan_them(
            q, often, rates_hz=rates, exceeding=exceeding or (), confidence=sure, effect=effect, like=run
        )
    asked = sample_plan.question(q, misses)
    shown = sample_plan.document(plan, asked)
    tell_document(shown, "plan-samples", lambda: sample_plan.as_table(plan, asked), as_json=as_json)


def _periods(rates: list[str] | None, periods: list[str] | None) -> list[str]:
    """Return what was given in one way or the other, by commas or several times."""
    from tautochrone.base.units import given_period

    given_period({"rate": ",".join(rates) if rates and periods else None, "period": periods or None})
    found = [given_period({"rate": part}) for text in rates or () for part in text.split(",")]
    return [one for one in found if one] + [part for text in periods or () for part in text.split(",")]


def _effect(name: str, q: float, store: Path | None) -> tuple[float, str]:
    """So many samples counted as one in this run, and its id."""
    from tautochrone.judge.reduced import reduce_run
    from tautochrone.judge.tail.sample_plan import effect_in

    run = open_store(store).open(name)
    return effect_in(run.id, reduce_run(run), q), run.id


def tail(
    run: RunArgument = "latest",
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit",
            "-l",
            metavar="TIME",
            help="Latency above which a cycle is late; repeatable. [the period, half of it, round values]",
        ),
    ] = None,
    measure: Annotated[
        str | None, typer.Option("--measure", "-m", help="Measure to analyse, if the run has several.")
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--source", "-s", metavar="NAME", help="Source to analyse, such as cpu0; repeatable. [all]"
        ),
    ] = None,
    confidence: Annotated[
        str, typer.Option("--confidence", metavar="PERCENT", help="Confidence of each interval and bound.")
    ] = "95%",
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Estimate how often rare or unseen latencies occur.

    The samples are tested first: whether they are of one kind, without a trend, and enough. If they are,
    a tail is fitted; it tells which latency is exceeded once per minute, hour, day and year, and how
    likely a cycle is later than each limit. If not, the answer says why and what to do. The bounds by
    counting alone are always shown. The exit code is 0 either way; `tauto check --runs` judges a run.
    How it is computed: tauto docs tails.

    Examples:
        tauto tail --limit 100us
        tauto tail latest~1 --source cpu1 --confidence 99%
    """
    from tautochrone.base.units import parse_confidence, parse_duration_ns

    limits_ns = [parse_duration_ns(part) for text in limit or () for part in text.split(",")]
    sure = parse_confidence(confidence)
    opened = open_store(store).open(run)
    from tautochrone.judge.explained import see_plain
    from tautochrone.judge.naming import measure_meant
    from tautochrone.judge.tail.tails import tails_of

    see_plain([opened])
    tails = tails_of(
        opened,
        measure_meant(measure, opened.measures),
        limits_ns=limits_ns,
        sources=source or (),
        confidence=sure,
    )
    from tautochrone.answer.tail.document import as_table, document

    tell_document(document(tails), "tail", lambda: as_table(tails), as_json=as_json)
