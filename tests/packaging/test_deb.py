"""The Debian package: lintian accepts it, and it installs and goes away without a trace.

It is installed on a copy of this machine that only a mount namespace sees, by Debian's own dpkg.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from real import PATIENCE_S, skip_or_fail
from where import ROOT

pytestmark = [pytest.mark.long, pytest.mark.alone]
OVERLAY = """
mount -t tmpfs tmpfs "$0"
mkdir "$0/upper" "$0/work" "$0/root"
mount -t overlay overlay -o lowerdir=/,upperdir="$0/upper",workdir="$0/work" "$0/root"
for place in proc dev sys; do mount --rbind "/$place" "$0/root/$place"; done
mount -t tmpfs tmpfs "$0/root/tmp"
cp "$1" "$0/root/tmp/package.deb"
chroot "$0/root" sh -exc "$2"
"""


def done(command: list[str]) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False, cwd="/")
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    return ended.stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    if shutil.which("dpkg-deb") is None or not Path("/usr/bin/python3").exists():
        skip_or_fail("needs Debian's dpkg and Python")
    folder = tmp_path_factory.mktemp("tree") / "tautochrone"
    done(["git", "clone", "--quiet", str(ROOT), str(folder)])
    (folder / ".venv").symlink_to(Path(sys.prefix))
    done([str(folder / "scripts" / "build-deb")])
    (found,) = (folder / "dist").glob("*.deb")
    yield found
    shutil.rmtree(folder)


def test_lintian_accepts_it(package: Path) -> None:
    """Errors and warnings; what is overridden is in the package, with reasons."""
    if shutil.which("lintian") is None:
        skip_or_fail("needs lintian: sudo apt-get install lintian")
    said = done(["lintian", "--fail-on", "error,warning", "--allow-root", str(package)])
    assert said == ""


def test_it_installs_answers_and_goes_without_a_trace(package: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        skip_or_fail("needs root to install a package")
    said = done(
        [
            "unshare",
            "--mount",
            "sh",
            "-ec",
            OVERLAY,
            str(tmp_path),
            str(package),
            "dpkg -i /tmp/package.deb >&2; cd /tmp; env -i PATH=/usr/bin:/bin HOME=/tmp sh -ec '"
            "tauto --version; tauto-probe --version; tauto-agent --version; "
            "tauto doctor --json >doctor.json; tauto probe cyclic --count 20 --policy other >&2; "
            "ls /tmp/.local/share/tautochrone/runs | wc -l'; "
            "dpkg --purge tautochrone >&2; find /usr/lib/tautochrone /usr/bin/tauto* 2>/dev/null | wc -l",
        ]
    ).split("\n")
    version = said[0].removeprefix("tauto ")
    assert said[1].endswith(version)
    assert said[2].endswith(version)
    assert int(said[3]) >= 1
    assert said[4] == "0"
