"""A load that did not load, seen from what it says it did."""

from collections.abc import Sequence

from tautochrone.base.units import parse_period_ns
from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.measure.loads.kinds import TASKS, THP
from tautochrone.run.conditions import LoadReport
from tautochrone.run.manifest import Warning as RunWarning
from tautochrone.run.records import Footer, Header

_LEAST_SHARE = 0.05
_LEAST_ROOM = 0.05
_LEAST_RATE = 0.9
_LEAST_PERIODS = 0.5  # they give way to what is measured
_TASK_PERIOD = "100us"  # the probe's

DID_NOT_LOAD, HAD_NO_ROOM = "load-did-not-load", "load-had-no-room"


def cautions_of_loads(
    reports: Sequence[LoadReport],
    header: Header | None = None,
    footer: Footer | None = None,
) -> list[RunWarning]:
    """Return what is wrong with each load of a run; nothing where it loaded.

    Args:
        reports: what the loads did, each with the CPUs that it was given.
        header, footer: of the probe's stream: the CPU time that its threads took on the same CPUs is not
            held against a load.
    """
    found = []
    for report in reports:
        name = report.label
        caution = (
            _nothing(name, report)
            or _too_slow(name, report)
            or _no_huge_page(name, report)
            or _no_cpu_time(name, report, _measuring_ns(report, header or Header(), footer or Footer()))
        )
        if caution is not None:
            found.append(caution)
    return found


def _nothing(name: str, report: LoadReport) -> RunWarning | None:
    if report.operations != 0:
        return None
    return RunWarning(
        DID_NOT_LOAD, f"the load '{name}' did nothing", "What was measured is not beside a load of this kind."
    )


def _too_slow(name: str, report: LoadReport) -> RunWarning | None:
    """A load that was to reach a rate: bits or interrupts in a second, periods of tasks."""
    share, least = _share_of_rate(report)
    if share is None or share >= least:
        return None
    return RunWarning(
        DID_NOT_LOAD,
        f"the load '{name}' reached {share:.0%} of the rate that was asked for",
        "The CPUs, or the way between the two ends, do not carry more: ask for less, or give it more CPUs.",
    )


def _no_huge_page(name: str, report: LoadReport) -> RunWarning | None:
    """A load of huge pages that got none was one of ordinary pages."""
    if report.load != THP or report.huge_pages != 0:
        return None
    if report.has_huge_pages:
        why, advice = (
            "though it asked for them",
            "Its memory was too scattered, or a setting of the system keeps them off.",
        )
    else:
        why, advice = "as this kernel has none", "Kernels with PREEMPT_RT are built without them."
    return RunWarning(
        DID_NOT_LOAD,
        f"the load '{name}' got no huge page, {why}",
        f"{advice} What was measured is beside ordinary pages: as beside munmap.",
    )


def _share_of_rate(report: LoadReport) -> tuple[float | None, float]:
    """Return what was reached of what was asked for, and the least that will do; None: there is no rate."""
    asked, reached = report.requested_bits_per_s, report.reached_bits_per_s
    if asked and reached is not None:
        return reached / asked, _LEAST_RATE
    operations = report.operations or 0
    if report.left_out:
        return operations / (operations + report.left_out), _LEAST_RATE
    if report.load == TASKS and report.elapsed_ns:
        period_ns = parse_period_ns(report.options.get("period", _TASK_PERIOD))
        return operations * period_ns / ((report.threads or 1) * report.elapsed_ns), _LEAST_PERIODS
    return None, 0.0


def _no_cpu_time(name: str, report: LoadReport, measuring_ns: float) -> RunWarning | None:
    """A load that computes without a pause shows in its CPU time, as far as the measuring left it any."""
    if not report.keeps_cpus_busy or report.cpu_time_ns is None:
        return None
    threads = max(1, report.threads or 1)
    whole_ns = max(1.0, report.elapsed_ns * min(threads, len(parse_cpu_list(report.cpus) or ()) or threads))
    room_ns = max(0.0, whole_ns - measuring_ns)
    if room_ns < _LEAST_ROOM * whole_ns:
        return RunWarning(
            HAD_NO_ROOM,
            f"the measuring threads left the load '{name}' nearly no time on its CPUs",
            "Place the load on other CPUs with cpus=, or measure with threads that sleep.",
        )
    share = report.cpu_time_ns / room_ns
    if share >= _LEAST_SHARE:
        return None
    return RunWarning(
        DID_NOT_LOAD,
        f"the load '{name}' got only {share:.1%} of the CPU time that it was meant to use",
        "Something of higher priority kept the CPUs busy, or a container limit held the load back.",
    )


def _measuring_ns(report: LoadReport, header: Header, footer: Footer) -> float:
    """CPU time of the measuring threads on the CPUs of a load."""
    cpus = parse_cpu_list(report.cpus)
    where = {one.source: one.obtained.cpu for one in header.sources}
    return sum(
        float(book.cpu_time_ns or 0)
        for book in footer.books or ()
        if not cpus or where.get(book.source) in (*cpus, None)
    )
