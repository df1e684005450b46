"""The Rhealstone figure, from the average times of its six components.

Kar and Porter, Rhealstone: a real-time benchmarking proposal, Dr. Dobb's Journal, February 1989; Kar,
Implementing the Rhealstone real-time benchmark, April 1990. Worst cases beside the averages as in Table 1 of
garre2014.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tautochrone.base.errors import TautoError, UsageError
from tautochrone.judge.reduced import summary_of_run
from tautochrone.judge.rows import Published, absent_rows, rows_of
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.summary import Summary

TASK_SWITCH, PREEMPTION, INTERRUPT, SHUFFLE, DEADLOCK, MESSAGE = COMPONENTS = (
    "task switch", "preemption", "interrupt latency", "semaphore shuffle", "deadlock breaking",
    "message latency",
)  # fmt: skip
"""In the order of the weights."""

DATAGRAM = "datagram"
INTERRUPT_MEASURE = "interrupt_latency_ns"


@dataclass(frozen=True)
class Component:
    """One of the six.

    Attributes:
        summary: of its samples; None: there are none.
        absent: why: "told": by the probe, in its words; "ended": the run did before its turn; "not asked":
            for rows on one CPU; of interrupts "not named": no run of them was; "empty": it has no sample;
            "unreadable": it can't be read. Empty: there are samples.
        told: in which words; ``run``: that was named.
    """

    name: str
    summary: Summary | None
    absent: Literal["", "told", "ended", "not asked", "not named", "empty", "unreadable"] = ""
    told: str = ""
    run: str = ""


@dataclass(frozen=True)
class Rating:
    """Rhealstones per second: one over the (weighted) mean time of the components.

    Attributes:
        per_second: of all components that have a weight; None if one of them is missing.
        partial_per_second: of those that were measured alone; None if there are none, or nothing is missing.
        weights: in the order of `COMPONENTS`; all 1 is the objective figure.
    """

    per_second: float | None
    partial_per_second: float | None
    measured: tuple[str, ...]
    missing: tuple[str, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True)
class Rhealstone:
    """What a run says of the Rhealstone components.

    Attributes:
        datagram: how long one message keeps its sender, on one CPU; None if not measured.
        across: rows across two CPUs, by name; the figure leaves them out.
        throughput_kb_s: kilobytes (1,000 bytes) per second from one task to another on one CPU, where the
            send contains the receiver's work; None if not measured.
        message_bytes: size of the messages; None if the run does not say.
    """

    components: tuple[Component, ...]
    datagram: Summary | None
    across: dict[str, Summary]
    throughput_kb_s: float | None
    message_bytes: int | None
    objective: Rating
    weighted: Rating | None


def rate(means_ns: Mapping[str, float | None], weights: Sequence[float] = (1.0,) * 6) -> Rating:
    """The Rhealstone figure: sum of weights / sum of (weight x time), per second.

    With weights of 1 it is the objective figure, one over the arithmetic mean of the times.

    Args:
        means_ns: average time of each component by name, None or left out if not measured.
        weights: how often an application uses each, in the order of `COMPONENTS`; 0 leaves one out.

    Raises:
        UsageError: not six weights, a negative one, or all are 0.
    """
    chosen = _checked(weights)
    used = {name: weight for name, weight in zip(COMPONENTS, chosen, strict=True) if weight > 0}
    times = {name: time for name in used if (time := means_ns.get(name)) is not None}
    missing = tuple(name for name in used if name not in times)
    weighted_ns = sum(used[name] * time for name, time in times.items())
    rate = sum(used[name] for name in times) / weighted_ns * 1e9 if weighted_ns > 0 else None
    return Rating(
        per_second=None if missing else rate,
        partial_per_second=rate if missing else None,
        measured=tuple(times),
        missing=missing,
        weights=chosen,
    )


def read_weights(text: str) -> tuple[float, ...]:
    """Weights as a person gives them: six numbers, joined by commas.

    Raises:
        UsageError: they are not.
    """
    try:
        return _checked([float(part) for part in text.split(",")])
    except ValueError as error:
        raise _bad_weights(text) from error


def judge_rhealstone(run: StoredRun) -> Rhealstone:
    """Put the rows of one run together, with the weights and the interrupt run named when it was measured."""
    rows = list(rows_of(run))
    absent = absent_rows(run)
    here = {row.name: row.summary for row in rows if not row.across}
    across = {row.name: row.summary for row in rows if row.across and row.summary is not None}
    components = tuple(
        _interrupt(run) if name == INTERRUPT else _component(name, here, absent) for name in COMPONENTS
    )
    means = {one.name: one.summary.mean if one.summary else None for one in components}
    weights = run.manifest.asked("--weights")
    size = run.manifest.header.number("message_bytes")
    return Rhealstone(
        components=components,
        datagram=here.get(DATAGRAM),
        across=across,
        throughput_kb_s=_throughput(size, here.get(DATAGRAM)),
        message_bytes=size,
        objective=rate(means),
        weighted=rate(means, read_weights(weights)) if weights else None,
    )


def _component(name: str, here: Mapping[str, Summary | None], absent: Mapping[str, str]) -> Component:
    summary = here.get(name)
    if summary is not None:
        return Component(name, summary)
    if why := absent.get(name):
        return Component(name, None, "told", why)
    return Component(name, None, "ended" if name in here else "not asked")


def _interrupt(run: StoredRun) -> Component:
    """From the run that was named: its samples of all CPUs together."""
    named = run.manifest.asked("--interrupt")
    if named is None:
        return Component(INTERRUPT, None, "not named")
    try:
        other = StoredRun.read(run.path.parent / named)
        if other.count(INTERRUPT_MEASURE) == 0:
            return Component(INTERRUPT, None, "empty", run=named)
        return Component(INTERRUPT, summary_of_run(other, INTERRUPT_MEASURE))
    except TautoError as error:
        return Component(INTERRUPT, None, "unreadable", str(error), named)


def _throughput(message_bytes: int | None, summary: Summary | None) -> float | None:
    if message_bytes is None or summary is None or summary.mean <= 0:
        return None
    return message_bytes * 1e6 / summary.mean


def _checked(weights: Sequence[float]) -> tuple[float, ...]:
    usable = all(0 <= weight < float("inf") for weight in weights)
    if len(weights) != len(COMPONENTS) or not usable or not any(weights):
        raise _bad_weights(",".join(f"{weight:g}" for weight in weights))
    return tuple(float(weight) for weight in weights)


def _bad_weights(text: str) -> UsageError:
    return UsageError(
        f"--weights {text}: these are not six weights",
        f"Write six numbers of at least 0, not all 0, joined by commas, for: {', '.join(COMPONENTS)}.",
    )


def _garre(system: str, task_switch_ns: float, preemption_ns: float, ipc_ns: float) -> Published:
    return Published(
        "garre2014",
        system,
        "i7-3930K, 3.2 GHz",
        2014,
        {TASK_SWITCH: task_switch_ns, PREEMPTION: preemption_ns, SHUFFLE: ipc_ns},
    )


PUBLISHED = (
    _garre("RTAI 3.9.1", 12_060, 14_855, 12_986),
    _garre("Xenomai 2.6.2.1", 1_422, 2_922, 1_282),
    _garre("RT-Preempt", 27_085, 15_986, 19_776),
    _garre("Linux 3.5.7", 13_200, 1_000_000, 12_453),
)
"""Table 1 of garre2014: worst cases. The preemption of Linux is printed there as more than 10^6 ns."""
