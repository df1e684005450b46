"""docs/stream.md and real streams of middleware name the same things."""

import re
import subprocess
from functools import cache
from typing import Any

import pytest

from middleware_servers import needs
from real import PATIENCE_S, policy_options
from tautochrone.base.stream import EVENT, HEADER, FrameReader, json_payload
from tautochrone.target.local import find_probe
from where import ROOT

DOCUMENTATION = (ROOT / "docs" / "stream.md").read_text()
NAME = re.compile(r"[`\"]([a-z][a-z0-9_-]*)[`\"]")
RUNS = {
    "middleware-throughput": ("--types", "octet", "--count", "5"),
    "middleware-latency": ("--clients", "1", "--calls", "2", "--rate-low", "100", "--one-way"),
    "middleware-footprint": ("--servants", "2", "--calls", "2"),
}


@cache
def said(experiment: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Header and events of a short run."""
    needs("tcp")
    command = [str(find_probe()), experiment, "--transport", "tcp", *RUNS[experiment], *policy_options()]
    ended = subprocess.run([*command, "--out", "-"], capture_output=True, timeout=PATIENCE_S, check=True)
    frames = FrameReader().feed(ended.stdout)
    (header,) = [json_payload(frame) for frame in frames if frame.type == HEADER]
    return header, [json_payload(frame) for frame in frames if frame.type == EVENT]


def names_in(what: object) -> set[str]:
    """The keys of it, and of what is in it."""
    if isinstance(what, dict):
        return set(what).union(*map(names_in, what.values()))
    return set().union(*map(names_in, what)) if isinstance(what, list) else set()


def row_of(*begin: str) -> set[str]:
    """What the row of a table names, behind what it begins with."""
    (row,) = [line for line in DOCUMENTATION.splitlines() if line.startswith("| " + " | ".join(begin))]
    return set(NAME.findall(row.partition(" | ")[2])) - {"null"}


@pytest.mark.parametrize("experiment", RUNS)
def test_every_parameter_is_documented_and_what_is_documented_is_there(experiment: str) -> None:
    header, _ = said(experiment)
    documented = row_of("all of them") | row_of(f"`{experiment}`")
    assert names_in(header["parameters"]) == documented


@pytest.mark.parametrize("experiment", RUNS)
def test_every_key_is_documented(experiment: str) -> None:
    header, events = said(experiment)
    assert names_in(header) | names_in(events) <= set(NAME.findall(DOCUMENTATION))
    assert {event["event"] for event in events} <= set(NAME.findall(DOCUMENTATION))


def test_an_event_has_the_keys_of_its_row() -> None:
    for experiment, begin in (
        ("middleware-throughput", ("`result`", "a throughput")),
        ("middleware-latency", ("`result`", "a latency")),
        ("middleware-footprint", ("`memory`",)),
    ):
        events = [event for event in said(experiment)[1] if f"`{event['event']}`" == begin[0]]
        assert events
        for event in events:
            assert names_in(event) - {"event", "time_ns"} <= row_of(*begin)


def test_partners_are_the_servants_that_took_part() -> None:
    for experiment, expected in (
        ("middleware-throughput", [("client", 1)] * 2),
        ("middleware-latency", [("high", 1), ("low", 1)]),
        ("middleware-footprint", [("client", 2)]),
    ):
        sources = said(experiment)[0]["sources"]
        assert [(source["role"], len(source["partners"])) for source in sources] == expected
        assert all(partner["role"] == "servant" for source in sources for partner in source["partners"])
