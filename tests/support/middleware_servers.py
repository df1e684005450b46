"""Servers of middleware whose client is the test itself: their control connection, and frames as
middleware/transport/frame.h says that they are, written a second time."""

import os
import random
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from real import PATIENCE_S, policy_options, skip_or_fail
from tautochrone.base.stream import EVENT, FrameReader, json_payload
from tautochrone.target.local import find_probe

MAGIC = 0x54437562
HEADER = struct.Struct("=IIQHHI16s")
KINDS = ("void", "octet", "short", "long", "double", "struct", "longs", "octets", "timed")
SCALARS = {"octet": "=B", "short": "=h", "long": "=i", "double": "=d", "struct": "=ihB", "timed": "=qB"}
ELEMENTS = {"longs": "i", "octets": "B"}
REQUEST, ONE_WAY, GREETING, ANSWER = 0, 1, 2, 4
_ALIGNMENT = 8
_LISTED: dict[str, str] = {}


def needs(transport: str) -> None:
    """Skips where it is not built."""
    if not _LISTED:
        listed = subprocess.run(
            [str(find_probe()), "middleware-throughput", "--transports"],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=True,
        )
        _LISTED.update((line.split()[0], line) for line in listed.stdout.splitlines())
    if not _LISTED[transport].startswith(f"{transport} yes"):
        skip_or_fail(_LISTED[transport])


def rows_of(stream: bytes) -> list[dict[str, Any]]:
    """Those of the result of a throughput."""
    events = [json_payload(frame) for frame in FrameReader().feed(stream) if frame.type == EVENT]
    return [row for one in events if one["event"] == "result" for row in one["rows"]]


# ---- Frames -----------------------------------------------------------------


@dataclass(frozen=True)
class Frame:
    """One message. ``numbers``: of a scalar or the elements; those of a struct as in cubit.idl: o, l, s."""

    kind: str
    numbers: tuple[float, ...] = ()
    flags: int = REQUEST
    sequence: int = 0
    arrived_ns: int | None = None

    def packed(self, order: str = "=") -> bytes:
        """Its bytes; in the other byte order with ">" on a machine that has the usual one."""
        scalar, elements, length = b"", b"", 0
        if self.kind in ELEMENTS:
            length = len(self.numbers)
            elements = struct.pack(f"={length}{ELEMENTS[self.kind]}", *self.numbers)
        elif self.kind == "struct":
            octet, long, short = self.numbers
            scalar = struct.pack(SCALARS["struct"], long, short, octet)
        elif self.kind == "timed":
            scalar = struct.pack(SCALARS["timed"], 0, *self.numbers)
        elif self.kind in SCALARS:
            scalar = struct.pack(SCALARS[self.kind], *self.numbers)
        elements += bytes(-len(elements) % _ALIGNMENT)
        header = (
            MAGIC,
            HEADER.size + len(elements),
            self.sequence,
            KINDS.index(self.kind),
            self.flags,
            length,
            scalar,
        )
        return struct.pack(HEADER.format.replace("=", order), *header) + elements


def a_frame(kind: str, length: int = 0, flags: int = REQUEST) -> Frame:
    """Numbers that need the last bit of their type when cubed."""
    drawn = random.Random(f"{kind} {length}")
    ranges = {"octet": (0, 256), "short": (-(1 << 15), 1 << 15), "long": (-(1 << 31), 1 << 31)}
    parts = {"void": [], "struct": ["octet", "long", "short"], "timed": ["octet"]}
    parts |= {"longs": ["long"] * length, "octets": ["octet"] * length}
    if kind == "double":
        return Frame(kind, (drawn.randrange(-(1 << 12), 1 << 12) / 8,), flags)
    return Frame(kind, tuple(drawn.randrange(*ranges[part]) for part in parts.get(kind, [kind])), flags)


def unpacked(data: bytes) -> Frame:
    """The frame that these bytes are."""
    magic, size, sequence, kind_number, flags, length, scalar = HEADER.unpack_from(data)
    assert magic == MAGIC
    assert size == len(data)
    kind = KINDS[kind_number]
    if kind in ELEMENTS:
        numbers = struct.unpack_from(f"={length}{ELEMENTS[kind]}", data, HEADER.size)
        return Frame(kind, numbers, flags, sequence)
    assert length == 0
    numbers = struct.unpack_from(SCALARS[kind], scalar) if kind in SCALARS else ()
    if kind == "struct":
        long, short, octet = numbers
        numbers = (octet, long, short)
    arrived_ns = int(numbers[0]) if kind == "timed" else None
    return Frame(kind, numbers[1:] if kind == "timed" else numbers, flags, sequence, arrived_ns)


def cubed(frame: Frame) -> tuple[float, ...]:
    """To the power of three, integers with the low bits that their type has room for."""
    types = {"struct": "Bih", "timed": "B", "longs": "i", "octets": "B"}
    letters = types.get(frame.kind) or SCALARS.get(frame.kind, "=")[1:]
    return tuple(
        _wrapped(number**3, letters[k % len(letters)] if len(letters) > 1 else letters)
        for k, number in enumerate(frame.numbers)
    )


def _wrapped(number: float, letter: str) -> float:
    if letter == "d":
        return number
    bits = 8 * struct.calcsize(f"={letter}")
    low = int(number) & ((1 << bits) - 1)
    return low - (1 << bits) if letter != "B" and low >> (bits - 1) else low


# ---- Who sends them ----------------------------------------------------------


def address_of(endpoint: str) -> tuple[str, int]:
    """Of "127.0.0.1:4711", "[::1]:4711" or "tcp://127.0.0.1:4711"."""
    host, port = endpoint.removeprefix("tcp://").rsplit(":", 1)
    return host.strip("[]"), int(port)


def reach(transport: str, endpoint: str) -> socket.socket:
    """A socket connected to the endpoint of a servant."""
    if transport == "unix":
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # With a time-out of Python's it would not block, and be refused at once where many wait already.
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(PATIENCE_S), 0))
        made.connect(endpoint.replace("@", "\0", 1))
        made.settimeout(PATIENCE_S)
        return made
    host, port = address_of(endpoint)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_DGRAM if transport == "udp" else socket.SOCK_STREAM)
    made.settimeout(PATIENCE_S)
    made.connect((host, port))
    return made


def exactly(connection: socket.socket, count: int) -> bytes:
    """So many bytes, however they come."""
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data


class Caller:
    """A client of one servant by one of the socket transports."""

    def __init__(self, transport: str, endpoint: str) -> None:
        """Connected, and greeted."""
        self.transport = transport
        self.socket = reach(transport, endpoint)
        self._sequence = 0
        greeting = self.exchange(Frame("void", flags=GREETING))
        assert greeting.flags == GREETING | ANSWER

    def __enter__(self) -> Self:
        """It."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Goes away."""
        self.socket.close()

    def send(self, frame: Frame) -> int:
        """Returns its number."""
        self._sequence += 1
        self.socket.sendall(Frame(frame.kind, frame.numbers, frame.flags, self._sequence).packed())
        return self._sequence

    def receive(self) -> Frame:
        """The next frame that comes."""
        if self.transport == "udp":
            return unpacked(self.socket.recv(65536))
        header = exactly(self.socket, HEADER.size)
        return unpacked(header + exactly(self.socket, HEADER.unpack(header)[1] - HEADER.size))

    def exchange(self, frame: Frame) -> Frame:
        """Its answer."""
        number = self.send(frame)
        answer = self.receive()
        assert answer.sequence == number
        return answer


# ---- The server and its control connection -------------------------------------


@dataclass
class Server:
    """One that runs, and what it has said."""

    process: subprocess.Popen[str]
    connection: socket.socket
    lines: Iterator[str]
    hello: list[str] = field(default_factory=list)
    turn: threading.Lock = field(default_factory=threading.Lock)  # of the test, and of a client in between

    @property
    def pid(self) -> int:
        """Of its process."""
        return self.process.pid

    @property
    def endpoints(self) -> list[str]:
        """Of its servants, in their order."""
        return [line.split()[-1] for line in self.hello if line.startswith("servant ")]

    def ask(self, question: str) -> list[list[str]]:
        """The words of each line of its answer."""
        with self.turn:
            self.connection.sendall(f"{question}\n".encode())
            answer: list[list[str]] = []
            for line in self.lines:
                if line == "end":
                    return answer
                answer.append(line.split())
        raise EOFError(question)

    def threads(self) -> list[int]:
        """The number of each servant's thread, as the server has it."""
        return [int(words[2]) for words in self.ask("threads")]

    def served(self, servant: int = 0) -> tuple[int, int]:
        """Two-way and one-way requests that the servant has had."""
        words = self.ask("served")[servant]
        assert words[:2] == ["served", str(servant)]
        return int(words[2]), int(words[3])


@contextmanager
def unmet_server(
    transport: str, *options: str, around: tuple[str, ...] = ()
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server that nobody has spoken to, and where its client may come. Ended here.

    Args:
        transport: its name.
        options: of the server.
        around: a command that starts it.
    """
    needs(transport)
    command = [*around, str(find_probe()), "middleware-serve", "--transport", transport, *options]
    given = [] if "--policy" in options else policy_options()
    process = subprocess.Popen(
        [*command, *given],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said.startswith("control "), process.communicate(timeout=PATIENCE_S)
        yield process, said.split()[1]
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE_S)


@contextmanager
def server(transport: str, *options: str) -> Iterator[Server]:
    """A server whose client is the test."""
    with unmet_server(transport, *options) as (process, place):
        connection = socket.create_connection(address_of(place), timeout=PATIENCE_S)
        with connection, connection.makefile("r") as file:
            lines = (line.rstrip("\n") for line in file)
            met = Server(process, connection, lines)
            for line in lines:
                if line == "ready":
                    break
                met.hello.append(line)
            yield met


@contextmanager
def in_between(server: Server, endpoint: str | None = None) -> Iterator[str]:
    """Where a client may come as if to the server, whose first servant it is told to be at this endpoint."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=_pass_on, args=(listening, server, endpoint))
        thread.start()
        try:
            yield f"127.0.0.1:{listening.getsockname()[1]}"
        finally:
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            thread.join(PATIENCE_S)
            assert not thread.is_alive()


def _pass_on(listening: socket.socket, server: Server, endpoint: str | None) -> None:
    with suppress(OSError, EOFError, ValueError):
        client, _ = listening.accept()
        with client, client.makefile("r") as questions:
            for line in server.hello:
                words = line.split()
                if words[:2] == ["servant", "0"] and endpoint is not None:
                    words[-1] = endpoint
                client.sendall((" ".join(words) + "\n").encode())
            client.sendall(b"ready\n")
            for question in questions:
                for answer in server.ask(question.strip()):
                    client.sendall((" ".join(answer) + "\n").encode())
                client.sendall(b"end\n")
            client.close()


def urgency(thread: int) -> tuple[int, int, set[int]]:
    """Policy, priority and CPUs of a thread, as the system has them."""
    return (
        os.sched_getscheduler(thread),
        os.sched_getparam(thread).sched_priority,
        os.sched_getaffinity(thread),
    )


def tasks(pid: int) -> dict[str, int]:
    """The threads of a process by name; of several with one name, the first."""
    found: dict[str, int] = {}
    for task in sorted(Path(f"/proc/{pid}/task").iterdir(), key=lambda one: int(one.name)):
        with suppress(OSError):
            found.setdefault((task / "comm").read_text().strip(), int(task.name))
    return found
