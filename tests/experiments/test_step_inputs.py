"""What goes into the steps of the user's code: constants, and values over time, held until the next one."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tautochrone.base.errors import UsageError
from tautochrone.experiments import EXPERIMENTS
from tautochrone.experiments.step_files import made_for_run
from tautochrone.experiments.step_inputs import TimedInputs, constants_of, read_inputs, table_of


def test_constants_have_names_and_values() -> None:
    assert constants_of("kp=2, ki = 0.5") == {"kp": "2", "ki": "0.5"}
    assert constants_of("x[1,2]=3,a==b=4") == {"x[1,2]": "3", "a==b": "4"}
    assert constants_of("") == {}


@pytest.mark.parametrize("said", ["kp", "=2", "kp=", "kp=1,ki", "kp=1,kp=2"])
def test_what_is_no_constant_is_refused(said: str) -> None:
    with pytest.raises(UsageError, match="--input"):
        constants_of(said)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "no column time_s"),
        ("speed\n1\n", "no column time_s"),
        ("time_s,u\n", "no values"),
        ("time_s,u,u\n0,1,2\n", "a name twice"),
        ("time_s\n0\n", "not 1 to 64 inputs"),
        ("time_s,u\n0,1\n0.1\n", "line 3 has 1 values instead of 2"),
        ("time_s,u\n0,1\n\n0.1,fast\n", "line 4: 'fast' is no number"),
        ("time_s,u\n0,1\n0,2\n", "line 3: its time is not later"),
        ("time_s,u\n0,nan\n", "line 2: a value is not finite"),
        ("time_s,u\n1e300,1\n", "the time is too large"),
    ],
)
def test_a_table_that_is_none_is_refused_with_its_line(tmp_path: Path, content: str, why: str) -> None:
    (tmp_path / "in.csv").write_text(content)
    with pytest.raises(UsageError) as refused:
        read_inputs(tmp_path / "in.csv")
    assert why in str(refused.value)


def test_what_can_not_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes(b"time_s,u\n0,\xff\n")
    for path, why in (
        (tmp_path / "none.csv", "No such file"),
        (tmp_path, "a folder"),
        (tmp_path / "in.csv", "no table"),
    ):
        with pytest.raises(UsageError, match=why):
            read_inputs(path)


def values_in(table: bytes) -> tuple[list[str], np.ndarray]:
    """Names and rows, as tauto-step reads them."""
    head, *lines = table.split(b"\n")
    columns, rows = (int(word) for word in head.split()[2:])
    names = [one.decode() for one in lines[:columns]]
    begin = len(b"\n".join((head, *lines[:columns], b"", b"")))
    begin += -begin % 8
    return names, np.frombuffer(table[begin:]).reshape(rows, columns)


@pytest.mark.slow
@given(
    times_ns=st.lists(st.integers(0, 50_000_000), min_size=1, max_size=20, unique=True).map(sorted),
    period_ns=st.integers(100_000, 5_000_000),
    steps=st.integers(1, 60),
    constant=st.floats(allow_nan=False),
)
def test_each_value_holds_until_the_next(
    times_ns: list[int], period_ns: int, steps: int, constant: float
) -> None:
    own = np.arange(len(times_ns), dtype=float)
    timed = TimedInputs(("u",), np.array(times_ns), own[:, None], "")
    names, rows = values_in(table_of({"kp": constant}, timed, period_ns, steps))
    assert names == ["u", "kp"]
    assert len(rows) <= steps
    for k in range(steps):
        row = rows[min(k, len(rows) - 1)]
        held = [at for at, time_ns in enumerate(times_ns) if time_ns <= k * period_ns]
        assert row[0] == (held[-1] if held else 0)
        assert row[1] == constant


def test_too_much_is_refused(tmp_path: Path) -> None:
    timed = TimedInputs(("u",), np.array([0, 3_600_000_000_000]), np.zeros((2, 1)), "")
    with pytest.raises(UsageError, match="more than 256 MiB"):
        table_of({}, timed, 10_000, 400_000_000)
    with pytest.raises(UsageError, match="both give 'u'"):
        table_of({"u": 1}, timed, 1_000_000, 10)
    with pytest.raises(UsageError, match="65 inputs"):
        table_of({f"a{k}": 1 for k in range(64)}, timed, 1_000_000, 10)


@pytest.mark.parametrize(
    ("said", "why"), [("fast", "no number"), ("nan", "not finite"), ("1e999", "not finite")]
)
def test_a_constant_is_a_finite_number(tmp_path: Path, said: str, why: str) -> None:
    (tmp_path / "code.so").touch()
    asked = {"code": "code.so:NAME", "input": f"kp={said}", "count": 10}
    with pytest.raises(UsageError, match=f"--input kp={said}: it is {why}"):
        EXPERIMENTS["step"].prepare(asked, tmp_path)


def test_a_period_of_nothing_is_refused_where_inputs_are_prepared(tmp_path: Path) -> None:
    (tmp_path / "code.so").touch()
    asked = {"code": "code.so:NAME", "input": "kp=1", "period": "0"}
    with pytest.raises(UsageError, match="--period 0: steps without end"):
        EXPERIMENTS["step"].prepare(asked, tmp_path)


@pytest.mark.parametrize("duration", ["15.7ms", "16.3ms", "31.4ms"])
def test_the_last_step_of_a_duration_has_its_own_values(tmp_path: Path, duration: str) -> None:
    steps = int(duration.replace(".", "").removesuffix("ms"))
    lines = "".join(f"{k / 10_000:.4f},{k}\n" for k in range(steps))
    (tmp_path / "in.csv").write_text(f"time_s,u\n{lines}")
    asked = {
        "code": f"{tmp_path / 'code.so'}:NAME",
        "inputs": str(tmp_path / "in.csv"),
        "period": "100us",
        "duration": duration,
        "warmup": 0,
    }
    with made_for_run("step", EXPERIMENTS["step"].given(asked)) as made:
        _, rows = values_in(Path(str(made["inputs"])).read_bytes())
    assert rows[:, 0].tolist() == list(range(steps))
