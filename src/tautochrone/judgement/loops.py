"""From runs to what the verdict rests on."""

from collections.abc import Iterable, Mapping
from typing import Any

from tautochrone.judgement.circumstances import deployment_words, remote
from tautochrone.judgement.verdict import MeasuredLoop, Verdict, judge
from tautochrone.run.folder import Run
from tautochrone.run.layout import LATENCY, periods_ns


def judge_runs(runs: Iterable[Run]) -> Verdict | None:
    """The verdict over all runs that are about a control loop, or None if there is none among them."""
    loops = [loop for run in runs for loop in measured_loops(run)]
    return judge(loops) if loops else None


def is_about_a_loop(header: Mapping[str, Any]) -> bool:
    """Whether a run tells how late the cycles of a loop begin: periodic, and that is what it is about first.

    An error of the period, a response time or an interrupt latency says nothing of that kind by itself.
    """
    measures = header.get("measures") or [{}]
    return bool(periods_ns(header)) and measures[0].get("name") == LATENCY


def measured_loops(run: Run) -> list[MeasuredLoop]:
    """Each source of a run that is about a control loop; empty for all others."""
    manifest = run.manifest
    if not is_about_a_loop(manifest.header):
        return []
    periods = periods_ns(manifest.header)
    worst_ns = {one.source: one.maximum_ns for one in manifest.extremes if one.measure == run.measures[0]}
    sources = {source["source"]: source for source in manifest.header.get("sources", ())}
    rested = {book["source"]: book.get("rested", 0) for book in (manifest.footer or {}).get("books", ())}
    return [
        MeasuredLoop(
            period_ns=periods[book.source],
            source=book.name,
            cpu=sources.get(book.source, {}).get("obtained", {}).get("cpu"),
            load=str(manifest.conditions.get("load", "not known")),
            completed=book.completed,
            missed=book.missed,
            dropped=book.dropped or 0,
            overruns=book.overruns,
            worst_ns=worst_ns.get(book.source),
            rested=rested.get(book.source, 0),
            way=", ".join(
                filter(
                    None,
                    (
                        _way(manifest.header, sources.get(book.source, {}).get("obtained", {})),
                        deployment_words(manifest.conditions),
                    ),
                )
            ),
            where=_where(manifest.facts, manifest.conditions),
        )
        for book in manifest.books
        if book.source in periods
    ]


def _way(header: Mapping[str, Any], obtained: Mapping[str, Any]) -> str:
    """How the loop ran: policy and priority always, the rest where it is not what a loop usually does."""
    parameters, process = header.get("parameters", {}), header.get("process", {}).get("obtained", {})
    policy, priority = obtained.get("policy", parameters.get("policy")), obtained.get("priority")
    words = [f"policy {policy} {priority}" if priority else f"policy {policy}"]
    if parameters.get("wait") == "spin":
        words.append("polling the clock")
    if parameters.get("overrun") not in ("skip", None):
        words.append(f"overruns: {parameters['overrun']}")
    if process.get("memory_locked") is False:
        words.append("memory not locked")
    if process.get("wake_latency_limit_us") is not None:
        words.append(f"idle CPUs held to {process['wake_latency_limit_us']} us")
    return ", ".join(words)


def _where(facts: Mapping[str, Any], conditions: Mapping[str, Any]) -> str:
    """What tells machines and kernels apart."""
    kernel, cpu = facts.get("kernel", {}), facts.get("cpu", {})
    return ", ".join(
        str(part) for part in (remote(conditions), cpu.get("model"), kernel.get("release")) if part
    )
