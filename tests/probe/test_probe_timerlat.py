"""The probe's timerlat experiment on the machine at hand, whose kernel may have it or not."""

import subprocess

import pytest

from real import a_cpu, probe

pytestmark = pytest.mark.alone


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--period", "50us"), "between 100us and 1s"),
        (("--period", "2s"), "between 100us and 1s"),
        (("--period", "100500ns"), "whole microseconds"),
        (("--rate", "100", "--period", "10ms"), "contradict"),
        (("--cpus", "any"), "0,2-3"),
    ],
)
def test_what_the_kernel_would_not_take_is_refused(arguments: tuple[str, ...], words: str) -> None:
    refused = probe("timerlat", "--no-memory-lock", *arguments)
    assert refused.returncode == 2
    assert words in refused.stderr


def test_it_measures_or_says_what_to_enable() -> None:
    ended: subprocess.CompletedProcess[str] = probe(
        "timerlat", "--no-memory-lock", "--cpus", a_cpu(), "--period", "1ms", "--count", "50"
    )
    if ended.returncode == 0:
        assert "interrupt latency (t1)" in ended.stdout
    else:
        assert ended.returncode in (1, 3)
        assert any(
            words in ended.stderr for words in ("CONFIG_TIMERLAT_TRACER", "Run as root", "Wait for its end")
        )
        assert "'interrupt' measures the same two latencies" in ended.stderr
