"""What a person's shell may lack, and what the system may refuse: each command ends as designed."""

import json
import os
import pwd
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from golden.record import RUNS
from in_process import tauto as tauto_here
from real import PATIENCE_S, mount_small_disk, policy_options, tauto
from tautochrone.base import faults
from tautochrone.command.permission import find_permission
from tautochrone.target.local import LocalTarget

MIB = 1 << 20
DESIGNED = (0, 1, 2, 4, 6, 7)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Some runs, in a store that may be written."""
    return Path(shutil.copytree(RUNS / "single", tmp_path / "store"))


ONE_BY_ONE = """
import json, sys
from tautochrone.cli.app import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["tauto", *words]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
"""


def limited(
    *calls: Sequence[str], store: Path, limits: Mapping[int, int] | None = None, **around: str | None
) -> subprocess.CompletedProcess[str]:
    """Tauto in a new interpreter, with these limits, and with more or less in its environment.

    What several calls load is loaded once; the first that ends with another code than 0 is the last.
    """
    environment = os.environ | {"TAUTO_STORE": str(store), "XDG_STATE_HOME": str(store.parent / "state")}
    environment |= {name: value for name, value in around.items() if value is not None}
    for name in [name for name, value in around.items() if value is None]:
        environment.pop(name, None)

    def limit() -> None:
        for which, most in (limits or {}).items():
            resource.setrlimit(which, (most, most))

    return subprocess.run(
        [sys.executable, "-c", ONE_BY_ONE, json.dumps(calls)],
        env=environment,
        cwd=store.parent,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=PATIENCE_S,
        check=False,
        stdin=subprocess.DEVNULL,
        preexec_fn=limit,
    )


def see_designed(ended: subprocess.CompletedProcess[str]) -> None:
    assert ended.returncode in DESIGNED, (ended.returncode, ended.stderr)
    assert "Traceback" not in ended.stderr, ended.stderr
    assert ended.returncode in (0, 6, 7) or "tauto: " in ended.stderr, ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "room",
    [
        *(180, 300, 360, 400, 600),
        *(pytest.param(room, marks=pytest.mark.long) for room in (240, 340, 380, 440, 500)),
    ],
)
def test_little_memory_is_an_end_and_never_a_wait(store: Path, room: int) -> None:
    """OpenBLAS tries for ever to allocate what it is refused: it must not be loaded then."""
    ended = limited(("show", "latest"), store=store, limits={resource.RLIMIT_AS: room * MIB})
    see_designed(ended)
    if ended.returncode:
        assert ended.returncode == 1, ended.stderr
        assert "The system refused memory" in ended.stderr
        assert "ulimit -v" in ended.stderr


@pytest.mark.slow
def test_64_open_files_are_enough(store: Path) -> None:
    ended = limited(
        ("show", "latest"),
        ("report", "latest", "--out", "page.html"),
        ("compare", "latest", "latest~1"),
        ("probe", "cyclic", "--count", "20", *policy_options()),
        store=store,
        limits={resource.RLIMIT_NOFILE: 64},
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("most", [5, 8, 12])
def test_too_few_open_files_are_told(store: Path, most: int) -> None:
    words = ("report", "latest", "--out", "page.html")
    ended = limited(words, store=store, limits={resource.RLIMIT_NOFILE: most})
    if ended.returncode == 1 and "tauto: " not in ended.stderr:
        pytest.skip("Python itself does not begin with so few")
    see_designed(ended)


@pytest.mark.slow
@pytest.mark.parametrize(
    "around",
    [
        {"HOME": None, "LANG": None, "LC_ALL": None, "TERM": None, "COLUMNS": "0"},
        {
            "HOME": "/proc/nonexistent",
            "LC_ALL": "C",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
            "PATH": "",
            "TERM": "dumb",
            "COLUMNS": "20",
        },
        {"HOME": "/proc", "TMPDIR": "/proc", "LC_ALL": "xx_XX.nonsense", "TZ": "nowhere/at all"},
    ],
    ids=lambda around: ",".join(f"{name}={value}" for name, value in around.items()),
)
def test_an_environment_that_lacks_something_does_no_harm(store: Path, around: dict[str, str | None]) -> None:
    usual = {"XDG_CACHE_HOME": None, "XDG_CONFIG_HOME": None, "XDG_DATA_HOME": None}
    calls = (("show", "latest"), ("report", "latest", "--out", "page.html"), ("tune", "list"))
    ended = limited(*calls, store=store, **{**usual, **around})
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    assert "accounting" in ended.stdout
    assert "HMI" in ended.stdout
    assert (store.parent / "page.html").read_text().rstrip().endswith("</html>")


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "last"), [("show latest", "accounting"), ("list", "46.91")])
def test_a_narrow_terminal_gets_every_line(store: Path, verb: str, last: str) -> None:
    for columns in (0, 1, 20, 40):
        ended = tauto_here(*verb.split(), store=store, columns=columns)
        assert ended.code == 0, ended.err
        assert last in re.sub(r"\s+", "", ended.out)


def test_root_is_not_told_to_become_root_where_the_control_group_refuses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = tmp_path / "sys/fs/cgroup/cpu/mine"
    for path, text in ((tmp_path / "proc/self/cgroup", "1:cpu:/mine"), (group / "cpu.rt_runtime_us", "0")):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    answers = iter((False, False, True))
    monkeypatch.setattr("tautochrone.command.permission.is_permitted", lambda *_: next(answers))
    permission, refusal = find_permission(LocalTarget(root=str(tmp_path)))
    assert refusal.startswith("Not permitted to this user: real-time priority. Not even to root: the control")
    assert "cpu.rt_runtime_us" in permission.caution().advice
    assert "As root" not in refusal + permission.caution().advice


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user whom the system does not know, as in a container that runs as a number."""

    def unknown(user: int) -> pwd.struct_passwd:
        raise KeyError(f"getpwuid(): uid not found: {user}")

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for name in ("HOME", *(f"XDG_{one}_HOME" for one in ("DATA", "CONFIG", "CACHE", "STATE"))):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("homeless")
def test_a_user_without_a_home_can_do_what_needs_none(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tautochrone.cli.app import app
    from tautochrone.command.ending import run_to_exit_code

    def ask(*words: str) -> tuple[int, str, str]:
        code = run_to_exit_code(lambda: app(args=list(words), prog_name="tauto"))
        return code, *capsys.readouterr()

    monkeypatch.chdir(store.parent)
    monkeypatch.setenv("TAUTO_STORE", str(store))
    for words in (("list",), ("show", "latest"), ("tune", "list"), ("report", "latest", "-o", "page.html")):
        code, _, err = ask(*words)
        assert code == 0, err
    monkeypatch.delenv("TAUTO_STORE")
    code, _, err = ask("list")
    assert code == 4
    assert "no home directory" in err
    assert "--store or TAUTO_STORE" in err
    faults.forget()
    fault = faults.keep(ValueError("odd"))
    assert (fault.file, "no home directory" in fault.why_not) == (None, True)
    faults.forget()


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A file system that can't be written any more."""
    mounted = mount_small_disk(tmp_path, "size=1m")
    subprocess.run(["mount", "-o", "remount,ro", str(mounted)], check=True)
    yield mounted
    subprocess.run(["umount", str(mounted)], check=True)


MEASURING = (
    ("probe", "clock", "--count", "100"),
    ("tire", "fast", "--quick"),
    ("tire", "map", "--quick"),
    ("tire", "model", "--quick"),
    ("tire", "limit", "--quick"),
    ("middleware", "throughput", "--quick", "--transport", "tcp"),
    ("middleware", "latency", "--quick", "--transport", "tcp", "--calls", "5"),
    ("middleware", "footprint", "--transport", "tcp", "--servants", "1"),
)


@pytest.mark.slow
@pytest.mark.parametrize("words", MEASURING, ids=" ".join)
def test_a_store_that_can_not_be_written_is_told_at_once(read_only: Path, words: tuple[str, ...]) -> None:
    policy = policy_options()
    lock = ["--no-memory-lock"] if "--no-memory-lock" in policy and words[1] != "footprint" else []
    given = [*words, *([] if words[0] == "probe" else [*policy[:2], *lock])]
    ended = tauto(*given, store=read_only / "store")
    assert ended.returncode == 4, (ended.returncode, ended.stderr)
    assert str(read_only) in ended.stderr
    assert "--store or TAUTO_STORE" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("words", MEASURING[1:], ids=" ".join)
def test_a_store_that_fills_up_ends_it(tmp_path: Path, words: tuple[str, ...]) -> None:
    policy = policy_options()
    lock = ["--no-memory-lock"] if "--no-memory-lock" in policy and words[1] != "footprint" else []
    disk = mount_small_disk(tmp_path, "size=24k")
    try:
        ended = tauto(*words, *policy[:2], *lock, store=disk / "store")
        assert ended.returncode == 4, (ended.returncode, ended.stderr)
        assert "full" in ended.stderr
        assert "Traceback" not in ended.stderr
        assert not list(disk.rglob("*.part"))
    finally:
        subprocess.run(["umount", str(disk)], check=True)
