"""Temporary folders, as of a step's files or a copy of a soak: nothing of a killed process stays behind."""

import os
import tempfile
from pathlib import Path

import pytest

from tautochrone.base.own_folder import own_folder

LONG_AGO = 1_000_000


def test_what_a_killed_process_left_goes_with_the_next_one_and_a_running_one_keeps_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / "tauto-step-killed"
    (left / "unpacked").mkdir(parents=True)
    others = {tmp_path / name for name in ("somebody-else", "tauto-soak-killed")}
    for one in others:
        one.mkdir()
    with own_folder("tauto-step-") as running:
        for one in (left, running, *others):
            os.utime(one, (LONG_AGO, LONG_AGO))
        with own_folder("tauto-step-") as second:
            assert set(tmp_path.iterdir()) == {running, second, *others}
    assert set(tmp_path.iterdir()) == others
