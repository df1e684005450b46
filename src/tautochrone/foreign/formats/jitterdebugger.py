"""jitterdebugger: its results as JSON (-f FILE, or results.json)."""

import re
from pathlib import Path

from tautochrone.base.errors import DamagedError
from tautochrone.foreign.formats import Format, ImportOptions
from tautochrone.foreign.recording import (
    CUT_TO_MICROSECONDS,
    LOAD,
    MICROSECOND,
    PERIOD,
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

TOOL = "jitterdebugger"
EXPERIMENT = "cyclic"
UNKNOWN = (
    PERIOD,
    "whether its timers are absolute (early versions restart them)",
    "version",
    "kernel",
    "machine",
    "when it was measured",
    LOAD,
    "hardware, firmware and clock source",
    "policy, priority and memory lock as they were obtained",
)
_END_US = 1_000
"""Where its histograms end."""


def _recognises(head: bytes, _path: Path) -> bool:
    text = head.decode("utf-8", "replace")
    return re.search(r'"cpu"\s*:\s*\{\s*"[0-9]+"\s*:\s*\{\s*"histogram"', text) is not None


def _read(path: Path, options: ImportOptions) -> Recording:
    cpus = object_of(path).get("cpu")
    if not isinstance(cpus, dict) or not cpus:
        raise DamagedError("it has no CPUs")
    sources = []
    for name, told in cpus.items():
        cpu = whole(name, "the number of a CPU")
        if not isinstance(told, dict) or not isinstance(told.get("histogram"), dict):
            raise DamagedError(f"CPU {cpu} has no histogram")
        starts = array([whole_ns(one, MICROSECOND, "a bin") for one in told["histogram"]])
        counts = array([whole(one, "the count of a bin") for one in told["histogram"].values()])
        cycles = whole(told.get("count"), "count")
        over = cycles - int(counts.sum())
        if over < 0:
            raise DamagedError(
                f"CPU {cpu} has {cycles:,} samples, and {int(counts.sum()):,} in its histogram"
            )
        maximum_ns = whole_ns(told.get("max"), MICROSECOND, "max") + MICROSECOND - 1 if cycles else None
        last_us = int(starts.max()) // MICROSECOND + 1 if len(starts) else 0
        end_ns = max(_END_US, last_us) * MICROSECOND
        histogram = ForeignHistogram(*bins_of(starts, counts, MICROSECOND), over, end_ns, maximum_ns)
        sources.append(ForeignSource(f"cpu{cpu}", cpu, options.period_ns, {LATENCY: histogram}))
    return Recording(
        tool=TOOL,
        format="jitterdebugger",
        experiment=EXPERIMENT,
        sources=tuple(sources),
        parameters={"cpu_dma_latency_us": 0},  # it holds /dev/cpu_dma_latency at 0 in all versions
        unknown=UNKNOWN,
        warnings=(CUT_TO_MICROSECONDS,),
    )


FORMAT = Format("jitterdebugger", "the JSON of jitterdebugger", 11, _recognises, _read)
