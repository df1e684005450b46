"""The report: one HTML file that holds everything it needs and asks no network for anything."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tautochrone.answer import blocks, composition, document, evidence, html
from tautochrone.answer.document import Document, TypedTable
from tautochrone.answer.evidence import Evidence, Measured, Presented, rank_runs
from tautochrone.answer.experiments import title_of
from tautochrone.answer.labels import label_runs
from tautochrone.answer.next_steps import Step
from tautochrone.answer.phrasing import mechanisms as costs
from tautochrone.answer.series import runs_of
from tautochrone.answer.tail import section as tail
from tautochrone.answer.typeset import duration, micro, number
from tautochrone.answer.views import (
    absences,
    books,
    conditions,
    confidence,
    environment,
    grids,
    loops,
    summary,
    virtual,
    warnings,
)
from tautochrone.base.errors import UsageError
from tautochrone.base.faults import Later, attempt, now
from tautochrone.base.words import plural, upper_first
from tautochrone.judge.mechanisms import Mechanism
from tautochrone.judge.reduced import Reduced
from tautochrone.judge.tail.tails import tails_of
from tautochrone.judge.verdict import Verdict
from tautochrone.machine.audit.finding import Finding
from tautochrone.run.folder import Run
from tautochrone.run.manifest import Manifest

# The sections of a page: one for each measure, or for each experiment that has a presentation.


@dataclass(frozen=True)
class Part:
    """One measure of a section: its figures and its summary."""

    title: str
    figures: list[blocks.Figure]
    table: summary.Table


@dataclass(frozen=True)
class Section:
    """About one measure, or about all measures of an experiment that has a presentation.

    Then the presentation's grids and figures stand first, and the summaries are folded away.
    """

    key: list[tuple[int, str]]
    calibrations: list[environment.Ruler]
    grids: list[TypedTable]
    figures: list[blocks.Figure]
    parts: list[Part]

    @property
    def folded(self) -> bool:
        """Whether the summaries are folded away."""
        return bool(self.grids or self.figures)


def sections(seen: Evidence) -> Iterator[tuple[str, Later[Section]]]:
    """Title and section, in the order of what was measured, loops first; all measures of a presented
    experiment together."""
    done: set[str] = set()
    for index, measured in enumerate(seen.measured):
        presented = seen.presented.get(measured.experiment)
        if presented is None:
            yield measured.heading, Later(_section_of, seen, measured, index)
        elif measured.experiment not in done:
            done.add(measured.experiment)
            experiment = measured.experiment
            yield title_of(experiment), Later(_presented_section, seen, experiment, presented, index)


def _section_of(seen: Evidence, measured: Measured, index: int) -> Section:
    figures = composition.compose(measured, f"m{index}")
    table = _summary(seen, measured)
    return Section(
        key=list(enumerate(runs_of(measured.series))),
        calibrations=environment.calibrations(_of(seen, measured.experiment)),
        grids=[],
        figures=[],
        parts=[Part("In numbers", figures, table)],
    )


def _presented_section(seen: Evidence, experiment: str, presented: Presented, index: int) -> Section:
    measures = seen.of(experiment)
    return Section(
        key=list(enumerate(runs_of(measures[0].series))),
        calibrations=[],
        grids=[grids.view(grid) for grid in presented.grids()],
        figures=blocks.all_made("Its figures", lambda: presented.figures(f"m{index}")),
        parts=[Part(one.title, [], _summary(seen, one)) for one in measures],
    )


def _summary(seen: Evidence, measured: Measured) -> summary.Table:
    own = [
        (manifest, label)
        for manifest, label in zip(seen.manifests, seen.labels, strict=True)
        if manifest.experiment == measured.experiment
    ]
    lacking = absences.view([manifest for manifest, _ in own], [label for _, label in own])
    return summary.view(measured.series, loop=measured.loop, absent=lacking)


def _of(seen: Evidence, experiment: str) -> list[Manifest]:
    return [manifest for manifest in seen.manifests if manifest.experiment == experiment]


_MOST_PERIODS = 4
Findings = Sequence[Finding] | Mapping[str, Sequence[Finding]]


@dataclass(frozen=True)
class _RunLine:
    label: str
    rank: int | None
    experiment: str
    conditions: str
    when: str
    samples: str
    state: str
    id: str


def render(
    runs: Sequence[Run],
    verdict: Verdict | Later[Verdict | None] | None,
    findings: Findings | Later[Findings] = (),
    mechanisms: Sequence[Mechanism] | Later[Sequence[Mechanism]] = (),
    lacking: Sequence[tuple[str, str]] = (),
    steps: Sequence[Step] | Later[Sequence[Step]] = (),
    *,
    top: Document | None = None,
    out: Path,
) -> Path:
    """Write one report about ``runs`` to ``out``. Of what comes `Later`, what can't be made costs its part.

    Args:
        runs: sealed or recovered runs, in the order in which they shall stand.
        verdict: what was judged from them, or None.
        findings: the audit of the machine they ran on, or of each machine by its name.
        mechanisms: what mechanisms cost, one line each.
        lacking: what was to be measured and was not, each with the reason.
        steps: what to ask next.
        top: what stands above the verdict: the answer to a question that was asked.
        out: the HTML file; its folder must exist.

    Returns:
        ``out``.

    Raises:
        UsageError: no run was given.
        StoreError: the file can't be written.
    """
    if not runs:
        raise UsageError("There is no run to report on", "Name a run; `tauto list` shows them.")
    rare, labels = tail.Section(), dict(zip(runs, label_runs([run.manifest for run in runs]), strict=True))

    def tell_tails(run: Run, measure: str, reduced: Sequence[Reduced]) -> None:
        if run.manifest.header.is_about_a_loop and measure == run.measures[0]:
            attempt(
                f"How rare a late cycle is, {labels[run]}",
                lambda: rare.take(labels[run], tails_of(run, measure, reduced=reduced)),
                rare.lose,
            )

    seen = evidence.gather(runs, tell_tails)
    text = page(seen, verdict, findings, mechanisms, lacking, steps, top=top, rare=Later(rare.view))
    return html.write(text, out)


def page(
    seen: Evidence,
    verdict: Verdict | Later[Verdict | None] | None,
    findings: Findings | Later[Findings] = (),
    mechanisms: Sequence[Mechanism] | Later[Sequence[Mechanism]] = (),
    lacking: Sequence[tuple[str, str]] = (),
    steps: Sequence[Step] | Later[Sequence[Step]] = (),
    *,
    top: Document | None = None,
    rare: tail.View | Later[tail.View | None] | None = None,
) -> str:
    """The HTML text of a report; ``rare``: the section on rare late cycles."""
    manifests, labels = seen.manifests, seen.labels
    audits = Later(_by_machine, findings)
    laid_out = Later(lambda: _loops(now(verdict)))
    headline = Later(lambda: laid.headline if (laid := laid_out.get()) else _headline(manifests))
    incomplete = Later(warnings.incomplete, manifests)
    latencies = [one for group in seen.measured[:1] for one in group.series if group.loop]

    def noticed() -> list[document.Notice]:
        return warnings.warnings(manifests, labels) + warnings.findings(audits.get(), "warning")

    def beside() -> list[TypedTable]:
        found = [*conditions.deployments(manifests, labels), *conditions.loads(manifests, labels)]
        return [grids.view(grid) for grid in found]

    return html.render(
        "report.html.j2",
        written=html.written(),
        title=html.title(lambda: ": ".join(filter(None, (incomplete.get(), headline.get())))),
        masthead=Later(html.masthead, *manifests),
        band=Later(virtual.band, manifests),
        top=top,
        headline=headline,
        loops=laid_out,
        no_verdict="No loop was judged here. The numbers below stand for themselves.",
        confidence=Later(confidence.view, latencies),
        mechanisms=Later(lambda: [_mechanism_line(one) for one in now(mechanisms)]),
        lacking=lacking,
        steps=steps,
        endings=Later(warnings.endings, manifests, labels),
        incomplete=incomplete,
        machines=Later(lambda: len(audits.get())),
        warnings=Later(noticed),
        unseen=Later(lambda: warnings.findings(audits.get(), "unknown")),
        findings=Later(lambda: warnings.findings(audits.get(), "note")),
        good=Later(lambda: warnings.findings(audits.get(), "good")),
        runs=Later(_run_lines, manifests, labels),
        several=len(manifests) > 1,
        groups=list(sections(seen)),
        lost=seen.lost,
        rare=rare,
        beside=Later(beside),
        books=Later(books.view, manifests, labels),
        clocks=Later(environment.clocks, manifests, labels),
        settings=Later(environment.settings, manifests, labels),
        facts=Later(environment.facts, manifests),
        parameters=Later(environment.parameters, manifests),
        commands=Later(_commands, manifests),
        schemas=Later(_schemas, manifests),
    )


def _by_machine(findings: Findings | Later[Findings]) -> Mapping[str, Sequence[Finding]]:
    found: Findings = findings.get() if isinstance(findings, Later) else findings
    return found if isinstance(found, Mapping) else {"": found}


def _loops(verdict: Verdict | None) -> loops.Loops | None:
    return loops.view(verdict) if verdict is not None else None


@dataclass(frozen=True)
class _MechanismLine:
    what: str
    typical: str
    worst: str
    meaning: str
    mark: str


def _mechanism_line(one: Mechanism) -> _MechanismLine:
    mark = "not-shown" if one.absent else "tight" if one.warns else ""
    said = micro(costs.why_not(one) or costs.meaning(one))
    return _MechanismLine(costs.what(one), duration(one.typical_ns), duration(one.worst_ns), said, mark)


def _headline(manifests: Sequence[Manifest]) -> str:
    titles = dict.fromkeys(manifest.title for manifest in manifests)
    text = "; ".join(titles) if len(titles) <= 3 else plural(len(manifests), "run")
    return upper_first(text)


def _run_lines(manifests: Sequence[Manifest], labels: Sequence[str]) -> list[_RunLine]:
    """A line per run; a rank, and so a swatch, only where several runs share a chart."""
    often = Counter(manifest.experiment for manifest in manifests)
    return [
        _RunLine(
            label=label,
            rank=rank if often[manifest.experiment] > 1 else None,
            experiment=_experiment(manifest),
            conditions=_conditions(manifest),
            when=manifest.created[:19].replace("T", " "),
            samples=number(sum(book.recorded for book in manifest.books)),
            state=f"{manifest.state}, {manifest.ended}" if manifest.ended else manifest.state,
            id=manifest.id,
        )
        for manifest, label, rank in zip(manifests, labels, rank_runs(manifests), strict=True)
    ]


def _experiment(manifest: Manifest) -> str:
    periods = sorted(set(manifest.header.periods_ns.values()))
    if not periods:
        return manifest.experiment
    if len(periods) > _MOST_PERIODS:
        return f"{manifest.experiment}, each {duration(periods[0])} to {duration(periods[-1])}"
    return f"{manifest.experiment}, each {', '.join(duration(one) for one in periods)}"


def _conditions(manifest: Manifest) -> str:
    """The conditions in words, without how it was typed, what came of the load, and that it ran here."""
    shown = [
        f"{environment.words(name)} {environment.show(name, value)}"
        for name, value in manifest.conditions.stored.items()
        if name != "command" and not isinstance(value, (dict, list)) and (name, value) != ("target", "local")
    ]
    if under := conditions.deployment_name(manifest):
        shown.append(f"deployment {under}")
    return ", ".join(shown) or "none stored"


def _commands(manifests: Sequence[Manifest]) -> list[str]:
    ids = " ".join(manifest.id for manifest in manifests)
    return [
        *dict.fromkeys(one.typed for one in manifests if one.typed),
        f"tauto show {manifests[0].id}",
        f"tauto report {ids}",
        f"tauto export {manifests[0].id} --parquet --out samples.parquet",
    ]


def _schemas(manifests: Sequence[Manifest]) -> str:
    runs = ", ".join(dict.fromkeys(str(manifest.schema) for manifest in manifests))
    streams = ", ".join(dict.fromkeys(str(manifest.header.stream or "N/A") for manifest in manifests))
    probes = ", ".join(
        dict.fromkeys(f"{m.header.program or 'N/A'} {m.header.version or ''}".strip() for m in manifests)
    )
    return f"Run schema {runs}; sample stream version {streams}; probe {probes}."
