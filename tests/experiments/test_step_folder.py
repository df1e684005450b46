"""The folder that a run of `step` unpacks an FMU into: nothing of a killed run stays behind."""

import os
import tempfile
from pathlib import Path

import pytest

from tautochrone.experiments.step_files import own_folder

LONG_AGO = 1_000_000


def test_what_a_killed_run_left_goes_with_the_next_one_and_a_running_one_keeps_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / "tauto-step-killed"
    (left / "unpacked").mkdir(parents=True)
    other = tmp_path / "somebody-else"
    other.mkdir()
    with own_folder() as running:
        for one in (left, other, Path(running)):
            os.utime(one, (LONG_AGO, LONG_AGO))
        with own_folder() as second:
            assert not left.exists()
            assert {str(one) for one in tmp_path.iterdir()} == {running, second, str(other)}
    assert list(tmp_path.iterdir()) == [other]
