"""What the file of another tool holds, whatever the tool, and the reading of its text, which is bounded."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tautochrone.base.errors import DamagedError
from tautochrone.base.reading import json_of, read_bytes
from tautochrone.run.manifest import Warning as RunWarning
from tautochrone.run.records import LATENCY

Integers = npt.NDArray[np.int64]

LARGEST_NS = 2**62
"""No latency of a file may be larger: a century and a half."""

MICROSECOND = 1_000
_MOST_SOURCES, _MOST_SAMPLES = 1 << 16, 1 << 53


@dataclass(frozen=True, eq=False)
class ForeignHistogram:
    """One histogram, in ns.

    Attributes:
        low, high: smallest and largest value of each bin, both included, shape (n,).
        count: samples in each, shape (n,).
        overflow: samples beyond the last bin.
        end_ns: where the bins end, so that each sample of the overflow is so large or larger.
        maximum_ns: the largest sample, at most; None: the file does not tell it.
    """

    low: Integers
    high: Integers
    count: Integers
    overflow: int = 0
    end_ns: int = 0
    maximum_ns: int | None = None

    @property
    def total(self) -> int:
        """Return how many samples there are, the overflow included."""
        return int(self.count.sum()) + self.overflow

    @property
    def largest_ns(self) -> int | None:
        """Return the upper bound of all samples; None: the file tells none, or there are none."""
        if self.maximum_ns is not None and self.total:
            return self.maximum_ns
        held = self.high[self.count > 0]
        return int(held.max()) if len(held) and not self.overflow else None

    def whole(self) -> "ForeignHistogram":
        """Return the histogram with its overflow as a last, wide bin where it is bounded.

        Raises:
            DamagedError: the maximum contradicts the bins, or there are more samples than there can be.
        """
        if sum(self.count.tolist()) + self.overflow > _MOST_SAMPLES:  # Python's integers, which can't wrap
            raise DamagedError("it has more samples than any tool can take")
        held = self.count > 0
        low, high, count = self.low[held], self.high[held], self.count[held]
        least = self.end_ns if self.overflow else int(low.max()) if len(low) else 0
        if self.maximum_ns is not None and self.total and self.maximum_ns < least:
            raise DamagedError(
                f"its maximum, {self.maximum_ns:,} ns, lies below samples of {least:,} ns or more"
            )
        if not self.overflow or self.maximum_ns is None:
            return ForeignHistogram(low, high, count, self.overflow, self.end_ns, self.maximum_ns)
        return ForeignHistogram(
            np.append(low, self.end_ns),
            np.append(high, self.maximum_ns),
            np.append(count, self.overflow),
            0,
            self.end_ns,
            self.maximum_ns,
        )


@dataclass(frozen=True, eq=False)
class ForeignSamples:
    """Single samples in the order in which they were taken, in ns: when each began, and how long it was."""

    start: Integers
    value: Integers


@dataclass(frozen=True)
class ForeignSource:
    """One thread or CPU of a file.

    Attributes:
        period_ns: between two releases of an absolute schedule; None: not known, or it has none.
        histograms: by measure; the measures of the recording, or some of them.
        samples: of the only measure, instead of histograms.
        dropped: samples that were taken, but are not in the file.
    """

    name: str
    cpu: int | None = None
    period_ns: int | None = None
    histograms: Mapping[str, ForeignHistogram] = field(default_factory=dict)
    samples: ForeignSamples | None = None
    dropped: int = 0


@dataclass(frozen=True)
class Recording:
    """One file, read.

    Attributes:
        tool: who measured; version: of it, where it is told.
        format: which of its formats the file has.
        experiment: what the run is filed as: that of `tauto probe` which measures the same, or a name of its
            own.
        measures: names, in ns, with what they mean; the first is what it is about.
        measured: when it began; None: not told.
        command: the words of the tool's own command; empty: not told.
        host: the name of the machine; empty: not told.
        system: the kernel as the file names it: name, release, version, machine.
        parameters: what else the file tells of how it was measured.
        unknown: what a run of tauto knows of its conditions, and the file does not tell.
        warnings: what limits the meaning of the numbers.
        is_whole: nothing says that samples are lacking of which the file does not tell whose they are.
        stream: the file, where it is a run's stream, which has the sources itself; None: it is not.
    """

    tool: str
    format: str
    experiment: str
    sources: tuple[ForeignSource, ...]
    version: str = ""
    measures: tuple[tuple[str, str], ...] = ((LATENCY, "scheduling latency"),)
    measured: datetime | None = None
    command: tuple[str, ...] = ()
    host: str = ""
    system: Mapping[str, str] = field(default_factory=dict)
    policy: str = ""
    priority: int | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    warnings: tuple[RunWarning, ...] = ()
    is_whole: bool = True
    stream: Path | None = None

    def see_that_it_agrees(self) -> None:
        """See that there is a sample, and that no histogram contradicts itself.

        Raises:
            DamagedError: it does.
        """
        if self.stream is not None:
            return  # sealing it counts
        histograms = [histogram.whole() for one in self.sources for histogram in one.histograms.values()]
        samples = sum(len(one.samples.value) for one in self.sources if one.samples is not None)
        if not samples + sum(histogram.total for histogram in histograms):
            raise DamagedError("it has no sample")
        if len(self.sources) > _MOST_SOURCES:
            raise DamagedError(f"it has {len(self.sources):,} sources")


LOAD = "load"
PERIOD = "period (name it with --period)"
"""What a person can say of a file, as what is not known of it otherwise."""

SKIPPED = "releases that were skipped"
"""What is not known of a loop by its file, unless none was so late that it skipped one."""

CUT_TO_MICROSECONDS = RunWarning(
    "whole-microseconds",
    "The tool cuts every latency to whole microseconds: it may be up to 1 us larger than the tool says.",
    "Bins of a histogram are told by their upper edge; cyclictest -N records nanoseconds.",
)


def bins_of(starts: Integers, counts: Integers, width_ns: int) -> tuple[Integers, Integers, Integers]:
    """Return bins that begin at these values and are so wide: low, high, count."""
    return starts, starts + (width_ns - 1), counts


def histogram_of(values: Integers, width_ns: int) -> ForeignHistogram:
    """Return single values, which are told in steps so wide, as a histogram."""
    value, count = np.unique(values, return_counts=True)
    return ForeignHistogram(*bins_of(value, count.astype(np.int64), width_ns))


def several_runs() -> DamagedError:
    """Return what is wrong with a file to which a tool wrote more than once."""
    return DamagedError("it has the results of several runs", "Give each run a file of its own.")


def told_histogram(
    bins: Mapping[str, object], total: int, largest: object, unit_ns: int, who: str, what: str
) -> ForeignHistogram:
    """Return a histogram that a file tells: the counts by value, and of all samples number and largest.

    Args:
        who, what: whose it is and what is counted, for people: "CPU 1", "samples".

    Raises:
        DamagedError: a number is none, or there are more in the bins than in all.
    """
    starts = array([whole_ns(one, unit_ns, "a bin") for one in bins])
    counts = array([whole(one, "the count of a bin") for one in bins.values()])
    beyond = total - int(counts.sum())
    if beyond < 0:
        raise DamagedError(f"{who} has {total:,} {what}, and {int(counts.sum()):,} in its histogram")
    maximum_ns = whole_ns(largest, unit_ns, "max") + unit_ns - 1 if total else None
    end_ns = int(starts.max()) + unit_ns if len(starts) else 0
    return ForeignHistogram(*bins_of(starts, counts, unit_ns), beyond, end_ns, maximum_ns)


MOST_BYTES = 256 << 20
_WHOLE = re.compile(r"-?[0-9]{1,19}")
_NO_AVERAGE = re.compile(r'("avg":\s*)-?nan\b')
"""What tools write of a thread that never ran, which is no JSON."""


def text_of(path: Path) -> str:
    """Return the whole text of a file; bytes that are no UTF-8 become U+FFFD."""
    return read_bytes(path, MOST_BYTES).decode("utf-8", "replace")


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each line with its number, from 1, without blanks around it."""
    for number, line in enumerate(text_of(path).splitlines(), start=1):
        yield number, line.strip()


def object_of(path: Path) -> dict[str, Any]:
    """Return the JSON object that a file is. The tool may have printed lines before and after it.

    Raises:
        DamagedError: it is none.
    """
    text = _NO_AVERAGE.sub(r"\1null", text_of(path))
    begin = text.find("{")
    try:
        content = json_of(text[max(begin, 0) : text.rfind("}") + 1])
    except (ValueError, json.JSONDecodeError) as error:
        raise DamagedError(f"it is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise DamagedError("it is not a JSON object")
    return content


_SYSTEM = {"name": "sysname", "release": "release", "version": "version", "machine": "machine"}


def system_of(content: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """Return the name of the machine, and its system, as JSON files tell them as sysinfo; empty: not told."""
    told = content.get("sysinfo")
    if not isinstance(told, dict):
        return "", {}
    return str(told.get("nodename", "")), {
        own: str(told[name]) for own, name in _SYSTEM.items() if name in told
    }


def whole(word: object, what: str, *, least: int = 0) -> int:
    """Return a whole number, of at least so much and less than `LARGEST_NS`.

    Raises:
        DamagedError: it is none.
    """
    if isinstance(word, str) and _WHOLE.fullmatch(word):
        word = int(word)
    if not isinstance(word, int) or isinstance(word, bool) or not least <= word <= LARGEST_NS:
        raise DamagedError(f"{what} is {str(word)[:40]!r}, which is no number that it can be")
    return word


def whole_ns(word: object, unit_ns: int, what: str) -> int:
    """Return a length of time of whole units in ns.

    Raises:
        DamagedError: it is none, or too large.
    """
    found = whole(word, what)
    if found * unit_ns > LARGEST_NS:
        raise DamagedError(f"{what} is {found:,}, which is too large")
    return found * unit_ns


def array(values: Sequence[int]) -> Integers:
    """Return numbers as an array of 64 bits."""
    return np.asarray(values, dtype=np.int64)


def words_of(line: str) -> tuple[str, ...]:
    """Return the words of a command line, also of one whose quotes do not match."""
    try:
        return tuple(shlex.split(line))
    except ValueError:
        return tuple(line.split())


def option_of(words: Sequence[str], short: str, long: str, flags: str = "") -> str | None:
    """Return the value of an option of a command, the last one given; None: it is not given.

    Args:
        short: its letter; its value may stand behind it at once, as in ``-i200``, and flags before it, as in
            ``-Sp90``.
        long: its name without dashes.
        flags: letters that take no value.
    """
    found = None
    for at, word in enumerate(words):
        if word == f"--{long}":
            found = words[at + 1] if at + 1 < len(words) else None
        elif word.startswith(f"--{long}="):
            found = word.partition("=")[2]
        elif match := re.fullmatch(rf"-[{flags}{short}]*?{short}(.*)", word):
            found = match[1] or (words[at + 1] if at + 1 < len(words) else None)
    return found


def has_flag(words: Sequence[str], short: str, long: str, flags: str) -> bool:
    """Return whether a flag is given, alone or among other flags behind one dash.

    Args:
        flags: all letters that take no value; what follows another letter is that one's value.
    """
    return any(word == f"--{long}" or re.match(rf"-[{flags}]*{short}", word) is not None for word in words)
