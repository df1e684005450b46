"""The command as a person meets it: help, mistyped verbs, and every way it can end."""

import fcntl
import os
import re
import shlex
import subprocess
import sys
import termios
from io import FileIO
from pathlib import Path

import numpy as np
import pytest

from real import PATIENCE_S, tauto, wait_until
from report_runs import store_run
from tautochrone.cli.app import with_verb
from tautochrone.run.store import Store
from where import ROOT

FAILING = r"""
import sys
from tautochrone.command.ending import run_to_exit_code
from tautochrone.base.errors import NotPermittedError

def not_permitted(): raise NotPermittedError("FIFO is not permitted", "Ask for it.")
def fault(): raise ValueError("seven")
def interrupted(): raise KeyboardInterrupt
def interrupted_library(): raise ImportError("initialization failed") from KeyboardInterrupt()
def much(): print("x" * 100_000)
def flood():
    while True: print("x" * 1000)
def table_on_stdout(stderr=False):
    from tautochrone.answer.console import make_console
    while True: make_console(stderr=stderr).print("x" * 1000)
def table_on_stderr(): table_on_stdout(stderr=True)
def no_memory(): raise MemoryError("Unable to allocate 7.45 GiB")
def no_library():
    try: raise ImportError("libarrow.so: failed to map segment from shared object")
    except ImportError as error: raise ImportError("Importing the numpy C-extensions failed.") from error
def no_thread():
    from tautochrone.base.room import see_not_refused
    see_not_refused(OSError("Unknown error: Failed to launch worker thread: try again"))
def no_folder():
    import tempfile
    tempfile._candidate_tempdir_list = lambda: ["/proc"]
    tempfile.TemporaryFile()
def no_name(): raise ImportError("cannot import name 'x'")
def full_elsewhere(): raise OSError(28, "No space left on device")
def words_of_all_kinds():
    from tautochrone.answer.console import make_console
    print("\u00b5 \u221e")
    make_console().print("a\x1b[2J\x00b")
def peer_is_gone(): raise BrokenPipeError(32, "Broken pipe")

sys.exit(run_to_exit_code(globals()[sys.argv[1]]))
"""

PAGE = 4096

LOADING = """
import sys
class Interrupted:
    def find_spec(self, name, path, target=None):
        if name == "tautochrone.base.room": raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
from tautochrone.cli import main
main()
"""


def run_python(arguments: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def run_tauto(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_python(["-c", "from tautochrone.cli.app import main; main()", *arguments])


def end_by(way: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run_python(["-c", FAILING, way], **environment)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("probe", "cyclic", "--priority", "abc"), "'--priority': 'abc' is not a whole number."),
        (("probe", "cyclic", "--count", "1.5"), "'--count': '1.5' is not a whole number."),
        (("check", "--rate", "1kHz", "--within", "long"), "'long' is not a duration"),
        (("load", "try", "cpu", "--duration", "nan"), "'nan' is not a duration"),
        (("load", "try", "cpu", "--duration", "0s"), "--duration 0s: not a time to try it in"),
        (("probe", "cyclic", "--title", "a\x1b[2Jb"), "has a control character"),
    ],
)
def test_what_is_no_number_is_said_plainly(words: tuple[str, ...], wrong: str) -> None:
    ended = run_tauto(*words)
    assert ended.returncode == 2
    assert wrong in ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", ["answer --out=", "compare a b -o ''", "figure latest --out ''", "check --junit= --rate 1kHz"]
)
def test_an_output_without_a_name_is_refused(words: str) -> None:
    ended = run_tauto(*shlex.split(words))
    assert ended.returncode == 2
    (wrong, advice) = ended.stderr.splitlines()
    assert wrong.endswith(" needs a name: an empty one was given")
    assert advice == "Name it, or leave it out."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "wrong", "advice"),
    [
        ("answer -V", "tauto answer has no option -V", "It stands before the verb: tauto -V."),
        ("--work 1ms", "tauto answer has no option --work", "tauto check has it."),
        (
            "--rate 1kHz",
            "tauto answer has no option --rate",
            "tauto check, tauto plan-samples, tauto import and others have it.",
        ),
        ("check --rte 3", "tauto check has no option --rte", "Did you mean --rate?"),
        (
            "probe cyclic --xyz",
            "tauto probe cyclic has no option --xyz",
            "tauto probe cyclic -h lists its options.",
        ),
    ],
)
def test_an_option_of_another_verb_is_told_with_that_verb(words: str, wrong: str, advice: str) -> None:
    ended = run_tauto(*shlex.split(words))
    assert ended.returncode == 2
    assert ended.stderr.splitlines() == [f"tauto: {wrong}", advice]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ("probe cyclic --blame", "Option '--blame' requires an argument"),
        ("list --json=yes", "Option '--json' does not take a value"),
    ],
)
def test_an_option_whose_value_is_missing_or_too_much_is_told_as_every_mistake_is(
    words: str, wrong: str
) -> None:
    ended = run_tauto(*words.split())
    assert ended.returncode == 2
    assert ended.stderr == f"tauto: {wrong}\nThe same with -h lists the options.\n"


@pytest.mark.slow
def test_help_names_every_verb() -> None:
    ended = run_tauto("--help")
    assert ended.returncode == 0
    for verb in ("answer", "probe", "list", "show", "report", "figure", "export", "recover", "doctor"):
        assert re.search(rf"^[A-Z ][a-z ]{{9}}{verb} ", ended.stdout, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["doctor"], ["--help"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_device_is_told_as_such(arguments: list[str], unbuffered: str, tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-c", "from tautochrone.cli.app import main; main()", *arguments],
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered, "TAUTO_STORE": str(tmp_path)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    assert ended.returncode == 4
    assert ended.stderr.splitlines() == [
        "tauto: the output can't be written: No space left on device",
        "Make room there, or send it elsewhere.",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["--help", "--version", "list --json"])
def test_an_output_that_is_closed_is_told_as_such(verb: str, tmp_path: Path) -> None:
    ended = subprocess.run(
        [
            "sh",
            "-c",
            f'exec "$0" -c "from tautochrone.cli.app import main; main()" {verb} >&-',
            sys.executable,
        ],
        env=os.environ | {"TAUTO_STORE": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ended.returncode == 4
    assert ended.stderr.splitlines() == [
        "tauto: the output can't be written: Bad file descriptor",
        "Open it, or send it elsewhere.",
    ]


def test_an_output_that_would_not_wait_for_its_reader_gets_all() -> None:
    """So does a pipe that a program has set so for itself and handed on."""
    end, begin = os.pipe()
    fcntl.fcntl(begin, fcntl.F_SETPIPE_SZ, PAGE)
    os.set_blocking(begin, False)
    with (
        os.fdopen(end, "rb", buffering=0) as pipe,
        subprocess.Popen([sys.executable, "-c", FAILING, "much"], stdout=begin) as running,
    ):
        os.close(begin)
        wait_until(lambda: waiting_in(pipe) == PAGE, "the pipe is full")
        assert len(pipe.read()) == 100_001
    assert running.returncode == 0


def waiting_in(pipe: FileIO) -> int:
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verb", "closed", "ended"),
    [
        ("runs rm latest", "<&-", (2, "", "tauto: Nobody can be asked here whether to remove runs")),
        ("runs rm latest", "<&- >&-", (2, "", "tauto: Nobody can be asked here whether to remove runs")),
        ("show nothing", "2>&-", (4, "", "")),
    ],
)
def test_a_stream_that_is_closed_is_none_of_the_others(
    verb: str, closed: str, ended: tuple[int, str, str], tmp_path: Path
) -> None:
    program = f'exec "$0" -c "from tautochrone.cli.app import main; main()" {verb} {closed}'
    store_run(Store(tmp_path), [np.arange(40)])
    found = subprocess.run(
        ["sh", "-c", program, sys.executable],
        env=os.environ | {"TAUTO_STORE": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (found.returncode, found.stdout, found.stderr.partition("\n")[0]) == ended


def test_a_full_disk_elsewhere_is_not_blamed_on_the_output(tmp_path: Path) -> None:
    ended = end_by("full_elsewhere", XDG_STATE_HOME=str(tmp_path))
    assert ended.returncode == 70


@pytest.mark.slow
@pytest.mark.parametrize(
    ("duration", "said"),
    [
        ("1s", "from 2 to 3600 seconds"),
        ("61min", "from 2 to 3600 seconds"),
        ("-5s", "'-5s' is not a duration"),
        ("nan", "'nan' is not a duration"),
        ("50", "'50' is not a duration"),
    ],
)
def test_a_first_answer_that_is_too_short_or_too_long_is_refused_in_plain_words(
    duration: str, said: str
) -> None:
    ended = run_tauto(f"--duration={duration}")
    assert ended.returncode == 2
    assert said in ended.stderr


@pytest.mark.slow
def test_a_report_that_can_not_be_written_is_told_before_measuring(tmp_path: Path) -> None:
    probe = tmp_path / "probe"
    probe.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    probe.chmod(0o755)
    program = ["-c", "from tautochrone.cli.app import main; main()"]
    for place, told in ((tmp_path / "no" / "x.html", "there is no folder"), (tmp_path, "it is a folder")):
        ended = run_python(
            [*program, "--out", str(place)], TAUTO_PROBE=str(probe), TAUTO_STORE=str(tmp_path / "store")
        )
        assert ended.returncode == 4
        assert told in ended.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["probe"]


@pytest.mark.slow
def test_help_imports_nothing_heavy() -> None:
    program = "import sys; from tautochrone.cli.app import app; print(*sys.modules)"
    loaded = run_python(["-c", program]).stdout.split()
    assert "typer" in loaded
    assert not {"numpy", "scipy", "pyarrow", "duckdb", "altair", "jinja2", "rich.table"} & set(loaded)


@pytest.mark.slow
def test_a_run_is_shown_without_what_draws_reaches_other_machines_or_fits(tmp_path: Path) -> None:
    """Starting is most of what `tauto show` takes. Of SciPy, quantiles need `special`, and nothing more."""
    store_run(Store(tmp_path), [np.arange(4_000) % 977 + 3_000])
    program = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr))"
    program += "; from tautochrone.cli.app import main; main()"
    ended = run_python(["-c", program, "show", "latest"], TAUTO_STORE=str(tmp_path))
    loaded = set(ended.stderr.split())
    assert "4,000" in ended.stdout
    assert {"numpy", "scipy.special", "pyarrow"} <= loaded
    heavy = {"altair", "vl_convert", "jinja2", "duckdb", "pandas", "matplotlib", "IPython", "ruptures"}
    heavy |= {"asyncssh", "asyncio", "websockets", "multiprocessing"}
    heavy |= {f"scipy.{part}" for part in ("fft", "linalg", "optimize", "sparse", "spatial", "stats")}
    assert heavy & loaded == set()


@pytest.mark.slow
def test_a_mistyped_verb_is_a_usage_error_that_suggests_the_near_one() -> None:
    ended = run_tauto("reprot")
    assert ended.returncode == 2
    assert "Did you mean tauto report?" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("given", "understood"),
    [
        ([], ["answer"]),
        (["--quick"], ["answer", "--quick"]),
        (["--store", "x"], ["--store", "x", "answer"]),
        (["--store=x", "--quick"], ["--store=x", "answer", "--quick"]),
        (["--store", "x", "list"], ["--store", "x", "list"]),
        (["--store"], ["--store"]),
        (["--help"], ["--help"]),
        (["--version"], ["--version"]),
        (["list", "--json"], ["list", "--json"]),
        (["help"], ["--help"]),
        (["help", "probe", "cyclic"], ["probe", "cyclic", "--help"]),
        (["--store", "x", "help", "tail", "-h"], ["--store", "x", "tail", "--help"]),
    ],
)
def test_without_a_verb_the_first_answer_is_meant(given: list[str], understood: list[str]) -> None:
    assert with_verb(given) == understood


def test_an_error_for_people_is_its_message_its_advice_and_its_code() -> None:
    ended = end_by("not_permitted")
    assert ended.returncode == 3
    assert ended.stderr.splitlines() == ["tauto: FIFO is not permitted", "Ask for it."]


def test_a_fault_is_told_in_one_line_and_its_traceback_saved(tmp_path: Path) -> None:
    ended = end_by("fault", XDG_STATE_HOME=str(tmp_path))
    assert ended.returncode == 70
    (line,) = ended.stderr.splitlines()
    (saved,) = tmp_path.rglob("fault-*.txt")
    assert "ValueError: seven" in line
    assert line.endswith(str(saved))
    assert "Traceback" in saved.read_text()


@pytest.mark.slow
def test_a_fault_is_told_even_where_nothing_can_be_saved(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = end_by("fault", XDG_STATE_HOME=str(tmp_path / "file"))
    assert ended.returncode == 70
    assert "ValueError: seven" in ended.stderr
    assert "TAUTO_DEBUG=1" in ended.stderr


@pytest.mark.slow
def test_debugging_shows_the_traceback_too(tmp_path: Path) -> None:
    ended = end_by("fault", XDG_STATE_HOME=str(tmp_path), TAUTO_DEBUG="1")
    assert "Traceback" in ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("failure", ["interrupted", "interrupted_library"])
def test_an_interrupt_ends_with_the_code_that_shells_know(failure: str) -> None:
    ended = end_by(failure)
    assert (ended.returncode, ended.stderr) == (130, "tauto: stopped.\n")


def test_an_interrupt_while_the_command_is_loaded_is_told_too() -> None:
    ended = run_python(["-c", LOADING])
    assert (ended.returncode, ended.stderr) == (130, "tauto: stopped.\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoding", "shown"), [("ascii", "? ?\na?[2J?b\n"), ("utf-8", "µ ∞\na\ufffd[2J\ufffdb\n")]
)
def test_what_an_output_has_no_sign_for_is_a_question_mark(encoding: str, shown: str) -> None:
    ended = end_by("words_of_all_kinds", PYTHONIOENCODING=encoding)
    assert (ended.returncode, ended.stdout) == (0, shown), ended.stderr


def test_a_reader_that_goes_away_is_no_error() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", FAILING, "flood"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdout.read(10)
        program.stdout.close()
        assert program.stderr.read() == b""
        assert program.wait(timeout=PATIENCE_S) == 141


@pytest.mark.slow
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_reader_that_goes_away_from_a_table_is_no_error_either(stream: str) -> None:
    """Rich writes it, and would end the command by itself, with nowhere in place of the output."""
    command = [sys.executable, "-c", FAILING, f"table_on_{stream}"]
    stdout, stderr = subprocess.PIPE, subprocess.DEVNULL
    if stream == "stderr":
        stdout, stderr = stderr, stdout
    with subprocess.Popen(command, stdout=stdout, stderr=stderr) as program:
        output = program.stdout or program.stderr
        assert output is not None
        output.read(10)
        output.close()
        assert program.wait(timeout=PATIENCE_S) == 141


@pytest.mark.slow
def test_the_list_of_experiments_cuts_no_words() -> None:
    lines = run_tauto("probe", "--help").stdout.splitlines()
    for experiment in ("cyclic", "switch", "taskset", "tire", "all"):
        (line,) = (line for line in lines if line.startswith(f"  {experiment} "))
        assert line.endswith(".")
        assert not line.endswith("...")
        assert len(line) <= 80


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "code", "said"),
    [
        ("no_memory", 1, "The system refused memory. See what limits it"),
        ("no_library", 1, "The system refused memory for a library. See what limits it"),
        ("no_thread", 1, "The system refused another thread. See what limits them, `ulimit -u`"),
        ("no_folder", 1, "No folder takes temporary files. Set TMPDIR"),
        ("no_name", 70, "This is a fault in tauto"),
    ],
)
def test_what_the_system_refuses_is_no_fault_in_tauto(way: str, code: int, said: str, tmp_path: Path) -> None:
    ended = end_by(way, XDG_STATE_HOME=str(tmp_path))
    assert ended.returncode == code
    assert said in ended.stderr
    assert ("fault in tauto" in ended.stderr) == (code == 70)


@pytest.mark.slow
def test_a_broken_pipe_that_is_not_our_output_is_not_hidden(tmp_path: Path) -> None:
    assert end_by("peer_is_gone", XDG_STATE_HOME=str(tmp_path)).returncode == 70


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "answered"),
    [
        (["cyclic"], "Did you mean tauto probe cyclic?"),
        (["fetch"], "Did you mean tauto lab fetch?"),
        (["run", "examples/delgado2020.toml"], "is a task set, and this verb takes a plan"),
        (["run", "examples/deployments/quiet.toml"], "is a deployment, and this verb takes a plan"),
        (["analyse", "examples/quick.plan.toml"], "is a plan, and this verb takes a task set"),
    ],
)
def test_who_takes_one_verb_for_another_is_told_which(
    typed: list[str], answered: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    refused = tauto(*typed, store=tmp_path)
    assert refused.returncode == 2
    assert answered in refused.stderr
    assert "takes" not in answered or "tauto " in refused.stderr.partition(answered)[2]


def test_a_capital_v_shows_the_version(tmp_path: Path) -> None:
    assert tauto("-V", store=tmp_path).stdout == tauto("--version", store=tmp_path).stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("tauto pro", "probe"),
        ("tauto probe cyclic --load cpu+mem", "cpu+memory"),
        ("tauto probe cyclic --policy r", "rr"),
        ("tauto probe cyclic --policy FI", "fifo"),
        ("tauto doctor --fail-on W", "warning"),
        ("tauto trend --experiment cy", "cyclic"),
        ("tauto tune show hm", "HM"),
        ("tauto lab matrix --kernels debian:r", "debian:rt"),
        ("tauto show lat", "latest"),
    ],
)
def test_a_shell_is_completed_without_what_is_heavy(words: str, completed: str, tmp_path: Path) -> None:
    program = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr))"
    ended = run_python(
        ["-c", f"{program}; from tautochrone.cli.app import main; main()"],
        _TAUTO_COMPLETE="complete_bash",
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split()) - 1),
        TAUTO_STORE=str(tmp_path),
    )
    assert completed in ended.stdout.split()
    heavy = {"numpy", "scipy", "pyarrow", "duckdb", "altair", "asyncssh", "jinja2"}
    assert not heavy & set(ended.stderr.split())
