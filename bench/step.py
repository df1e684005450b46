"""What the harness of `step` costs: in a step, of a library and of an FMU, before it, and in CPU time."""

import random
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from peers import PRIORITY
from tautochrone.base.stream import FOOTER, HEADER, ROWS, FrameReader, json_payload, read_file, rows
from tautochrone.run.records import Footer, Header
from tautochrone.target.local import find_probe

_NOTHING = "int nothing(void) { return 0; }\n"
_GOAL_NS = 200
_EMPTY_FMU = """#include <stddef.h>
static int instance;
void *fmi2Instantiate(void) { return &instance; }
int fmi2SetupExperiment(void) { return 0; }
int fmi2EnterInitializationMode(void) { return 0; }
int fmi2ExitInitializationMode(void) { return 0; }
int fmi2GetReal(void *c, const unsigned r[], size_t n, double v[]) { v[0] = 1; return 0; }
int fmi2SetReal(void *c, const unsigned r[], size_t n, const double v[]) { return 0; }
int fmi2DoStep(void *c, double t, double h, int f) { return 0; }
int fmi2GetRealStatus(void) { return 3; }
int fmi2GetBooleanStatus(void) { return 3; }
int fmi2Terminate(void) { return 0; }
void fmi2FreeInstance(void *c) { }
"""
_DESCRIPTION = """fmi\t2
library\t{}
instance\tempty
token\tempty
resources\tfile:///
can\tvary
input\tReal\t0\tu\t\t0
output\tReal\t1\ty
"""


def harness_cost(cpu: int, home: int, seconds: float, rounds: int) -> None:
    """Print medians of a step that does nothing, interleaved with `cyclic`, which does nothing either."""
    if shutil.which("cc") is None:
        print("\nThe harness of a step: needs a C compiler")
        return
    print("\nA step that does nothing, every 1 ms")
    within, before, more, of_fmu = [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        library, empty = _built(Path(folder), "nothing", _NOTHING), _built(Path(folder), "empty", _EMPTY_FMU)
        (Path(folder) / "description").write_text(_DESCRIPTION.format(empty))
        common = [
            "--cpus", str(cpu), "--priority", str(PRIORITY), "--period", "1ms", "--housekeeping", str(home),
            "--duration", f"{round(seconds * 1000)}ms",
        ]  # fmt: skip
        kinds = {
            "cyclic": ["cyclic"],
            "step": ["step", "--code", f"{library}:nothing"],
            "fmu": ["step", "--code", "empty.fmu", "--unpacked", folder],
        }
        shuffled = random.Random(rounds)
        for _ in range(rounds):
            found = {
                name: _measure(Path(folder) / "stream", [*words, *common])
                for name, words in shuffled.sample(list(kinds.items()), len(kinds))
            }
            of_step, used_ns = found["step"]
            within.append(float(np.median(of_step["end_ns"] - of_step["begin_ns"])))
            fmu, _ = found["fmu"]
            of_fmu.append(float(np.median(fmu["end_ns"] - fmu["begin_ns"])))
            before.append(float(np.median(of_step["begin_ns"] - of_step["wake_ns"])))
            more.append(used_ns - found["cyclic"][1])
    goal = f"goal: below {_GOAL_NS} ns"
    print(f"  within the step, between its two time stamps: {statistics.median(within):.0f} ns ({goal})")
    empty_ns, plain_ns = statistics.median(of_fmu), statistics.median(within)
    ratio, added_ns = empty_ns / plain_ns, empty_ns - plain_ns
    print(f"  of an empty FMU, with an input and an output: {empty_ns:.0f} ns, {ratio:.2f} times that")
    print(f"  what setting, doing the step and getting add: {added_ns:.0f} ns ({goal})")
    print(f"  from the wake-up to the step, while counters are read: {statistics.median(before):.0f} ns")
    print(f"  CPU time of a release beyond that of cyclic: {statistics.median(more):.0f} ns")


def _built(folder: Path, name: str, source: str) -> Path:
    (written := folder / f"{name}.c").write_text(source)
    library = folder / f"{name}.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(written)], check=True)
    return library


def _measure(out: Path, words: list[str]) -> tuple[np.ndarray, float]:
    """Return the rows, and the CPU time of the measuring thread for each."""
    out.unlink(missing_ok=True)
    subprocess.run([str(find_probe()), *words, "--out", str(out)], check=True)
    header, footer, parts = Header(), Footer(), []
    for frame in read_file(out, FrameReader()):
        if frame.type == HEADER:
            header = Header.of(json_payload(frame))
        elif frame.type == ROWS:
            parts.append(rows(frame, header.tables[frame.table].dtype))
        elif frame.type == FOOTER:
            footer = Footer.of(json_payload(frame))
    (book,) = footer.books or ()
    return np.concatenate(parts), (book.cpu_time_ns or 0) / max(1, book.completed or 0)
