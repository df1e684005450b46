"""Where in the source a place in the user's library is: by its debug information, where it has some."""

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.experiments.step_code import CodeFile, read_code
from tautochrone.run.manifest import Manifest

_PATIENCE_S = 10.0


def lines_of(manifest: Manifest, addresses: Iterable[int]) -> dict[int, str]:
    """Return ``pendulum.c:57`` for addresses in the library of a run.

    None of a library that is gone or another one now, of one without debug information, and on a machine
    without addr2line.
    """
    code, wanted = manifest.conditions.told(CodeFile.CONDITION, CodeFile), sorted(set(addresses))
    program = shutil.which("addr2line")
    if code is None or program is None or not wanted or not _is_the_same(code):
        return {}
    command = [program, "-e", code.path, *(f"{one:#x}" for one in wanted)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return {}
    said = (Path(line.partition(" (")[0]).name for line in done.stdout.splitlines())
    return {
        at: one for at, one in zip(wanted, said, strict=False) if "?" not in one and not one.endswith(":0")
    }


def _is_the_same(code: CodeFile) -> bool:
    try:
        return read_code(code.named, Path("/")).sha256 == code.sha256
    except UsageError:
        return False
