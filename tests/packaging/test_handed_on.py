"""What is handed on works where there is no clone: wheel, source distribution, programs for others."""

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from real import PATIENCE_S, skip_or_fail
from where import ROOT

pytestmark = pytest.mark.slow


def done(command: Sequence[str | Path], **where: str | Path) -> str:
    """What a command said; it must have succeeded."""
    ended = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        stdin=subprocess.DEVNULL,
        cwd=where.get("cwd"),
        env={
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/nonexistent",
            "TAUTO_STORE": str(where.get("store")),
            "CFLAGS": "-O0",  # half the time; how fast the programs are is not asked here
        },
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source distribution, unpacked: all is built from it, and nothing of the clone is beside it."""
    folder, apart = tmp_path_factory.mktemp("tree") / "tautochrone", tmp_path_factory.mktemp("sources")
    names = done(["git", "-C", ROOT, "ls-files", "-z", "--cached"]).split("\0")
    for name in filter(None, names):
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, place)
    git = ["git", "-C", folder, "-c", "user.name=test", "-c", "user.email=test@localhost"]
    for words in (["init", "-q"], ["add", "--all", "--force"], ["commit", "-q", "-m", "as it is"]):
        done([*git, *words])
    (folder / ".venv").symlink_to(Path(sys.prefix))
    done([folder / "scripts" / "build-dist", "sdist"])
    (archive,) = (folder / "dist").glob("tautochrone-*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(apart, filter="data")
    shutil.rmtree(folder)
    (sources,) = apart.glob("tautochrone-*")
    (sources / ".venv").symlink_to(Path(sys.prefix))
    return sources


@pytest.fixture(scope="module")
def wheel(tree: Path) -> Path:
    done([tree / "scripts" / "build-dist", "wheel"])
    (found,) = (tree / "dist").glob("tautochrone-*.whl")
    return found


def environment(folder: Path, *wheels: Path) -> Path:
    """An environment of its own with these wheels; its other packages are those of the tests.

    They are the versions that the wheel asks for, so nothing is fetched.
    """
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    theirs = next(Path(place) for place in sys.path if place.endswith("site-packages"))
    for one in theirs.iterdir():
        if not one.name.startswith(("tautochrone", "__pycache__")):
            (packages / one.name).symlink_to(one)
    done(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            folder / "bin" / "python",
            "install",
            "--quiet",
            "--no-index",
            "--no-deps",
            "--no-cache-dir",
            *wheels,
        ]
    )
    return folder / "bin"


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment(tmp_path_factory.mktemp("installed") / "venv", wheel)


def test_a_wheel_fits_every_python_and_one_kind_of_machine(wheel: Path) -> None:
    assert wheel.name.endswith(f"-py3-none-linux_{os.uname().machine}.whl")


def test_a_wheel_needs_no_library_of_middleware(wheel: Path) -> None:
    """Whoever installs it may not have them."""
    with zipfile.ZipFile(wheel) as archive:
        names = {Path(name).name for name in archive.namelist() if ".data/scripts/" in name}
    assert names == {
        "tauto-probe",
        "tauto-agent",
        "tauto-selftest",
        "tauto-lab-clock.so",
        "tauto-step",
        "tauto-step-explain",
        *(f"tauto-middleware-{one}" for one in ("tcp", "udp", "unix")),
    }


def test_an_installed_tauto_measures_with_the_probe_beside_it(programs: Path, tmp_path: Path) -> None:
    said = done([programs / "tauto", "probe", "cyclic", "--count", "20", "--policy", "other"], store=tmp_path)
    assert "cpu" in said
    assert list(tmp_path.glob("*/run.json"))
    assert done([programs / "tauto-agent", "--version"]) == done(
        [programs / "tauto-probe", "--version"]
    ).replace("tauto-probe", "tauto-agent")


def test_who_lacks_permission_is_told_the_probe_that_is_installed(programs: Path, tmp_path: Path) -> None:
    """Not one of a clone: what is granted to another file is of no use."""
    if os.geteuid() != 0:
        skip_or_fail("needs root to take rights away, whatever this user has")
    ended = subprocess.run(
        [
            "setpriv",
            "--bounding-set=-sys_nice,-ipc_lock",
            "prlimit",
            "--rtprio=0",
            "--memlock=65536",
            str(programs / "tauto"),
            "check",
            "--rate",
            "1kHz",
            "--duration",
            "1s",
        ],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "TAUTO_STORE": str(tmp_path / "store")},
    )
    assert f"cap_sys_nice,cap_ipc_lock+ep {programs / 'tauto-probe'}" in ended.stderr + ended.stdout


def test_programs_for_other_machines_come_with_a_wheel_of_their_own(
    tree: Path, wheel: Path, programs: Path, tmp_path: Path
) -> None:
    built = ROOT / "build" / "probes"
    kinds = ("x86_64", "aarch64", "armv7", "riscv64")
    if not all((built / f"tauto-probe-{one}").exists() for one in kinds):
        skip_or_fail("the programs for other machines are not built: make probes")
    script = (tree / "scripts" / "build-dist").read_text()
    (tree / "scripts" / "build-dist-only").write_text(script.replace("        scripts/build-probes\n", ""))
    (tree / "scripts" / "build-dist-only").chmod(0o755)
    (tree / "build").mkdir(exist_ok=True)
    (tree / "build" / "probes").symlink_to(built)
    done([tree / "scripts" / "build-dist-only", "probes"])
    (extra,) = (tree / "dist").glob("tautochrone_probes-*-py3-none-any.whl")
    find = (
        "import sys; from tautochrone.target.probes import find_probe_for as find; print(find(sys.argv[1]))"
    )
    ended = subprocess.run(
        [programs / "python", "-c", find, "riscv64"],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin"},
    )
    assert "UsageError" in ended.stderr
    both = environment(tmp_path / "both", wheel, extra)
    for machine, kind in {
        "x86_64": "x86_64",
        "armv7l": "armv7",
        "riscv64": "riscv64",
        "arm64": "aarch64",
    }.items():
        found = Path(done([both / "python", "-c", find, machine]).strip())
        assert found.name == f"tauto-probe-{kind}"
        assert found.is_relative_to(tmp_path / "both")
        assert os.access(found, os.X_OK)


def test_the_extra_is_that_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        text = archive.read(metadata).decode()
    assert "Requires-Dist: tautochrone-probes" in text
    assert 'extra == "probes"' in text.replace("'", '"')


def test_a_source_distribution_builds_a_wheel_by_itself(tree: Path, programs: Path) -> None:
    assert not (tree / ".git").exists()
    assert done([programs / "tauto", "--version"]).startswith("tauto ")
