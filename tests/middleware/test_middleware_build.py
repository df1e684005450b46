"""Building the middleware: with all libraries, with none, installed; and how what was built is weighed."""

import json
import os
import runpy
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from middleware_real import TRANSPORTS
from middleware_servers import needs
from real import skip_or_fail
from where import ROOT

SOCKETS = {"tcp", "udp", "unix"}
NOWHERE = {"PKG_CONFIG_LIBDIR": "/nonexistent"}
TOOLS = ("ar", "as", "bash", "cat", "cc", "gcc", "ld", "nm", "pkg-config", "python3", "ranlib", "sh", "strip")
LIBRARIES = {
    "libzmq.a": "libzmq3-dev",
    "libomniORB4.a": "libomniorb4-dev",
    "libddsc.so": "libddsc0debian",
}
SECTIONS = ("text", "rodata", "data", "bss")

weigh: dict[str, Any] = runpy.run_path(str(ROOT / "middleware" / "sizes" / "weigh"))
sizes: Callable[[Path], dict[str, int]] = weigh["sizes"]


# ---- What is built ------------------------------------------------------------


def tools(folder: Path, *more: str) -> dict[str, str]:
    """An environment in which only these programs are on the PATH."""
    folder.mkdir()
    for name in (*TOOLS, *more):
        found = shutil.which(name)
        if found is not None:
            (folder / name).symlink_to(found)
    for name in ("meson", "ninja"):
        (folder / name).symlink_to(Path(sys.prefix) / "bin" / name)
    return {"PATH": str(folder)}


def configure(build: Path, around: Mapping[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    meson = Path(sys.prefix) / "bin" / "meson"
    return subprocess.run(
        [meson, "setup", "-Dlab=false", "-Dprobe_tests=disabled", *options, build, ROOT],
        env={**os.environ, **around},
        capture_output=True,
        text=True,
        check=False,
    )


def configured(build: Path, around: Mapping[str, str], *options: str) -> set[str]:
    """The transports whose programs would be built; whatever else belongs to the project is there."""
    done = configure(build, around, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    targets = json.loads((build / "meson-info" / "intro-targets.json").read_text())
    programs = {one["name"] for one in targets if one["type"] == "executable"}
    assert "tauto-probe" in programs
    return {
        name.removeprefix("tauto-middleware-") for name in programs if name.startswith("tauto-middleware-")
    }


@pytest.mark.slow
def test_without_the_packages_the_rest_is_built(tmp_path: Path) -> None:
    """No library, no compiler of an IDL, no compiler of C++."""
    bare = tools(tmp_path / "bin")
    assert configured(tmp_path / "build", {**bare, **NOWHERE}) == SOCKETS


@pytest.mark.slow
def test_without_a_compiler_of_cpp_only_omniorb_is_left_out(tmp_path: Path) -> None:
    needs("omniorb")
    some = tools(tmp_path / "bin", "omniidl", "idlc")
    built = configured(tmp_path / "build", some)
    assert built >= SOCKETS
    assert "omniorb" not in built
    assert ("zeromq" in built) == (_version("libzmq") is not None)


@pytest.mark.slow
def test_a_build_that_is_to_have_all_of_them_fails_without_the_packages(tmp_path: Path) -> None:
    bare = tools(tmp_path / "bin")
    refused = configure(tmp_path / "build", {**bare, **NOWHERE}, "-Dmiddleware=all")
    assert refused.returncode != 0
    assert 'Dependency "libzmq" not found' in refused.stdout + refused.stderr


@pytest.mark.slow
@pytest.mark.long  # a wheel is built with sockets alone, and the registry's test builds a probe with none
@pytest.mark.parametrize(("wanted", "expected"), [("sockets", SOCKETS), ("none", set())])
def test_the_transports_that_need_nothing_or_none_can_be_asked_for(
    wanted: str, expected: set[str], tmp_path: Path
) -> None:
    assert configured(tmp_path / "build", {}, f"-Dmiddleware={wanted}") == expected


def _version(module: str) -> str | None:
    try:
        told = subprocess.run(
            ["pkg-config", "--modversion", module], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return None
    return told.stdout.strip() if told.returncode == 0 else None


def test_a_library_that_comes_or_goes_makes_the_build_a_new_one() -> None:
    """`make setup` builds anew what was built from other things (scripts/lib.sh)."""

    def here(around: Mapping[str, str]) -> str:
        return subprocess.run(
            ["bash", "-c", ". scripts/lib.sh; middleware_here"],
            cwd=ROOT,
            env={**os.environ, **around},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert here({}) == here({})
    if _version("libzmq") is None:
        skip_or_fail("needs libzmq3-dev and pkgconf")
    assert here({}) != here(NOWHERE)
    assert f"libzmq {_version('libzmq')}" in here({}).splitlines()


# ---- What is installed --------------------------------------------------------


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_program_is_installed_beside_the_probe_with_its_sizes(transport: str) -> None:
    needs(transport)
    program = Path(sys.prefix) / "bin" / f"tauto-middleware-{transport}"
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert told.stdout.split()[0] == program.name
    note = Path(sysconfig.get_path("platlib")) / "tautochrone" / "middleware.json"
    weighed = json.loads(note.read_text())["transports"][transport]
    assert {one["linked"] for one in weighed["programs"]} >= {"dynamic"}
    for one in weighed["programs"]:
        assert set(SECTIONS) <= set(one)
        assert one["text"] > 0


# ---- How it is weighed --------------------------------------------------------


def compiled(folder: Path, name: str, source: str) -> Path:
    (folder / f"{name}.c").write_text(source)
    compiler = ["gcc", "-O1", "-fno-common", "-fno-asynchronous-unwind-tables"]
    file = folder / f"{name}.o"
    subprocess.run([*compiler, "-c", "-o", file, folder / f"{name}.c"], check=True)
    return file


def test_each_byte_is_weighed_in_the_section_it_is_in(tmp_path: Path) -> None:
    one = compiled(
        tmp_path,
        "one",
        "const char constant[1000] = {1}; int written[500] = {1}; char empty[3000];"
        "int f(int x) { return x * x; }",
    )
    told = sizes(one)
    assert 4 <= told["text"] < 64
    assert 1000 <= told["rodata"] < 1100  # and the compiler's remark on properties
    assert told["data"] == 2000
    assert told["bss"] == 3000


@pytest.mark.slow
def test_a_library_weighs_what_its_members_weigh(tmp_path: Path) -> None:
    members = [
        compiled(tmp_path, "one", "int written[500] = {1}; int f(int x) { return x * x; }"),
        compiled(tmp_path, "other", "char empty[3000]; int g(int x) { return x + 7; }"),
    ]
    library = tmp_path / "libboth.a"
    subprocess.run(["ar", "rc", library, *members], check=True)
    weights = [sizes(one) for one in members]
    assert sizes(library) == {name: sum(one[name] for one in weights) for name in SECTIONS}
    assert sizes(library)["data"] == 2000


def test_what_is_no_library_is_not_weighed(tmp_path: Path) -> None:
    (tmp_path / "liba.a").write_text("!<arch>\n")
    with pytest.raises(SystemExit, match="no section"):
        sizes(tmp_path / "liba.a")


@pytest.mark.slow
@pytest.mark.parametrize("name", LIBRARIES)
def test_a_real_library_weighs_what_size_says(name: str) -> None:
    """`size` has what is only read with what is executed."""
    found = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    file = Path(found.stdout.strip())
    if not file.is_absolute():
        skip_or_fail(f"needs {name}")
    told = subprocess.run(["size", "--totals", file], capture_output=True, text=True, check=True)
    text, data, bss = map(int, told.stdout.splitlines()[-1].split()[:3])
    weighed = sizes(file)
    assert (weighed["text"] + weighed["rodata"], weighed["data"], weighed["bss"]) == (text, data, bss)
    assert str(weigh["package"](file)).split()[0] == LIBRARIES[name]
