"""Soaks whose parts are killed, whose disk fills up and whose board is cut off, at random, over and over.

TAUTO_LONG_MINUTES=60 .venv/bin/pytest tests/soak/test_soak_faults.py -m long -s
"""

import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from fleets import boards
from real import long_s, mount_small_disk, wait_until
from real_soaks import apart
from soak_faults import LEAST_FREE_BYTES, PIECE_S, Ground, Soaking, kill, soaking
from ssh_servers import SshServer
from tautochrone.run import files, pieces

pytestmark = [pytest.mark.slow, pytest.mark.long]

USUAL_S = 150.0
LOADS = ("--load", "2s:irq:rate=200,2s:idle")
SEALED, RECOVERED = "sealed", "recovered"
"""What becomes of a run: it was ended and is whole, or it was cut off. Of some that is left to chance."""

Fault = Callable[[Soaking, random.Random], str | None]


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    disk = mount_small_disk(tmp_path, "size=64m")
    yield Ground(tmp_path, disk, dict(os.environ))
    subprocess.run(["umount", str(disk)], check=True)


def end(soak: Soaking) -> str:
    """It goes on: some intervals later it is ended as people end it."""
    soak.wait_for_intervals(len(soak.seen()) + 2)
    soak.ground.run("soak", "stop", soak.run.name)
    return SEALED


def the_measuring_process(soak: Soaking, _: random.Random) -> str:
    kill(soak.keeper)
    return end(soak)


def all_of_tauto(soak: Soaking, chance: random.Random) -> str:
    """Nobody takes over, until somebody asks for the end."""
    for pid in chance.sample([soak.typed.pid, soak.keeper, soak.follower.pid, soak.live.pid], 4):
        kill(pid)
    time.sleep(chance.uniform(0.0, 4.0))
    soak.ground.run("soak", "stop", soak.run.name)
    return SEALED


def the_measuring_process_of_a_soak_that_ends_with_it(soak: Soaking, _: random.Random) -> str:
    kill(soak.keeper)
    return RECOVERED


def who_recovers(soak: Soaking, chance: random.Random) -> str:
    """Several do at once, after a kill, and are killed, too."""
    kill(soak.keeper)
    recovering = [soak.ground.start("recover")[0] for _ in range(2)]
    for one in chance.sample([*recovering, soak.typed, soak.follower], 4):
        with suppress(subprocess.TimeoutExpired):
            one.wait(chance.uniform(0.0, 0.8))
        one.kill()
        one.wait()
    return RECOVERED


def the_probe(soak: Soaking, _: random.Random) -> str:
    kill(soak.probe())
    return RECOVERED


def the_terminal(soak: Soaking, _: random.Random) -> str:
    soak.typed.kill()
    return end(soak)


def the_follower(soak: Soaking, _: random.Random) -> str:
    soak.follower.kill()
    soak.ground.start("soak", "follow", soak.run.name)
    return end(soak)


def the_live_server(soak: Soaking, _: random.Random) -> str:
    before = soak.released()
    soak.live.kill()
    soak.live.wait()
    soak.serve()
    wait_until(lambda: soak.released() >= before > 0, "another server tells as much, and more")
    return end(soak)


def who_looks_at_it_so_far(soak: Soaking, chance: random.Random) -> str:
    shown, _ = soak.ground.start("show", soak.run.name)
    with suppress(subprocess.TimeoutExpired):
        shown.wait(chance.uniform(0.2, 2.0))
    shown.kill()
    shown.wait()
    for left in (soak.ground.folder / "tmp").iterdir():  # its copy goes with the next one, in a minute
        os.utime(left, (0, 0))
    soak.ground.run("show", soak.run.name)
    return end(soak)


def a_disk_that_is_nearly_full(soak: Soaking, _: random.Random) -> str:
    """Samples are lost, and counted; then there is room again."""
    soak.ground.fill(LEAST_FREE_BYTES // 2)
    wait_until(lambda: any(one.dropped for one in soak.seen()), "samples are left out")
    soak.ground.make_room()
    wait_until(lambda: not soak.seen()[-1].dropped, "there are samples again")
    return end(soak)


def a_full_disk(soak: Soaking, chance: random.Random) -> str:
    """Counts wait for room, and none is lost."""
    soak.ground.fill(0)
    time.sleep(chance.uniform(0.5, 2 * PIECE_S))
    soak.ground.make_room()
    return end(soak)


def the_measuring_process_on_a_full_disk(soak: Soaking, chance: random.Random) -> str:
    soak.ground.fill(0)
    time.sleep(chance.uniform(0.0, PIECE_S))
    kill(soak.keeper)
    time.sleep(chance.uniform(0.0, PIECE_S))
    soak.ground.make_room()
    return end(soak)


def the_measuring_process_while_it_completes_the_run(soak: Soaking, chance: random.Random) -> None:
    (soak.run / files.STOP).touch()
    time.sleep(chance.uniform(0.0, 2.0))
    kill(soak.keeper)


ENDS_WITH_TAUTO = ("--unattended", "0s")
HERE: Mapping[Fault, tuple[str, ...]] = {
    the_measuring_process: (),
    all_of_tauto: (),
    the_measuring_process_of_a_soak_that_ends_with_it: ENDS_WITH_TAUTO,
    who_recovers: ENDS_WITH_TAUTO,
    the_probe: (),
    the_terminal: (),
    the_follower: (),
    the_live_server: (),
    who_looks_at_it_so_far: (),
    a_disk_that_is_nearly_full: (),
    a_full_disk: (),
    the_measuring_process_on_a_full_disk: (),
    the_measuring_process_while_it_completes_the_run: (),
}
"""What goes wrong, and further options of the soak."""


def of_board(server: SshServer) -> Mapping[Fault, tuple[str, ...]]:
    """What happens to a board and the way to it."""

    def the_connection(soak: Soaking, _: random.Random) -> str:
        server.kill_sessions(signal.SIGKILL)
        return end(soak)

    def a_connection_that_is_not_made_again(soak: Soaking, _: random.Random) -> str:
        server.kill_sessions(signal.SIGKILL)
        return RECOVERED

    def a_network_that_is_silent(soak: Soaking, _: random.Random) -> str:
        sessions = server.sessions()
        server.kill_sessions(signal.SIGSTOP)
        try:
            return end(soak)
        finally:
            for pid in sessions:  # frozen ones would never end
                kill(pid)

    def the_board(soak: Soaking, _: random.Random) -> str:
        """It is switched off and on: nothing runs there any more, and its temporary files are gone."""
        for pid in (*apart(soak.run), *server.started(), *server.sessions()):
            kill(pid)
        for place in (*server.pushed.iterdir(), *soak.ground.places):
            shutil.rmtree(place, ignore_errors=True)
            place.unlink(missing_ok=True)
        return RECOVERED

    return {
        the_connection: (),
        a_connection_that_is_not_made_again: ENDS_WITH_TAUTO,
        a_network_that_is_silent: (),
        the_board: (),
        the_measuring_process: (),
        all_of_tauto: (),
    }


def endure(
    ground: Ground,
    faults: Mapping[Fault, tuple[str, ...]],
    *where: str,
    then: Callable[[], None] = lambda: None,
) -> None:
    """One soak after the other, each with a fault; each fault once at least, and `then` something."""
    chance = random.Random()
    until_s = time.monotonic() + long_s(USUAL_S)
    done: Counter[str] = Counter()
    left: list[Fault] = []
    while len(done) < len(faults) or time.monotonic() < until_s:
        left = left or chance.sample([*faults], len(faults))
        fault = left.pop()
        with soaking(ground, *where, *faults[fault]) as soak:
            soak.wait_for_intervals(chance.randint(1, 7))
            time.sleep(chance.uniform(0.0, 1.0))
            seen = soak.seen()
            assert len(seen) < 2 * PIECE_S or pieces.pieces_of(soak.run)
            print(f"{soak.run.name}: {fault.__name__}, after {len(seen)} intervals", flush=True)
            state = fault(soak, chance)
            soak.wait_for_the_end()
        ground.run("recover")
        ground.see_kept(soak.run, seen, state)
        then()
        ground.see_nothing_left()
        ground.see_nothing_changed()
        done[fault.__name__] += 1
    print(", ".join(f"{name} {count}" for name, count in sorted(done.items())))


def test_what_was_complete_stays_and_what_is_lost_is_counted(ground: Ground) -> None:
    endure(ground, HERE, *LOADS)


def test_a_board_that_is_cut_off_or_switched_off_costs_what_had_not_come(
    ground: Ground, tmp_path: Path
) -> None:
    with boards(tmp_path, ["board"]) as found:
        server = found.servers["board"]
        ground.environment["HOME"] = str(found.home)
        endure(
            ground,
            of_board(server),
            "--on",
            "ssh:board",
            then=lambda: wait_until(lambda: server.left() == [], "what was pushed is removed"),
        )
