"""The page of a search: one HTML file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tautochrone.answer import html
from tautochrone.answer.blocks import all_made
from tautochrone.answer.foot import first, foot
from tautochrone.answer.typeset import micro
from tautochrone.answer.views import conditions, grids, run_lines, warnings
from tautochrone.answer.views.warnings import Notice
from tautochrone.base.errors import UsageError
from tautochrone.base.faults import Later
from tautochrone.base.units import format_duration
from tautochrone.run.manifest import Manifest
from tautochrone.tire import limit_tables as tables
from tautochrone.tire.limit_figures import figures
from tautochrone.tire.limit_judge import CONDITION
from tautochrone.tire.limit_results import Results
from tautochrone.tire.limit_words import team_of

_AS_ASKED = "cut-short"  # a trial is to end at its first miss


@dataclass(frozen=True)
class _Said:
    title: str
    sentences: list[str]


def render(results: Results, *, out: Path) -> Path:
    """Write the page of a search.

    Args:
        out: the HTML file; its folder must exist.

    Returns:
        ``out``.

    Raises:
        UsageError: no run of the search is whole.
        StoreError: the file can't be written.
    """
    if not results.runs:
        raise UsageError(
            f"No run of {results.search.id} is whole: there is nothing to report on", "Make the search again."
        )
    return html.write(page(results), out)


def page(results: Results) -> str:
    """The HTML text."""
    manifests = results.manifests
    labels = [_label(manifest, several=len(results.limits) > 1) for manifest in manifests]
    return html.render(
        "limit.html.j2",
        masthead=Later(html.masthead, manifests[0]),
        title=html.title(lambda: results.headline),
        how=Later(_how, results),
        answers=Later(lambda: grids.view(tables.answers(results))),
        said=Later(
            lambda: [
                _Said(team_of(limit.threads), [micro(one) for one in tables.sentences(limit)])
                for limit in results.limits
            ]
        ),
        remarks=Later(lambda: [micro(sentence) for sentence in results.findings()]),
        figure=Later(lambda: next(iter(all_made("The trials", lambda: figures(results, "trials"))), None)),
        trials=Later(lambda: [grids.view(tables.trials(limit)) for limit in results.limits if limit.trials]),
        extremes=(),
        how_sure="",
        sections=(),
        lacking=[
            (team_of(limit.threads), "The search was stopped before its end.")
            for limit in results.limits
            if limit.end == "unfinished"
        ],
        **foot(manifests, Later(_notices, manifests, labels), manifests[:1]),
        deployments=first(conditions.deployments, manifests, labels),
        loads=first(conditions.loads, manifests, labels),
        runs=Later(lambda: [run_lines.run_line(one, *_place(one)) for one in manifests]),
        commands=Later(_commands, results),
    )


def _how(results: Results) -> list[str]:
    search, question = results.search, results.search.question
    title = f"{search.title[:1].upper()}{search.title[1:]}"
    length = format_duration(question.steps * question.period_ns)
    allowed = f", {question.misses:,} misses of it allowed" if question.misses else ""
    first, last = results.manifests[0].created, results.manifests[-1].created
    return [
        f"{title}: the most masses whose steps all end before the next release, in a trial of "
        f"{question.steps:,} steps ({length}){allowed}, found to {question.resolution * 100:g} %.",
        f"Measured from {first[:16].replace('T', ' ')} to {last[:16].replace('T', ' ')} UTC as {search.id}.",
    ]


def _label(manifest: Manifest, *, several: bool) -> str:
    told: Mapping[str, object] = manifest.conditions[CONDITION]
    number = f"number {told['number']}"
    return f"{team_of(int(str(told['threads'])))}, {number}" if several else number


def _notices(manifests: Sequence[Manifest], labels: Sequence[str]) -> list[Notice]:
    """The runs' warnings, without that of a run that ended at its first miss, as it was to."""
    kept = [
        replace(manifest, warnings=tuple(one for one in manifest.warnings if one.code != _AS_ASKED))
        for manifest in manifests
    ]
    return warnings.warnings(kept, labels)


def _place(manifest: Manifest) -> tuple[object, object]:
    told: Mapping[str, object] = manifest.conditions[CONDITION]
    return told["threads"], told["number"]


def _commands(results: Results) -> list[str]:
    typed = dict.fromkeys(one.typed for one in results.manifests if one.typed)
    decided = [limit.largest.run for limit in results.limits if limit.largest is not None]
    shown = decided[0] if decided else results.runs[-1].id
    return [*typed, f"tauto report {results.search.id}", f"tauto show {shown}"]
