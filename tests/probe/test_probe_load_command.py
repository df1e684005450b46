"""The load that is another program: confined, started again, and never left behind."""

import signal
from pathlib import Path

import pytest

from loads import assert_gone, cpu_time_s, running, threads_of, to_its_end, tree
from real import is_one_refusal, two_cpus, wait_until


@pytest.mark.slow
def test_command_may_use_all_the_cpus_that_it_was_given_and_its_descendants_count() -> None:
    two = ("--", "sh", "-c", "for i in 1 2; do (while :; do :; done) & done; wait")
    with running("command", "--cpus", two_cpus(), *two) as load:
        wait_until(lambda: cpu_time_s(load.pid) > 0.3, "both spin")
        expected = set(map(int, two_cpus().split(",")))
        for allowed in threads_of(load.pid, "Cpus_allowed_list").values():
            edges = [int(edge) for edge in allowed.replace("-", ",").split(",")]
            assert set(range(edges[0], edges[-1] + 1)) == expected
        seen = cpu_time_s(load.pid)
        report = load.end()
    assert report["operations"] == 1
    assert report["command"][0] == "sh"
    assert report["cpu_time_ns"] / 1e9 > 0.8 * seen


@pytest.mark.slow
def test_command_is_started_again_when_it_has_ended_well(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    with running("command", "--", "sh", "-c", f"echo >>{begun}; sleep 0.02") as load:
        wait_until(lambda: len(begun.read_text()) > 3, "it was started again and again")
        report = load.end()
    assert 2 <= report["operations"] <= report["elapsed_ns"] / 20e6 + 1


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo first >&2; echo oh dear >&2; exit 7", ("code 7", "oh dear")),
        ("kill -SEGV $$", ("signal 11",)),
        ("exit 255", ("code 255",)),
    ],
)
def test_command_that_fails_ends_the_load_with_its_words(script: str, words: tuple[str, ...]) -> None:
    load = to_its_end("command", "--", "sh", "-c", script)
    assert load.returncode == 1
    assert "ended" not in load.stdout  # that it runs is told before, where it takes long to fail
    assert is_one_refusal(load.stderr)
    for word in words:
        assert word in load.stderr


@pytest.mark.slow
def test_command_that_fails_later_ends_the_load_too() -> None:
    with running("command", "--", "sh", "-c", "sleep 0.5; echo it broke >&2; exit 3") as load:
        assert "it broke" in load.failure()


@pytest.mark.slow
def test_command_that_talks_much_is_not_held_up_by_it() -> None:
    with running("command", "--", "sh", "-c", "while :; do echo much talk >&2; echo more; done") as load:
        before = cpu_time_s(load.pid)
        wait_until(lambda: cpu_time_s(load.pid) > before + 0.3, "it goes on")
        load.end()


def test_command_ends_with_all_that_left_its_group() -> None:
    with running("command", "--", "sh", "-c", "setsid sleep 1000 & setsid setsid sleep 1001 & wait") as load:
        wait_until(lambda: len(tree(load.pid)) >= 4, "its descendants run")
        family = tree(load.pid)
        load.process.send_signal(signal.SIGKILL)
        assert_gone(family)


def test_command_that_is_not_there_is_named() -> None:
    load = to_its_end("command", "--", "stress-of-life", "--cpu", "2")
    assert load.returncode == 2
    assert "stress-of-life" in load.stderr
    assert "Install" in load.stderr
