"""A C library that answers otherwise: functions of our own before those of the real one."""

import os
import shutil
import subprocess
from pathlib import Path

from real import skip_or_fail
from tautochrone.target.local import find_probe


def environment_with(code: str, folder: Path) -> dict[str, str]:
    """The environment in which the probe calls the functions of ``code``, which is C."""
    compiler = shutil.which("cc")
    program = find_probe().read_bytes()
    if compiler is None:
        skip_or_fail("needs a C compiler")
    if b"__asan_init" in program or b"__tsan_init" in program:
        skip_or_fail("a sanitizer wants to be the first library")
    if b"ld-linux" not in program and b"ld-musl" not in program:
        skip_or_fail("a static probe takes no other library")
    source, library = folder / "otherwise.c", folder / "otherwise.so"
    source.write_text(code)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return os.environ | {"LD_PRELOAD": str(library)}
