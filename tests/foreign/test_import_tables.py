"""Tables of latencies become runs: column, unit, period and order are those that are named."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from imported import MILLISECOND, brought, written
from tautochrone.base.errors import TautoError
from tautochrone.judge.reduced import reduce_run
from tautochrone.judge.tail.source import SourceTail
from tautochrone.run.store import Store


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_table_with_a_period_keeps_its_order(store: Store, tmp_path: Path, kind: str) -> None:
    latencies = [12.5, 3.25, 980.0, 7.0]
    path = tmp_path / f"log.{kind}"
    if kind == "csv":
        path.write_text("cpu,latency\n" + "".join(f"0,{one}\n" for one in latencies))
    else:
        pq.write_table(pa.table({"cpu": [0] * 4, "latency": latencies}), path)
    run = brought(store, path, MILLISECOND, column="latency", unit_ns=1_000)
    assert run.values().tolist() == [12_500, 3_250, 980_000, 7_000]
    assert run.instants(0).tolist() == [0, MILLISECOND, 2 * MILLISECOND, 3 * MILLISECOND]
    assert run.manifest.books[0].missed == 0


def test_a_table_without_a_period_has_values_and_no_order(store: Store, tmp_path: Path) -> None:
    path = written(tmp_path, "log.csv", "latency_us\n5\n3\n5\n")
    run = brought(store, path)
    low, high, count = run.histogram()
    assert (low.tolist(), high.tolist(), count.tolist()) == ([3_000, 5_000], [3_000, 5_000], [1, 2])


@pytest.mark.slow
def test_a_tail_on_steps_of_a_microsecond_is_refused_and_that_of_a_fine_clock_is_not(
    store: Store, tmp_path: Path
) -> None:
    latencies = 5_000 + np.random.default_rng(1).exponential(3_000, 20_000)
    coarse = written(
        tmp_path, "coarse.csv", "latency_us\n" + "\n".join(map(str, (latencies // 1_000).astype(int)))
    )
    fine = written(tmp_path, "fine.csv", "latency_ns\n" + "\n".join(map(str, latencies.astype(int))))
    refused, told = (
        SourceTail(reduce_run(brought(store, path, MILLISECOND))[0]).refusal for path in (coarse, fine)
    )
    assert refused is not None
    assert refused.refuses == "resolution"
    assert told is None


def test_a_column_tells_cpus_apart(store: Store, tmp_path: Path) -> None:
    path = written(tmp_path, "log.csv", "cpu, latency_ns\n0, 5\n1, 6\n0, 7\n")
    run = brought(store, path, MILLISECOND, column="latency_ns", source="cpu")
    assert [run.values(source=number).tolist() for number in run.sources] == [[5, 7], [6]]


def test_fractions_of_a_nanosecond_never_shorten_a_latency(store: Store, tmp_path: Path) -> None:
    path = written(tmp_path, "log.csv", "latency_ms\n0.001\n0.0010001\n0.7\n0.7000004\n")
    assert brought(store, path, MILLISECOND).values().tolist() == [1_000, 1_001, 700_000, 700_001]


def test_single_precision_makes_no_latency_larger(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"latency_us": pa.array([12.345, 700.1], pa.float32())}), path)
    assert brought(store, path, MILLISECOND).values().tolist() == [12_345, 700_100]


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("a,b\n1,2\n", {}, "several columns"),
        ("a,b\n1,2\n", {"column": "c"}, "no such column"),
        ("a,b\n1,2\n", {"column": "a"}, "unit"),
        ("a, a\n1,2\n", {"column": "a"}, "several columns of that name"),
        ("a_us\nx\n", {}, "not numbers"),
        ("a_us,b\n,1\n2,3\n", {"column": "a_us"}, "lacks 1 of 2"),
        ("a_s\n1e300\n", {}, "can't be latencies"),
        ("a_us\n", {}, "no row|not numbers"),
    ],
)
def test_a_table_that_does_not_tell_enough_is_refused(
    store: Store, tmp_path: Path, text: str, options: dict[str, object], said: str
) -> None:
    with pytest.raises(TautoError, match=said):
        brought(store, written(tmp_path, "log.csv", text), **options)
    assert store.folders() == []
