"""What `tauto probe all` measures, each experiment once, and what it tells of that."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from tautochrone.answer import evidence
from tautochrone.answer.document import Block, Document, Grounds, Lost, Sentence, Subheading, part
from tautochrone.answer.foot import lacking as lacking_table
from tautochrone.answer.numbers import absent_rows
from tautochrone.answer.phrasing import verdict as verdicts
from tautochrone.answer.show import source_table
from tautochrone.answer.warnings import endings
from tautochrone.base.words import plural
from tautochrone.experiments import EXPERIMENTS, Experiment, Options, Prepared
from tautochrone.experiments.experiment import InSuite
from tautochrone.judge.verdict import Verdict
from tautochrone.machine.deployment import Deployment
from tautochrone.measure.cell import IDLE, Cell, Load
from tautochrone.run.folder import StoredRun

# Runs of several experiments as a document: what presents each, then what was not measured.


def document(
    runs: Sequence[StoredRun], verdict: Verdict | None, lacking: Sequence[tuple[str, str]]
) -> Document:
    """Return one run after the other below the verdict on control loops, and what is lacking."""
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


def _blocks(run: StoredRun) -> Iterator[Block]:
    seen = evidence.gather([run])
    for sentence in endings(seen.manifests, [run.manifest.title]):
        yield Sentence(sentence, "alarm")
    yield from map(Lost, seen.lost)
    if not seen.measured and not seen.lost:
        yield Sentence(f"{run.manifest.title}: no sample was recorded.")
    for presented in seen.presented.values():
        yield from presented.tables()
    if seen.presented:
        return
    for measured in seen.measured:
        yield Subheading(f"{measured.heading} in us")
        absent = absent_rows([run.manifest], [""])
        yield source_table(measured.series, run.manifest.books, absent, short=True)


def suite(
    quick: bool,
    load: Load = IDLE,
    command: tuple[str, ...] = (),
    *,
    cpus: tuple[int, ...] = (0, 1),
    policy: str = "fifo",
    memory_lock: bool = True,
    deployment: Deployment | None = None,
) -> tuple[Cell, ...]:
    """Return the cases, one per experiment.

    Args:
        quick: short lengths, for about a minute in all; otherwise about seven minutes.
        load: what runs beside all of them.
        command: what a person typed to get them.
        cpus: the CPUs that may be used.
        policy: "other" where real-time priority is not permitted; then only what needs no priorities can be
            measured, and the rest is refused by the probe.
        memory_lock: False where locked memory is not permitted.
        deployment: under which all of them are measured.
    """
    pageable: Options = {} if memory_lock else {"no-memory-lock": True}

    def cell(one: Experiment, part: InSuite, more: Options) -> Cell:
        options = {**(part.quick if quick else part.whole), **more, **pageable}
        if part.ordinary and policy != "fifo":
            options["policy"] = policy
        own = part.prepare
        found = one.ready(*own(options, min(cpus))) if own else one.prepare(options, Path())
        return Cell(
            experiment=one.name,
            options=found.options,
            title=f"{part.title}, {load.name}",
            load=load,
            expected_s=_expected_s(found, len(cpus)),
            command=command,
            conditions=found.conditions,
            deployment=deployment,
        )

    parts = [(one.suite, one) for one in EXPERIMENTS.values() if one.suite is not None]
    parts.sort(key=lambda found: found[0].turn)
    return tuple(
        replace(cell(one, part, {}), instead=cell(one, part, part.instead) if part.instead else None)
        for part, one in parts
    )


def _expected_s(found: Prepared, cpus: int) -> float:
    """Where there is one CPU, the rows of two are left out."""
    halved = cpus == 1 and "mechanisms" in found.options.table
    return found.expected_s / 2 if halved else found.expected_s


def with_earlier_runs(cell: Cell, runs: Sequence[StoredRun]) -> Cell:
    """Return the case with the runs that were measured before it, where its experiment takes such runs."""
    part = EXPERIMENTS[cell.experiment].suite
    wanted = part.takes if part is not None else {}
    found: list[str] = []
    for option, measure in wanted.items():
        known = [run.id for run in runs if measure in run.measures and run.count(measure)]
        found += [f"--{option}", known[-1]] if known else []
    if not found:
        return cell
    return replace(cell, command=("tauto", "probe", cell.experiment, *found, *cell.options.words))
