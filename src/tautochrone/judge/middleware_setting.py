"""What was called, through what, from where: what tells one run of middleware from another."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

from msgspec import Struct

from tautochrone.judge.reduced import reduce_run, summary_of_run
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Manifest
from tautochrone.run.records import Header, Thread
from tautochrone.statistics.summary import Summary, summary_of
from tautochrone.target.middleware import EXPERIMENTS, TRANSPORTS

FREE, _PINNED, _NOT_PINNED = "free", "pinned", "not pinned"
PLACES = {"same": "one CPU", "different": "two CPUs", FREE: _NOT_PINNED}
CHILD = "child"
RESULT = "result"

_SERVED = ("policy", "priority", "cpu")


@dataclass(frozen=True)
class CallSetting:
    """How one run called.

    Attributes:
        transport: its name as a program has it: "zeromq".
        title: the same for people.
        version: of the middleware's library; None: it has none, it is the system's own.
        place: "same", "different" or "free".
        server: `CHILD`, or the target or the address of one that was started apart.
        apart: whether that is another machine, or may be one; the place is then the client's alone.
        clocks: "one" if client and server are known to read the same clock.
    """

    transport: str
    title: str
    version: str | None
    place: str
    server: str
    clocks: str
    apart: bool = False

    @property
    def where(self) -> str:
        """On which CPUs, and against which server, in words; both ends share no CPUs of two machines."""
        if self.apart:
            return f"{_NOT_PINNED if self.place == FREE else _PINNED}, server {self.server}"
        place = PLACES.get(self.place, self.place)
        return place if self.server == CHILD else f"{place}, server {self.server}"

    @property
    def name(self) -> str:
        """``TCP, one CPU``."""
        return ", ".join(filter(None, [self.title, self.where]))


def setting_of(manifest: Manifest) -> CallSetting:
    """That of a run of any of these experiments."""
    told = manifest.header.parameters
    transport = str(told.get("transport") or "not known")
    version = told.get("transport_version")
    started_on = manifest.conditions.server_on
    server = str(started_on or told.get("server") or CHILD)
    apart = bool(manifest.conditions.server_place) if started_on else server != CHILD
    asked = str(told.get("place") or "")
    return CallSetting(
        transport=transport,
        title=str(told.get("transport_title") or transport),
        version=str(version) if version else None,
        place=asked if apart or server == CHILD else _place_obtained(manifest) or asked,
        server=server,
        clocks=str(told.get("clocks") or "unknown"),
        apart=apart,
    )


def _place_obtained(manifest: Manifest) -> str:
    """Where both ends of one machine were, from the CPUs that they had; empty: it is not known of each.

    A server that was started by itself has CPUs of its own, of which its client's place tells nothing.
    """
    ends = [
        (source.obtained.cpu, partner.obtained.cpu)
        for source in manifest.header.sources
        for partner in source.partners
    ]
    if not ends or any(cpu is None for end in ends for cpu in end):
        return ""
    return "same" if all(client == server for client, server in ends) else "different"


def as_obtained(manifest: Manifest) -> dict[str, object]:
    """The parameters of a run of any experiment, with the place that both ends of middleware really had.

    Where they run on two machines, the place is no more than whether they are pinned.
    """
    told = manifest.header.parameters
    if manifest.experiment not in EXPERIMENTS or not told.get("place"):
        return told
    setting = setting_of(manifest)
    pinned = _NOT_PINNED if setting.place == FREE else _PINNED
    return {**told, "place": pinned if setting.apart else setting.place}


def place_of(transport: str) -> tuple[int, str]:
    """By what transports are ordered."""
    known = TRANSPORTS.index(transport) if transport in TRANSPORTS else len(TRANSPORTS)
    return known, transport


def summaries(run: StoredRun, measure: str) -> dict[int, Summary]:
    """Of each source that has samples of a measure, in one pass; of a histogram, its bins."""
    if measure not in run.measures:
        return {}
    if not run.is_histogram:
        return {one.source: summary_of(one.counts) for one in reduce_run(run, measure)}
    found = {source: summary_of_run(run, measure, source) for source in run.sources}
    return {source: one for source, one in found.items() if one is not None}


class _Servant(Struct, frozen=True):
    """A thread that served, as the system says it after the run."""

    source: int = -1
    policy: str | None = None
    priority: int | None = None
    cpu: int | None = None


class _LatencyResult(Struct, frozen=True):
    """The event `RESULT` of a latency."""

    servants: tuple[_Servant, ...] = ()


@dataclass(frozen=True)
class ThreadDeviation:
    """Threads that served otherwise than they should.

    Attributes:
        what: policy, priority or CPU.
        wanted: what was asked for; of threads that changed, what it was before the calls.
        had: what it was; of threads that changed, after the calls.
        clients: whom they served.
        changed: whether they changed during the run.
    """

    what: str
    wanted: str
    had: str
    clients: tuple[str, ...]
    changed: bool = False


def serving_deviations(manifest: Manifest) -> Iterator[ThreadDeviation]:
    """What threads that served were not as they were asked to be, and which changed."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for source in manifest.header.sources:
        for partner in source.partners:
            for name, asked, had in _differing(partner):
                found.setdefault((name, asked, had), []).append(source.label)
    for key, clients in found.items():
        yield ThreadDeviation(*key, tuple(clients))
    yield from _changed(manifest)


def _changed(manifest: Manifest) -> Iterator[ThreadDeviation]:
    """Threads that were not at the end what they were at the beginning, as the run's result tells it."""
    before = {one.source: (one.label, one.partners[0]) for one in manifest.header.sources if one.partners}
    result = manifest.event(RESULT)
    found: dict[tuple[str, str, str], list[str]] = {}
    for after in result.told(_LatencyResult).servants if result is not None else ():
        name, partner = before.get(after.source, ("", Thread()))
        for what in _SERVED:
            first, last = getattr(partner.obtained, what), getattr(after, what)
            if first is not None and last is not None and first != last:
                found.setdefault((what, str(first), str(last)), []).append(name)
    for key, clients in found.items():
        yield ThreadDeviation(*key, tuple(clients), changed=True)


def _differing(partner: Thread) -> Iterator[tuple[str, str, str]]:
    """Of one thread; what was not asked for, or can't be told, is no difference."""
    for name in _SERVED:
        wanted, got = getattr(partner.requested, name), getattr(partner.obtained, name)
        if wanted is not None and got is not None and wanted != got:
            yield name, str(wanted), str(got)


# Clients by their role: one of the highest priority by itself, the lower ones together.
#
# So two runs compare whatever the number of their lower clients, and 50 of these are one thing and not fifty.

LOWER = "lower clients"
_LOW = "low"


class NamedSource(Protocol):
    """Something of one source."""

    @property
    def name(self) -> str:
        """The source's."""


_Part = TypeVar("_Part", bound=NamedSource)


def by_role(header: Header, parts: Iterable[_Part]) -> dict[str, tuple[_Part, ...]]:
    """What is one thing, in the order in which it came: the lower clients; otherwise each source."""
    lower = {source.label for source in header.sources if source.role == _LOW}
    found: dict[str, list[_Part]] = {}
    for one in parts:
        found.setdefault(LOWER if one.name in lower else one.name, []).append(one)
    return {name: tuple(own) for name, own in found.items()}
