"""The tire that `bench/` computes with NumPy, and the probe's: the same to the last bit."""

import subprocess
import sys
from typing import Any

import pytest

from real import PATIENCE_S
from tautochrone.base.stream import EVENT, FrameReader, json_payload
from tautochrone.target.local import find_probe
from where import ROOT

NUMPY = ROOT / "bench" / "tire_numpy.py"
STEPS = 300  # with the fall and the first seconds on the floor


def checksum_of_the_probe(nodes: int, *more: str) -> int:
    command = [str(find_probe()), "tire", "--pace", "real-fast", "--policy", "other", "--out", "-", *more]
    command += ["--nodes", str(nodes), "--count", str(STEPS), "--no-memory-lock"]
    done = subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE_S)
    events: list[dict[str, Any]] = [
        json_payload(frame) for frame in FrameReader().feed(done.stdout) if frame.type == EVENT
    ]
    (result,) = [event for event in events if event["event"] == "result"]
    assert result["steps"] == STEPS
    return int(result["positions_crc32c"])


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [4, 8, 404])
def test_numpy_and_the_probe_agree_to_the_last_bit(nodes: int) -> None:
    command = [sys.executable, str(NUMPY), str(nodes), str(STEPS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE_S)
    checksum = int(done.stdout.split()[1])

    assert checksum_of_the_probe(nodes) == checksum
    assert checksum_of_the_probe(nodes, "--solver", "semaphore", "--threads", "3") == checksum
