"""Any runs that a probe could have made: hypothesis describes them, the lab's own writer seals them.

A run is described in few words (`Made`), which a failing test prints and an `@example` repeats; its numbers
come from a generator with a seed. Its header and events are the real probe's (`data/headers.json`), its rows
keep to the header's columns, and its books balance.
"""

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import streams
from probe_histograms import Integers, measured, parts, record_histograms
from report_runs import FACTS
from shaped_samples import MS, SHAPES, US, S, Samples, shaped
from tautochrone.experiments import EXPERIMENTS
from tautochrone.run.columns import UNKNOWN
from tautochrone.run.folder import StoredRun
from tautochrone.run.records import Header
from tautochrone.run.recover import recover
from tautochrone.run.store import Store
from where import DATA

_ROWS = 4_096
_BETWEEN = 100
"""So many of the releases that were passed over lie between others, at most."""

_CYCLIC, _KERNEL, _TIMERLAT = "cyclic", "kernel", "timerlat"
_MOST_SOURCES = {_CYCLIC: 300, _TIMERLAT: 300, "step": 64, "watch": 8, "watch, no period": 8}
"""Of kinds that have as many as are asked for."""
_PLACES = {"scheduled_ns": -1.0, "cpu_until_ns": 2.5}
"""Instants whose column does not stand where they lie in time: a release comes first."""
_RECORDED = json.loads((DATA / "headers.json").read_text())
_OF_KERNEL = {f"{_KERNEL}, {measure}": measure for measure in ("interrupt", "period", "response")}
"""What is measured in kernel space has the rows of what it mirrors."""

KINDS = (*_RECORDED, _TIMERLAT, *_OF_KERNEL)


@dataclass(frozen=True)
class Made:
    """A run.

    Attributes:
        kind: one of `KINDS`.
        sources: what its sources measured, in turn; of kinds with any number, as many as stand here.
        period_ns: of the same kinds; None: `cyclic` has no schedule, the others 1 ms.
        cut: frames that are lacking at the end of the stream beside the footer, the first of them by half;
            None: it is whole.
        load, deployment: under which it was measured.
        title: what a person typed; None: nothing.
    """

    kind: str = _CYCLIC
    sources: tuple[Samples, ...] = (Samples(),)
    period_ns: int | None = MS
    histogram: bool = False
    replay: bool = False
    ended: str = "complete"
    cut: int | None = None
    load: str = "idle"
    deployment: str | None = None
    title: str | None = None


ODD_TITLES = (
    "a\x01\x1b[31mb\x7f\x00",
    "<script>alert(1)</script> & {{ 7 * 7 }} **b** $x_1$ %s </b>",
    "\u202eright to left\u202c \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "\u00b5 \u221e \U0001f600 e\u0301",
    "\u2028line\nline\ttab\r",
    "long " * 200,
    " ",
)
"""What nobody types on purpose, and some file has."""

_sizes = st.sampled_from((1, 20, US, 5 * US, 80 * US, MS, 30 * MS, 10 * S))
_counts = (
    st.sampled_from((0, 1, 2, 3, 10, 19, 64, 300))
    | st.integers(0, 40)
    | st.sampled_from((1_000, 3_000, 20_000))
)
_losses = st.just(0) | st.sampled_from((1, 7, 2_000))


def samples(most: int = 20_000) -> st.SearchStrategy[Samples]:
    """What one source measured, of at most so many rows."""
    return st.builds(
        Samples,
        shape=st.sampled_from(SHAPES),
        count=_counts.map(lambda count: min(count, most)),
        size_ns=_sizes,
        missed=_losses,
        dropped=_losses,
        seed=st.integers(0, 99),
    )


def made(kinds: tuple[str, ...] = KINDS, most: int = 20_000) -> st.SearchStrategy[Made]:
    """A run of these kinds; where its sources are short, so that it is tried in a moment, of few of them."""
    few = st.lists(samples(most), min_size=1, max_size=4)
    quick = most < 100
    many = st.builds(lambda one, count: [one] * count, samples(40), st.sampled_from((24, 24, 300)))
    return st.builds(
        Made,
        kind=st.just(_CYCLIC) | st.sampled_from(kinds) if _CYCLIC in kinds else st.sampled_from(kinds),
        sources=(few if quick else st.one_of(*[few] * 11, many)).map(tuple),
        period_ns=st.sampled_from((MS, MS, 100 * US, 20 * MS, None)),
        histogram=st.booleans(),
        replay=st.booleans(),
        ended=st.sampled_from(("complete", "complete", "interrupted", "overrun", "watchdog", "failed")),
        cut=st.none() | st.none() | st.sampled_from((0, 1, 2, 5, 1_000)),
        load=st.sampled_from(("idle", "cpu")),
        deployment=st.none() | st.sampled_from(("Single", "M")),
        title=st.none() | st.none() | st.sampled_from(ODD_TITLES),
    )


def store_made(store: Store, one: Made, around: Mapping[str, Any] | None = None) -> StoredRun | None:
    """Store the run and seal it; None where nothing of a cut stream was whole. `around`: more conditions."""
    header, events = _recorded(one)
    rows = _rows(one, header)
    frames = _frames(one, header, rows, events)
    conditions: dict[str, Any] = {"load": one.load, **(around or {})}
    if one.deployment is not None:
        conditions["deployment"] = {"name": one.deployment, "settings": []}
    before = {run.id for run in store.runs()}
    title = f"{one.kind}, {one.load}"
    if one.title is not None:
        title = one.title
        conditions["command"] = ["tauto", "probe", one.kind, "--title", title]
    with store.create(header["experiment"], title, conditions, FACTS) as writer:
        if one.cut is None:
            writer.append(b"".join(frames))
            return writer.seal()
        whole = max(len(frames) - 1 - one.cut, 1)
        writer.append(b"".join(frames[:whole]))
        writer.append(frames[whole][: len(frames[whole]) // 2] if one.cut else b"")
    recover(store)
    return next((run for run in store.runs() if run.id not in before), None)


def of_plan(at: int) -> dict[str, Any]:
    """Of a run of a campaign: two cells, which take turns."""
    cells = {"aaaa": "first cell, idle", "bbbb": "second cell, cpu"}
    plan = {
        "title": "Any runs", "campaign": "plan-20260101T000000Z-0000", "key": "k",
        "cell": list(cells)[at % 2], "repetition": at // 2 + 1, "block": at // 2 + 1, "position": at,
        "repetitions": 2, "seed": 9, "order": "random", "heading": "latency",
        "varied": ["load"], "options": {"period": "1ms"}, "system": "local", "deployment": "as-is",
        "cells": cells,
        "require": {"aaaa": ["latency p99.9 < 100us", "misses < 1 per hour"], "bbbb": ["misses = 0"]},
    }  # fmt: skip
    return {"plan": plan}


def _recorded(one: Made) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The header and the events as the probe writes them."""
    measure = _OF_KERNEL.get(one.kind)
    recorded = deepcopy(_RECORDED["interrupt" if one.kind == _TIMERLAT else measure or one.kind])
    header, events = recorded["header"], recorded["events"]
    header["epoch"]["monotonic_ns"] = streams.START_NS
    for source in header["sources"]:
        if "start_ns" in source:
            source["start_ns"] = streams.START_NS
    if one.kind == _TIMERLAT:
        header["experiment"] = one.kind
        policy = {"policy": "fifo", "priority": 95}
        header["sources"][0] |= {
            "role": "thread of the kernel", "requested": policy, "obtained": policy,
            "what": "the kernel's timerlat thread",
        }  # fmt: skip
    elif measure is not None:
        header["experiment"] = _KERNEL
        header["parameters"]["measure"] = measure
    if one.kind in _MOST_SOURCES:
        _of_several(header, one)
    if "overrun" in header["parameters"]:
        header["parameters"]["overrun"] = "replay" if one.replay else "skip"
    if _is_histogram(one):
        record_histograms(header)
    return header, events


def _of_several(header: dict[str, Any], one: Made) -> None:
    """Give it its sources and its period."""
    described, several = header["sources"][0], len(one.sources[: _MOST_SOURCES[one.kind]])
    header["sources"] = [
        {
            **described,
            "source": at,
            "name": f"cpu{at // 2} #{at % 2 + 1}" if one.kind == "step" and several > 1 else f"cpu{at}",
            **{
                moment: {**described[moment], "cpu": at}
                for moment in ("requested", "obtained")
                if moment in described
            },
        }
        for at in range(several)
    ]
    if one.kind == "step" and several > 1:
        header["parameters"]["instances"] = several
    period_ns = one.period_ns or (None if one.kind in (_CYCLIC, "watch, no period") else MS)
    header["parameters"]["period_ns"] = period_ns
    if one.kind == _TIMERLAT:
        for source in header["sources"]:
            source["period_ns"] = period_ns
    elif period_ns is None:
        header.pop("schedule", None)
    elif "schedule" in header:
        header["schedule"]["period_ns"] = period_ns


def _is_histogram(one: Made) -> bool:
    """Where the probe can record one."""
    options = EXPERIMENTS[one.kind.partition(",")[0]].table
    return one.histogram and "record" in options and one.kind != "tire, real-fast"


def _rows(one: Made, header: Mapping[str, Any]) -> list[Integers]:
    """The rows of each source: shape (n, columns)."""
    measure = header["measures"][0]
    periods = Header.of(header).periods_ns
    made_of = {}
    for at, source in enumerate(header["sources"]):
        described = one.sources[0 if one.kind == "tire" else at % len(one.sources)]
        made_of[at] = _instants(
            described,
            header["tables"][-1]["columns"],
            (measure["from"], measure["to"]),
            periods.get(source["source"]),
            replay=one.replay,
            generator=np.random.default_rng((described.seed, at)),
        )
    if one.kind == "tire":  # all threads have the same releases, and end together
        for each in made_of.values():
            each[:, [0, -1]] = made_of[0][:, [0, -1]]
    return list(made_of.values())


def _instants(
    described: Samples,
    described_columns: list[dict[str, Any]],
    ends: tuple[str, str],
    period_ns: int | None,
    *,
    replay: bool,
    generator: np.random.Generator,
) -> Integers:
    """Rows whose main measure has the described values, and whose other instants lie where they can."""
    values = shaped(described)
    count, step_ns = len(values), period_ns or MS
    passed = np.zeros(count, np.int64)
    if period_ns is not None and not replay:
        passed = np.maximum(values // period_ns, 0)
    if count:
        np.add.at(passed, generator.integers(0, count, min(described.missed, _BETWEEN)), 1)
    releases = np.arange(count, dtype=np.int64)
    releases[1:] += np.cumsum(passed)[:-1]
    begins = streams.START_NS + releases * step_ns
    if period_ns is None and not replay:  # one after the other, without a rhythm
        begins = streams.START_NS + np.concatenate([[0], np.cumsum(np.abs(values) + 100)])[:-1][:count]
    columns = [column["name"] for column in described_columns]
    instants = [column["name"] for column in described_columns if column["unit"] == "ns"]
    order = sorted(instants, key=lambda name: _PLACES.get(name, columns.index(name)))
    start, end = order.index(ends[0]), order.index(ends[1])
    between = np.sort(generator.random((count, max(end - start - 1, 0))), axis=1)
    if "gave_up" in columns:
        between = generator.permuted(between, axis=1)  # any story of an inversion
    found = {}
    for at, name in enumerate(order):
        if at <= start:
            found[name] = begins
        elif at < end:
            found[name] = begins + (between[:, at - start - 1] * values).astype(np.int64)
        else:
            found[name] = begins + values + (at - end) * generator.integers(0, 50, count)
    # Who is late delays the next one: no instant lies before the same one of the row above.
    found = {name: np.maximum.accumulate(each) for name, each in found.items()}
    found |= {
        "executed_ns": np.maximum(values // 2, 0),
        "repetition": np.arange(count, dtype=np.int64) // 2,
        "gave_up": generator.integers(0, 2, count),
        "attempts": generator.integers(1, 4, count),
        "steps": np.full(count, 100, np.int64),
        "k": releases,
    }
    rows = [
        _reals(generator, count) if column["type"] == "f64" else _of_column(column, found, generator, count)
        for column in described_columns
    ]
    return np.stack(rows, axis=1).astype(np.int64).reshape(count, len(columns))


def _of_column(
    column: Mapping[str, Any], found: Mapping[str, Integers], generator: np.random.Generator, count: int
) -> Integers:
    """Return its values; where it may lack them, it lacks none, some or all."""
    name = column["name"]
    if name == "previous_ns":
        return np.concatenate([[UNKNOWN], found["begin_ns"]])[:-1]
    if name == "input_ns":
        values = found["begin_ns"] - generator.integers(0, 2 * MS, count)
    else:
        values = found[name] if name in found else generator.integers(0, 4, count)
    share = generator.choice((0.0, 0.1, 1.0)) if "null" in column else 0.0
    return np.where(generator.random(count) < share, UNKNOWN, values)


def _reals(generator: np.random.Generator, count: int) -> Integers:
    """Return the bits of numbers; some or all of them may be no numbers that can be drawn."""
    odd = generator.choice([0.0, np.nan, np.inf, -np.inf, 1.7e308, -1.7e308, 5e-324], count)
    is_odd = generator.random(count) < generator.choice((0.0, 0.1, 1.0))
    return np.where(is_odd, odd, generator.normal(0, 1, count)).view(np.int64)


def _frames(
    one: Made, header: Mapping[str, Any], rows: list[Integers], events: list[dict[str, Any]]
) -> list[bytes]:
    """The whole stream, the footer last; its books balance."""
    frames = [streams.json_frame(streams.HEADER, 0, header)]
    started = {"event": "started", "time_ns": streams.START_NS, "sources": len(rows)}
    frames.append(streams.json_frame(streams.EVENT, 1, started))
    for table, source, block in parts(header, rows) if _is_histogram(one) else _turns(rows):
        if len(block):
            payload = np.ascontiguousarray(block).tobytes()
            frames.append(streams.frame(streams.ROWS, len(frames), payload, table=table, source=source))
    described = [one.sources[0 if one.kind == "tire" else at % len(one.sources)] for at in range(len(rows))]
    losses = [
        {"event": "dropped", "time_ns": streams.START_NS, "source": source, "rows": each.dropped}
        for source, each in enumerate(described)
        if each.dropped
    ]
    for event in (*losses, *(_told(event, one, header, rows) for event in events)):
        frames.append(streams.json_frame(streams.EVENT, len(frames), event))
    books = [_book(k, header, own, each) for k, (own, each) in enumerate(zip(rows, described, strict=True))]
    footer = {"ended": one.ended, "books": books, "clock": header["clock"]}
    return [*frames, streams.json_frame(streams.FOOTER, len(frames), footer)]


def _told(
    event: dict[str, Any], one: Made, header: Mapping[str, Any], rows: list[Integers]
) -> dict[str, Any]:
    """Return what is told of the user's own code, as its rows have it; other events as they are."""
    if event["event"] in ("step", "watch") and one.ended == "failed":
        event |= {"why": "It was ended by signal 11 (Segmentation fault).", "signal": 11, "exit_code": None}
    if event["event"] == "watch":
        event["loops"] = [{"source": at, "irregular": at, "backwards": at} for at in range(len(rows))]
    if "exchange" in event:
        names = [column["name"] for column in header["tables"][-1]["columns"]]
        lost, sent = int((rows[0][:, names.index("answered_ns")] == UNKNOWN).sum()), len(rows[0])
        sent += one.sources[0].dropped
        event["exchange"] |= {"sent": sent, "answered": sent - lost, "lost": lost}
    return event


def _book(source: int, header: Mapping[str, Any], rows: Integers, described: Samples) -> dict[str, int]:
    recorded, dropped = len(rows), described.dropped
    book = {"source": source, "completed": recorded + dropped, "recorded": recorded, "dropped": dropped}
    period_ns = Header.of(header).periods_ns.get(source)
    if period_ns is not None:
        values = next(measured(header, rows))
        releases = rows[:, [one["name"] for one in header["tables"][-1]["columns"]].index("scheduled_ns")]
        span = int(releases[-1] - releases[0]) // period_ns + 1 if recorded else 0
        # Some at the end, too; of a source without a sample all of them.
        at_end = max(described.missed - _BETWEEN, 0) if recorded else described.missed
        missed = max(span - recorded, 0) + at_end
        book |= {
            "released": recorded + dropped + missed, "missed": missed, "warmup": 10, "rested": 0,
            "overruns": int((values >= period_ns).sum()),
        }  # fmt: skip
    return book | {"cpu_time_ns": 5 * US * recorded}


def _turns(rows: list[Integers]) -> Iterator[tuple[int, int, Integers]]:
    """Samples as rings are emptied: sources take turns."""
    for at in range(0, max(map(len, rows)), _ROWS):
        for source, own in enumerate(rows):
            if at < len(own):
                yield 0, source, own[at : at + _ROWS]
