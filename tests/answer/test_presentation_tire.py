"""What a page and a terminal show of a run of the tire."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator

import tire_runs
from browsers import new_page
from tautochrone.answer import evidence, figure, report
from tautochrone.answer.charts.theme import PAGE
from tautochrone.answer.document import TypedTable
from tautochrone.answer.render import page as document_page
from tautochrone.answer.render.terminal import split, widths
from tautochrone.judge.verdict import judge_runs
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.tire.run_answer import TirePresentation
from tire_runs import MS, STALL


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("tire"))


@pytest.fixture(scope="module")
def troubled(store: Store) -> StoredRun:
    return tire_runs.troubled(store)


def shown(*runs: StoredRun) -> dict[str, TypedTable]:
    labels = [str(at) for at in range(len(runs))] if len(runs) > 1 else [""]
    return {grid.title: grid for grid in TirePresentation().tables(runs, labels)}


def row(table: TypedTable, name: str) -> dict[str, str]:
    found = next(cells for cells in table.rows if cells[0].shown.startswith(name))
    return {column.head: cell.shown for column, cell in zip(table.columns, found, strict=True)}


def test_deadlines_are_counted_with_their_bound_and_the_longest_step_is_explained(
    troubled: StoredRun,
) -> None:
    deadlines = shown(troubled)["Deadlines"]

    said = row(deadlines, "this run")
    assert [said[name] for name in ("steps due", "missed", "late", "passed over")] == ["600", "4", "2", "2"]
    assert said["missed at most"] == "1.52%"
    assert said["positions"] == f"{tire_runs.CHECKSUM:08x}"
    assert any(
        "thread 1, cpu1, which wrote last, spent 14.1 ms computing" in note for note in deadlines.notes
    )


def test_equation_1_has_each_row_s_own_worst_and_the_worst_step_s_three_numbers(troubled: StoredRun) -> None:
    equation = shown(troubled)["T = T_i + T_s + T_w in us, T = 10 ms"]

    in_worst = [float(cells[-1].shown.replace(",", "")) for cells in equation.rows]
    assert sum(in_worst) == pytest.approx(10_000)
    assert row(equation, "T_w")["worst"] == row(equation, "T_w")["in the worst step"] == "-4,186.000"
    threads = shown(troubled)["T_i and T_s of each thread in us"]
    late = row(threads, "thread 1")
    assert (late["T_i worst"], late["worst step, T_i"]) == ("9,006.000", "6.000")


def test_one_thread_is_not_shown_twice(store: Store) -> None:
    assert "T_i and T_s of each thread in us" not in shown(tire_runs.real_time(store, threads=1))


def test_what_is_not_known_is_na(store: Store) -> None:
    cut = shown(tire_runs.real_time(store, footer=False, slow={STALL: 12 * MS}))

    deadlines = row(cut["Deadlines"], "this run")
    assert (deadlines["missed"], deadlines["missed at most"]) == ("at least 2", "N/A")
    assert deadlines["positions"] == "N/A"
    assert row(cut["Where the time of each thread went"], "thread 0")["waits per step"] == "N/A"


def test_positions_that_differ_between_runs_of_one_tire_are_told(store: Store) -> None:
    one, same = tire_runs.real_fast(store), tire_runs.real_fast(store, solver="semaphore")
    other = tire_runs.real_fast(store, checksum=7)
    longer = tire_runs.real_fast(store, rows=61, checksum=8)

    def complaints(*runs: StoredRun) -> list[str]:
        return [note for note in shown(*runs)["As fast as possible"].notes if "must not" in note]

    assert complaints(one, same, longer) == []
    assert len(complaints(one, same, other)) == 1


def test_a_real_fast_run_tells_its_time_against_the_simulated_one(store: Store) -> None:
    fast = shown(tire_runs.real_fast(store))

    said = row(fast["As fast as possible"], "this run")
    assert (said["simulated (s)"], said["elapsed (s)"]) == ("60.000", "1.200000")
    assert (said["simulated / elapsed"], said["steps"], said["steps per row"]) == ("50", "6,000", "100")
    assert said["million node-steps/s"] == "2.00"
    thread = row(fast["Each thread, as fast as possible"], "thread 1")
    assert (thread["CPU time (s)"], thread["off CPU (s)"]) == ("1.200000", "0.000000")


def test_time_that_a_real_fast_thread_was_kept_off_its_cpu_is_told(store: Store) -> None:
    fast = shown(tire_runs.real_fast(store, cpu_time_ns=900 * MS))

    thread = row(fast["Each thread, as fast as possible"], "thread 0")
    assert (thread["CPU time (s)"], thread["off CPU (s)"]) == ("0.900000", "0.300000")


def test_no_table_breaks_a_number_on_a_narrow_terminal(troubled: StoredRun) -> None:
    for table in shown(troubled).values():
        for part in split(table, 80):
            for at, width in enumerate(widths(part, 80)):
                texts = [part.columns[at].head, *(row[at].shown for row in part.rows)]
                assert max(len(word) for text in texts for word in text.split(" ")) <= width


@pytest.mark.slow
def test_marks_of_24_threads_stay_few(store: Store) -> None:
    many = tire_runs.real_time(store, threads=24, steps=400, slow={50: 40 * MS})

    drawn = TirePresentation().figures([many], [""], "m")

    panels = {panel.id: panel for one in drawn for panel in one.panels}
    assert {"m-blocks-longest-0", "m-blocks-typical-0", "m-over-time-0", "m-shares-0"} <= set(panels)
    blocks = panels["m-blocks-longest-0"].chart.specification(PAGE)
    assert sum(map(len, blocks["datasets"].values())) < 2_500


@pytest.mark.slow
def test_a_figure_of_the_blocks_is_drawn_for_paper(troubled: StoredRun) -> None:
    seen = evidence.gather([troubled])

    specification, _ = figure.draw_kind(seen, "blocks-longest")

    assert b"<svg" in figure.encode(specification, "svg")
    assert '"params"' not in json.dumps(specification)
    assert {"blocks-typical", "blocks-first-missed", "over-time", "shares"} <= set(figure.kinds(seen))


@pytest.mark.slow
def test_the_blocks_can_be_zoomed_moved_and_shown_whole_again(
    browser: Browser, troubled: StoredRun, tmp_path: Path
) -> None:
    path = document_page.write(
        report.document([troubled], report.BesideRuns(judge_runs([troubled]))), tmp_path / "tire.html"
    )
    opened = new_page(browser, (1366, 900))
    errors: list[str] = []
    opened.on("console", lambda said: errors.append(said.text) if said.type in ("error", "warning") else None)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.goto(path.as_uri())
    opened.wait_for_function("document.documentElement.dataset.charts === 'drawn'")
    shown_in = opened.locator("figure", has_text="What each thread did")
    chart = shown_in.locator(".chart").first

    whole = ticks(chart)
    shown_in.get_by_label("zoom in").first.click()
    zoomed = settled(chart, whole)
    shown_in.get_by_label("later").first.click()
    moved = settled(chart, zoomed)
    shown_in.get_by_label("show the whole again").first.click()
    again = settled(chart, moved)
    box = chart.bounding_box()
    assert box is not None
    opened.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    opened.keyboard.down("Control")
    opened.mouse.wheel(0, -300)
    opened.keyboard.up("Control")
    wheeled = settled(chart, again)
    opened.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert settled(chart, wheeled) == again == whole

    assert max(zoomed) - min(zoomed) < max(whole) - min(whole)
    assert min(moved) > min(zoomed)
    assert errors == []
    assert "double-click" in shown_in.inner_text()
    opened.close()


def ticks(chart: Locator) -> list[float]:
    """The numbers at the axis of time."""
    labels = chart.locator(".role-axis-label text").all_text_contents()
    return sorted(float(one.replace("\u2212", "-")) for one in labels if "thread" not in one)


def settled(chart: Locator, before: list[float]) -> list[float]:
    """The axis as soon as it is another than before."""
    for _ in range(100):
        if ticks(chart) != before:
            break
        chart.page.wait_for_timeout(20)
    chart.page.wait_for_timeout(100)
    return ticks(chart)
