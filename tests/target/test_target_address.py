"""What stands after --on."""

import sys
from pathlib import Path

import pytest

from tautochrone.base.errors import UsageError
from tautochrone.target import probes
from tautochrone.target.address import SshAddress, read_address
from tautochrone.target.open import open_target
from tautochrone.target.probes import find_probe_for


@pytest.mark.parametrize(
    ("where", "meant"),
    [
        ("ssh:board", SshAddress("board")),
        ("ssh:root@board", SshAddress("board", "root")),
        ("ssh:root@board:2222", SshAddress("board", "root", 2222)),
        ("ssh:192.168.7.2:22", SshAddress("192.168.7.2", None, 22)),
        ("ssh:root@[fe80::1%eth0]:22", SshAddress("fe80::1%eth0", "root", 22)),
        ("ssh:[::1]", SshAddress("::1")),
        ("ssh:some.one@example.org@board", None),
    ],
)
def test_addresses(where: str, meant: SshAddress | None) -> None:
    if meant is None:
        with pytest.raises(UsageError):
            read_address(where)
    else:
        assert read_address(where) == meant
        assert str(meant) == where


@pytest.mark.parametrize(
    "where",
    [
        *("", "ssh", "ssh:", "ssh:@board", "ssh:root@", "ssh:board:", "ssh:board:port", "ssh:board:0"),
        *("ssh:board:65536", "ssh:fe80::1", "ssh:[fe80::1", "ssh:-oProxyCommand=x", "ssh:a b", "ssh://board"),
        *("serial:/dev/ttyS0", "Local", "board", "root@board"),
    ],
)
def test_what_is_no_address_is_refused_with_the_forms_that_are(where: str) -> None:
    with pytest.raises(UsageError) as refusal, open_target(where):
        pass
    assert "ssh:[user@]host[:port]" in refusal.value.advice


def test_this_machine_is_meant_by_its_word_or_none() -> None:
    for where in ("local", None):
        with open_target(where) as target:
            assert target.name == "local"


def test_machines_without_a_probe_are_told_which_ones_there_are() -> None:
    with pytest.raises(UsageError, match="ppc64") as refusal:
        find_probe_for("ppc64")
    assert "riscv64" in refusal.value.advice


def test_who_installed_a_wheel_is_told_where_programs_for_other_machines_come_from(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("TAUTO_PROBES", raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    monkeypatch.setattr(probes, "__file__", str(tmp_path / "venv/lib/python3/site-packages/tautochrone/p.py"))
    with pytest.raises(UsageError, match="was not built") as missing:
        probes.find_probe_for("riscv64")
    assert "installed without them" in missing.value.advice
    assert "TAUTO_PROBES" in missing.value.advice
