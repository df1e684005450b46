"""Runs of several experiments as a document: what presents each, then what was not measured."""

from collections.abc import Iterator, Sequence
from functools import partial

from tautochrone.answer import evidence
from tautochrone.answer import numbers as absences
from tautochrone.answer.document import Block, Document, Grounds, Sentence, Subheading, part
from tautochrone.answer.foot import lacking as lacking_table
from tautochrone.answer.phrasing import verdict as verdicts
from tautochrone.answer.show import source_table
from tautochrone.answer.views import grids
from tautochrone.answer.warnings import endings
from tautochrone.base.words import plural
from tautochrone.judge.verdict import Verdict
from tautochrone.run.folder import Run


def document(runs: Sequence[Run], verdict: Verdict | None, lacking: Sequence[tuple[str, str]]) -> Document:
    """One run after the other below the verdict on control loops, and what is lacking."""
    manifests = tuple(run.manifest for run in runs)

    def not_measured() -> Iterator[Block]:
        if lacking:
            yield Subheading("Not measured")
            yield lacking_table(lacking)

    return Document(
        plural(len(runs), "run") if verdict is None else verdicts.headline(verdict),
        (
            *(part(run.manifest.title, partial(_blocks, run)) for run in runs),
            part("Not measured", not_measured),
        ),
        grounds=Grounds(manifests),
    )


def _blocks(run: Run) -> Iterator[Block]:
    seen = evidence.gather([run])
    for sentence in endings(seen.manifests, [run.manifest.title]):
        yield Sentence(sentence, "alarm")
    if not seen.measured:
        yield Sentence(f"{run.manifest.title}: no sample was recorded.")
    for presented in seen.presented.values():
        yield from map(grids.view, presented.grids())
    if seen.presented:
        return
    for measured in seen.measured:
        yield Subheading(f"{measured.heading} in us")
        absent = absences.absent_rows([run.manifest], [""])
        yield source_table(measured.series, run.manifest.books, absent, short=True)
