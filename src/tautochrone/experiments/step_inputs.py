"""What goes into the steps of the user's code: constants, and a table over time, as people write them."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from tautochrone.base.errors import UsageError
from tautochrone.base.reading import read_bytes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MOST_SIGNALS = 64
_TIMES = ("time_s", "t", "time")
_MOST_FILE = 256 << 20
_MOST_TABLE = 256 << 20
_FORM = "Write --input NAME=VALUE."
_FORM_OF_FILE = (
    "Its first line has time_s and the names of inputs; each line after it has a time and their values."
)


class KeptInputs(Struct, frozen=True):
    """What a run keeps of its inputs.

    Attributes:
        constants: as they were given, by name.
        file: with values over time, and its content's digest; empty: there was none.
    """

    CONDITION: ClassVar[str] = "inputs"

    constants: dict[str, str]
    file: str = ""
    sha256: str = ""


@dataclass(frozen=True)
class TimedInputs:
    """Values over time; each holds until the next one.

    Attributes:
        names: of the inputs.
        times_ns: ascending, shape (n,).
        values: shape (n, inputs).
        digest: SHA-256 of the file.
    """

    names: tuple[str, ...]
    times_ns: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    digest: str


def constants_of(said: str) -> dict[str, str]:
    """Return the constants of ``kp=2, mode=1`` by name. A comma may be in a name: ``x[1,2]=3``.

    Raises:
        UsageError: a part is no constant, or one is given twice.
    """
    found: dict[str, str] = {}
    name = ""
    for part in filter(str.strip, said.split(",")):
        name += part
        if "=" not in name:
            name += ","
            continue
        key, _, value = name.rpartition("=")
        if not key.strip() or not value.strip():
            raise UsageError(f"--input '{name.strip()}' is no input with its value", _FORM)
        if key.strip() in found:
            raise UsageError(f"--input gives '{key.strip()}' twice", "Give each input once.")
        found[key.strip()], name = value.strip(), ""
    if name:
        raise UsageError(f"--input '{name.strip(' ,')}' is no input with its value", _FORM)
    return found


def read_inputs(path: Path) -> TimedInputs:
    """Read a CSV file with a column of times in seconds and one for each input.

    Raises:
        UsageError: it can't be read; the message says in which line.
    """
    import numpy as np

    try:
        content = read_bytes(path, _MOST_FILE)
        lines = csv.reader(content.decode("utf-8-sig").splitlines())
        heads = [one.strip() for one in next(lines, [])]
        rows, numbers = [], []
        for row in lines:
            if row:
                rows.append(row)
                numbers.append(lines.line_num)
    except OSError as error:
        raise UsageError(f"--inputs {path} can't be read: {error.strerror}", _FORM_OF_FILE) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"--inputs {path} is no table of text: {error}", _FORM_OF_FILE) from error
    if not heads or heads[0] not in _TIMES or not all(heads) or not rows:
        raise UsageError(f"--inputs {path} has no column time_s, no inputs, or no values", _FORM_OF_FILE)
    if len(set(heads)) < len(heads) or not 2 <= len(heads) <= MOST_SIGNALS + 1:
        raise UsageError(
            f"--inputs {path} has a name twice, or not 1 to {MOST_SIGNALS} inputs", _FORM_OF_FILE
        )
    values = np.empty((len(rows), len(heads)))
    for at, (row, number) in enumerate(zip(rows, numbers, strict=True)):
        values[at] = _numbers(row, len(heads), f"--inputs {path}, line {number}")
        if at and values[at, 0] <= values[at - 1, 0]:
            raise UsageError(f"--inputs {path}, line {number}: its time is not later than the one before")
    times_ns = np.rint(values[:, 0] * 1e9).astype(np.int64)
    return TimedInputs(tuple(heads[1:]), times_ns, values[:, 1:], sha256(content).hexdigest())


def _numbers(row: list[str], count: int, where: str) -> list[float]:
    if len(row) != count:
        raise UsageError(f"{where} has {len(row)} values instead of {count}", _FORM_OF_FILE)
    found = []
    for one in row:
        try:
            found.append(float(one))
        except ValueError as error:
            raise UsageError(f"{where}: '{one.strip()}' is no number", _FORM_OF_FILE) from error
    if not all(map(math.isfinite, found)) or abs(found[0]) > 1e9:
        raise UsageError(f"{where}: a value is not finite, or the time is too large", _FORM_OF_FILE)
    return found


def table_of(constants: Mapping[str, float], timed: TimedInputs | None, period_ns: int, steps: int) -> bytes:
    """Return the table that tauto-step reads: a row for each step, until the values stay as they are.

    Args:
        constants: by name.
        timed: values over time; None: there are none.
        period_ns: between two steps.
        steps: how many the run has at most.

    Raises:
        UsageError: an input is given twice, there are too many, or the table is too large.
    """
    import numpy as np

    over_time = timed.names if timed is not None else ()
    if twice := set(constants).intersection(over_time):
        raise UsageError(f"--input and --inputs both give '{min(twice)}'", "Give each input once.")
    names = (*over_time, *constants)
    if len(names) > MOST_SIGNALS:
        raise UsageError(f"{len(names)} inputs are given", f"At most {MOST_SIGNALS} have a place.")
    last_ns = int(timed.times_ns[-1]) if timed is not None else 0
    rows = max(1, min(steps, -(-last_ns // period_ns) + 1))
    if rows * len(names) * 8 > _MOST_TABLE:
        raise UsageError(
            f"--inputs: {rows:,} steps of {len(names)} inputs are more than {_MOST_TABLE >> 20} MiB",
            "Give the values of a shorter time, or fewer inputs; the last value of each is held.",
        )
    table = np.empty((rows, len(names)))
    if timed is not None:
        reached = np.searchsorted(timed.times_ns, np.arange(rows) * period_ns, side="right") - 1
        table[:, : len(over_time)] = timed.values[np.maximum(reached, 0)]
    table[:, len(over_time) :] = list(constants.values())
    head = "\n".join((f"tautochrone-inputs 1 {len(names)} {rows}", *names, "", "")).encode()
    return head + bytes(-len(head) % 8) + table.tobytes()
