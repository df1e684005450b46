"""``tauto bound``: what a run shows of the bound on the scheduling latency."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tautochrone.command.options import JsonOption, RunArgument, StoreOption, open_store
from tautochrone.command.told import see_that_it_can_be_written, tell_document, tell_page


def _given(what: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(metavar="TIME", help=what)
    return option


def bound(
    run: RunArgument = "latest",
    poid: Annotated[
        str | None, _given("D_POID of that CPU: longest with preemption or interrupts off, as 22.5us.")
    ] = None,
    paie: Annotated[
        str | None, _given("D_PAIE: longest with both on, right before the scheduler is called.")
    ] = None,
    psd: Annotated[str | None, _given("D_PSD: longest with preemption off to call the scheduler.")] = None,
    st: Annotated[str | None, _given("D_ST: longest end of a call of the scheduler.")] = None,
    as_json: JsonOption = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write it as a page, too.")] = None,
    store: StoreOption = None,
) -> None:
    """Say what a run that was measured with --blame shows of the bound on its scheduling latency.

    The bound of de Oliveira et al. (ECRTS 2020) adds up the longest stretches with preemption or interrupts
    off, and the interrupts that fit in. Late cycles show these from below: the bound is at least so large.
    This is never a guarantee. Stretches that rtsl or the tracer preemptirqsoff measured on the same
    CPU can be given. How: docs/bound.md.

    Examples:
        tauto bound
        tauto bound latest --poid 22.5us --paie 0.2us --psd 19.7us --st 19.3us
    """
    from tautochrone.base.units import parse_duration_ns
    from tautochrone.bound import answer
    from tautochrone.judge.latency_bound import bound_of
    from tautochrone.statistics.latency_bound import Variables

    given = Variables(*(None if one is None else parse_duration_ns(one) for one in (poid, paie, psd, st)))
    see_that_it_can_be_written(out)
    opened = open_store(store).open(run)
    found = bound_of(opened, given)
    shown = answer.document(opened, found)
    tell_document(shown, "bound", lambda: answer.as_table(found), as_json=as_json)
    if out is not None:
        tell_page(shown, out, as_json=as_json)
