"""What makes cycles late, by intention: a program that holds a CPU up at given times, and says when it did.

    culprits.py WAY --cpu N --first NS --every NS --times N --for NS

WAY is one of

- thread: a thread of a priority above all that is measured computes for so long;
- timers: as many timers expire in one interrupt as take about so long;
- softirq: a datagram goes to as many sockets as take about so long, all in one softirq.

It prints a line for each time, when it began and when it was over, on CLOCK_MONOTONIC. Of timers and softirq
only the beginning is what it says, the end is not known to the program.
"""

import argparse
import ctypes
import os
import resource
import socket
import struct
import time
from collections.abc import Callable, Iterator

NAME = "culprit"
URGENT, USUAL = 99, 10
"""Priorities above and below that of a measured thread: no thread interrupts the higher one, and the lower
one is for work in interrupts."""

_MONOTONIC, _ABSOLUTE, _PR_SET_NAME, _NONBLOCK = 1, 1, 15, os.O_NONBLOCK
_libc = ctypes.CDLL(None, use_errno=True)
_now: Callable[[], int] = time.monotonic_ns


class _Instant(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _Timer(ctypes.Structure):
    _fields_ = (("interval", _Instant), ("value", _Instant))


def _instant(at_ns: int) -> _Instant:
    return _Instant(*divmod(at_ns, 10**9))


def _sleep_until(at_ns: int) -> None:
    _libc.clock_nanosleep(_MONOTONIC, _ABSOLUTE, ctypes.byref(_instant(at_ns)), None)


def _hold(instants: list[int], for_ns: int) -> Iterator[tuple[int, int]]:
    for at in instants:
        _sleep_until(at)
        begin = _now()
        while (end := _now()) - begin < for_ns:
            pass
        yield begin, end


def _timers(instants: list[int], for_ns: int) -> Iterator[tuple[int, int]]:
    """Each takes a microsecond or less in the interrupt."""
    made = [_libc.timerfd_create(_MONOTONIC, _NONBLOCK) for _ in range(max(1, for_ns // 400))]
    assert min(made) >= 0, os.strerror(ctypes.get_errno())
    for at in instants:
        timer = _Timer(_Instant(0, 0), _instant(at))
        for one in made:
            _libc.timerfd_settime(one, _ABSOLUTE, ctypes.byref(timer), None)
        begin = _now()
        _sleep_until(at + 3 * for_ns)
        yield (at, _now()) if begin < at else (0, 0)


def _datagrams(instants: list[int], for_ns: int) -> Iterator[tuple[int, int]]:
    """Each socket that gets one takes half a microsecond or more."""
    group, here = socket.inet_aton("239.117.0.1"), socket.inet_aton("127.0.0.1")
    taking = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(max(1, for_ns // 500))]
    port = 0
    for one in taking:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(("239.117.0.1", port))
        port = one.getsockname()[1]
        one.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, struct.pack("4s4s", group, here))
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, here)
    for at in instants:
        _sleep_until(at - 1_000_000)  # who sleeps until then begins too late, by 100 us on a virtual machine
        while (begin := _now()) < at:
            pass
        sender.sendto(b"all of you", ("239.117.0.1", port))
        yield begin, _now()


_WAYS = {"thread": _hold, "timers": _timers, "softirq": _datagrams}


def main() -> None:
    """Hold up."""
    parser = argparse.ArgumentParser()
    parser.add_argument("way", choices=_WAYS)
    for name in ("cpu", "first", "every", "times", "for"):
        parser.add_argument(f"--{name}", type=int, required=True)
    told = vars(parser.parse_args())
    _libc.prctl(_PR_SET_NAME, NAME.encode(), 0, 0, 0)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    os.sched_setaffinity(0, {told["cpu"]})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(USUAL if told["way"] == "softirq" else URGENT))
    instants = [told["first"] + one * told["every"] for one in range(told["times"])]
    held = list(_WAYS[told["way"]](instants, told["for"]))
    print("\n".join(f"{begin} {end}" for begin, end in held))


if __name__ == "__main__":
    main()
