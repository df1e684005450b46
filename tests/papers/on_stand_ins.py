"""Real-time extensions of the studies, measured side by side: the ports of the probe, on stand-ins.

Not among the other tests, for the ports are built by `scripts/test-probe ports`, which runs this.
"""

import json
import os
from pathlib import Path

import pytest

from real import needs_priorities
from reproduced import tauto, tiny
from ssh_servers import ssh_server
from tautochrone.run.store import Store
from tautochrone.target.probes import find_agent_for

BUILD = Path(__file__).parents[2] / "build"


def port(name: str) -> Path:
    return BUILD / f"port-{name}" / "probe" / "tauto-probe"


def test_claims_between_real_time_extensions_are_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Xenomai's runs on this machine, RTAI's on one that is reached by SSH."""
    needs_priorities("the papers")
    probes, server = tmp_path / "probes", tmp_path / "server"
    probes.mkdir()
    server.mkdir()
    agent = find_agent_for(os.uname().machine)
    (probes / agent.name).symlink_to(agent)
    (probes / agent.name.replace("agent", "probe")).symlink_to(port("rtai"))
    monkeypatch.setenv("TAUTO_PROBE", str(port("cobalt")))
    monkeypatch.setenv("TAUTO_PROBES", str(probes))
    with ssh_server("openssh", server) as board:
        monkeypatch.setenv("HOME", str(board.home))
        monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
        done = tauto(
            "reproduce", "koh2013", "--plan", str(tiny("koh2013")), "--on", "local", "--on", board.where,
            "--json", "--out", str(tmp_path / "out"), store=tmp_path / "store",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    claims = [one for one in json.loads(done.stdout)["claims"] if one["answer"] != "not asked here"]
    between = {one["name"]: one["systems"] for one in claims if len(one["systems"]) == 2}
    xenomai, rtai = "local", board.where
    assert between == {
        "xenomai-period-is-more-even": [xenomai, rtai],
        "rtai-is-more-even-at-short-periods": [rtai, xenomai],
        "xenomai-semaphore-is-faster": [xenomai, rtai],
        "xenomai-message-is-faster": [xenomai, rtai],
    }
    fifo = {one["systems"][0]: one["evidence"] for one in claims if "fifo-user" in one["name"]}
    assert "leaves primary mode" in fifo[xenomai]
    assert "becomes soft" in fifo[rtai]
    cores = {run.manifest.header.system.core for run in Store(tmp_path / "store").runs()}
    assert cores == {"Cobalt 3.2.0", "RTAI"}  # which says no version
    page = (tmp_path / "out" / "report.html").read_text()
    assert all(f"with {core}" in page for core in cores)
