"""A labgrid of the tests' own: its real coordinator and exporter on loopback."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from real import skip_or_fail, wait_until
from ssh_servers import SshServer, free_port


def programs() -> Path:
    """The folder of labgrid's commands: `scripts/setup test` makes an environment for it alone."""
    folder = Path(__file__).parents[2] / "build" / "labgrid" / "bin"
    if not (folder / "labgrid-client").exists():
        skip_or_fail("needs labgrid: scripts/setup test installs it")
    return folder


@contextmanager
def labgrid(folder: Path, boards: Mapping[str, SshServer], user: str) -> Iterator[dict[str, str]]:
    """Places of these names, each with the NetworkService of its board; yields the environment for them."""
    where = programs()
    address = f"127.0.0.1:{free_port()}"
    around = os.environ | {
        "LG_COORDINATOR": address,
        "TAUTO_LABGRID_CLIENT": str(where / "labgrid-client"),
        "LG_HOSTNAME": "lab",
        "LG_USERNAME": "tests",
    }
    groups = [
        f"{name}:\n  NetworkService:\n    address: {board.host}\n    username: {user}\n"
        f"    port: {board.port}\n"
        for name, board in boards.items()
    ]
    (folder / "exporter.yaml").write_text("".join(groups))
    with ExitStack() as stack:
        coordinator = [str(where / "labgrid-coordinator"), "-l", address]
        exporter = [str(where / "labgrid-exporter"), "-n", "exporter", "--hostname", "127.0.0.1"]
        _start(stack, folder, around, coordinator)
        wait_until(lambda: client(around, "places").returncode == 0, "the coordinator answers")
        _start(stack, folder, around, [*exporter, "-c", address, str(folder / "exporter.yaml")])
        for name in boards:
            wait_until(lambda name=name: name in client(around, "resources").stdout, "it is exported")  # type: ignore[misc]
            for words in (["create"], ["add-match", f"exporter/{name}/NetworkService"]):
                made = client(around, "-p", name, *words)
                assert made.returncode == 0, made.stderr
        yield around


def client(around: Mapping[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
    """Run labgrid-client as a person does."""
    return subprocess.run(
        [around["TAUTO_LABGRID_CLIENT"], *words],
        env=dict(around),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def _start(stack: ExitStack, folder: Path, around: Mapping[str, str], command: list[str]) -> None:
    """It works in this folder, where the coordinator keeps its places."""
    log = stack.enter_context((folder / f"log-{Path(command[0]).name}").open("wb"))
    process = subprocess.Popen(
        command, cwd=folder, env=dict(around), stdin=subprocess.DEVNULL, stdout=log, stderr=log
    )

    def end() -> None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    stack.callback(end)
