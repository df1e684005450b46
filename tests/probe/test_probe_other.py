"""What else the probe does: clocks, services, and a user who may do little."""

import math
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from real import PATIENCE_S, policy_options, probe, sealed, skip_or_fail, tauto_agent
from tautochrone.target.local import find_agent, find_probe


def lock_options() -> list[str]:
    return [option for option in policy_options() if option == "--no-memory-lock"]


def test_clock_measures_every_clock_and_keeps_every_pair(tmp_path: Path) -> None:
    stream = subprocess.run(
        [str(find_probe()), "clock", "--count", "2000", *lock_options(), "--out", "-"],
        capture_output=True,
        timeout=PATIENCE_S,
        check=True,
    ).stdout
    run = sealed(stream, tmp_path)
    names = [source["name"] for source in run.manifest.header.stored["sources"]]
    assert {"monotonic", "realtime", "process-cpu"} <= set(names)
    for book in run.manifest.books:
        assert book.recorded == book.completed == 2000
        assert book.released is None
    for source in run.manifest.header.stored["sources"]:
        calibration = source["calibration"]
        assert calibration["name"] == source["name"]
        assert calibration["cost_ns"] > 0
    assert run.values(source=names.index("monotonic")).min() >= 0


def test_clock_refuses_a_name_it_does_not_know() -> None:
    ended = probe("clock", "--clocks", "monotonic,sundial")
    assert ended.returncode == 2
    assert "no such clock" in ended.stderr


def test_services_name_what_is_missing_and_why() -> None:
    lines = probe("services").stdout.splitlines()
    (suspend,) = [line for line in lines if line.startswith("suspend and resume")]
    assert "N/A" in suspend
    assert "POSIX has no call" in suspend
    assert any(line.startswith("message queue") for line in lines)


def limited(*arguments: str, **limits: int) -> subprocess.CompletedProcess[str]:
    """The probe, within these limits of prlimit(1)."""
    within = ["prlimit", *(f"--{name}={limit}" for name, limit in limits.items())]
    command = [*within, str(find_probe()), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


@pytest.mark.parametrize("locked", [True, False])
def test_rows_that_do_not_fit_are_refused_as_what_they_really_take(locked: bool) -> None:
    """They would fit as they were asked for: rounded up to a power of two they take up to twice as much."""
    if locked and os.geteuid() != 0:
        skip_or_fail("needs root to lock memory within every limit")
    meminfo = Path("/proc/meminfo").read_text()
    available = int(meminfo.partition("MemAvailable:")[2].split()[0]) * 1024
    rows = 2 ** int(math.log2(available / 16)) + 1  # cyclic's rows have 16 bytes
    asked = (
        "--count",
        str(rows),
        "--ring",
        str(rows),
        "--cpus",
        "any",
        "--policy",
        "other",
        *([] if locked else ["--no-memory-lock"]),
    )
    refused = limited("cyclic", *asked, **{"as": 2**30})  # harmless also where it is not refused
    assert refused.returncode == 2
    assert "setcap" not in refused.stderr  # no right makes memory
    assert re.search(r"they take \d+ MB, rounded up to powers of two, \d+ MB are left", refused.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("lock", [True, False])
def test_locked_memory_is_told_as_such_where_no_proc_says_so(lock: bool) -> None:
    if lock_options():
        skip_or_fail("memory may not be locked here")
    options = ["period", "--count", "3", "--out", "-", *([] if lock else ["--no-memory-lock"])]
    hidden = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    ended = subprocess.run(
        [*hidden, str(find_probe()), *options], capture_output=True, timeout=PATIENCE_S, check=False
    )
    if b"unshare:" in ended.stderr or b"mount:" in ended.stderr:
        pytest.skip(f"/proc can't be hidden here: {ended.stderr.decode()}")
    assert ended.returncode == 0, ended.stderr
    wanted_and_obtained = re.findall(rb'"memory_locked":(\w+)', ended.stdout)
    assert wanted_and_obtained == 2 * [b"true" if lock else b"false"]


def test_a_table_of_many_rows_and_measures_fits_on_a_bare_board() -> None:
    """Twenty rows with four measures each, and a histogram for each of them."""
    ended = limited(
        "response", "--repetitions", "1", "--count", "2", "--period", "0s", *policy_options(), data=2**25
    )
    assert ended.returncode == 0, ended.stderr


def test_help_and_mistakes() -> None:
    assert probe("--help").returncode == 0
    assert probe().returncode == 2
    assert "no such command" in probe("cycle").stderr
    for command in ("cyclic", "clock"):
        ended = probe(command, "--help")
        assert ended.returncode == 0
        assert "--" in ended.stdout


@pytest.mark.parametrize("command", ["cyclic", "tire", "step", "timerlat"])
def test_help_tells_no_default_of_what_has_none(command: str) -> None:
    """A count of 0 is refused; without one, the duration says how many there are."""
    shown = probe(command, "--help").stdout
    assert "instead of a duration\n" in shown
    assert "[0]" not in shown


@pytest.mark.parametrize("command", ["load", "guard", "keep"])
def test_what_is_the_agents_is_no_command_of_the_probe(command: str) -> None:
    for words in ((), ("--help",), ("cpu",)):
        refused = probe(command, *words)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr == (
            f"tauto-probe: {command}: this is a command of tauto-agent.\n"
            f"tauto-probe: advice: Run 'tauto-agent {command}', beside this program.\n"
        )
    assert f"  {command} " not in probe("--help").stdout
    assert f"  {command} " in tauto_agent("--help").stdout


def test_the_agent_measures_nothing() -> None:
    for command in ("cyclic", "timerlat", "services"):
        refused = tauto_agent(command)
        assert refused.returncode == 2
        assert refused.stderr.startswith(f"tauto-agent: {command}: no such command.\n")
    assert tauto_agent("--version").stdout.split()[1:] == probe("--version").stdout.split()[1:]


def test_the_first_program_of_a_guest_has_no_work_elsewhere() -> None:
    assert tauto_agent("guest").returncode == 2


@pytest.mark.parametrize(
    ("find", "words"),
    [
        *((find_probe, words) for words in ("--help", "--version", "", "cyclic --help", "services")),
        *((find_agent, words) for words in ("--help", "--version", "", "load", "load cpu --help")),
    ],
)
def test_what_can_not_be_printed_is_told_once(find: Callable[[], Path], words: str) -> None:
    program = find()
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [str(program), *words.split()],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
    assert ended.returncode == 1
    assert ended.stderr == f"{program.name}: the output can't be written: no space is left there.\n"


def test_an_output_without_a_name_is_refused() -> None:
    ended = probe("clock", "--count", "10", "--no-memory-lock", "--out", "")
    assert ended.returncode == 2
    assert ended.stderr == "tauto-probe: --out needs a value: an empty one was given.\n"


@pytest.mark.parametrize(
    ("typed", "advice"),
    [
        (["--count", "-1"], "Write 0, or a number above it, in digits."),
        (["--policy", "fif"], "Did you mean fifo?"),
        (["--policy", "DEAD"], "Did you mean deadline?"),
    ],
)
def test_a_value_that_is_wrong_is_refused_with_the_right_ones(typed: list[str], advice: str) -> None:
    ended = probe("cyclic", *typed)
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[1:] == [f"tauto-probe: advice: {advice}"]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can read; pytest's own are private."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_a_user_without_permissions_is_told_how_to_get_them_and_what_works(open_folder: Path) -> None:
    if os.geteuid() != 0:
        skip_or_fail("needs root to become a user who may do little")
    copy = shutil.copy(find_probe(), open_folder / "tauto-probe")
    Path(copy).chmod(0o755)

    def as_nobody(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                "prlimit", "--rtprio=0", "--memlock=65536", copy, "cyclic", *arguments,
            ],
            capture_output=True, text=True, timeout=PATIENCE_S, check=False, cwd="/",
        )  # fmt: skip

    refused = as_nobody("--count", "50", "--no-memory-lock")
    assert refused.returncode == 3
    for words in ("cap_sys_nice", "limits.d", "--policy other"):
        assert words in refused.stderr
    locked = as_nobody("--count", "50", "--policy", "other")
    assert locked.returncode == 3
    for words in ("cap_ipc_lock", "memlock", "--no-memory-lock"):
        assert words in locked.stderr
    worked = as_nobody("--count", "50", "--policy", "other", "--no-memory-lock")
    assert worked.returncode == 0
    unwritable = as_nobody(
        "--count", "5", "--policy", "other", "--no-memory-lock", "--out", "/tautochrone-test"
    )
    assert unwritable.returncode == 3
    assert "not permitted" in unwritable.stderr


def refused_to_nobody(program: Path | str, *open_files: int) -> str:
    """What it says to a user who may not have a real-time priority."""
    if os.geteuid() != 0:
        skip_or_fail("needs root to become a user who may do little")
    ended = subprocess.run(
        ["prlimit", "--rtprio=0", program, "cyclic", "--count", "5", "--no-memory-lock"],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False, cwd="/",
        user=65534, group=65534, extra_groups=[], pass_fds=open_files,
    )  # fmt: skip
    assert ended.returncode == 3
    return ended.stderr


def test_the_advice_can_be_pasted_wherever_the_probe_lies(open_folder: Path) -> None:
    folder = open_folder / "it's (mine)"
    folder.mkdir(mode=0o755)
    copy = Path(shutil.copy(find_probe(), folder / "tauto-probe"))
    copy.chmod(0o755)
    advice = refused_to_nobody(copy).partition("sudo ")[2].partition("; the lines")[0]
    assert shlex.split(advice) == ["setcap", "cap_sys_nice,cap_ipc_lock+ep", str(copy)]


def test_the_advice_names_no_file_that_is_gone(open_folder: Path) -> None:
    copy = Path(shutil.copy(find_probe(), open_folder / "tauto-probe"))
    copy.chmod(0o755)
    with copy.open("rb") as file:
        copy.unlink()
        told = refused_to_nobody(f"/proc/self/fd/{file.fileno()}", file.fileno())
    assert "+ep tauto-probe; the lines" in told
    assert "deleted" not in told
