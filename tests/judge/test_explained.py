"""What steps do that they should not: put together by function, and said in a sentence."""

from dataclasses import replace

import pytest
from msgspec.structs import replace as replaced

from tautochrone.base.words import ordinal
from tautochrone.judge.explained import CodePlace, ExplainedSteps, Kind, Site, deeds_of
from tautochrone.step.explained import advice, sentences, table, who

LIB = "pendulum.so"


def site(kind: Kind, call: str, *frames: CodePlace, count: int = 1000, detail: str = "") -> Site:
    return Site(kind, call, count, count, 1, frames, detail, 0)


def frame(function: str | None, behind: int | None = 0x42, module: str = LIB) -> CodePlace:
    return CodePlace(module, 0x1100, function, behind)


def found(*sites: Site, lost: int = 0, absent: dict[str, str] | None = None) -> ExplainedSteps:
    return ExplainedSteps(1000, deeds_of(sites), absent or {}, lost)


def test_a_place_is_named_by_the_innermost_function_outside_of_the_systems_libraries() -> None:
    libc = "libc.so.6"
    (deed,) = deeds_of(
        [
            site(
                "system",
                "write",
                frame("__write", module=libc),
                frame("_IO_fprintf", module=libc),
                frame("log_line"),
                frame("pendulum_step"),
                detail="/tmp/log",
            )
        ]
    )
    assert (deed.function, deed.call, deed.by_way_of) == ("log_line", "write", "fprintf")
    assert who(deed) == "pendulum.so: log_line +0x42"
    assert sentences(found(site("heap", "malloc", frame("update_state")))) == [
        "In 1,000 steps: 1,000 heap calls (pendulum.so: update_state +0x42 -> malloc)."
    ]


def test_places_of_one_function_are_put_together_without_one_of_them() -> None:
    (deed,) = deeds_of([site("heap", "malloc", frame("f", 1)), site("heap", "malloc", frame("f", 9))])
    assert (deed.count, deed.behind, who(deed)) == (2000, None, "pendulum.so: f")
    places = [site("heap", "malloc", frame("f", at), count=few) for at, few in ((1, 5), (9, 7), (20, 0))]
    ((*_, steps, _, _),) = table(found(*places), "", {}).rows
    assert steps.shown == "at least 7"  # nobody knows how many steps had both
    ((*_, steps, _, _),) = table(found(*places, site("heap", "malloc", frame("f", 3))), "", {}).rows
    assert steps.shown == "1,000"  # all of them
    ((*_, steps, _, _),) = table(found(*places[1:]), "", {}).rows
    assert steps.shown == "7"
    two = deeds_of([site("heap", "malloc", frame("f")), site("heap", "free", frame("g"), count=5)])
    assert [one.call for one in two] == ["malloc", "free"]


def test_a_function_without_a_name_has_its_address() -> None:
    (deed,) = deeds_of([site("heap", "malloc", frame(None, None))])
    assert who(deed) == "pendulum.so: 0x1100"
    (unknown,) = deeds_of([site("heap", "malloc")])
    assert who(unknown) == "unknown"


def test_a_clean_run_says_so_and_what_could_not_be_seen() -> None:
    clean = found()
    assert clean.is_clean
    assert sentences(clean) == ["Nothing in 1,000 steps that a real-time step should not do."]
    assert advice(clean) == []
    half = sentences(replace(clean, absent={"fault": "not permitted"}))
    assert half[0].startswith("Of what can be seen here, nothing in 1,000 steps")
    assert half[1] == "Page faults: N/A, not permitted."
    assert not found(lost=3).is_clean


@pytest.mark.parametrize(
    ("kind", "call", "begins"),
    [
        ("heap", "free", "Heap calls"),
        ("system", "openat", "Files"),
        ("system", "brk", "Memory from the kernel"),
        ("system", "clock_nanosleep", "Sleeps"),
        ("system", "futex", "Waits for another thread"),
        ("system", "bpf", "Other system calls"),
        ("thread", "pthread_create", "Threads"),
        ("fault", "access", "Page faults"),
    ],
)
def test_each_kind_has_what_to_do(kind: Kind, call: str, begins: str) -> None:
    seen = found(site(kind, call, frame("f")))
    (said,) = advice(seen)
    assert said.startswith(begins)
    assert said in table(seen, "", {}).notes


def test_only_recorded_steps_count_and_the_first_one_is_shown_beside_them() -> None:
    seen = found(site("heap", "malloc", frame("f"), count=0))
    assert seen.is_clean
    assert len(table(seen, "", {}).rows) == 1


def test_the_line_of_the_source_is_told_where_it_is_known() -> None:
    one, other = site("heap", "malloc", frame("f")), site("heap", "free", frame("g"))
    lines = {(LIB, 0x1100): "pendulum.c:57"}
    ((_, function, *_),) = table(found(one), "", lines).rows
    assert function.shown == "pendulum.so: f +0x42 (pendulum.c:57)"
    ((_, function, *_),) = table(found(site("heap", "malloc", frame("f", module="gain.so"))), "", lines).rows
    assert function.shown == "gain.so: f +0x42"
    rows = table(found(other, replaced(other, frames=(frame("g", 1),))), "", lines).rows
    assert [row[1].shown for row in rows] == ["pendulum.so: g"]  # from two places


def test_ordinals() -> None:
    assert [ordinal(one) for one in (1, 2, 3, 4, 10, 11, 13, 21, 112, 1000)] == [
        "1st", "2nd", "3rd", "4th", "10th", "11th", "13th", "21st", "112th", "1,000th",
    ]  # fmt: skip
