"""The experiment `kernel` where its module is not loaded, and what it does not take anywhere."""

from pathlib import Path

import pytest

from real import probe
from where import ROOT

pytestmark = pytest.mark.alone


@pytest.mark.skipif(Path("/dev/tautochrone").exists(), reason="the kernel half is loaded here")
def test_without_the_kernel_half_it_says_what_is_missing_and_how_to_get_it() -> None:
    ended = probe("kernel", "--out", "-")
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert "the module is not loaded (no /dev/tautochrone)" in ended.stderr
    assert "make -C kmod" in ended.stderr
    assert "insmod" in ended.stderr


def test_the_lab_takes_all_sources_of_the_kernel_half_along() -> None:
    folder = ROOT / "kmod"
    listed = (folder / "meson.build").read_text()
    built = (folder / "Kbuild").read_text()
    for path in folder.iterdir():
        assert path.name == "meson.build" or f"'{path.name}'" in listed
        assert path.suffix != ".c" or f" {path.stem}.o" in built


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("--periods 19us", "between 20us and 1h"),
        ("--mechanisms fifo", "belongs to --measure response"),
        ("--measure period --soft", "belongs to --measure interrupt"),
        ("--place both", "has one task"),
        ("--measure response --mechanisms fifo,fifo", "names fifo twice"),
        ("--measure response --mechanisms pipe", "choose from semaphore"),
        ("--measure response --repetitions 0", "--repetitions must lie"),
        ("--measure response --priority 1", "needs one below it"),
    ],
)
def test_what_it_does_not_take_is_refused_in_words(words: str, why: str) -> None:
    ended = probe("kernel", *words.split())
    assert ended.returncode == 2
    assert why in ended.stderr
