"""What the two marks of a loop cost a program, and what it costs to be watched from outside."""

import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from tautochrone.target.local import find_probe

_ROOT = Path(__file__).parent
_STEPS = 10_000
"""Of each turn: fewer than the ring has rows."""
_GOAL_NS = 200
_CALLS = 1000
_SDT = ("/usr/include/sys/sdt.h", "/usr/include/x86_64-linux-gnu/sys/sdt.h")
_OUTSIDE = ("a sleep that is refused", "another system call", "a pair of probes")


def cost_of_marks() -> None:
    """Print medians over all turns."""
    if shutil.which("cc") is None:
        print("\nThe marks of a loop: needs a C compiler")
        return
    print(f"\nTAUTO_BEGIN and TAUTO_END, {_STEPS:,} times in a row")
    with tempfile.TemporaryDirectory() as folder:
        program, stream = f"{folder}/watch", f"{folder}/stream"
        header = _ROOT.parent / "src" / "tautochrone" / "step"
        subprocess.run(["cc", "-O2", f"-I{header}", "-o", program, str(_ROOT / "watch.c")], check=True)
        alone = [program, str(_STEPS)]
        watched = [str(find_probe()), "watch", "--program", " ".join(alone), "--out", stream]
        for words, goal in ((alone, ""), (watched, f" (goal: below {_GOAL_NS} ns)")):
            said = subprocess.run(words, check=True, capture_output=True, text=True).stderr
            turns = [tuple(map(float, line.split())) for line in said.splitlines()]
            marks, clock = (statistics.median(column) for column in zip(*turns, strict=True))
            where = "watched" if goal else "by itself"
            print(f"  {where}: a pair {marks:.1f} ns{goal}, two readings {clock:.1f} ns, {marks / clock:.2f}")


def cost_outside() -> None:
    """Print what calls and probes take: of a program by itself, and watched by its sleeps or its probes."""
    if shutil.which("cc") is None or not any(map(Path.exists, map(Path, _SDT))):
        print("\nWatched from outside: needs a C compiler and sys/sdt.h")
        return
    print(f"\nWatched from outside, {_CALLS:,} times in a row")
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/outside"
        subprocess.run(["cc", "-O2", "-o", program, str(_ROOT / "watch_outside.c")], check=True)
        alone = [program, str(_CALLS)]
        probe = [str(find_probe()), "watch", "--program", " ".join(alone), "--out", "/dev/null", "--by"]
        for where, words in (
            ("by itself", alone),
            ("watched by its sleeps", [*probe, "sleep"]),
            ("watched by its probes", [*probe, "bench:begin:end"]),
        ):
            said = subprocess.run(words, check=True, capture_output=True, text=True).stderr
            turns = [tuple(map(float, line.split())) for line in said.splitlines()]
            for what, column in zip(_OUTSIDE, zip(*turns, strict=True), strict=True):
                print(f"  {where}: {what} {statistics.median(column):.0f} ns")
