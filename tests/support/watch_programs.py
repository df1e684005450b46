"""Programs for `tauto watch`, built when a test wants them."""

import shutil
import subprocess
from pathlib import Path

from real import skip_or_fail
from where import ROOT

HEADERS = ROOT / "src" / "tautochrone" / "step"
PROGRAM = ROOT / "tests" / "data" / "watch_program.c"
OUTSIDE = ROOT / "tests" / "data" / "outside_program.c"
EXAMPLES = ROOT / "examples" / "watch"

_COMPILERS = {
    ".c": ["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{HEADERS}"],
    ".cpp": ["c++", "-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{HEADERS}"],
    ".rs": ["rustc", "-O", "-Dwarnings"],
}


def program_of(source: Path, folder: Path, *words: str) -> list[str]:
    """Return the command that starts the program of a source file; building stops at a warning.

    Args:
        words: for the compiler, behind its own.
    """
    if source.suffix == ".py":
        for one in (source, HEADERS / "tautochrone_loop.py"):
            shutil.copy(one, folder)
        return ["python3", str(folder / source.name)]
    compiler = _COMPILERS[source.suffix]
    if shutil.which(compiler[0]) is None:
        skip_or_fail(f"needs {compiler[0]}, to build the program that is watched")
    if source.suffix == ".rs":  # its modules lie beside it
        shutil.copy(HEADERS / "tautochrone_loop.rs", folder)
        source = Path(shutil.copy(source, folder))
    program = folder / source.stem
    subprocess.run([*compiler, *words, "-o", str(program), str(source)], check=True)
    return [str(program)]
