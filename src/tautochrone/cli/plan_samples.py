"""``tauto plan-samples``: how long to measure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from tautochrone.command.options import JsonOption, StoreOption, open_store


def plan_samples(
    quantile: Annotated[
        str | None,
        typer.Option("--quantile", "-q", metavar="QUANTILE", help="What share shall be in time: 99.999."),
    ] = None,
    misses: Annotated[
        str | None,
        typer.Option(metavar="HOW-OFTEN", help="Or how many may be late: '1 per hour', '1 in 1e6'."),
    ] = None,
    confidence: Annotated[
        str, typer.Option("--confidence", metavar="PERCENT", help="How sure it shall be.")
    ] = "95%",
    rate: Annotated[
        list[str] | None,
        typer.Option(metavar="RATE", help="At which rate; may be given several times. [100Hz, 1kHz, 10kHz]"),
    ] = None,
    exceeding: Annotated[
        list[int] | None,
        typer.Option(metavar="COUNT", help="Allow so many later ones; may be given several times. [1, 2, 5]"),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Reckon in how alike neighbouring samples were in this run."),
    ] = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Say how many samples, and how long a run, it takes to show how rare late cycles are.

    By the largest sample, with some later ones allowed, as an interval, and for an estimate. Nothing is
    assumed about the distribution. Examples: --quantile 99.999; --misses '1 per hour' --rate 1kHz.
    """
    from tautochrone.base.units import parse_confidence, parse_frequency, parse_quantile, parse_rate_hz

    q = None if quantile is None else parse_quantile(quantile)
    often = None if misses is None else parse_frequency(misses)
    rates = [parse_rate_hz(part) for text in rate or () for part in text.split(",")]
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
    if as_json:
        typer.echo(json.dumps(sample_plan.as_table(plan, asked), indent=2, ensure_ascii=False))
        return
    from tautochrone.answer.console import make_console

    console = make_console()
    with console.capture() as text:
        sample_plan.show(console, plan, asked)
    typer.echo(text.get(), nl=False)


def _effect(name: str, q: float, store: Path | None) -> tuple[float, str]:
    """So many samples counted as one in this run, and its id."""
    from tautochrone.judge.reduced import reduce_run
    from tautochrone.judge.tail.sample_plan import effect_in

    run = open_store(store).open(name)
    return effect_in(run.id, reduce_run(run), q), run.id
