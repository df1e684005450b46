"""What is watched in the tests of the live view: made-up soaks, and a gathering that anybody may feed."""

import numpy as np

from tautochrone.live.picture import About, Gathering, LateSeen, SourceHeader, Step
from tautochrone.statistics.counts import counts_of_bins

MS = 1_000_000
BEGUN_S = 1_790_000_000.0


def gathering(sources: int = 2, step_s: int = 1) -> Gathering:
    headers = tuple(SourceHeader(at, f"cpu{at}", at) for at in range(sources))
    about = About(
        "20260101T000000Z-cyclic-0000", "a <b>soak</b>", "cyclic", "board", "cpu+memory", headers, MS, MS,
        BEGUN_S, step_s, 60 if step_s == 1 else 3_600,
    )  # fmt: skip
    return Gathering(about)


def feed(shown: Gathering, steps: int, *, first: int = 0, late_every: int = 0, each: int = 1_000) -> None:
    """So many steps of all sources; every so many have a late cycle."""
    for at in range(first, first + steps):
        is_late = bool(late_every) and at % late_every == late_every - 1
        begin_s = BEGUN_S + at * shown.about.step_s
        counts = counts_of_bins(np.array([4_095, 8_191, 65_535]), np.array([each // 2, each // 2 - 1, 1]))
        worst_ns = 3 * MS if is_late else 60_000 + at % 1_000
        shown.state = "measuring"
        shown.add(
            [
                Step(
                    one.number,
                    begin_s,
                    at * shown.about.step_s // 60,
                    each,
                    0,
                    int(is_late),
                    0,
                    worst_ns,
                    counts,
                )
                for one in shown.about.sources
            ],
            [LateSeen(begin_s, 0, worst_ns, "irq/24-eth0")] if is_late else [],
        )
