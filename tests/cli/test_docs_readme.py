"""What README tells a reader to type works, and the numbers that it gives are those of the program."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from real import skip_or_fail, tauto
from tautochrone.papers.document import read
from tautochrone.papers.reproducing import NAMES
from where import ROOT

README = (ROOT / "README.md").read_text()


def test_the_command_that_grants_permission_grants_it_to_each_program(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        skip_or_fail("needs root to give files capabilities")
    (block,) = re.findall(r"^```\n(for program in.*?)^```", README, re.DOTALL | re.MULTILINE)
    programs = [tmp_path / ".venv" / "bin" / name for name in ("tauto-probe", "tauto-middleware-tcp")]
    programs[0].parent.mkdir(parents=True)
    for program in programs:
        shutil.copy("/bin/true", program)
    (tmp_path / "sudo").write_text('#!/bin/sh\nexec "$@"\n')
    (tmp_path / "sudo").chmod(0o755)
    path = f"{tmp_path}:/usr/sbin:/sbin:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-ec", block],
        cwd=tmp_path,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if "not supported" in done.stderr:
        skip_or_fail(f"files have no capabilities here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    assert all(b"\x01" in os.getxattr(program, "security.capability")[:4] for program in programs)


def test_as_many_claims_are_counted_as_each_paper_has() -> None:
    """Questions of ours, which a paper does not answer, are no claims of it."""
    counted = {
        name: int(count)
        for name, count in re.findall(r"<summary><b>(\w+)</b>: (\d+) claims, \d+ answers", README)
    }
    assert counted == {name: sum(not one.besides for one in read(name).claims) for name in NAMES}


def test_the_command_counts_the_same_claims() -> None:
    listed = tauto("reproduce", store=Path("/nonexistent")).stdout
    for name in NAMES:
        own = [one for one in read(name).claims if not one.besides]
        (line,) = [one for one in listed.splitlines() if one.startswith(f"{name} ")]
        assert f", {len(own)} claims" in line
