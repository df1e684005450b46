"""README and what it leads to: commands work, numbers are the program's, pictures and pages are there."""

import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from real import skip_or_fail, tauto
from tautochrone.papers.studies import NAMES, read
from where import ROOT

README = (ROOT / "README.md").read_text()
INSTALL = (ROOT / "docs" / "install.md").read_text()
PAPERS = (ROOT / "docs" / "papers.md").read_text()
LONGEST_LINES = 150


def test_readme_is_read_in_a_few_minutes() -> None:
    assert len(README.splitlines()) <= LONGEST_LINES


def test_every_page_and_picture_of_readme_is_there() -> None:
    linked = re.findall(r"\]\((?!https?:|#)([^)#]+)", README)
    assert linked
    assert [one for one in linked if not (ROOT / one).exists()] == []


@pytest.mark.slow
def test_every_verb_and_option_of_readme_is_one_of_the_program() -> None:
    said = "\n".join(re.findall(r"^\$ (tauto.*?)(?:  #.*)?$", README, re.MULTILINE))
    commands = [line.split("  #")[0].split() for line in said.splitlines()]
    for verb, options in {one[1]: one[2:] for one in commands if len(one) > 1}.items():
        shown = tauto(verb, "--help", store=Path("/nonexistent")).stdout
        assert [one for one in options if one.startswith("--") and one not in shown] == []


def test_the_recording_shows_what_readme_says_of_it() -> None:
    """The last picture is what stands where animations are unwanted."""
    drawing = ET.fromstring((ROOT / "docs" / "recording.svg").read_text())
    words = " ".join("".join(one.itertext()) for one in drawing.iter("{http://www.w3.org/2000/svg}text"))
    assert "Holds: a 1 kHz loop" in words
    assert "Does not hold: a 100 kHz loop" in words


def test_the_citation_has_what_its_format_asks_for() -> None:
    """Of the Citation File Format 1.2.0: keys at the top, each once, and at least one author with a name."""
    text = (ROOT / "CITATION.cff").read_text()
    keys = re.findall(r"^([a-z-]+):", text, re.MULTILINE)
    assert {"cff-version", "message", "title", "authors"} <= set(keys)
    assert len(keys) == len(set(keys))
    assert re.search(r"^cff-version: 1\.2\.0$", text, re.MULTILINE)
    assert re.search(r"^authors:\n  - name: \S", text, re.MULTILINE)


def test_the_command_that_grants_permission_grants_it_to_each_program(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        skip_or_fail("needs root to give files capabilities")
    (block,) = re.findall(r"^```\n(for program in.*?)^```", INSTALL, re.DOTALL | re.MULTILINE)
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
        for name, count in re.findall(r"<summary><b>(\w+)</b>: (\d+) claims, \d+ answers", PAPERS)
    }
    assert len(counted) >= 5  # those whose answers on both kernels are on the page
    assert counted == {name: sum(not one.besides for one in read(name).claims) for name in counted}


@pytest.mark.slow
def test_the_command_counts_the_same_claims() -> None:
    listed = tauto("reproduce", store=Path("/nonexistent")).stdout
    for name in NAMES:
        own = [one for one in read(name).claims if not one.besides]
        (line,) = [one for one in listed.splitlines() if one.startswith(f"{name} ")]
        assert f", {len(own)} claims" in line
