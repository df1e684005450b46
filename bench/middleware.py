"""Round trips through each middleware beside its own tool: medians, from one interleaved run.

| transport | beside |
|---|---|
| cyclonedds | `ddsperf ping waitset` and `pong waitset`; and listener mode: no threads of servants |
| tcp, udp | `sockperf ping-pong` |
| zeromq | its latency test, REQ and REP (middleware_zeromq.c) |
| omniorb | a least program with its stubs (middleware_omniorb.cpp) |

Both sides: FIFO 90, all threads of a tool (they inherit it), pinned alike, client and server in two
processes, one call after the other. A tool gets messages as long as ours: headers of ours count as its
payload. ddsperf and sockperf give half of a round trip unless told otherwise; here all are whole round trips.

Ours: `tauto-probe middleware-throughput`, which checks each answer and fills the next argument between two
calls. Paced: `middleware-latency --clients 0`, 20 calls a second, beside ddsperf at that rate: between two
calls caches get cold and the CPU goes idle, for both. (sockperf spins until its next message is due.)
"""

import argparse
import os
import random
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from streams_read import values_us
from tautochrone.target.local import find_probe

PRIORITY = 90
RATE_HZ = 20
GOAL = 1.10
SIZES = (0, 1024, 16_384)
"""Octets of the sequence; 0: one octet alone."""
_HERE = Path(__file__).parent
_FRAME_HEADER, _FRAME_ALIGNMENT = 40, 8
_DDS_OCTET, _DDS_SEQUENCE = 12, 16
_START_S = 0.5


@dataclass(frozen=True)
class Place:
    """The CPUs of the client and of the server."""

    client: int
    server: int

    def __str__(self) -> str:
        if self.client == self.server:
            return f"both on CPU {self.client}"
        return f"CPU {self.client} and CPU {self.server}"


Tool = Callable[[int, float, Place], float]
"""Octets, seconds, place; the median round trip in us."""


def _pinned(cpu: int, command: Sequence[str]) -> list[str]:
    return ["taskset", "-c", str(cpu), "chrt", "-f", str(PRIORITY), *command]


# ---- Ours --------------------------------------------------------------------


def ours(transport: str, *, paced: bool = False) -> Tool:
    """The probe's client, which starts its server."""

    def run(octets: int, seconds: float, place: Place) -> float:
        cpus = sorted({place.client, place.server}, key=[place.client, place.server].index)
        common = [
            "--transport", transport, "--priority", str(PRIORITY), "--cpus", ",".join(map(str, cpus)),
            "--place", "same" if len(cpus) == 1 else "different",
        ]  # fmt: skip
        if paced:
            words = ["middleware-latency", "--clients", "0", "--calls", str(round(seconds * RATE_HZ / 2))]
            words += ["--rate-high", str(RATE_HZ)]
        else:
            kind = ["octet"] if octets == 0 else ["octets", "--lengths", str(octets)]
            words = ["middleware-throughput", "--directions", "two-way", "--types", *kind]
            words += ["--count", "100000000", "--row-limit", f"{round(seconds * 1000)}ms"]
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "stream"
            command = [str(find_probe()), *words, *common, "--out", str(out)]
            subprocess.run(command, check=True, capture_output=True, timeout=60 + 3 * seconds)
            end = "answered_ns" if paced else "returned_ns"
            return float(np.median(values_us(out, "sent_ns", end)))

    return run


# ---- Theirs ------------------------------------------------------------------


@contextmanager
def _serving(command: Sequence[str], cpu: int, environment: dict[str, str] | None = None) -> Iterator[str]:
    """A server that is killed afterwards; its first line, where it is told to print one."""
    process = subprocess.Popen(
        _pinned(cpu, command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip() if command[0].endswith("omniorb") else ""
    finally:
        process.kill()
        process.communicate()


def _free_port(kind: socket.SocketKind) -> int:
    with socket.socket(socket.AF_INET, kind) as own:
        own.bind(("127.0.0.1", 0))
        return int(own.getsockname()[1])


def _told(command: Sequence[str], cpu: int, seconds: float, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        _pinned(cpu, command),
        capture_output=True,
        text=True,
        check=True,
        timeout=60 + 3 * seconds,
        env=environment,
    )
    return done.stdout


def ddsperf(mode: str, *, paced: bool = False) -> Tool:
    """With our network settings: unicast on the loopback, a domain of its own. A median of its seconds."""

    def run(octets: int, seconds: float, place: Place) -> float:
        uri = (
            '<CycloneDDS><Domain><General><Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>'
            f"<AllowMulticast>false</AllowMulticast></General><Discovery><Tag>bench{os.getpid()}</Tag>"
            "<ParticipantIndex>auto</ParticipantIndex>"
            '<Peers><Peer Address="127.0.0.1"/></Peers></Discovery></Domain></CycloneDDS>'
        )
        environment = os.environ | {"CYCLONEDDS_URI": uri}
        size = _DDS_OCTET if octets == 0 else _DDS_SEQUENCE + octets
        whole = max(3, round(seconds) + 1)  # the first of its seconds is the warm-up
        common = ["ddsperf", "-D", str(whole)]
        rate = [f"{RATE_HZ}Hz"] if paced else []
        with _serving(["ddsperf", "-D", str(whole + 30), "pong", mode], place.server, environment):
            text = _told(
                [*common, "ping", *rate, "size", str(size), mode], place.client, seconds, environment
            )
        found = [float(one) for one in re.findall(r" size \d+ mean .*? 50% ([\d.]+)us", text)]
        return 2 * statistics.median(found[1:])  # it gives half of the round trip

    return run


def sockperf(protocol: str) -> Tool:
    """As long as our frames."""

    def run(octets: int, seconds: float, place: Place) -> float:
        kind = socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM
        given = ["-i", "127.0.0.1", "-p", str(_free_port(kind)), *(["--tcp"] if protocol == "tcp" else [])]
        size = _FRAME_HEADER + -(-octets // _FRAME_ALIGNMENT) * _FRAME_ALIGNMENT
        with _serving(["sockperf", "server", *given], place.server):
            time.sleep(_START_S)
            text = _told(
                [
                    "sockperf",
                    "ping-pong",
                    *given,
                    "-m",
                    str(size),
                    "-t",
                    str(max(1, round(seconds))),
                    "--full-rtt",
                ],
                place.client,
                seconds,
            )
        found = re.search(r"percentile 50\.0+ =\s*([\d.]+)", text)
        assert found is not None, text
        return float(found[1])

    return run


def least_zeromq(program: Path) -> Tool:
    """As long as our frames."""

    def run(octets: int, seconds: float, place: Place) -> float:
        endpoint = f"tcp://127.0.0.1:{_free_port(socket.SOCK_STREAM)}"
        size = _FRAME_HEADER + -(-octets // _FRAME_ALIGNMENT) * _FRAME_ALIGNMENT
        with _serving([str(program), "serve", endpoint], place.server):
            time.sleep(_START_S)
            words = [str(program), "call", endpoint, str(size), str(_calls(seconds))]
            return float(_told(words, place.client, seconds)) / 1e3

    return run


def least_omniorb(program: Path) -> Tool:
    """The same operations of the same IDL."""

    def run(octets: int, seconds: float, place: Place) -> float:
        with _serving([str(program), "serve", "giop:tcp:127.0.0.1:"], place.server) as reference:
            words = [str(program), "call", reference, str(octets), str(_calls(seconds))]
            return float(_told(words, place.client, seconds)) / 1e3

    return run


def _calls(seconds: float) -> int:
    return max(1000, round(seconds * 20_000))


def _build(folder: Path) -> dict[str, Tool]:
    """The least programs that can be built here."""
    found: dict[str, Tool] = {}
    idl = str(_HERE.parent / "middleware" / "cubit.idl")
    c, cpp = os.environ.get("CC", "cc"), os.environ.get("CXX", "c++")
    zeromq, omniorb = folder / "least_zeromq", folder / "least_omniorb"
    steps: list[tuple[str, Path, Callable[[Path], Tool], list[list[str]]]] = [
        ("zeromq", zeromq, least_zeromq, [
            [c, "-std=gnu17", "-O2", str(_HERE / "middleware_zeromq.c"), "-o", str(zeromq), "-lzmq"],
        ]),
        ("omniorb", omniorb, least_omniorb, [
            ["omniidl", "-bcxx", "-DCUBIT_OPERATIONS", f"-C{folder}", idl],
            [cpp, "-std=c++17", "-O3", f"-I{folder}", str(_HERE / "middleware_omniorb.cpp"),
             str(folder / "cubitSK.cc"), "-o", str(omniorb), "-lomniORB4", "-lomnithread", "-pthread"],
        ]),
    ]  # fmt: skip
    for name, program, tool, commands in steps:
        try:
            for command in commands:
                subprocess.run(command, check=True, capture_output=True)
        except (subprocess.CalledProcessError, FileNotFoundError):
            continue
        found[name] = tool(program)
    return found


# ---- Side by side ------------------------------------------------------------


def round_trips(cpu: int, home: int, seconds: float, rounds: int, transports: Sequence[str] = ()) -> None:
    """Goal: medians at most 1.10 of theirs."""
    listed = subprocess.run(
        [str(find_probe()), "middleware-throughput", "--transports"],
        capture_output=True,
        text=True,
        check=True,
    )
    built = {line.split()[0] for line in listed.stdout.splitlines() if line.split()[1] == "yes"}
    print(
        f"\nRound trips, FIFO {PRIORITY} on both sides, {rounds} rounds of {seconds:g} s of each in changing "
        f"order; medians of the\nrounds' medians in us (goal: at most {GOAL:.2f} x theirs; load "
        f"{os.getloadavg()[0]:.2f})"
    )
    print(f"  {'ours / theirs':44s} {'octets':>6s} {'ours':>8s} {'theirs':>8s} {'ratio':>6s}  least  most")
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        for title, transport, own, their, sizes in _pairs(_build(Path(folder))):
            if transports and transport not in transports:
                continue
            if transport not in built:
                print(f"  {title:44s} N/A: {transport} is not built")
                continue
            for place in dict.fromkeys([Place(cpu, cpu), Place(home, cpu)]):
                for octets in sizes:
                    _compare(f"{title}, {place}", own, their, octets, seconds, place, rounds)


def _pairs(least: dict[str, Tool]) -> list[tuple[str, str, Tool, Tool, Sequence[int]]]:
    dds, paced = ours("cyclonedds"), partial(ours, paced=True)
    pairs: list[tuple[str, str, Tool, Tool, Sequence[int]]] = [
        ("cyclonedds / ddsperf", "cyclonedds", dds, ddsperf("waitset"), SIZES),
        ("cyclonedds / ddsperf listener", "cyclonedds", dds, ddsperf("listener"), SIZES[:1]),
        (
            "cyclonedds / ddsperf, paced",
            "cyclonedds",
            paced("cyclonedds"),
            ddsperf("waitset", paced=True),
            SIZES[:1],
        ),
    ]
    pairs += [(f"{name} / sockperf", name, ours(name), sockperf(name), SIZES) for name in ("tcp", "udp")]
    pairs += [(f"{name} / least program", name, ours(name), tool, SIZES) for name, tool in least.items()]
    return pairs


def _compare(
    title: str, own: Tool, their: Tool, octets: int, seconds: float, place: Place, rounds: int
) -> None:
    shuffled = random.Random(f"{title} {octets}")
    found: tuple[list[float], list[float]] = ([], [])
    try:
        for _ in range(rounds):
            for index in shuffled.sample((0, 1), 2):
                found[index].append((own, their)[index](octets, seconds, place))
    except (subprocess.CalledProcessError, FileNotFoundError) as error:
        print(f"  {title:44s} N/A: {error}")
        return
    ratios = [one / other for one, other in zip(*found, strict=True)]
    middle = statistics.median(found[0]), statistics.median(found[1])
    print(
        f"  {title:44s} {octets or 1:6d} {middle[0]:8.2f} {middle[1]:8.2f} {middle[0] / middle[1]:6.2f}"
        f"  {min(ratios):5.2f} {max(ratios):5.2f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=3.0, help="of each single run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--transports", default="", help="only these, joined by commas")
    options = parser.parse_args()
    cpus = sorted(os.sched_getaffinity(0))
    chosen = [name for name in options.transports.split(",") if name]
    if shutil.which("chrt") is None:
        parser.error("needs chrt (util-linux)")
    round_trips(cpus[-1], cpus[0], options.seconds, options.rounds, chosen)


if __name__ == "__main__":
    main()
