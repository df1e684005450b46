"""`tauto tire view` as people type it, here, over SSH and between two networks."""

import json
import os
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import sync_playwright
from websockets.sync.client import connect

from browsers import CHROMIUM, QUIET, new_page
from networks import Networks, two_networks
from real import (
    PATIENCE_S,
    TAUTO,
    a_cpu,
    children,
    only_run,
    policy_options,
    skip_or_fail,
    start_tauto,
    tauto,
    two_cpus,
    wait_until,
)
from ssh_servers import free_port, ssh_server
from tautochrone.base.errors import UsageError
from tautochrone.target.local import LocalTarget, find_probe
from tautochrone.tire.view_verb import receive_address

REAL_TIME = [*policy_options()]


def test_help_says_what_it_is(tmp_path: Path) -> None:
    done = tauto("tire", "view", "--help", store=tmp_path)

    assert done.returncode == 0
    assert "fall and deform" in done.stdout
    assert "--receive" in done.stdout


@pytest.mark.slow
def test_a_port_in_use_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = tauto("tire", "view", "--listen", f"127.0.0.1:{port}", store=tmp_path / "store")

    assert done.returncode == 2
    assert f"127.0.0.1:{port} is in use" in done.stderr
    assert f"--listen 127.0.0.1:{port + 1}" in done.stderr
    assert not list(tmp_path.glob("store/*tire*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--listen", "board:80"], "--listen 'board:80' is not an address"),
        (["--receive", "0.0.0.0"], "--receive 0.0.0.0 stands for every address"),
        (["--receive", "192.0.2.1"], "192.0.2.1 is not an address of this machine"),
        (["--attach", "--nodes", "8", "--on", "local"], "--nodes, --on would be for a run"),
    ],
)
def test_what_can_not_be_is_refused(tmp_path: Path, options: list[str], words: str) -> None:
    done = tauto(
        "tire", "view", "--listen", "127.0.0.1:0", *options, store=tmp_path
    )  # the last --listen holds

    assert done.returncode == 2
    assert words in done.stderr


def test_where_the_connection_does_not_tell_it_is_asked_where_to_receive() -> None:
    class BehindAnother(LocalTarget):
        name = "ssh:root@board"

        def address_here(self) -> str | None:
            return None

    with pytest.raises(UsageError, match="how ssh:root@board reaches this machine") as refused:
        receive_address(None, BehindAnother())
    assert "--receive ADDRESS" in refused.value.advice
    assert str(receive_address("10.1.2.3:99", BehindAnother())) == "10.1.2.3:99"


@pytest.mark.slow
def test_what_the_probe_refuses_is_told_to_the_page_too(tmp_path: Path) -> None:
    done = tauto("tire", "view", "--listen", "127.0.0.1:0", "--nodes", "6", *REAL_TIME, store=tmp_path)

    assert done.returncode == 2
    assert "a multiple of 4" in done.stderr


@pytest.mark.slow
def test_the_run_is_measured_shown_and_stored(tmp_path: Path) -> None:
    page_at = f"127.0.0.1:{free_port()}"
    process = start_tauto(
        "tire", "view", "--duration", "2s", "--listen", page_at, "--json", *REAL_TIME, store=tmp_path
    )
    _wait_for_page(page_at)
    with connect(f"ws://{page_at}/states") as page:
        messages = [json.loads(message) for message in page]
    said, errors = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 0, errors
    states = [one for one in messages if one["kind"] == "state"]
    assert states[-1]["over"]
    assert states[-1]["released"] == 2_000
    assert f"The tire is shown at http://{page_at}/" in errors
    assert f"{states[-1]['reception']['received']:,} received, 0 lost" in errors
    run = only_run(tmp_path)
    assert f"tauto show {run.manifest.id}" in messages[-1]["words"]
    assert run.manifest.header.stored["parameters"]["nodes"] == 64
    assert run.manifest.header.stored["parameters"]["send"].startswith("127.0.0.1:")
    assert json.loads(said)


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_measured(tmp_path: Path) -> None:
    page_at = f"127.0.0.1:{free_port()}"
    process = start_tauto("tire", "view", "--listen", page_at, *REAL_TIME, store=tmp_path)
    _wait_for_page(page_at)
    with connect(f"ws://{page_at}/states") as page:
        for message in page:
            if json.loads(message).get("released", 0) > 100:
                break
        process.send_signal(signal.SIGINT)
        last = [json.loads(message) for message in page][-1]
    _, errors = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 130, errors
    assert last["kind"] == "ended"
    assert only_run(tmp_path).manifest.ended == "interrupted"


@pytest.mark.slow
def test_attached_it_shows_what_somebody_else_started(tmp_path: Path) -> None:
    page_at, receives_at = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    view = start_tauto(
        "tire", "view", "--attach", "--listen", page_at, "--receive", receives_at, store=tmp_path
    )
    _wait_for_page(page_at)
    with connect(f"ws://{page_at}/states") as page:
        subprocess.run(_sending(receives_at, "1s"), check=True, stdin=subprocess.DEVNULL)
        for message in page:
            if json.loads(message).get("over"):
                break
    view.send_signal(signal.SIGINT)
    _, errors = view.communicate(timeout=PATIENCE_S)

    assert view.returncode == 130
    assert f"tauto-probe tire --send {receives_at}" in errors
    assert "0 lost" in errors
    assert "Traceback" not in errors
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_sender_is_ordinary_and_off_the_measured_cpu() -> None:
    two_cpus()
    measured = a_cpu()
    command = [*_sending("127.0.0.1:9", "60s"), "--cpus", measured]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: "tauto-live" in _threads(process.pid), "the sender is there")
            thread = _threads(process.pid)["tauto-live"]
            assert os.sched_getscheduler(thread) == os.SCHED_OTHER
            wait_until(lambda: int(measured) not in os.sched_getaffinity(thread), "it is elsewhere")
        finally:
            process.terminate()


@pytest.mark.slow
def test_over_ssh_the_datagrams_come_to_where_the_connection_came_from(tmp_path: Path) -> None:
    with ssh_server("openssh", tmp_path) as server:
        environment = os.environ | {"HOME": str(server.home), "TAUTO_STORE": str(tmp_path / "store")}
        done = subprocess.run(
            [
                *TAUTO, "tire", "view", "--on", server.where, "--duration", "1s", "--listen", "127.0.0.1:0",
                *REAL_TIME,
            ],
            env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "0 lost" in done.stderr
    assert only_run(tmp_path / "store").manifest.conditions.stored["target"] == server.where


@pytest.fixture
def networks() -> Iterator[Networks]:
    with two_networks() as made:
        yield made


@pytest.mark.slow
def test_a_tire_of_another_machine_is_seen(networks: Networks, tmp_path: Path) -> None:
    """Probe in one network, view and browser in another, joined by a cable of the kernel's."""
    if not CHROMIUM.exists():
        skip_or_fail(f"{CHROMIUM} is not there")
    page_at, receives_at = f"{networks.there}:8117", f"{networks.there}:8118"
    command = [*TAUTO, "tire", "view", "--attach", "--listen", page_at, "--receive", receives_at]
    view = subprocess.Popen(
        networks.in_second(command),
        env=os.environ | {"TAUTO_STORE": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
    )
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nexec {" ".join(networks.in_second([str(CHROMIUM)]))} "$@"\n')
    browser.chmod(0o755)
    try:
        with sync_playwright() as playwright:
            started = playwright.chromium.launch(executable_path=str(browser), args=QUIET)
            page = new_page(started)
            _until(lambda: page.goto(f"http://{page_at}/"))
            with subprocess.Popen(
                networks.in_first(_sending(receives_at, "2s")), stdin=subprocess.DEVNULL
            ) as probe:
                page.wait_for_function("() => window.tautochrone.state?.over", timeout=PATIENCE_S * 1000)
                assert probe.wait(PATIENCE_S) == 0
            known: dict[str, Any] = page.evaluate(
                "() => ({ nodes: tautochrone.state.nodes, released: tautochrone.state.released, "
                "lowest: tire.lowest(tautochrone.picture), reception: tautochrone.reception })"
            )
            started.close()
    finally:
        for pid in (*children(view.pid), view.pid):
            os.kill(pid, signal.SIGINT)
        _, errors = view.communicate(timeout=PATIENCE_S)

    assert (known["nodes"], known["released"]) == (64, 2_000)
    assert known["lowest"] < 0.45  # it fell from half a metre, as far as the releases that were served let it
    assert known["reception"]["lost"] == known["reception"]["unreadable"] == 0
    assert "Whoever reaches this machine can see it, too." in errors


def _sending(to: str, duration: str) -> list[str]:
    return [
        str(find_probe()), "tire", "--nodes", "64", "--step", "1ms", "--duration", duration, "--send", to,
        "--out", "/dev/null", *REAL_TIME,
    ]  # fmt: skip


def _wait_for_page(page_at: str) -> None:
    _until(lambda: urllib.request.urlopen(f"http://{page_at}/").close())


def _until(does: Any) -> None:
    def works() -> bool:
        try:
            does()
        except Exception as error:  # whatever a browser or a socket calls it
            return not str(error)
        return True

    wait_until(works, "the page is there")


def _threads(pid: int) -> dict[str, int]:
    """Thread numbers by name."""
    found = {}
    for folder in Path(f"/proc/{pid}/task").glob("*"):
        if (folder / "comm").exists():
            found[(folder / "comm").read_text().strip()] = int(folder.name)
    return found
