"""The Rhealstone components, measured by the real probe."""

import html
import shlex
import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from any_runs import Made, store_made
from preload import environment_with
from read_tables import read
from real import (
    PATIENCE_S,
    a_cpu,
    needs_priorities,
    only_run,
    probe,
    sealed,
    stopped_half_way,
    tauto,
    two_cpus,
)
from shaped_samples import Samples
from streams import make_stream
from tautochrone.answer import report
from tautochrone.answer.charts.theme import PAGE
from tautochrone.answer.experiments.rhealstone import RhealstonePresentation
from tautochrone.answer.render import page as document_page
from tautochrone.judge.rhealstone import COMPONENTS, INTERRUPT, INTERRUPT_MEASURE, judge_rhealstone
from tautochrone.judge.rows import DURATION, rows_of
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.local import find_probe

ON_ONE_CPU = [
    "task switch", "preemption", "semaphore shuffle", "deadlock breaking", "message latency", "datagram",
]  # fmt: skip
ACROSS = ["semaphore shuffle, across CPUs", "message latency, across CPUs", "datagram, across CPUs"]


@pytest.fixture(autouse=True)
def _with_priorities() -> None:
    needs_priorities("Rhealstone needs three priorities")


def measured(store: Path, *arguments: str) -> StoredRun:
    ended = subprocess.run(
        [str(find_probe()), "rhealstone", *arguments, "--out", "-"],
        capture_output=True,
        timeout=PATIENCE_S,
        check=True,
    )
    return sealed(ended.stdout, store)


def by_name(run: StoredRun) -> dict[str, int]:
    return {row.label: row.source for row in rows_of(run)}


def median(run: StoredRun, row: str) -> float:
    return float(np.median(run.values(DURATION, by_name(run)[row])))


@pytest.mark.slow
def test_every_row_has_its_samples_and_none_runs_beside_another(tmp_path: Path) -> None:
    run = measured(tmp_path, "--count", "500", "--cpus", two_cpus())
    assert sorted(by_name(run)) == sorted([*ON_ONE_CPU, *ACROSS])
    assert all((book.completed, book.recorded, book.dropped) == (500, 500, 0) for book in run.manifest.books)
    assert [one["name"] for one in run.manifest.header.stored["absent"]] == ["interrupt latency"]
    assert run.values().min() >= 0
    spans = [(run.instants(source).min(), run.column("after_ns", source).max()) for source in run.sources]
    assert all(before[1] < after[0] for before, after in pairwise(spans))


@pytest.mark.slow
def test_the_tasks_of_a_row_take_turns(tmp_path: Path) -> None:
    run = measured(tmp_path, "--count", "800", "--cpus", two_cpus())
    for source in run.sources:
        before, after = run.column("before_ns", source), run.column("after_ns", source)
        assert (before[1:] >= after[:-1]).all()
        assert (run.column("attempts", source) >= 1).all()


@pytest.mark.slow
def test_what_contains_more_takes_longer(tmp_path: Path) -> None:
    """Breaking a deadlock takes two switches; a message is with its receiver before its sender goes on."""
    run = measured(tmp_path, "--count", "1500", "--place", "same", "--cpus", a_cpu())
    assert median(run, "deadlock breaking") > 1.3 * median(run, "preemption")
    assert median(run, "datagram") > median(run, "message latency")


def test_the_middle_task_stands_between_the_two_of_the_deadlock(tmp_path: Path) -> None:
    run = measured(tmp_path, "--count", "30", "--place", "same", "--cpus", a_cpu(), "--priority", "50")
    source = run.manifest.header.stored["sources"][by_name(run)["deadlock breaking"]]
    priorities = {partner["role"]: partner["obtained"]["priority"] for partner in source["partners"]}
    assert (source["role"], source["obtained"]["priority"]) == ("high", 50)
    assert priorities == {"middle": 49, "low": 48}
    assert {partner["obtained"]["cpu"] for partner in source["partners"]} == {int(a_cpu())}


@pytest.mark.slow
def test_large_messages_carry_more_in_the_same_time(tmp_path: Path) -> None:
    options = ("--count", "600", "--place", "same", "--cpus", a_cpu())
    small = judge_rhealstone(measured(tmp_path / "small", *options, "--message-bytes", "8"))
    large = judge_rhealstone(measured(tmp_path / "large", *options, "--message-bytes", "4096"))
    assert (small.message_bytes, large.message_bytes) == (8, 4096)
    assert small.throughput_kb_s is not None
    assert large.throughput_kb_s is not None
    assert large.throughput_kb_s > 10 * small.throughput_kb_s
    assert small.datagram is not None
    assert small.throughput_kb_s == pytest.approx(8 * 1e6 / small.datagram.mean)


REFUSALS = {
    "no priorities": (["--policy", "other"], "Use fifo or rr"),
    "no room for three": (["--priority", "2"], "3 priorities"),
    "no room for its number": (["--message-bytes", "7"], "between 8 and"),
    "two places on one CPU": (["--place", "different", "--cpus", a_cpu()], "--cpus 0,1"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_says_what_to_do(name: str) -> None:
    arguments, words = REFUSALS[name]
    ended = probe("rhealstone", *arguments)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert ended.stdout == ""


def test_a_queue_that_the_system_does_not_grant_is_refused_with_its_size() -> None:
    command = ["prlimit", "--msgqueue=1000", str(find_probe()), "rhealstone", "--message-bytes", "2048"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert ended.returncode == 2
    for words in ("--message-bytes 2048", "mq_overview(7)"):
        assert words in ended.stderr


def test_one_cpu_leaves_out_what_needs_two_and_says_so(tmp_path: Path) -> None:
    run = measured(tmp_path, "--count", "50", "--cpus", a_cpu())
    assert list(by_name(run)) == ON_ONE_CPU
    assert "rows across two CPUs" in {one["name"] for one in run.manifest.header.stored["absent"]}


ONE_SEND_FAILS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mqueue.h>
static int calls;
int mq_send(mqd_t queue, const char *data, size_t bytes, unsigned int priority)
{
    int (*real)(mqd_t, const char *, size_t, unsigned int) =
        (int (*)(mqd_t, const char *, size_t, unsigned int))dlsym(RTLD_NEXT, "mq_send");
    if (++calls == FAILS) {
        errno = ENOMEM;
        return -1;
    }
    return real(queue, data, bytes, priority);
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("at", [400, 1400])  # message latency; datagram
def test_a_message_that_the_system_refuses_ends_the_run_and_leaves_nobody_waiting(
    tmp_path: Path, at: int
) -> None:
    ended = subprocess.run(
        [str(find_probe()), "rhealstone", "--place", "same", "--count", "800", "--out", "-"],
        env=environment_with(f"#define FAILS {at}\n{ONE_SEND_FAILS}", tmp_path),
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ended.returncode == 1, ended.stderr
    assert b"memory or another resource is used up" in ended.stderr
    run = sealed(ended.stdout, tmp_path / "store")
    assert run.manifest.ended == "failed"
    recorded = {row.name: row.summary for row in rows_of(run)}
    assert recorded["message latency"] is not None


@pytest.mark.slow
def test_a_stop_half_way_keeps_what_was_measured(tmp_path: Path) -> None:
    run = stopped_half_way(
        tmp_path, str(find_probe()), "rhealstone", "--count", "20000", "--cpus", two_cpus()
    )
    counts = [book.recorded for book in run.manifest.books]
    assert run.manifest.ended == "interrupted"
    assert counts[0] > 0
    assert counts[-1] == 0
    judged = judge_rhealstone(run)
    assert judged.components[-1].absent == "ended"
    assert judged.objective.per_second is None
    read(RhealstonePresentation().tables([run], [""]))
    RhealstonePresentation().figures([run], [""], "x")


def test_a_histogram_keeps_every_sample_of_every_row(tmp_path: Path) -> None:
    run = measured(tmp_path, "--count", "400", "--place", "same", "--record", "histogram")
    assert all(int(run.histogram(source)[2].sum()) == 400 for source in run.sources)
    assert judge_rhealstone(run).objective.partial_per_second is not None


@pytest.mark.slow
def test_the_verb_prints_both_tables_and_no_figure_of_six_without_interrupts(tmp_path: Path) -> None:
    ended = tauto(
        "probe", "rhealstone", "--count", "200", "--place", "same", "--weights", "1,2,0,1,1,4", store=tmp_path
    )
    assert ended.returncode == 0, ended.stderr
    run = only_run(tmp_path)
    judged = judge_rhealstone(run)
    (garre, components, value) = read(RhealstonePresentation().tables([run], [""]))
    for grid in (garre, components, value):
        assert grid.title in ended.stdout
    held = {one.name: one.summary for one in judged.components}
    preemption = held["preemption"]
    assert preemption is not None
    assert [row[2] for row in garre.rows] == [f"{preemption.maximum:,}", f"{round(preemption.mean):,}"]
    said = {row[0]: row[1] for row in value.rows}
    assert said["objective"] == "N/A"
    assert judged.objective.missing == ("interrupt latency",)
    assert judged.objective.partial_per_second is not None
    assert (
        said["objective, of five components only"] == f"{round(judged.objective.partial_per_second):,} per s"
    )
    assert judged.weighted is not None
    assert judged.weighted.per_second is not None  # the component that is missing has no weight
    assert any("tauto probe interrupt" in note for note in components.notes)


def interrupt_run(store: Path, latencies_ns: list[int]) -> StoredRun:
    measure = {
        "name": INTERRUPT_MEASURE, "table": "samples", "from": "scheduled_ns", "to": "wake_ns",
        "meaning": "timer expiry to its handler",
    }  # fmt: skip
    stream = make_stream([latencies_ns], experiment="interrupt", header_extra={"measures": [measure]})
    with Store(store).create("interrupt", "interrupts") as writer:
        writer.append(stream)
        return writer.seal()


@pytest.mark.slow
def test_with_a_run_of_interrupts_the_figure_has_six_components(tmp_path: Path) -> None:
    interrupts = interrupt_run(tmp_path, [1000, 3000])
    ended = tauto(
        "probe",
        "rhealstone",
        "--count",
        "100",
        "--place",
        "same",
        "--interrupt",
        interrupts.id,
        store=tmp_path,
    )
    assert ended.returncode == 0, ended.stderr
    (run,) = [one for one in Store(tmp_path).runs() if one.manifest.experiment == "rhealstone"]
    judged = judge_rhealstone(run)
    means = [one.summary.mean for one in judged.components if one.summary is not None]
    assert len(means) == len(COMPONENTS)
    assert means[2] == 2000.0
    assert judged.objective.per_second == pytest.approx(6e9 / sum(means))
    assert "of five components" not in ended.stdout


@pytest.mark.slow
def test_a_histogram_of_interrupts_is_a_component_as_samples_are(tmp_path: Path) -> None:
    store = Store(tmp_path)
    interrupts = store_made(store, Made("interrupt", (Samples(count=20),), histogram=True))
    assert interrupts is not None
    command = ["tauto", "probe", "rhealstone", "--interrupt", interrupts.id]
    run = store_made(store, Made("rhealstone", (Samples(count=20),)), {"command": command})
    assert run is not None
    (found,) = (one for one in judge_rhealstone(run).components if one.name == INTERRUPT)
    assert found.summary is not None
    assert found.summary.count == 20


@pytest.mark.slow
def test_what_the_figure_needs_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    interrupts = interrupt_run(tmp_path, [1000])
    for options, words in (
        (("--weights", "1,2,3"), "six numbers"),
        (("--weights", "1,1,1,1,1,fast"), "six numbers"),
        (("--weights", "0,0,0,0,0,0"), "six numbers"),
        (("--interrupt", "latest"), interrupts.id),
    ):
        ended = tauto("probe", "rhealstone", *options, store=tmp_path)
        assert ended.returncode == 2, ended.stderr
        assert words in ended.stderr
    assert len(Store(tmp_path).runs()) == 1


@pytest.mark.slow
def test_the_figure_sets_each_row_beside_the_published_ones(tmp_path: Path) -> None:
    run = measured(tmp_path, "--count", "400", "--place", "same", "--cpus", a_cpu())
    (figure,) = RhealstonePresentation().figures([run], [""], "rhealstone")
    titles = [panel.title for panel in figure.panels]
    assert titles == ["task switch", "preemption", "IPC (semaphore shuffle)", "the others"]
    assert "Xenomai 2.6.2.1 (2014)" in str(figure.panels[0].chart.specification(PAGE))
    assert "Xenomai" not in str(figure.panels[3].chart.specification(PAGE))


@pytest.mark.slow
def test_a_command_is_stored_as_its_words_and_shown_as_a_shell_takes_it(tmp_path: Path) -> None:
    typed = ("probe", "rhealstone", "--count", "3", "--weights", "1, 1, 1, 1, 1, 2", "--title", "a b")
    done = tauto(*typed, store=tmp_path)
    assert done.returncode == 0, done.stderr
    run = only_run(tmp_path)
    assert run.manifest.conditions.stored["command"][: len(typed) + 1] == ["tauto", *typed]
    judged = judge_rhealstone(run)
    assert judged.weighted is not None
    assert judged.weighted.weights == (1, 1, 1, 1, 1, 2)
    text = html.unescape(document_page.write(report.document([run]), tmp_path / "page.html").read_text())
    assert shlex.join(("tauto", *typed)) in text
