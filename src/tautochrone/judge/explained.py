"""A run of `step` with ``--explain``: what keeps its steps from real time, and which function does that."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from msgspec import Struct

from tautochrone.base.errors import UsageError
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Manifest

Kind = Literal["heap", "system", "lock", "thread", "fault"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Remedy = Literal[
    "heap", "memory", "file", "sleep", "process", "scheduling", "call", "lock", "thread", "fault"
]
"""What would help, by what was done."""

_SYSTEM = (
    "libc.so", "libc-", "libstdc++", "libc++", "libm.so", "libpthread", "libgcc_s", "ld-", "libdl.", "librt.",
    "linux-vdso",
)  # fmt: skip
_CALLS: dict[Remedy, frozenset[str]] = {
    "memory": frozenset({"brk", "mmap", "munmap", "mremap", "madvise", "mprotect"}),
    "file": frozenset(
        {
            "open", "openat", "creat", "close", "read", "write", "readv", "writev", "pread64", "pwrite64",
            "lseek", "fsync", "fdatasync", "fstat", "stat", "lstat", "newfstatat", "statx", "unlink",
            "unlinkat", "rename", "ftruncate",
        }
    ),
    "sleep": frozenset(
        {
            "nanosleep", "clock_nanosleep", "pause", "poll", "ppoll", "select", "pselect6", "epoll_wait",
            "epoll_pwait",
        }
    ),
    "process": frozenset({"clone", "clone3", "fork", "vfork", "execve", "wait4", "waitid"}),
    "scheduling": frozenset({"sched_yield", "sched_setscheduler", "sched_setattr", "sched_setaffinity"}),
}  # fmt: skip


class CodePlace(Struct, frozen=True):
    """A place in code.

    Attributes:
        module: the file, without its folder.
        function: None: the file does not tell.
        behind: bytes behind the function's beginning.
        at: the address in the file.
    """

    module: str
    at: int
    function: str | None = None
    behind: int | None = None


class Site(Struct, frozen=True):
    """A chain of callers, the innermost first, with what it did in all recorded steps.

    Attributes:
        call: the function or the system call: ``malloc``.
        detail: the file that it was about, or the memory; empty: not known.
        in_first: so often in the first step of the warm-up, which is none of the recorded ones.
        longest_ns: of one call; 0: not timed.
    """

    kind: Kind
    call: str
    count: int
    steps: int
    in_first: int
    frames: tuple[CodePlace, ...]
    detail: str = ""
    longest_ns: int = 0


class ExplainedEvent(Struct, frozen=True):
    """The event ``explained``.

    Attributes:
        sites: all that was seen.
        absent: why a kind can't be seen on that machine.
        lost: what was seen and not kept, since there were too many different sites, or too many page
            faults in one step.
    """

    sites: tuple[Site, ...] = ()
    absent: dict[str, str] = {}
    lost: int = 0


@dataclass(frozen=True)
class Deed:
    """What one function does in the steps.

    Attributes:
        call: what is reached in the end: ``write``.
        by_way_of: what the function calls for it: ``fprintf``; empty: it calls it itself.
        module, function: who does it; without a name the address in the file.
        behind: how far behind the function's beginning; None: from several places of it, or not known.
        at: the address in the file, of the first of these places.
        steps: that had any, at least.
        steps_known: whether there were no more: of several places nobody knows which steps had both.
    """

    kind: Kind
    call: str
    by_way_of: str
    module: str
    function: str
    behind: int | None
    at: int
    detail: str
    count: int
    steps: int
    in_first: int
    longest_ns: int
    steps_known: bool = True

    @property
    def remedy(self) -> Remedy:
        """Return what would help."""
        if self.kind != "system" or self.call == "futex":
            return "lock" if self.kind == "system" else self.kind
        return next((name for name, calls in _CALLS.items() if self.call in calls), "call")


@dataclass(frozen=True)
class ExplainedSteps:
    """What the steps of a run do, the most frequent first within each kind.

    Attributes:
        steps: that were recorded.
        absent: kinds that could not be seen, with the reason.
        lost: what was seen and not kept.
    """

    steps: int
    deeds: tuple[Deed, ...]
    absent: dict[str, str]
    lost: int

    def of(self, kind: Kind) -> list[Deed]:
        """Return those of one kind that the recorded steps did."""
        return [one for one in self.deeds if one.kind == kind and one.count]

    @property
    def is_clean(self) -> bool:
        """Return whether nothing was seen in a recorded step."""
        return not self.lost and not any(one.count for one in self.deeds)


def is_explained(manifest: Manifest) -> bool:
    """Return whether it was seen what the steps call, which takes time in them."""
    return manifest.header.parameters.get("explain") is True


def see_plain(runs: Iterable[StoredRun]) -> None:
    """Refuse runs whose times contain the cost of an explanation.

    Raises:
        UsageError: there is one.
    """
    for run in runs:
        if is_explained(run.manifest):
            raise UsageError(
                f"The run {run.id} explains its steps (--explain), which takes time in them",
                "Measure the times without --explain.",
            )


def explained_of(run: StoredRun) -> ExplainedSteps | None:
    """Return what the steps of a run do; None: that was not looked at."""
    event = run.manifest.event("explained")
    if event is None:
        return None
    told = event.told(ExplainedEvent)
    steps = sum(book.completed or 0 for book in run.manifest.books)
    return ExplainedSteps(steps, deeds_of(told.sites), dict(told.absent), told.lost)


def deeds_of(sites: Iterable[Site]) -> tuple[Deed, ...]:
    """Put together what one function does in several places, or for several callers of its own."""
    found: dict[tuple[str, ...], Deed] = {}
    for site in sites:
        one = _deed(site)
        key = (one.kind, one.call, one.by_way_of, one.module, one.function, one.detail)
        found[key] = _together(found[key], one) if key in found else one
    return tuple(sorted(found.values(), key=lambda one: (KINDS.index(one.kind), -one.count, one.call)))


def _together(one: Deed, other: Deed) -> Deed:
    return replace(
        one,
        behind=one.behind if one.behind == other.behind else None,
        count=one.count + other.count,
        steps=max(one.steps, other.steps),
        steps_known=(one.steps_known and not other.steps) or (other.steps_known and not one.steps),
        in_first=one.in_first + other.in_first,
        longest_ns=max(one.longest_ns, other.longest_ns),
    )


def _deed(site: Site) -> Deed:
    own = next((at for at, one in enumerate(site.frames) if not is_of_system(one.module)), None)
    who = site.frames[own] if own is not None else site.frames[-1] if site.frames else CodePlace("", 0)
    way = _way(site.frames[:own], site.call) if own is not None else ""
    return Deed(
        site.kind,
        site.call,
        way,
        who.module,
        who.function or (f"{who.at:#x}" if who.module else ""),
        who.behind,
        who.at,
        site.detail,
        site.count,
        site.steps,
        site.in_first,
        site.longest_ns,
    )


def _way(frames: Sequence[CodePlace], call: str) -> str:
    """Return the function of the system's libraries that was called, where it is not the call itself."""
    name = (frames[-1].function if frames else None) or ""
    plain = name.removeprefix("_IO_").lstrip("_")
    return "" if plain == call else plain


def is_of_system(module: str) -> bool:
    """Return whether this is a library that every program has."""
    return module.startswith(_SYSTEM)
