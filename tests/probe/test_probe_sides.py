"""Threads that measure call the real-time side of the system alone; only a port asks which system it is."""

import re
import shutil
from pathlib import Path

import pytest

from call_graph import PROBE, CallGraph, call_graph
from real import skip_or_fail

FOLDERS = ("experiment", "record", "tire")
HARMLESS = {"memcpy", "memset", "sqrt", "strcmp"}
"""What a measuring thread may call of the C library: of a few numbers, it neither waits nor allocates."""

OWN_QUESTION = re.compile(r"#ifndef TAUTO_\w+_H$|#ifdef __cplusplus$|#(el)?if LANES == \d$")


def declared(*headers: Path, section: str = "") -> set[str]:
    """Return the functions that these headers declare, of one section of each if it is named."""
    found: set[str] = set()
    for header in headers:
        text = header.read_text()
        if section:
            text = text.partition(f"/* ---- {section} ")[2].partition("/* ---- ")[0]
        found |= set(re.findall(r"^(?! ?[/*])[^\n]*?\b(os_\w+)\(", text, re.MULTILINE))
    return found


def realtime_side() -> set[str]:
    of_services = declared(*(PROBE / "os").glob("*.h"), section="Real-time side")
    return declared(PROBE / "os" / "realtime.h", PROBE / "os" / "both.h") | of_services


def trespasses(graph: CallGraph) -> list[str]:
    """Return what a measuring thread may come to call and must not, each with who calls it."""
    allowed = realtime_side() | HARMLESS
    found = []
    for callee, callers in graph.reached(sorted(set(graph.entries("os_thread_create")))).items():
        if callee in graph.calls or callee in allowed or callee.startswith("__builtin"):
            continue
        found += [
            f"{caller} calls {callee}"
            for caller in callers
            if "os_thread_go_ordinary" not in graph.calls[caller]
        ]
    return sorted(found)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> CallGraph:
    if shutil.which("gcc") is None:
        skip_or_fail("needs gcc, which tells who calls whom")
    files = [path for folder in FOLDERS for path in sorted((PROBE / folder).glob("*.c"))]
    return call_graph(files, tmp_path_factory.mktemp("graph"))


@pytest.mark.slow
def test_measuring_threads_call_the_real_time_side_alone(graph: CallGraph) -> None:
    entries = set(graph.entries("os_thread_create"))
    assert {
        "experiment/cyclic.c:work",
        "experiment/stage.c:run_actor",
        "experiment/tire_team.c:work",
    } <= entries
    assert {"os_sleep_until_and_read", "os_mutex_lock", "os_barrier_meet"} <= set(
        graph.reached(sorted(entries))
    )
    assert trespasses(graph) == []


@pytest.mark.slow
@pytest.mark.parametrize("call", ["os_sleep_until(0)", "os_memory_lock()", 'print("late")', "malloc(8)"])
def test_a_call_from_the_wrong_side_is_found(call: str, tmp_path: Path) -> None:
    """Also behind a function of another file, and behind a pointer."""
    if shutil.which("gcc") is None:
        skip_or_fail("needs gcc, which tells who calls whom")
    source = tmp_path / "wrong.c"
    source.write_text(
        '#include "message.h"\n#include "os/os.h"\n#include <stdlib.h>\n'
        "struct task { void (*act)(void); };\n"
        f"static void act(void) {{ {call}; }}\n"
        "static const struct task task = {.act = act};\n"
        "static void work(void *argument) { const struct task *const own = argument;\n    own->act();\n}\n"
        "void begin(struct os_thread **thread) {\n"
        "    const struct os_thread_attributes any = {0};\n"
        "    os_thread_create(thread, &any, work, (void *)&task);\n}\n"
    )
    graph = call_graph([source], tmp_path, root=tmp_path)
    assert trespasses(graph) == [f"wrong.c:act calls {call.partition('(')[0]}"]


def test_only_a_port_asks_which_system_it_is_on() -> None:
    """Guards of headers aside; the tire's kernel is a template, whose parameter is its own."""
    asked = {
        f"{path.relative_to(PROBE)}: {line.strip()}"
        for path in (*PROBE.rglob("*.[ch]"), *(PROBE.parent / "middleware").glob("*.[ch]"))
        if not {"os", "fuzz", "test"} & set(path.relative_to(PROBE.parent).parts)
        for line in path.read_text().splitlines()
        if re.match(r"\s*#\s*(if|elif)", line) and not OWN_QUESTION.match(line)
    }
    assert asked == set()


def test_the_folder_of_posix_does_not_ask_for_linux() -> None:
    """A port to Cobalt is compiled on Linux, too: what it must not have lies in a folder of its own."""
    assert [path.name for path in (PROBE / "os" / "posix").iterdir() if "__linux__" in path.read_text()] == []
