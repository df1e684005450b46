"""Boards of labgrid: its real coordinator and exporter, whose places are SSH servers on loopback."""

import getpass
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_fleet import measured, on, plan

from fleets import Boards, boards
from labgrids import client, labgrid
from networks import two_networks
from real import PATIENCE_S, TAUTO, start_tauto, tauto, wait_until
from tautochrone.run.catalogue import catalogue
from tautochrone.run.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.long]
NAMES = ("board1", "board2")


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    with boards(tmp_path, NAMES) as found:
        _know_by_address(found)
        with labgrid(tmp_path, found.servers, getpass.getuser()) as around:
            for name, value in (around | {"HOME": str(found.home)}).items():
                monkeypatch.setenv(name, value)
            monkeypatch.setenv("XDG_STATE_HOME", str(found.home / "state"))
            yield around


def _know_by_address(found: Boards) -> None:
    """labgrid tells an address, so that is what ssh must know."""
    ssh = found.home / ".ssh"
    keys = [f"IdentityFile {one.home}/.ssh/id_ed25519\n" for one in found.servers.values()]
    known = [(one.home / ".ssh" / "known_hosts").read_text() for one in found.servers.values()]
    (ssh / "config").write_text("".join(keys))
    (ssh / "known_hosts").write_text("".join(known))


def fleet(folder: Path) -> str:
    path = folder / "fleet.toml"
    path.write_text(
        "".join(f'[[machine]]\nname = "{name}"\non = "labgrid:{name}"\n' for name in NAMES)
        + '[[machine]]\nname = "board9"\non = "labgrid:board9"\n'
    )
    return str(path)


def holder(around: dict[str, str], place: str) -> str:
    said = client(around, "-p", place, "show").stdout
    return next(line.partition(": ")[2] for line in said.splitlines() if line.strip().startswith("acquired:"))


def test_places_are_acquired_for_their_cases_and_released(places: dict[str, str], tmp_path: Path) -> None:
    store = tmp_path / "store"
    ended = tauto("run", plan(tmp_path, periods='"1ms"'), "--fleet", fleet(tmp_path), store=store)
    assert ended.returncode == 1, ended.stderr
    assert "machine board9 is in quarantine: labgrid:board9 can't be acquired" in ended.stderr
    assert on(measured(store)) == {"labgrid:board1": 1, "labgrid:board2": 1}
    assert [holder(places, name) for name in NAMES] == ["None", "None"]


def test_places_in_another_network_are_measured_on(tmp_path: Path) -> None:
    """Its boards have one of their own; labgrid and tauto share another one, and a cable joins the two."""
    store = tmp_path / "store"
    with (
        two_networks() as networks,
        networks.inside_second(),
        boards(tmp_path, NAMES, networks.there) as found,
        networks.inside_first(),
        labgrid(tmp_path, found.servers, getpass.getuser()) as around,
    ):
        _know_by_address(found)
        ended = subprocess.run(
            [*TAUTO, "run", plan(tmp_path, periods='"1ms"'), "--fleet", fleet(tmp_path)],
            env=around | found.environment | {"TAUTO_STORE": str(store)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    assert "machine board9 is in quarantine" in ended.stderr
    assert on(measured(store)) == {"labgrid:board1": 1, "labgrid:board2": 1}, ended.stderr


def test_a_place_that_somebody_else_has_is_waited_for(places: dict[str, str], tmp_path: Path) -> None:
    store = tmp_path / "store"
    other = places | {"LG_USERNAME": "somebody"}
    assert client(other, "-p", "board1", "acquire").returncode == 0
    refused = tauto("--on", "labgrid:board1", store=store)
    assert "already acquired by lab/somebody" in refused.stderr
    running = start_tauto("run", plan(tmp_path, periods='"1ms"'), "--fleet", fleet(tmp_path), store=store)
    wait_until(lambda: on(measured(store))["labgrid:board2"] == 1, "the free board is measured on")
    assert client(other, "-p", "board1", "release").returncode == 0
    running.communicate()
    assert on(measured(store)) == {"labgrid:board1": 1, "labgrid:board2": 1}


def test_a_place_that_a_killed_tauto_had_is_taken_over(places: dict[str, str], tmp_path: Path) -> None:
    store, state = tmp_path / "store", tmp_path / "user" / "state" / "tautochrone" / "labgrid"
    assert client(places, "-p", "board1", "acquire").returncode == 0  # by hand: it is not tauto's
    by_hand = tauto("run", plan(tmp_path, periods='"1ms"'), "--on", "labgrid:board1", store=store)
    assert "You have already acquired place board1" in by_hand.stderr
    (state / "board1").write_text("acquired\n")  # as a tauto leaves it that was killed
    ended = tauto("run", plan(tmp_path, periods='"1ms"'), "--on", "labgrid:board1", store=store)
    assert ended.returncode == 0, ended.stderr
    assert [entry.conditions.target for entry in catalogue(Store(store))] == ["labgrid:board1"]
    assert holder(places, "board1") == "None"


def test_a_place_that_can_not_be_noted_is_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client, held = tmp_path / "labgrid-client", tmp_path / "held"
    client.write_text(f'#!/bin/sh\ncase "$3" in\nacquire) touch {held};;\nrelease) rm {held};;\nesac\n')
    client.chmod(0o755)
    (marks := tmp_path / "tautochrone" / "labgrid").mkdir(parents=True)
    (marks / "board1").symlink_to("/dev/full")
    monkeypatch.setenv("TAUTO_LABGRID_CLIENT", str(client))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    told = tauto("--on", "labgrid:board1", store=tmp_path / "store")
    assert (told.returncode, "board1 can't be written" in told.stderr) == (4, True), told.stderr
    assert not held.exists()


def test_ctrl_c_while_a_place_is_acquired_gives_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that takes its time; labgrid keeps what it has acquired, whoever asked."""
    begun, held = tmp_path / "begun", tmp_path / "held"
    os.mkfifo(go_on := tmp_path / "go-on")
    client = tmp_path / "labgrid-client"
    client.write_text(
        f'#!/bin/sh\ncase "$3" in\nacquire) touch {held} {begun}; read -r _ <{go_on};;\n'
        f"release) rm {held};;\nesac\n"
    )
    client.chmod(0o755)
    monkeypatch.setenv("TAUTO_LABGRID_CLIENT", str(client))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    running = start_tauto("--on", "labgrid:board1", store=tmp_path / "store")
    wait_until(begun.exists, "it asks for the place")
    running.send_signal(signal.SIGINT)
    pipe = os.open(go_on, os.O_RDWR)  # nobody reads it if the client was killed
    os.write(pipe, b"\n")
    _, said = running.communicate(timeout=PATIENCE_S)
    os.close(pipe)
    assert (running.returncode, held.exists()) == (130, False), said
