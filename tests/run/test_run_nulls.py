"""Rows that lack a value: other values are kept, measures leave the row out, and nothing is made up."""

from pathlib import Path

import numpy as np
import pytest

from streams import EVENT, FOOTER, HEADER, ROWS, frame, json_frame
from tautochrone.answer.evidence import kept_tables
from tautochrone.base.errors import DamagedError
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

NONE = -(2**63)
ROWS_SEEN = [[1_000, 1_009, 1_004], [2_000, 2_500, NONE], [3_000, 3_008, 3_003], [4_000, 4_007, NONE]]


def stream(rows: list[list[int]], null_of: str = "handler_ns") -> bytes:
    columns = [
        {"name": name, "type": "i64", "unit": "ns", **({"null": NONE} if name == null_of else {})}
        for name in ("scheduled_ns", "wake_ns", "handler_ns")
    ]
    measures = [
        {"name": name, "table": "samples", "from": start, "to": end}
        for name, start, end in (
            ("later_ns", "scheduled_ns", "wake_ns"),
            ("earlier_ns", "scheduled_ns", "handler_ns"),
            ("between_ns", "handler_ns", "wake_ns"),
        )
    ]
    header = {
        "stream": 1,
        "experiment": "interrupt",
        "schedule": {"period_ns": 1_000},
        "tables": [{"name": "samples", "columns": columns}],
        "measures": measures,
        "sources": [{"source": 0, "name": "task"}],
    }
    book = {"source": 0, "released": len(rows), "completed": len(rows), "recorded": len(rows), "missed": 0}
    return b"".join(
        (
            json_frame(HEADER, 0, header),
            json_frame(EVENT, 1, {"event": "started", "time_ns": 1, "sources": 1}),
            frame(ROWS, 2, np.array(rows, "<i8").tobytes()),
            json_frame(FOOTER, 3, {"ended": "complete", "books": [book]}),
        )
    )


def stored(store: Path, rows: list[list[int]]) -> StoredRun:
    with Store(store).create("interrupt", "t", {}, {}) as writer:
        writer.append(stream(rows))
        return writer.seal()


def test_a_measure_leaves_out_the_rows_that_lack_it_and_no_other(tmp_path: Path) -> None:
    run = stored(tmp_path, ROWS_SEEN)
    assert run.manifest.state == "sealed"
    assert run.values("later_ns").tolist() == [9, 500, 8, 7]
    assert run.values("earlier_ns").tolist() == [4, 3]
    assert run.values("between_ns").tolist() == [5, 5]
    assert [run.count(one) for one in ("later_ns", "earlier_ns", "between_ns")] == [4, 2, 2]
    assert run.instants(0, "earlier_ns").tolist() == [1_000, 3_000]
    assert run.instants(0, "between_ns").tolist() == [1_004, 3_003]
    assert [part.tolist() for part in next(run.stretches("earlier_ns"))[1:]] == [[1_000, 3_000], [4, 3]]
    assert run.column("handler_ns", 0).tolist() == [row[2] for row in ROWS_SEEN]
    (extreme,) = [one for one in run.manifest.extremes if one.measure == "earlier_ns"]
    assert (extreme.minimum_ns, extreme.maximum_ns, extreme.maximum_at_ns) == (3, 4, 1_000)


@pytest.mark.parametrize("counted_unseen", [{"unseen": 1}, {}], ids=["counted", "not counted"])
def test_kept_rows_and_maxima_of_a_histogram_leave_unknown_what_is(
    tmp_path: Path, counted_unseen: dict[str, int]
) -> None:
    """The first row has no handler, and is the first maximum of what it has; some probes count such rows."""
    rows = [[1_000, 1_009, NONE], [2_000, 2_008, 2_003], [3_000, 3_010, 3_002]]
    named = ("scheduled_ns", "wake_ns", "handler_ns")
    columns = [
        {"name": one, "type": "i64", "unit": "ns", **({"null": NONE} if one == "handler_ns" else {})}
        for one in named
    ]
    bins = [{"name": one, "type": "i64", "unit": "ns"} for one in ("measure", "low_ns", "high_ns")]
    tables = [{"name": "histogram", "columns": [*bins, {"name": "count", "type": "u64", "unit": ""}]}]
    tables += [{"name": one, "columns": columns} for one in ("extremes", "kept")]
    measures = [
        {"name": name, "table": "extremes", "from": "scheduled_ns", "to": end}
        for name, end in (("later_ns", "wake_ns"), ("earlier_ns", "handler_ns"))
    ]
    header = {
        "stream": 1,
        "experiment": "interrupt",
        "schedule": {"period_ns": 1_000},
        "parameters": {"keep_above_ns": 1},
        "tables": tables,
        "measures": measures,
        "sources": [{"source": 0, "name": "task"}],
    }
    counted = [[0, 8, 8, 1], [0, 9, 9, 1], [0, 10, 10, 1], [1, 2, 2, 1], [1, 3, 3, 1]]
    book = {"source": 0, "released": 3, "completed": 3, "recorded": 3, "missed": 0, "kept": 3}
    book |= counted_unseen
    frames = [json_frame(HEADER, 0, header)]
    for at, (table, content) in enumerate(((1, rows), (2, rows), (0, counted)), 1):
        frames.append(frame(ROWS, at, np.array(content, "<i8").tobytes(), table=table))
    frames.append(json_frame(FOOTER, 4, {"ended": "complete", "books": [book]}))
    with Store(tmp_path).create("interrupt", "t", {}, {}) as writer:
        writer.append(b"".join(frames))
        run = writer.seal()
    assert run.manifest.state == "sealed"
    assert [part.tolist() for part in run.running_maxima(0, "earlier_ns")] == [[2_000], [3]]
    assert run.kept("earlier_ns")[0].tolist() == [NONE, 3, 2]
    (table,) = kept_tables([run], ["t"])
    assert [cell.text for cell in (row[-1] for row in table.rows)] == ["0.002", "N/A", "0.003"]


def test_what_no_row_has_is_no_value(tmp_path: Path) -> None:
    run = stored(tmp_path, [[1_000, 1_009, NONE], [2_000, 2_009, NONE]])
    assert run.count("earlier_ns") == 0
    assert run.values("earlier_ns").tolist() == []
    assert run.values("later_ns").tolist() == [9, 9]


def test_an_exported_row_has_nothing_where_a_value_lacks(tmp_path: Path) -> None:
    run = stored(tmp_path, ROWS_SEEN)
    batch = next(run.batches())
    assert batch.column("handler_ns").to_pylist() == [1_004, None, 3_003, None]
    assert batch.column("earlier_ns").to_pylist() == [4, None, 3, None]
    assert batch.column("later_ns").null_count == 0


def test_the_measure_that_an_experiment_is_about_lacks_none(tmp_path: Path) -> None:
    with Store(tmp_path).create("interrupt", "t", {}, {}) as writer:
        writer.append(stream(ROWS_SEEN, null_of="wake_ns"))
        with pytest.raises(DamagedError, match="may lack values"):
            writer.seal()
