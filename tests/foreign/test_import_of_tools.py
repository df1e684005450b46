"""What is particular to cyclictest, jitterdebugger and rtla: their options, and what they print."""

import json
from pathlib import Path

import pytest

from imported import MILLISECOND, SAMPLES, brought, written
from tautochrone.base.errors import DamagedError
from tautochrone.run.store import Store


def test_intervals_that_cyclictest_prints_are_corrected_by_the_distance(store: Store) -> None:
    """It prints 1500 and 2000 for -i 1000 with two threads."""
    run = brought(store, SAMPLES / "cyclictest-verbose.txt")
    assert run.manifest.header.periods_ns == {0: MILLISECOND, 1: 1_500_000}


def test_the_command_tells_the_interval_of_a_single_thread(store: Store, tmp_path: Path) -> None:
    """Of which cyclictest prints its interval and the distance of a second thread together."""
    lines = (SAMPLES / "cyclictest-verbose.txt").read_text().splitlines()
    text = "\n".join(one for one in lines if not one.startswith(("       1:", "Thread 1")))
    run = brought(store, written(tmp_path, "one.txt", f"$ sudo cyclictest -p80 -i1000 -v\n{text}\n"))
    assert (run.manifest.header.periods_ns, run.is_histogram) == ({0: MILLISECOND}, False)
    assert run.manifest.header.parameters["priority"] == 80
    endless = written(tmp_path, "endless.txt", f"$ cyclictest -i{1 << 61} -v\n{text}\n")
    assert brought(store, endless).manifest.header.periods_ns == {}


@pytest.mark.parametrize(
    ("command", "periods_ns", "asked"),
    [
        ("-qSmp90 -i200 -h60", {0: 200_000, 1: 200_000}, ("fifo", 90)),
        ("-Smp90 -i200", {0: 200_000}, ("fifo", 90)),  # how far apart -S puts them depends on the version
        ("-yrr -p 80 -i 200 -d0", {0: 200_000, 1: 200_000}, ("rr", 80)),
        ("-mnrp80 -i200 -d0", {}, ("fifo", 80)),
    ],
)
def test_short_options_of_cyclictest_may_share_a_dash(
    store: Store, tmp_path: Path, command: str, periods_ns: dict[int, int], asked: tuple[str, int]
) -> None:
    told = json.loads((SAMPLES / "cyclictest.json").read_text())
    told["cmdline:"] = f"cyclictest {command}"
    header = brought(store, written(tmp_path, "cj.json", json.dumps(told))).manifest.header
    assert header.periods_ns == periods_ns
    assert (header.parameters["policy"], header.parameters["priority"]) == asked


@pytest.mark.parametrize("is_text", [False, True])
def test_of_a_thread_that_never_ran_it_is_not_said_that_it_missed_nothing(
    store: Store, tmp_path: Path, *, is_text: bool
) -> None:
    told = json.loads((SAMPLES / "cyclictest.json").read_text())
    told["cmdline:"] = "cyclictest -h 60 -i 100000 -t2"
    told["thread"]["1"] |= {"histogram": {}, "cycles": 0, "min": 1_000_000, "max": 0, "avg": "?"}
    text = json.dumps(told).replace('"?"', "-nan")
    if is_text:
        text = (
            "$ cyclictest -h 60 -i 100000 -t2\n# Histogram\n000003 001000\t000000\n"
            "# Min Latencies: 00003 1000000\n# Max Latencies: 00003 00000\n"
            "# Histogram Overflows: 00000 00000\n"
        )
    books = brought(store, written(tmp_path, "starved.json", text)).manifest.books
    assert [(book.recorded, book.missed) for book in books] == [(1_000, 0), (0, None)]


DRAWN = (
    "policy: fifo: loadavg: 0.00 0.01 0.05 1/200 1234          \n\n"
    "T: 0 ( 1235) P:80 I:1000 C:   1000 Min:      2 Act:    5 Avg:    5 Max:      32\n"
    "T: 1 ( 1236) P:80 I:1000 C:   1000 Min:      2 Act:    5 Avg:    5 Max:     151\n\033[4A"
)
"""What cyclictest draws a hundred times a second without -q."""


@pytest.mark.parametrize("before", [DRAWN * 400, DRAWN + "\033[4B"], ids=["long", "-M"])
def test_a_histogram_is_read_whatever_was_drawn_before_it(store: Store, tmp_path: Path, before: str) -> None:
    text = before + (SAMPLES / "cyclictest-histogram.txt").read_text().partition("\n")[2]
    run = brought(store, written(tmp_path, "drawn.txt", text))
    assert [book.recorded for book in run.manifest.books] == [40, 40]
    assert run.manifest.header.periods_ns == {0: MILLISECOND, 1: MILLISECOND}


@pytest.mark.parametrize("name", ["cyclictest-histogram.txt", "rtla-timerlat.txt", "hwlatdetect-quiet.txt"])
def test_a_file_to_which_a_tool_wrote_twice_is_refused(store: Store, tmp_path: Path, name: str) -> None:
    text = (SAMPLES / name).read_text()
    with pytest.raises(DamagedError, match="several runs"):
        brought(store, written(tmp_path, name, f"{text}\n{text}"))


ONLY_SAMPLES = (
    "# Histogram\n{}# Min Latencies: 00012\n# Avg Latencies: 00030\n# Max Latencies: 00059\n"
    "# Histogram Overflows: 00007\n# Histogram Overflow at cycle number:\n# Thread 0: 00000 00001\n"
)
"""What newer versions of cyclictest print: no total, and no line without a sample."""


@pytest.mark.parametrize(
    ("before", "lines", "low_ns"),
    [
        ("", "", [12_000]),
        ("", "000013 000003\t000003\n", [13_000, 14_000]),  # by -H, which sums up a single thread, too
        ("$ cyclictest -h 40\n", "000013 000003\n", [13_000, 40_000]),
    ],
)
def test_a_histogram_of_lines_with_samples_ends_where_its_command_says(
    store: Store, tmp_path: Path, before: str, lines: str, low_ns: list[int]
) -> None:
    run = brought(store, written(tmp_path, "new.txt", before + ONLY_SAMPLES.format(lines)))
    low, high, count = run.histogram(0)
    assert (low.tolist(), high.tolist()[-1], count.tolist()[-1]) == (low_ns, 59_999, 7)


@pytest.mark.parametrize(
    ("name", "end"), [("cyclictest-histogram.txt", "# Total"), ("rtla-timerlat.txt", "over:")]
)
def test_a_histogram_that_may_lack_its_end_is_refused(
    store: Store, tmp_path: Path, name: str, end: str
) -> None:
    with pytest.raises(DamagedError, match="it ends before"):
        brought(store, written(tmp_path, name, (SAMPLES / name).read_text().partition(end)[0]))


def test_without_the_count_of_overflows_no_release_is_said_to_be_served(store: Store, tmp_path: Path) -> None:
    text = (SAMPLES / "cyclictest-histogram.txt").read_text().partition("# Histogram Overflows")[0]
    books = brought(store, written(tmp_path, "cut.txt", text), 100 * MILLISECOND).manifest.books
    assert [(book.recorded, book.missed) for book in books] == [(40, None)] * 2


def test_lines_of_threads_without_a_histogram_are_refused_with_what_to_do(
    store: Store, tmp_path: Path
) -> None:
    with pytest.raises(DamagedError, match="no histogram") as refusal:
        brought(store, written(tmp_path, "quiet.txt", DRAWN))
    assert "-h" in refusal.value.advice


@pytest.mark.parametrize("name", ["cyclictest-histogram.txt", "cyclictest-verbose.txt"])
def test_timers_that_begin_anew_have_no_schedule_in_text_either(
    store: Store, tmp_path: Path, name: str
) -> None:
    text = f"$ cyclictest -r -t2\n{DRAWN if 'verbose' not in name else ''}{(SAMPLES / name).read_text()}"
    run = brought(store, written(tmp_path, name, text))
    assert run.manifest.header.periods_ns == {}
    assert [book.missed for book in run.manifest.books] == [None, None]


def test_a_jitterdebugger_of_version_2_names_its_machine(store: Store, tmp_path: Path) -> None:
    names = {
        "sysname": "Linux",
        "nodename": "arm",
        "release": "5.10-rt",
        "version": "#1",
        "machine": "armv7l",
    }
    text = json.dumps(
        {"version": 2, "sysinfo": names, **json.loads((SAMPLES / "jitterdebugger.json").read_text())}
    )
    text = f"\n{text}\nThread 12 on CPU 1 hit 18 us latency\n"  # -v -b prints so
    manifest = brought(store, written(tmp_path, "two.json", text)).manifest
    assert (manifest.conditions.target, manifest.kernel.release) == ("arm", "5.10-rt")
    told = manifest.conditions.stored["imported"]
    assert isinstance(told, dict)
    assert not {"kernel", "machine"} & set(told["unknown"])


ONE_LINE = """# RTLA timerlat histogram
# Time unit is microseconds (us)
# Duration:   0 00:00:10
Index   Thr-000
0         10000
over:         0
count:    10000
min:          2
avg:          5
max:         88
"""


def test_a_single_line_of_rtla_is_as_wide_as_the_largest_sample_says(store: Store, tmp_path: Path) -> None:
    """Its command told -b 100, and is not in the file."""
    low, high, _ = brought(store, written(tmp_path, "one.txt", ONE_LINE)).histogram(0)
    assert (low.tolist(), high.tolist()) == ([0], [88_999])


@pytest.mark.parametrize(
    "text",
    [
        ONE_LINE.replace("timerlat", "osnoise").replace("Thr", "CPU").replace("88", " 0"),
        ONE_LINE.partition("count:")[0],
        ONE_LINE.replace("over:         0", "over:         1")
        .replace("t:    10000", "t:    10001")
        .replace("88", "25600"),
    ],
    ids=["osnoise", "--no-summary", "over"],
)
def test_a_single_line_of_rtla_whose_width_nothing_tells_needs_its_command(
    store: Store, tmp_path: Path, text: str
) -> None:
    with pytest.raises(DamagedError, match="how wide") as refusal:
        brought(store, written(tmp_path, "one.txt", text))
    assert "-b 100" in refusal.value.advice
    run = brought(store, written(tmp_path, "told.txt", f"$ rtla timerlat hist -b 100\n{text}"))
    assert run.histogram(0)[1].tolist()[0] == 99_999


SPARSE = (
    ONE_LINE.replace("0         10000", "5          9999\n200           1")
    .replace("min:          2", "min:          5")
    .replace("88", "200")
)


@pytest.mark.parametrize(
    ("text", "bins"),
    [
        (SPARSE, [(5_000, 199_999, 9_999), (200_000, 200_999, 1)]),
        (
            SPARSE.replace("over:         0", "over:         3")
            .replace("t:    10000", "t:    10003")
            .replace("max:         200", "max:         300"),
            [(5_000, 199_999, 9_999), (200_000, 300_999, 1), (201_000, 300_999, 3)],
        ),
    ],
    ids=["", "over"],
)
def test_no_bin_of_rtla_goes_beyond_the_largest_sample(
    store: Store, tmp_path: Path, text: str, bins: list[tuple[int, int, int]]
) -> None:
    """How wide they are, its lines tell: those without a sample are left out, so it is too much."""
    run = brought(store, written(tmp_path, "sparse.txt", text))
    assert list(zip(*(one.tolist() for one in run.histogram(0)), strict=True)) == bins


def test_short_options_of_rtla_may_share_a_dash(store: Store, tmp_path: Path) -> None:
    text = f"$ rtla timerlat hist -up500 -kb10\n{ONE_LINE}".replace("over:         0", "over:         1")
    text = text.replace("t:    10000", "t:    10001").replace("88", "2570")
    run = brought(store, written(tmp_path, "dash.txt", text))
    assert run.manifest.header.periods_ns == {0: 500_000}
    assert [one.tolist() for one in run.histogram(0)[:2]] == [[0, 2_560_000], [9_999, 2_570_999]]


def test_the_largest_of_osnoise_beyond_the_end_is_the_bin_in_which_it_lies(
    store: Store, tmp_path: Path
) -> None:
    text = (SAMPLES / "rtla-osnoise.txt").read_text()
    for old, new in (
        ("over:         0", "over:         1"),
        ("55215", "55216"),
        ("max:         30", "max:       1230"),
    ):
        text = text.replace(old, new, 1)
    assert brought(store, written(tmp_path, "over.txt", text)).manifest.extremes[0].maximum_ns == 1_239_999


@pytest.mark.parametrize("how_many", ["unknown number of", "1234 (12.30%)"])
def test_events_that_rtla_missed_are_told_and_no_release_is_said_to_be_served(
    store: Store, tmp_path: Path, how_many: str
) -> None:
    text = f"{ONE_LINE}{how_many} events missed, results might not be accurate\n"
    whole, lossy = (
        brought(store, written(tmp_path, "rtla.txt", one), MILLISECOND).manifest for one in (ONE_LINE, text)
    )
    assert [book.missed for book in (*whole.books, *lossy.books)] == [0, None]
    assert [one.code for one in lossy.warnings if how_many in one.text] == ["missed-events"]


@pytest.mark.parametrize("name", ["cyclictest-histogram.txt", "cyclictest-verbose.txt"])
def test_a_command_in_the_text_tells_that_latencies_are_in_ns(
    store: Store, tmp_path: Path, name: str
) -> None:
    text = (SAMPLES / name).read_text()
    fine, coarse = (
        brought(store, written(tmp_path, name, f"$ sudo cyclictest {options}\n{text}"))
        for options in ("-qmN -t2", "-qm -t2")
    )
    in_ns, in_us = (max(one.maximum_ns for one in run.manifest.extremes) for run in (fine, coarse))
    assert in_ns == in_us // 1_000
    warned = [
        any(one.code == "whole-microseconds" for one in run.manifest.warnings) for run in (fine, coarse)
    ]
    assert warned == [False, True]
