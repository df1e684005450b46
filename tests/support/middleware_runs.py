"""Sealed runs of middleware, made up as the probe writes them: calls whose rates and times are plain."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import streams
from report_runs import FACTS
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

US, MS, S = 1_000, 1_000_000, 1_000_000_000
TITLES = {
    "tcp": "TCP",
    "udp": "UDP",
    "unix": "Unix socket",
    "zeromq": "ZeroMQ",
    "cyclonedds": "Cyclone DDS",
    "omniorb": "omniORB",
}
BYTES = {"void": 0, "octet": 1, "short": 2, "long": 4, "double": 8, "struct": 8}
LENGTHS = (1, 4, 16, 64, 256, 1024, 4096, 16384)
TYPES = tuple((kind, 0) for kind in BYTES)
ALL_TYPES = (*TYPES, *((kind, length) for kind in ("longs", "octets") for length in LENGTHS))

Integers = npt.NDArray[np.int64]


CLOCK = {
    "name": "monotonic",
    "reported_resolution_ns": 1,
    "step_ns": 10,
    "cost_ns": 24,
    "cost_lower_ns": 23,
    "cost_upper_ns": 25,
}


def throughput(
    store: Store,
    *,
    transport: str = "tcp",
    place: str = "same",
    types: Sequence[tuple[str, int]] = TYPES,
    directions: Sequence[str] = ("two-way", "one-way"),
    calls: int = 400,
    call_ns: int = 20 * US,
    ns_per_byte: float = 0.5,
    rest_ns: int = 500,
    unconfirmed: int = 0,
    lost: int = 0,
    unanswered: Sequence[str] = (),
    absent: Mapping[str, str] | None = None,
    rows_kept: int | None = None,
    footer: bool = True,
    histogram: bool = False,
    seed: int = 1,
    **around: Any,
) -> StoredRun:
    """A run whose two-way calls take ``call_ns`` and more by the byte; a one-way call a fifth of it to send,
    and a half until the server has it.

    Args:
        rest_ns: between a call and the next.
        unconfirmed: of each one-way row, calls that the server never had; ``lost``: of each two-way one.
        unanswered: two-way rows of which no call was answered.
        absent: rows that this transport can't give, with the reason: they are left out.
        rows_kept: sources that had their turn before the run ended.
    """
    generator = np.random.default_rng(seed)
    lacking = dict(absent or {})
    described, rows, told = [], [], []
    at = streams.START_NS
    for direction in directions:
        for kind, length in types:
            name = f"{direction} {kind} {length}" if length else f"{direction} {kind}"
            if name in lacking:
                continue
            size = length * (4 if kind == "longs" else 1) if length else BYTES[kind]
            described.append({"direction": direction, "type": kind, "length": length, "bytes": size})
            mean = (call_ns + ns_per_byte * size) / (1 if direction == "two-way" else 5)
            took = (mean * generator.lognormal(0, 0.1, calls)).astype(np.int64)
            sent = at + np.concatenate([[0], np.cumsum(took + rest_ns)[:-1]])
            own = np.stack([sent, sent + took], axis=1)
            elapsed = int(own[-1, 1] - own[0, 0])
            one_way = direction == "one-way"
            answered = 0 if name in unanswered else calls
            own = own[:answered]
            source = len(rows)
            told.append(
                {
                    "source": source,
                    "calls": answered,
                    "elapsed_ns": elapsed,
                    "rested_ns": 0,
                    "confirmed": calls - unconfirmed if one_way else None,
                    "drained_ns": int(elapsed * 2.5) if one_way else None,
                    "lost": 0 if one_way else lost or calls - answered,
                }
            )
            rows.append(own if rows_kept is None or source < rows_kept else own[:0])
            at += elapsed * 3
    names = [
        " ".join(filter(None, [one["direction"], one["type"], str(one["length"] or "")])) for one in described
    ]
    header = _header("middleware-throughput", transport, place, names)
    header["parameters"] |= {"count": calls, "warmup": 100, "row_limit_ns": 5 * S, "rows": described}
    header["absent"] = [{"name": name, "why": why} for name, why in lacking.items()]
    header["tables"] = [_table(["sent_ns", "returned_ns"])]
    header["measures"] = [_measure("call_ns", "sent_ns", "returned_ns", "a call")]
    if histogram:
        return _histogram(store, header, rows, around)
    events = [{"event": "result", "rows": told}] if rows_kept is None else []
    books = [_book(k, len(one)) for k, one in enumerate(rows)]
    ended = "complete" if rows_kept is None else "interrupted"
    return _sealed(store, header, rows, events, books if footer else None, ended, around)


def latency(
    store: Store,
    *,
    transport: str = "tcp",
    place: str = "same",
    clients: int = 5,
    calls: int = 100,
    trip_ns: int = 40 * US,
    high_rise_ns: float = 0,
    low_rise_ns: float = 2 * US,
    spread: float = 0.1,
    one_way: bool = False,
    phase: str = "together",
    missed: int = 0,
    late: Mapping[int, int] | None = None,
    served: Mapping[str, Any] | None = None,
    served_after: Mapping[str, Any] | None = None,
    server: str = "child",
    footer: bool = True,
    seed: int = 1,
    **around: Any,
) -> StoredRun:
    """A run of C0 and lower clients, whose round trips grow by so much with each of these.

    Args:
        calls: of each lower client; C0 makes twice as many.
        missed: calls of C0 that had no answer.
        late: by call of C0, how much later it was sent than released: its thread was busy.
        served: what the thread that serves C1 had instead of what was asked for; ``served_after``: what it
            had at the end, of what it had at the beginning.
    """
    generator = np.random.default_rng(seed)
    names = [f"C{k}" for k in range(clients + 1)]
    periods = [50 * MS, *[100 * MS] * clients]
    rows = []
    for k, period in enumerate(periods):
        count = 2 * calls if k == 0 else calls
        mean = trip_ns + (high_rise_ns if k == 0 else low_rise_ns) * clients + (0 if k == 0 else 5 * US)
        trip = (mean * generator.lognormal(0, spread, count)).astype(np.int64)
        scheduled = streams.START_NS + np.arange(count, dtype=np.int64) * period
        release = generator.integers(3 * US, 9 * US, count)
        for call, by in (late or {}).items() if k == 0 else ():
            release[call] += by
        sent = scheduled + release
        columns = (
            [scheduled, sent, sent + trip // 2, sent + trip] if one_way else [scheduled, sent, sent + trip]
        )
        rows.append(np.stack(columns, axis=1))
    header = _header("middleware-latency", transport, place, names)
    header["parameters"] |= {
        "clients": clients,
        "calls": calls,
        "warmup": 10,
        "rate_high_hz": 20,
        "rate_low_hz": 10,
        "phase": phase,
        "overrun": "replay",
        "one_way": one_way,
    }
    for source, period in zip(header["sources"], periods, strict=True):
        what = f"{S // period} calls a second to servant {source['source']}"
        source |= {"what": what, "period_ns": period, "role": "high" if source["source"] == 0 else "low"}
        source |= {"start_ns": streams.START_NS, "clock": CLOCK}
    if served and clients:
        header["sources"][1]["partners"][0]["obtained"] |= dict(served)
    names_of_columns = ["scheduled_ns", "sent_ns", *(["arrived_ns"] if one_way else []), "answered_ns"]
    header["tables"] = [_table(names_of_columns)]
    header["measures"] = [
        _measure("round_trip_ns", "sent_ns", "answered_ns", "round trip"),
        _measure("response_ns", "scheduled_ns", "answered_ns", "release to answer"),
        _measure("latency_ns", "scheduled_ns", "sent_ns", "release to sent"),
    ]
    if one_way:
        header["measures"] += [
            _measure("request_ns", "sent_ns", "arrived_ns", "request, one way"),
            _measure("reply_ns", "arrived_ns", "answered_ns", "reply, one way"),
        ]
    books = [
        {
            **_book(k, len(one)),
            "released": len(one) + (missed if k == 0 else 0),
            "missed": missed if k == 0 else 0,
            "overruns": 0,
            "rested": 0,
            "warmup": 10,
        }
        for k, one in enumerate(rows)
    ]
    header["parameters"]["server"] = server
    servants = []
    for k, one in enumerate(header["sources"]):
        (partner,) = one["partners"]
        had = {name: partner["obtained"][name] for name in ("policy", "priority", "cpu")}
        asked = {"source": k, "thread": partner["thread"], **had, "two_way": len(rows[k]) + 10}
        servants.append({**asked, **((served_after or {}) if k == 1 else {})})
    events = [{"event": "result", "servants": servants}] if footer else []
    return _sealed(store, header, rows, events, books if footer else None, "complete", around)


def footprint(
    store: Store,
    *,
    transport: str = "omniorb",
    place: str = "same",
    servants: int = 10,
    library: Mapping[str, int] | None = None,
    base: int = 4_000_000,
    absent: Mapping[str, str] | None = None,
    told: bool = True,
    **around: Any,
) -> StoredRun:
    """A run that reads the server's memory with so many servants, each called ten times.

    Args:
        library: sections of the static library; None: it has none.
        told: whether sizes of files were read at all.
    """
    calls = 10
    header = _header("middleware-footprint", transport, place, ["calls"], servants=servants)
    header["parameters"] |= {"servants": servants, "calls": calls, "memory_lock": False}
    for moment in ("requested", "obtained"):
        header["process"][moment]["memory_locked"] = False
    header["tables"] = [_table(["sent_ns", "returned_ns"])]
    header["measures"] = [_measure("call_ns", "sent_ns", "returned_ns", "a call")]
    sent = streams.START_NS + np.arange(servants * calls, dtype=np.int64) * 100 * US
    rows = [np.stack([sent, sent + 40 * US], axis=1)]
    events = [
        {
            "event": "memory",
            "at": moment,
            "servants": servants,
            "calls": servants * calls if moment == "served" else 0,
            "resident_bytes": base + part * 200_000 + servants * 50_000,
            "proportional_bytes": base // 2 + servants * 50_000,
            "private_bytes": base // 4 + part * 100_000 + servants * 50_000,
            "anonymous_bytes": base // 8 + servants * 50_000,
            "locked_bytes": 0,
            "peak_bytes": base + 900_000,
            "threads": servants + 1,
        }
        for part, moment in enumerate(("started", "connected", "served"))
    ]
    program = {"name": f"tauto-servants-{transport}-dynamic", "linked": "dynamic"}
    sizes = {"text": 300_000, "rodata": 90_000, "data": 12_000, "bss": 60_000}
    archive = {"name": f"lib{transport}.a", "kind": "static", "package": None}
    if told:
        around["footprint"] = {
            "libraries": [{**archive, **library}] if library else [],
            "shared": [],
            "programs": [{**program, **sizes}],
            "absent": dict(absent or {}),
            "built": {"compiler": "gcc 12.2.0", "optimization": "2"},
        }
    return _sealed(store, header, rows, events, [_book(0, len(rows[0]))], "complete", around)


def cell(key: str, **options: Any) -> dict[str, Any]:
    """What a run of a campaign tells of its plan, for ``around``."""
    return {"plan": {"cell": key, "options": options}}


def _header(
    experiment: str, transport: str, place: str, names: Sequence[str], servants: int = 0
) -> dict[str, Any]:
    """Of so many servants for one source, or for each source one."""
    cpus = {"same": (0, 0), "different": (0, 1), "free": (None, None)}[place]
    asked = {"memory_locked": True, "budget_ns": 2 * S, "wake_latency_limit_us": None}
    version = None if transport in ("tcp", "udp", "unix") else "4.3.0"
    return {
        "stream": 1,
        "program": "tauto-probe",
        "version": "0.1.0",
        "experiment": experiment,
        "parameters": {
            "transport": transport,
            "transport_title": TITLES[transport],
            "transport_version": version,
            "server": "child",
            "clocks": "one",
            "place": place,
            "policy": "fifo",
            "priority": 90,
            "patience_ns": S,
            "service_time_ns": 0,
            "budget_ns": 2 * S,
            "record": "raw",
            "drain": "live",
            "ring_rows": 20,
            "memory_lock": True,
        },
        "system": {"name": "Linux", "release": "6.1.0", "version": "#1 SMP", "machine": "x86_64"},
        "clock": CLOCK,
        "housekeeping": {"requested": None, "obtained": "1"},
        "epoch": {"monotonic_ns": streams.START_NS, "realtime_ns": 1_790_000_000_000_000_000},
        "sources": [
            {
                "source": k,
                "name": name,
                "role": "client",
                "requested": _attributes(90 - k, cpus[0]),
                "obtained": {**_attributes(90 - k, cpus[0]), "timer_slack_ns": 0},
                "partners": [
                    {
                        "role": "servant",
                        "thread": 4_000 + one,
                        "requested": _attributes(90 - one, cpus[1]),
                        "obtained": {**_attributes(90 - one, cpus[1]), "timer_slack_ns": 0},
                    }
                    for one in (range(servants) if servants else [k])
                ],
            }
            for k, name in enumerate(names)
        ],
        "process": {
            "requested": asked,
            "obtained": {**asked, "rt_runtime_ns": 950_000_000, "rt_period_ns": S},
        },
    }


def _attributes(priority: int, cpu: int | None) -> dict[str, Any]:
    return {"policy": "fifo", "priority": max(1, priority), "cpu": cpu}


def _table(columns: Iterable[str]) -> dict[str, Any]:
    described = [{"name": name, "type": "i64", "unit": "ns", "meaning": name} for name in columns]
    return {"name": "samples", "columns": described}


def _measure(name: str, start: str, end: str, meaning: str) -> dict[str, str]:
    return {"name": name, "table": "samples", "from": start, "to": end, "meaning": meaning}


def _book(source: int, recorded: int) -> dict[str, int]:
    counted = {"completed": recorded, "recorded": recorded, "dropped": 0}
    return {"source": source, **counted, "cpu_time_ns": recorded * 10 * US}


def _histogram(
    store: Store, header: dict[str, Any], rows: Sequence[Integers], around: Mapping[str, Any]
) -> StoredRun:
    """The same as bins and running maxima."""
    header["parameters"]["record"] = "histogram"
    extremes = {**header["tables"][0], "name": "extremes"}
    bins = [("low_ns", "i64", "ns"), ("high_ns", "i64", "ns"), ("count", "u64", "")]
    columns = [{"name": name, "type": kind, "unit": unit, "meaning": name} for name, kind, unit in bins]
    header["tables"] = [{"name": "histogram", "columns": columns}, extremes]
    header["measures"] = [{**one, "table": "extremes"} for one in header["measures"]]
    frames = [streams.json_frame(streams.HEADER, 0, header)]
    for source, one in enumerate(rows):
        took = one[:, 1] - one[:, 0]
        rising = took == np.maximum.accumulate(took)
        counted: dict[tuple[int, int], int] = {}
        for value in took.tolist():
            counted[streams.bin_of(value)] = counted.get(streams.bin_of(value), 0) + 1
        table = np.array([(*edges, count) for edges, count in sorted(counted.items())], np.int64)
        for kind, content in ((1, one[rising]), (0, table)):
            payload = np.ascontiguousarray(content).tobytes()
            frames.append(streams.frame(streams.ROWS, len(frames), payload, table=kind, source=source))
    content = {
        "ended": "complete",
        "books": [_book(k, len(one)) for k, one in enumerate(rows)],
        "clock": header["clock"],
    }
    frames.append(streams.json_frame(streams.FOOTER, len(frames), content))
    return _seal(store, header, frames, around)


def _sealed(
    store: Store,
    header: dict[str, Any],
    rows: Sequence[Integers],
    events: Sequence[Mapping[str, Any]],
    books: Sequence[Mapping[str, int]] | None,
    ended: str,
    around: Mapping[str, Any],
) -> StoredRun:
    frames = [streams.json_frame(streams.HEADER, 0, header)]
    for source, one in enumerate(rows):
        for at in range(0, len(one), 4_096):
            payload = np.ascontiguousarray(one[at : at + 4_096]).tobytes()
            frames.append(streams.frame(streams.ROWS, len(frames), payload, source=source))
    for event in events:
        frames.append(streams.json_frame(streams.EVENT, len(frames), {"time_ns": streams.START_NS, **event}))
    if books is not None:
        content = {"ended": ended, "books": list(books), "clock": header["clock"]}
        frames.append(streams.json_frame(streams.FOOTER, len(frames), content))
    return _seal(store, header, frames, around)


def _seal(
    store: Store, header: Mapping[str, Any], frames: Sequence[bytes], around: Mapping[str, Any]
) -> StoredRun:
    told = header["parameters"]
    title = around.get("title") or f"{header['experiment'].replace('-', ' ')}, transport {told['transport']}"
    conditions = {"load": "idle", **{name: value for name, value in around.items() if name != "title"}}
    writer = store.create(header["experiment"], title, conditions, FACTS)
    with writer:
        writer.append(b"".join(frames))
        return writer.seal()
