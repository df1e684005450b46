"""What it costs to send the tire (docs/tire-view.md): T_s and T_i with and without, taken in turn."""

import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tautochrone.run.store import Store
from tautochrone.statistics.quantiles import interval_ranks
from tautochrone.target.local import find_probe

_MEASURES = {"step_ns": "T_s", "dispatch_ns": "T_i"}
_SHARES = (0.5, 0.99)
_TURN_S = 0.5
_WAYS = ("sent", "not sent", "not sent again")
"""The last two differ in nothing, so how much their ratio strays is what this machine can't tell apart."""


def sender_cost(cpu: int, seconds: float, rounds: int, nodes: int = 64, step: str = "1ms") -> None:
    """Of many short turns the medians and 99 % quantiles; the median of their ratios, and how sure it is.

    A ratio of 1: it costs nothing. Turns are short, because a machine's mood changes within seconds.
    """
    turns = max(1, round(rounds * seconds / _TURN_S))
    found: list[list[list[list[float]]]] = []
    with _somebody_there() as to:
        for turn in range(turns):
            order = _WAYS[turn % 3 :] + _WAYS[: turn % 3]  # none always comes first
            taken = {way: _values(cpu, nodes, step, to if way == "sent" else None) for way in order}
            found.append(
                [
                    [[float(np.quantile(taken[way][measure], share)) for way in _WAYS] for share in _SHARES]
                    for measure in _MEASURES
                ]
            )
    all_turns = np.array(found)
    print(f"\nA tire of {nodes:,} masses, a step each {step}, sent over UDP and not; {turns} turns of each")
    for at, name in enumerate(_MEASURES.values()):
        for which, share in enumerate(_SHARES):
            sent, without, control = all_turns[:, at, which].T
            print(
                f"  {name}, {share:.0%} quantile: {np.median(sent) / 1e3:8.2f} us sent, "
                f"{np.median(without) / 1e3:8.2f} us not, ratio {_typical(sent / without)}; "
                f"of the same against itself {_typical(control / without)}"
            )


def _typical(ratios: np.ndarray) -> str:
    """The median, and between which two of the ratios it lies with 95 % confidence."""
    ranks = interval_ranks(len(ratios), 0.5)
    ordered = np.sort(ratios)
    sure = f"{ordered[ranks[0] - 1]:.3f} to {ordered[ranks[1] - 1]:.3f}" if ranks else "too few turns"
    return f"{np.median(ratios):.3f} ({sure})"


@contextmanager
def _somebody_there() -> Iterator[str]:
    """An address at which datagrams are received and forgotten."""
    with socket.socket(type=socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(0.2)
        ends = threading.Event()

        def receive() -> None:
            while not ends.is_set():
                try:
                    receiver.recv(2048)
                except TimeoutError:
                    continue

        thread = threading.Thread(target=receive)
        thread.start()
        yield f"127.0.0.1:{receiver.getsockname()[1]}"
        ends.set()
        thread.join()


def _values(cpu: int, nodes: int, step: str, to: str | None) -> dict[str, np.ndarray]:
    command = [
        str(find_probe()), "tire", "--nodes", str(nodes), "--step", step, "--cpus", str(cpu),
        "--duration", f"{round(_TURN_S * 1000)}ms", "--overload", "--out", "-",
    ]  # fmt: skip
    command += ["--send", to] if to is not None else []
    stream = subprocess.run(command, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder)).create("tire", "bench") as writer:
        writer.append(stream)
        run = writer.seal()
        return {measure: run.values(measure) for measure in _MEASURES}
