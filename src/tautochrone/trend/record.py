"""The runs of a store with what tells comparable ones from others."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tautochrone.answer.phrasing.blame import recorded_from
from tautochrone.base.errors import DamagedError, StoreError
from tautochrone.base.units import format_duration
from tautochrone.judge.comparison.facts import Facts, facts_of
from tautochrone.judge.explained import is_explained, see_plain
from tautochrone.judge.middleware_setting import as_obtained, by_role
from tautochrone.judge.naming import ONLY_HOW_MUCH
from tautochrone.judge.verdict import meets_after_each_step
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Books, Manifest
from tautochrone.run.records import Header
from tautochrone.run.store import Store

TRAITS = ("machine", "kernel", "deployment", "load")
"""What may tell lines apart, and does unless it is asked otherwise."""

AS_IT_IS = "as it is"
NOT_KNOWN = "not known"
_TOLD_OTHERWISE = ("rows", "transport_title", "blame", "blame_recorder")
"""Parameters that other things tell: the rows of a run are its sources, each of which has a line."""


@dataclass(frozen=True, eq=False)
class Record:
    """One run, with its traits and those parameters that may change the numbers, both in words."""

    run: StoredRun
    traits: Mapping[str, str]
    parameters: Mapping[str, str]

    @property
    def manifest(self) -> Manifest:
        """Of the run."""
        return self.run.manifest

    @property
    def is_virtual(self) -> bool:
        """Whether it was measured on a virtual machine of the lab, whose numbers are of no real one."""
        return self.manifest.conditions.virtual is not None

    @cached_property
    def facts(self) -> Facts:
        """Everything that is known of its conditions."""
        return facts_of(self.manifest)

    def parts(self, measure: str) -> list[tuple[str, tuple[Books, ...]]]:
        """What is a number by itself: the threads of a loop, the lower clients, otherwise each source.

        An empty measure is that of misses: the threads of a loop that does its work miss the same ones.
        """
        books = self.manifest.books
        header = self.manifest.header
        with_work = meets_after_each_step(header)
        if with_work and measure in ("", next(iter(self.run.measures), None)):
            return [("", books[:1])]  # the threads meet after each step: it took all of them as long
        if len(books) <= 1 or header.is_about_a_loop or with_work:
            return [("", books)]
        return list(by_role(header, books).items())


def records(store: Store) -> list[Record]:
    """Every run of a store that can be read, each once, oldest first.

    Raises:
        StoreError: the store can't be read.
    """
    found: dict[str, Record] = {}
    for folder in store.folders():
        try:
            run = StoredRun.read(folder)
        except (StoreError, DamagedError):
            continue
        found.setdefault(run.id, Record(run, _traits(run.manifest), _parameters(run.manifest)))
    return sorted(found.values(), key=lambda one: (one.manifest.created, one.manifest.id))


def chosen(found: Sequence[Record], experiment: str = "", since: str = "") -> list[Record]:
    """Those of one experiment, begun at an ISO time in UTC or later; empty: of all, at any time.

    Runs that explain their steps are left out where there are others: their times contain the explanation.

    Raises:
        UsageError: all of them explain their steps.
    """
    asked = [
        one
        for one in found
        if (not experiment or one.manifest.experiment == experiment) and one.manifest.created >= since
    ]
    plain = [one for one in asked if not is_explained(one.manifest)]
    if not plain:
        see_plain(one.run for one in asked)
    return plain


def measures(found: Sequence[Record]) -> list[str]:
    """The names of all measures, those of most runs first."""
    there: dict[str, int] = {}
    for one in found:
        for name in one.run.measures:
            there[name] = there.get(name, 0) + 1
    return sorted(there, key=lambda name: -there[name])


def _traits(manifest: Manifest) -> dict[str, str]:
    return {
        "machine": machine_of(manifest),
        "kernel": _kernel(manifest),
        "deployment": manifest.conditions.deployment_name or AS_IT_IS,
        "load": (manifest.conditions.load or NOT_KNOWN),
    }


def machine_of(manifest: Manifest) -> str:
    """How it was reached if it was not this one, its name, and its product or else the model of its CPU."""
    machine = manifest.known.machine
    product = machine.product or manifest.known.cpu.model
    named = (manifest.conditions.remote, machine.hostname, product)
    return ", ".join(str(part) for part in named if part) or NOT_KNOWN


def _kernel(manifest: Manifest) -> str:
    """Release and build: what a distribution mends keeps the name of its release."""
    named = (manifest.kernel.release, manifest.kernel.version)
    return " ".join(str(part) for part in named if part) or NOT_KNOWN


def _parameters(manifest: Manifest) -> dict[str, str]:
    given = as_obtained(manifest)
    found = {
        name: _words(name, value)
        for name, value in given.items()
        if name not in ONLY_HOW_MUCH and name not in _TOLD_OTHERWISE and value is not None
    }
    periods = dict.fromkeys(manifest.header.periods_ns.values())
    if periods and "period_ns" not in found:
        found["period_ns"] = ", ".join(format_duration(one) for one in periods)
    if (setup := manifest.header.blame) is not None:
        found["blame"] = recorded_from(setup)  # it costs time in every cycle
    for one in _obtained(manifest.header):
        found.setdefault("obtained", one)
    return found


def _obtained(header: Header) -> Iterator[str]:
    """Policies and priorities that the threads really had, where they are not what was asked for."""
    differing = dict.fromkeys(
        f"{name} {one.obtained[name]}"
        for one in header.sources
        for name in ("policy", "priority")
        if name in one.obtained and name in one.requested and one.obtained[name] != one.requested[name]
    )
    if differing:
        yield ", ".join(differing)


def _words(name: str, value: object) -> str:
    if name.endswith("_ns") and isinstance(value, (int, float)) and not isinstance(value, bool):
        return format_duration(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
