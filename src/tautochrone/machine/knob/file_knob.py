"""Knobs that are one file with a few words in it: the class, and the table of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from tautochrone.base.errors import UsageError
from tautochrone.machine.cpulist import CPUS
from tautochrone.machine.knob.knob import Advice, Plain
from tautochrone.machine.settings import Change, Write
from tautochrone.machine.tree import Tree


@dataclass(frozen=True)
class Place:
    """A file that has the setting, and what it holds for each word that people use."""

    path: str
    words: Mapping[str, str]


def check_word(wanted: str, words: Sequence[str]) -> None:
    """See whether this is one of the words.

    Raises:
        UsageError: it is none; the nearest is suggested.
    """
    if wanted in words:
        return
    near = get_close_matches(wanted, words, 1)
    advice = f"Did you mean {near[0]}?" if near else f"Write {' or '.join(words)}."
    raise UsageError(f"'{wanted}' is none of {', '.join(words)}", advice)


@dataclass(frozen=True)
class FileKnob(Plain):
    """A setting in the first of some files that a machine has.

    Attributes:
        name: see `Knob`.
        summary: see `Knob`.
        places: where it is, by kernel or driver.
        missing: why some machines do not have it.
        at_boot: word -> kernel parameter or firmware setting that does the same for good.
    """

    name: str
    summary: str
    places: tuple[Place, ...]
    missing: str
    at_boot: Mapping[str, str] = field(default_factory=dict)

    def available(self, tree: Tree) -> str | None:
        """Whether one of the files is there; see `Knob`."""
        return None if self._place(tree) else self.missing

    def read(self, tree: Tree) -> str | None:
        """The word for what the file holds, or what it holds; see `Knob`."""
        place = self._place(tree)
        held = _held(place.path, tree) if place else None
        if place is None or held is None:
            return None
        return next((word for word, text in place.words.items() if text == held), held)

    def check(self, wanted: str) -> None:
        """See `Knob`."""
        check_word(wanted, list(dict.fromkeys(word for place in self.places for word in place.words)))

    def canonical(self, wanted: str, tree: Tree) -> str:
        """The word itself; see `Knob`."""
        self.check(wanted)
        return wanted

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """One write; see `Knob`."""
        place = self._place(tree)
        if place is None or self.read(tree) == wanted:
            return ()
        return (Write(place.path, place.words[wanted], undo=tree.chosen(place.path)),)

    def advice(self, wanted: str, tree: Tree) -> Advice:
        """The same by hand, and at boot; see `Knob`."""
        place = self._place(tree)
        now = f"echo {place.words[wanted]} | sudo tee {place.path}" if place else ""
        return Advice(now=now, at_boot=self.at_boot.get(wanted, ""))

    def _place(self, tree: Tree) -> Place | None:
        return next((place for place in self.places if tree.text(place.path)), None)


def _held(path: str, tree: Tree) -> str | None:
    return tree.chosen(path) or tree.text(path)


_BOTH = "/proc/sys/kernel/watchdog"
_EACH = ("/proc/sys/kernel/soft_watchdog", "/proc/sys/kernel/nmi_watchdog")


@dataclass(frozen=True)
class Watchdog(FileKnob):
    """The lock-up detectors.

    While the switch for both is off, whoever reads one of the others turns that off for good: the kernel then
    takes what is in force for what was asked for (kernel/watchdog.c, proc_watchdog_common). So those that are
    on are put back too, each after the switch for both, and none is read before.
    """

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """Each that is on, then both; see `Knob`."""
        if self.read(tree) == wanted:
            return ()
        if wanted == "on":
            return (Write(_BOTH, "1"),)
        running = [path for path in _EACH if tree.text(path) == "1"]
        return tuple(Write(path, "0", undo="1") for path in (*running, _BOTH))


_ON_OFF = {"on": "1", "off": "0"}

BOOST = FileKnob(
    "boost",
    "clock rates above the rated one (turbo): on or off",
    (
        Place(f"{CPUS}/cpufreq/boost", _ON_OFF),
        Place(f"{CPUS}/intel_pstate/no_turbo", {"on": "0", "off": "1"}),
    ),
    "this machine's clock is not steered by Linux, or has no boost",
    {"off": "the firmware's setting for turbo or boost"},
)
TIMER_MIGRATION = FileKnob(
    "timer-migration",
    "whether timers of idle CPUs may move to busy ones: on or off",
    (Place("/proc/sys/kernel/timer_migration", _ON_OFF),),
    "this kernel does not move timers between CPUs",
)
NUMA_BALANCING = FileKnob(
    "numa-balancing",
    "moving memory after the tasks that use it, by page faults: on or off",
    (Place("/proc/sys/kernel/numa_balancing", _ON_OFF),),
    "this kernel does not balance memory between nodes",
    {"off": "numa_balancing=disable"},
)
HUGE_PAGES = FileKnob(
    "transparent-hugepages",
    "large pages made behind the programs' backs: always, madvise or never",
    (
        Place(
            "/sys/kernel/mm/transparent_hugepage/enabled",
            {"always": "always", "madvise": "madvise", "never": "never"},
        ),
    ),
    "this kernel is built without transparent huge pages",
    {word: f"transparent_hugepage={word}" for word in ("always", "madvise", "never")},
)
WATCHDOG = Watchdog(
    "watchdog",
    "the kernel's lock-up detectors, which run on every CPU: on or off",
    (Place(_BOTH, _ON_OFF),),
    "this kernel is built without lock-up detectors",
    {"off": "nowatchdog"},
)
