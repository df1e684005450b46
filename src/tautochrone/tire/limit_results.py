"""What came of a search, from the store alone."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tautochrone.base.units import format_duration, format_rate
from tautochrone.run.folder import Run
from tautochrone.run.manifest import Manifest
from tautochrone.tire.limit_judge import CROWDED, Limit
from tautochrone.tire.limit_search import Findings, Search
from tautochrone.tire.limit_words import team_of


@dataclass(frozen=True)
class Results:
    """A search and its answers.

    Attributes:
        limits: one for each number of threads.
        runs: that are whole, as they were made.
    """

    search: Search
    limits: tuple[Limit, ...]
    runs: tuple[Run, ...]

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """Of the runs."""
        return tuple(run.manifest for run in self.runs)

    @property
    def finished(self) -> bool:
        """Whether every number of threads has its answer."""
        return all(limit.end != "unfinished" for limit in self.limits)

    @property
    def headline(self) -> str:
        """The answer, in one line."""
        rate = format_rate(1e9 / self.search.question.period_ns)
        if not any(limit.largest for limit in self.limits):
            return f"No tire met every deadline at {rate}" + ("" if self.finished else " so far")
        known = [
            f"{f'{limit.largest.nodes:,} masses' if limit.largest else 'none'} with {team_of(limit.threads)}"
            for limit in self.limits
            if limit.largest or limit.end != "unfinished"
        ]
        return f"{rate}: {', '.join(known)}"

    def findings(self) -> Iterator[str]:
        """What else limits here that the trials alone don't tell."""
        if (share := self._real_time_share()) is None:
            return
        filled = [limit.threads for limit in self.limits if _fills(limit, share)]
        if filled:
            yield (
                f"Linux lets real-time threads run for {format_duration(share * 1e9)} of each second "
                "(sched_rt_runtime_us): near the limit that stops them, whatever the solver could do."
            )

    def _real_time_share(self) -> float | None:
        """What the system grants real-time threads, of their CPU's time; None: all of it, or not known."""
        for manifest in self.manifests:
            obtained = (manifest.header.get("process") or {}).get("obtained") or {}
            runtime_ns, window_ns = obtained.get("rt_runtime_ns"), obtained.get("rt_period_ns")
            policy = (manifest.header.get("parameters") or {}).get("policy")
            if policy in ("fifo", "rr") and runtime_ns and window_ns and 0 < runtime_ns < window_ns:
                return float(runtime_ns / window_ns)
        return None


def _fills(limit: Limit, share: float) -> bool:
    """Whether typical steps of what missed come near what real-time threads are granted."""
    missed = limit.smallest_missed
    if missed is None or limit.largest is None or not limit.largest.typical_ns:
        return False
    typical_ns = limit.largest.typical_ns * missed.nodes / limit.largest.nodes
    return typical_ns >= max(CROWDED, share - 0.1) * limit.question.period_ns


def results_of(search: Search, found: Mapping[int, Findings]) -> Results:
    """What the runs say, as far as they were made."""
    runs = [run for own in found.values() for run in own.runs]
    return Results(
        search,
        tuple(found[threads].limit(search.question) for threads in search.threads),
        tuple(sorted(runs, key=lambda run: run.manifest.created)),
    )
