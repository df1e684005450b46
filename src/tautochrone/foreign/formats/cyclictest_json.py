"""cyclictest --json=FILE, of rt-tests 2.0 and later."""

from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from tautochrone.base.errors import DamagedError
from tautochrone.foreign.formats import Format, ImportOptions
from tautochrone.foreign.formats._cyclictest import (
    EXPERIMENT,
    TOOL,
    UNKNOWN,
    CyclictestCommand,
    source_name,
)
from tautochrone.foreign.recording import (
    CUT_TO_MICROSECONDS,
    MICROSECOND,
    ForeignHistogram,
    ForeignSource,
    Recording,
    array,
    bins_of,
    object_of,
    whole,
    whole_ns,
)
from tautochrone.run.records import LATENCY

_NAMES = {"name": "sysname", "release": "release", "version": "version", "machine": "machine"}


def _recognises(head: bytes, _path: Path) -> bool:
    return head.lstrip()[:1] == b"{" and b'"file_version"' in head and b'"rt_test_version' in head


def _read(path: Path, options: ImportOptions) -> Recording:
    content = object_of(path)
    threads = content.get("thread")
    if not isinstance(threads, dict) or not threads:
        raise DamagedError("it has no threads")
    told = {name.rstrip(":"): value for name, value in content.items()}  # 2.x writes "cmdline:"
    command = CyclictestCommand.of(str(told.get("cmdline", "")), len(threads))
    if command.words and Path(command.words[0]).name != TOOL:
        raise DamagedError(f"it was written by {Path(command.words[0]).name}, not by cyclictest")
    unit_ns = 1 if told.get("resolution_in_ns") else MICROSECOND
    ordered = sorted(threads.items(), key=lambda one: whole(one[0], "the number of a thread"))
    cpus = [_cpu(thread) for _, thread in ordered]
    sources = tuple(
        ForeignSource(
            source_name(cpu, int(number), cpus),
            cpu,
            options.period_ns or interval,
            {LATENCY: _histogram(thread, unit_ns, command.histogram_end)},
        )
        for (number, thread), cpu, interval in zip(ordered, cpus, command.intervals_ns, strict=True)
    )
    sysinfo = told.get("sysinfo")
    system: dict[str, Any] = sysinfo if isinstance(sysinfo, dict) else {}
    return Recording(
        tool=TOOL,
        format="cyclictest-json",
        experiment=EXPERIMENT,
        version=str(told.get("rt_test_version", "")),
        sources=sources,
        measured=_moment(told.get("start_time")),
        command=command.words,
        host=str(system.get("nodename", "")),
        system={own: str(system[theirs]) for own, theirs in _NAMES.items() if theirs in system},
        policy=command.policy,
        priority=command.priority,
        parameters={"kernel_says_realtime": system["realtime"]} if "realtime" in system else {},
        unknown=UNKNOWN,
        warnings=() if unit_ns == 1 else (CUT_TO_MICROSECONDS,),
    )


def _cpu(thread: Any) -> int | None:
    cpu = thread.get("cpu") if isinstance(thread, dict) else None
    return cpu if isinstance(cpu, int) and cpu >= 0 else None


def _histogram(thread: Any, unit_ns: int, end: int | None) -> ForeignHistogram:
    if not isinstance(thread, dict):
        raise DamagedError("a thread is no object")
    bins = thread.get("histogram") or {}
    if not isinstance(bins, dict):
        raise DamagedError("a histogram is no object")
    cycles = whole(thread.get("cycles"), "cycles")
    starts = array([whole_ns(one, unit_ns, "a bin") for one in bins])
    counts = array([whole(one, "the count of a bin") for one in bins.values()])
    maximum_ns = whole_ns(thread.get("max"), unit_ns, "max") + unit_ns - 1 if cycles else None
    overflow = cycles - int(counts.sum())
    if overflow < 0:
        raise DamagedError(f"a thread has {cycles:,} cycles, and {int(counts.sum()):,} in its histogram")
    last_ns = int(starts.max()) + unit_ns if len(starts) else 0
    found = ForeignHistogram(*bins_of(starts, counts, unit_ns), overflow, last_ns, maximum_ns)
    if end is not None:
        return replace(found, end_ns=max(last_ns, end * unit_ns))
    # Without -h there is no histogram: all that is told lies between the smallest and the largest.
    least_ns = whole_ns(thread.get("min"), unit_ns, "min") if cycles else 0
    return replace(found, end_ns=max(last_ns, least_ns))


def _moment(told: object) -> datetime | None:
    with suppress(ValueError, TypeError):
        found = parsedate_to_datetime(str(told))
        return found if found.tzinfo is not None else None
    return None


FORMAT = Format("cyclictest-json", "cyclictest --json=FILE", 10, _recognises, _read)
