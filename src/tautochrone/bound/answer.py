"""The answer of `tauto bound`: as a document and as JSON."""

from collections.abc import Iterator
from functools import partial

from tautochrone.answer import document as doc
from tautochrone.answer.phrasing import blame as words
from tautochrone.base.faults import Later
from tautochrone.base.units import format_duration
from tautochrone.base.words import listed, plural
from tautochrone.judge.latency_bound import BoundedRun, CpuBound, Stage
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Manifest
from tautochrone.statistics.latency_bound import Case, Stretch, outside

CASES: dict[Case, str] = {
    "none": "no interrupts",
    "single": "worst single interrupt",
    "each": "each interrupt once, at its longest",
    "window": "sliding window",
    "window-longest": "sliding window, each at its longest",
    "sporadic": "each at its shortest interval and longest",
}

_MOST_INTERRUPTS = 12
_STAGES = {0.125: "after 1/8", 0.25: "after 1/4", 0.5: "after 1/2", 1.0: "whole run"}
_NO_EVENT = "not given; no event tells"


def document(run: StoredRun, found: BoundedRun) -> doc.Document:
    """Return what a run shows of the bound."""
    parts = [
        doc.part(_cpu(one), partial(_of_cpu, found, one), id=f"bound-{at}")
        for at, one in enumerate(found.cpus, start=1)
    ]
    parts.append(doc.part("What this is", lambda: _what_it_is(run.manifest, found), id="bound-meaning"))
    grounds = doc.Grounds(
        (run.manifest,), commands=(f"tauto bound {run.id}", f"tauto show {run.id}"), again="Bound it anew"
    )
    return doc.Document(Later(lambda: headline(found)), tuple(parts), grounds=grounds)


def headline(found: BoundedRun) -> str:
    """Return the largest bound that was observed; never as if it were one that holds."""
    one = found.cpus[0]
    latest = max(found.cpus, key=lambda cpu: cpu.whole.measured_ns or 0)
    where, there = (f" on {_cpu(cpu)}" if len(found.cpus) > 1 else "" for cpu in (one, latest))
    least, measured = one.whole.bounds["window"] or 0, latest.whole.measured_ns or 0
    explained = latest.whole.bounds["window"] or 0
    return (
        "Not a guarantee: the variables are seen from below, in "
        f"{plural(one.late - one.incomplete, 'late cycle')}{where}. "
        f"The bound is at least {format_duration(least)} (sliding window); the "
        f"largest measured latency is {format_duration(measured)}{there if latest is not one else ''}"
        f"{', more than these explain' if measured > explained else ''}."
    )


def _cpu(one: CpuBound) -> str:
    return "CPU N/A" if one.cpu is None else f"CPU {one.cpu}"


def _of_cpu(found: BoundedRun, one: CpuBound) -> Iterator[doc.Block]:
    yield _growth(one)
    yield _variables(found, one)
    yield _interrupts(one)
    yield doc.Statements(tuple(doc.Sentence(said, "note") for said in _notes(found, one)))


def _growth(one: CpuBound) -> doc.TypedTable:
    heads = ("interrupts", *(_STAGES[stage.share] for stage in one.stages))
    rows = [
        (doc.words(said), *(_latency(stage, case) for stage in one.stages)) for case, said in CASES.items()
    ]
    measured = ((_measured(stage)) for stage in one.stages)
    rows.append((doc.words("largest measured latency"), *measured))
    return doc.TypedTable(f"The bound on {_cpu(one)} is at least", doc.columns(*heads), tuple(rows))


def _latency(stage: Stage, case: Case) -> doc.TypedCell:
    latency = stage.bounds[case]
    if latency is None:
        return doc.TypedCell(None, "ns", "no limit")
    return doc.TypedCell(None, "ns", "none late") if not latency and not stage.late else doc.time(latency)


def _measured(stage: Stage) -> doc.TypedCell:
    return (
        doc.TypedCell(None, "ns", "none late") if stage.measured_ns is None else doc.time(stage.measured_ns)
    )


def _variables(found: BoundedRun, one: CpuBound) -> doc.TypedTable:
    given = found.given
    rows = [
        _stretch_row(found, "max(D_ST, D_POID)", one.interrupts_off),
        _stretch_row(found, "their sum, up to the switch", one.waiting),
        *(
            _given_row(name, length_ns)
            for name, length_ns in (
                ("D_POID", given.poid_ns),
                ("D_ST", given.st_ns),
                ("D_PAIE", given.paie_ns),
                ("D_PSD", given.psd_ns),
            )
        ),
    ]
    heads = (*doc.columns("variable", "at least", "s after the start"), doc.TableColumn("seen in", cut=True))
    return doc.TypedTable(f"Longest stretches on {_cpu(one)}, without interrupts", heads, tuple(rows))


def _stretch_row(found: BoundedRun, name: str, one: Stretch | None) -> tuple[doc.TypedCell, ...]:
    if one is None:
        return (doc.words(name), doc.time(None), doc.formatted(None, ""), doc.words("no late cycle"))
    return (
        doc.words(name),
        doc.time(one.length_ns),
        doc.formatted(_since(found, one), "{:,.6f}"),
        doc.words(words.name(one.longest)),
    )


def _given_row(name: str, length_ns: int | None) -> tuple[doc.TypedCell, ...]:
    why = _NO_EVENT if length_ns is None else "given"
    return (doc.words(name), doc.time(length_ns), doc.formatted(None, ""), doc.words(why))


def _since(found: BoundedRun, one: Stretch) -> float | None:
    return None if found.start_ns is None else (one.cycle.release_ns - found.start_ns) / 1e9


def _interrupts(one: CpuBound) -> doc.TypedTable:
    heads = doc.columns("interrupt", "seen", "longest", "shortest interval")
    rows = [
        (
            doc.words(each.name),
            doc.count(len(each.arrivals_ns)),
            doc.time(each.longest_ns),
            doc.time(each.shortest_interval_ns),
        )
        for each in one.interrupts[:_MOST_INTERRUPTS]
    ]
    left_out = len(one.interrupts) - len(rows)
    notes = (f"{plural(left_out, 'shorter interrupt')}: --json lists all.",) if left_out > 0 else ()
    return doc.TypedTable(f"Interrupts in late cycles on {_cpu(one)}", heads, tuple(rows), notes)


def _notes(found: BoundedRun, one: CpuBound) -> Iterator[str]:
    if one.incomplete:
        yield f"Not used, since events are missing: {plural(one.incomplete, 'late cycle')}."
    if one.others:
        yield (
            f"In {plural(one.others, 'late cycle')} a thread of higher or the same priority ran, or the "
            "thread was stopped. They count for interrupts only: the bound begins when the thread may run."
        )
    if beyond := outside(one.worst):
        told = listed([f"{words.CLASSES[cause]} {format_duration(ns)}" for cause, ns in beyond.items()])
        yield f"The latest cycle has what the model has no variable for, or no event explains: {told}."
    half, whole = (stage.bounds["window"] or 0 for stage in one.stages[-2:])
    if whole > half:
        yield (
            "The sliding window still grew in the second half of the run: a longer run would probably show "
            "a larger bound."
        )
    free = found.given.interference_free_ns
    if 0 < free < one.whole.free_ns:
        yield (
            f"The given stretches sum to {format_duration(free)}, less than was seen: the longer is taken. "
            "Some are not of this CPU, or not the longest."
        )


def _what_it_is(manifest: Manifest, found: BoundedRun) -> Iterator[doc.Block]:
    said = [
        "The bound of de Oliveira et al. (ECRTS 2020): max(D_ST, D_POID) + D_PAIE + D_PSD, and the "
        "interrupts that arrive meanwhile. It is made for PREEMPT_RT; with other kernels, softirqs count as "
        "not preemptible.",
        "Only late cycles were recorded: a longer stretch or interrupt may have made no cycle late.",
        "To observe the variables themselves, the kernel needs CONFIG_PREEMPT_TRACER and "
        "CONFIG_IRQSOFF_TRACER, and tauto does not record them. Give what rtsl or these tracers say: --poid, "
        "--paie, --psd, --st.",
        words.late_is(found.setup),
    ]
    if manifest.known.confinement.virtual and manifest.conditions.virtual is None:
        said.insert(
            2,
            "On this virtual machine a stretch or interrupt includes time that the hypervisor took unseen: "
            "the kernel's own may be shorter.",
        )
    if found.not_kept:
        said.insert(
            0,
            f"{plural(found.not_kept, 'more late cycle')} of the run had no room, the later ones first: "
            "measure with a higher threshold, such as --blame 99%, for what the whole run shows.",
        )
    yield doc.Statements(tuple(doc.Sentence(one, "note") for one in said))


# For programs.


def as_table(found: BoundedRun) -> dict[str, object]:
    """Return what a run shows of the bound as programs read it; times in nanoseconds."""
    given = found.given
    return {
        "run": found.run,
        "headline": headline(found),
        "guaranteed": False,
        "observed": "from below",
        "not_kept": found.not_kept,
        "given": {
            "poid_ns": given.poid_ns,
            "paie_ns": given.paie_ns,
            "psd_ns": given.psd_ns,
            "st_ns": given.st_ns,
            "interference_free_ns": given.interference_free_ns,
        },
        "cpus": [_cpu_as_table(found, one) for one in found.cpus],
    }


def _cpu_as_table(found: BoundedRun, one: CpuBound) -> dict[str, object]:
    return {
        "cpu": one.cpu,
        "late": one.late,
        "incomplete": one.incomplete,
        "others": one.others,
        "interrupts_off": _stretch_as_table(found, one.interrupts_off),
        "waiting": _stretch_as_table(found, one.waiting),
        "interrupts": [
            {
                "name": each.name,
                "nmi": each.nmi,
                "count": len(each.arrivals_ns),
                "longest_ns": each.longest_ns,
                "shortest_interval_ns": each.shortest_interval_ns,
            }
            for each in one.interrupts
        ],
        "stages": [
            {
                "share": stage.share,
                "until_ns": stage.until_ns,
                "late": stage.late,
                "measured_ns": stage.measured_ns,
                "interference_free_ns": stage.free_ns,
                "at_least_ns": dict(stage.bounds),
            }
            for stage in one.stages
        ],
        "outside": [{"cause": cause, "net_ns": ns} for cause, ns in outside(one.worst).items()],
    }


def _stretch_as_table(found: BoundedRun, one: Stretch | None) -> dict[str, object] | None:
    if one is None:
        return None
    since = None if found.start_ns is None else one.cycle.release_ns - found.start_ns
    return {
        "at_least_ns": one.length_ns,
        "release_ns": one.cycle.release_ns,
        "since_start_ns": since,
        "cause": one.longest.cause,
        "name": words.name(one.longest),
        "stack": list(one.longest.stack),
    }
