"""One run of the experiment `watch`: how the program ended, and how its loops were marked."""

from msgspec import Struct

from tautochrone.run.folder import StoredRun


class MarkedLoop(Struct, frozen=True):
    """How a loop was marked.

    Attributes:
        irregular: begins without their end, and ends without their begin.
        backwards: steps whose number was not larger than that of the step before.
    """

    source: int
    irregular: int = 0
    backwards: int = 0


class WatchEvent(Struct, frozen=True):
    """The event ``watch``: how it went for the program.

    Attributes:
        why: how the program ended the run; empty: it did not.
        by_itself: it ended before it was asked to.
        loops_left_out: loops that began too late, or were too many.
    """

    why: str = ""
    signal: int | None = None
    exit_code: int | None = None
    by_itself: bool = False
    loops_left_out: int = 0
    loops: tuple[MarkedLoop, ...] = ()


def watch_event(run: StoredRun) -> WatchEvent:
    """Return how it went for the program; of a run that was cut off nothing is known."""
    found = run.manifest.event("watch")
    return WatchEvent() if found is None else found.told(WatchEvent)
