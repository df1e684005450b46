"""``tauto blame``: what made the cycles of a run late."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tautochrone.base.errors import UsageError
from tautochrone.base.faults import Later
from tautochrone.command.options import JsonOption, RunArgument, StoreOption, open_store
from tautochrone.command.told import see_that_it_can_be_written, tell_document, tell_page


def blame(
    run: RunArgument = "latest",
    confidence: Annotated[
        str, typer.Option("--confidence", metavar="PERCENT", help="Of the interval of each share.")
    ] = "95%",
    as_json: JsonOption = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write it as a page, too, with charts.")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Tell what made the cycles of a run late that was measured with --blame.

    Each late cycle is cut into parts by what the kernel recorded meanwhile: interrupts, softirqs, other
    threads, sections that can't be preempted, exits from idle, and more. The parts sum to its latency; what
    no event explains is a part of its own. Causes share what the parts took longer than in a typical cycle.
    How: docs/blame.md.

    Examples:
        tauto blame
        tauto blame latest~1 --out late.html
    """
    from tautochrone.base.units import parse_confidence

    sure = parse_confidence(confidence)
    see_that_it_can_be_written(out)
    opened = open_store(store).open(run)
    from tautochrone.answer import document as doc
    from tautochrone.answer.blame import advice, section
    from tautochrone.answer.phrasing.blame import headline
    from tautochrone.judge.blame import blame_of

    found = blame_of(opened, confidence=sure)
    if found is None:
        raise UsageError(
            f"Run {opened.id} recorded no late cycles", "Measure with --blame 50us, or --blame 99.9%."
        )
    shown = doc.Document(
        Later(lambda: headline(found)),
        (
            doc.part(section.TITLE, lambda: section.blocks(found, "late", headline=False), id="late"),
            doc.part(advice.TITLE, lambda: advice.blocks(advice.advice_of(opened, found)), id="late-help"),
        ),
        grounds=doc.Grounds(
            (opened.manifest,),
            commands=(f"tauto blame {opened.id}", f"tauto show {opened.id}"),
            again="Tell causes anew",
        ),
    )
    tell_document(
        shown,
        "blame",
        lambda: {**section.as_table(found), "advice": advice.as_table(advice.advice_of(opened, found))},
        as_json=as_json,
    )
    if out is not None:
        tell_page(shown, out, as_json=as_json)
