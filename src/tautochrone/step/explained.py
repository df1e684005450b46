"""What the steps of an explained run do that a step in real time should not, in sentences and a table."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tautochrone.answer.document import TypedTable, columns, count, formatted, micros, words
from tautochrone.answer.labels import titled
from tautochrone.base.errors import UsageError
from tautochrone.base.words import listed, plural, upper_first
from tautochrone.experiments.step_code import CodeFile, read_code
from tautochrone.judge.explained import KINDS, Deed, ExplainedSteps, Kind, Remedy
from tautochrone.run.manifest import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tautochrone.answer.document import TypedCell

_MOST = 40
"""Lines of the table; JSON has all."""

_NOUNS: dict[Kind, tuple[str, str]] = {
    "heap": ("heap call", "heap calls"),
    "system": ("system call", "system calls"),
    "lock": ("wait for another thread", "waits for another thread"),
    "thread": ("start of a thread", "starts of threads"),
    "fault": ("page fault", "page faults"),
}
_HELPS: dict[Remedy, str] = {
    "heap": "Heap calls: allocate in init what the steps need, and use it again. The heap has locks, and may "
    "ask the kernel for memory.",
    "memory": "Memory from the kernel: get it in init. Each new page is a fault.",
    "file": "Files: let the step put what it has into memory of its own, and let another thread write it.",
    "sleep": "Sleeps and polls: leave waiting to the loop, which sleeps until the next release.",
    "process": "Processes: start them in init. Starting one copies page tables, and page faults follow.",
    "scheduling": "Scheduling calls: set policy and CPU once, in init.",
    "call": "Other system calls: make them in init or in another thread. The kernel says how long one takes.",
    "lock": "Waits for another thread: exchange data without a lock, or keep the locked section short and "
    "give the mutex priority inheritance (PTHREAD_PRIO_INHERIT).",
    "thread": "Threads: start them in init, and let them wait for work.",
    "fault": "Page faults: touch the memory in init, and leave memory locked (no --no-memory-lock).",
}


def sentences(found: ExplainedSteps) -> list[str]:
    """Return what the steps do that they should not, or that they do nothing of that kind."""
    steps = plural(found.steps, "step")
    hidden = [f"{_NOUNS[kind][1]}: N/A, {found.absent[kind]}" for kind in KINDS if kind in found.absent]
    not_seen = [f"{upper_first('; '.join(hidden))}."] if hidden else []
    if found.is_clean:
        of_what = "Of what can be seen here, nothing" if hidden else "Nothing"
        said = [f"{of_what} in {steps} that a real-time step should not do."]
    else:
        done = [_said(kind, found.of(kind)) for kind in KINDS if found.of(kind)]
        lost = [f"{found.lost:,} more, too many to be named"] if found.lost else []
        said = [f"In {steps}: {listed([*done, *lost])}."]
    return [*said, *not_seen]


def advice(found: ExplainedSteps) -> list[str]:
    """Return what would help, a sentence for each kind of thing that the steps do."""
    return [
        _HELPS[remedy] for remedy in dict.fromkeys(one.remedy for kind in KINDS for one in found.of(kind))
    ]


def _said(kind: Kind, deeds: list[Deed]) -> str:
    total = sum(one.count for one in deeds)
    others = f", and {len(deeds) - 1} more" if len(deeds) > 1 else ""
    return f"{plural(total, *_NOUNS[kind])} ({who(deeds[0])} -> {what(deeds[0])}{others})"


def who(deed: Deed) -> str:
    """Return the function that does it: ``lib.so: update_state +0x42``."""
    if not deed.module:
        return "unknown"
    behind = f" +{deed.behind:#x}" if deed.behind is not None else ""
    return f"{deed.module}: {deed.function}{behind}"


def what(deed: Deed) -> str:
    """Return what it does: ``fprintf -> write /tmp/log``."""
    through = f"{deed.by_way_of} -> " if deed.by_way_of else ""
    detail = f" {deed.detail}" if deed.detail else ""
    return f"{through}{deed.call}{detail}"


def table(found: ExplainedSteps, label: str, lines: Mapping[tuple[str, int], str]) -> TypedTable:
    """Return a line for each function that does something.

    Args:
        lines: of the source, by the library and the address in it, where they are known.
    """
    heads = columns(
        "kind", "function", "does", "in all steps", "steps with any", "longest", "in the first step"
    )
    shown = found.deeds[:_MOST]
    return TypedTable(
        titled("What the steps call", label),
        heads,
        tuple(_row(one, found.steps, lines) for one in shown),
        tuple(_notes(found)),
    )


def _row(one: Deed, whole: int, lines: Mapping[tuple[str, int], str]) -> tuple[TypedCell, ...]:
    line = lines.get((one.module, one.at), "") if one.behind is not None else ""
    named = f"{who(one)} ({line})" if line else who(one)
    is_exact = one.steps_known or one.steps >= whole
    steps = count(one.steps) if is_exact else words(f"at least {one.steps:,}")
    longest = micros(one.longest_ns) if one.longest_ns else formatted(None, "{}")
    return (
        words(_NOUNS[one.kind][0]), words(named), words(what(one)), count(one.count), steps,
        longest, count(one.in_first),
    )  # fmt: skip


def _notes(found: ExplainedSteps) -> Iterator[str]:
    yield (
        "The innermost function outside of the system's libraries is named, with the place in it (+bytes). "
        "Longest: a single call, in us. The first step is that of the warm-up, which finds everything cold."
    )
    if len(found.deeds) > _MOST:
        yield f"{len(found.deeds) - _MOST:,} more are in tauto show --json (event explained)."
    yield from advice(found)


# Where in the source a place in the user's library is: by its debug information, where it has some.

_PATIENCE_S = 10.0


def lines_of(manifest: Manifest, addresses: Iterable[int]) -> dict[int, str]:
    """Return ``pendulum.c:57`` for addresses in the library of a run.

    None of a library that is gone or another one now, of one without debug information, and on a machine
    without addr2line.
    """
    code, wanted = manifest.conditions.told(CodeFile.CONDITION, CodeFile), sorted(set(addresses))
    program = shutil.which("addr2line")
    if code is None or program is None or not wanted or not _is_the_same(code):
        return {}
    command = [program, "-e", code.path, *(f"{one:#x}" for one in wanted)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return {}
    said = (Path(line.partition(" (")[0]).name for line in done.stdout.splitlines())
    return {
        at: one for at, one in zip(wanted, said, strict=False) if "?" not in one and not one.endswith(":0")
    }


def _is_the_same(code: CodeFile) -> bool:
    try:
        return read_code(code.named, Path("/")).sha256 == code.sha256
    except UsageError:
        return False
