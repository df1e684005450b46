"""Code for `tauto step`, built when a test wants it."""

import os
import shutil
import subprocess
from pathlib import Path

from real import skip_or_fail
from tautochrone.target.local import find_probe
from where import ROOT

HEADER = ROOT / "src" / "tautochrone" / "step" / "tautochrone_step.h"
MODELS = ROOT / "tests" / "data" / "step_models.c"


def step_program() -> Path:
    """Return tauto-step, whose peer answers what a step sends."""
    folder = os.environ.get("TAUTO_STEP")
    return (Path(folder) if folder else find_probe().parent) / "tauto-step"


def built(source: Path, folder: Path, *options: str) -> Path:
    """Return the library of a source file in C or C++; it stops at a warning."""
    compiler = "c++" if source.suffix == ".cpp" else "cc"
    if shutil.which(compiler) is None:
        skip_or_fail(f"needs {compiler}, to build the code that is run")
    library = folder / f"{source.stem}.so"
    command = [
        compiler,
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-shared",
        "-fPIC",
        f"-I{HEADER.parent}",
        *options,
    ]
    subprocess.run([*command, "-o", str(library), str(source)], check=True)
    return library
