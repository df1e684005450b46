"""CORBA's protocol, GIOP 1.2 over TCP, written a second time: a client of one servant, and a servant."""

import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from middleware_servers import ELEMENTS, ONE_WAY, Frame
from real import PATIENCE_S

HEADER = struct.Struct("<4sBBBBI")
REQUEST, REPLY, CLOSE, FRAGMENT = 0, 1, 5, 7
ANSWERED, NO_EXCEPTION = 3, 0
LITTLE, MORE_COME = 1, 2
FRAGMENT_NUMBER = 4
OPERATIONS = {"void": "nothing", "timed": "cube_octet_timed"}
SCALARS = {"octet": "<B", "short": "<h", "long": "<i", "double": "<d", "struct": "<B3xih", "timed": "<B"}


def padded(data: bytes, alignment: int) -> bytes:
    """With what lies between it and the next value of such a size. It begins where its message does."""
    return data + bytes(-len(data) % alignment)


def operation_of(frame: Frame) -> str:
    """As in cubit.idl."""
    name = OPERATIONS.get(frame.kind, f"cube_{frame.kind}")
    return f"{name}_oneway" if frame.flags & ONE_WAY else name


def body_of(frame: Frame) -> bytes:
    """The argument."""
    if frame.kind in ELEMENTS:
        return struct.pack(
            f"<I{len(frame.numbers)}{ELEMENTS[frame.kind]}", len(frame.numbers), *frame.numbers
        )
    return struct.pack(SCALARS[frame.kind], *frame.numbers) if frame.kind in SCALARS else b""


def message(kind: int, payload: bytes) -> bytes:
    """A whole one; ``payload`` begins behind the header."""
    return HEADER.pack(b"GIOP", 1, 2, LITTLE, kind, len(payload)) + payload


def request(number: int, key: str, operation: str, body: bytes, *, answered: bool) -> bytes:
    """A call of an object."""
    head = bytes(HEADER.size) + struct.pack("<IB3xh2xI", number, ANSWERED if answered else 0, 0, len(key))
    named = (
        padded(head + key.encode(), 4) + struct.pack("<I", len(operation) + 1) + operation.encode() + b"\0"
    )
    whole = padded(named, 4) + struct.pack("<I", 0)
    return message(REQUEST, (padded(whole, 8) + body if body else whole)[HEADER.size :])


def result_of(kind: str, reply: bytes) -> Frame:
    """What stands in a reply, which begins at its header."""
    contexts = struct.unpack_from("<I", reply, HEADER.size + 8)[0]
    assert contexts == 0
    at = HEADER.size + 12
    at += -at % 8
    if kind in ELEMENTS:
        length = struct.unpack_from("<I", reply, at)[0]
        return Frame(kind, struct.unpack_from(f"<{length}{ELEMENTS[kind]}", reply, at + 4))
    if kind == "timed":
        octet, arrived_ns = struct.unpack_from("<B7xq", reply, at)
        return Frame(kind, (octet,), arrived_ns=arrived_ns)
    return Frame(kind, struct.unpack_from(SCALARS[kind], reply, at) if kind in SCALARS else ())


def place_of(endpoint: str) -> tuple[str, int, str]:
    """Host, port and key of a corbaloc."""
    found = re.fullmatch(r"corbaloc:iiop:1\.2@\[?([^]]+?)\]?:(\d+)/(.+)", endpoint)
    assert found is not None, endpoint
    return found[1], int(found[2]), found[3]


def exactly(connection: socket.socket, count: int) -> bytes:
    """So many bytes, or fewer at the end."""
    parts = []
    while count > 0 and (part := connection.recv(count)):
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def one_message(connection: socket.socket) -> bytes:
    """The next one that comes, as if it had come whole; empty at the end."""
    whole = bytearray()
    while True:
        header = exactly(connection, HEADER.size)
        if len(header) < HEADER.size:
            return b""
        magic, major, minor, flags, kind, size = HEADER.unpack(header)
        assert (magic, major, minor, flags & LITTLE) == (b"GIOP", 1, 2, LITTLE)
        content = exactly(connection, size)
        assert (kind == FRAGMENT) == bool(whole)
        whole += content[FRAGMENT_NUMBER:] if whole else header + content
        if not flags & MORE_COME:
            return bytes(whole)


class Caller:
    """A client of one servant."""

    def __init__(self, endpoint: str) -> None:
        """Connected; nothing has been called."""
        host, port, self.key = place_of(endpoint)
        self.socket = socket.create_connection((host, port), timeout=PATIENCE_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._number = 0

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
        self._number += 1
        answered = not frame.flags & ONE_WAY
        self.socket.sendall(
            request(self._number, self.key, operation_of(frame), body_of(frame), answered=answered)
        )
        return self._number

    def exchange(self, frame: Frame) -> Frame:
        """Its answer."""
        number = self.send(frame)
        reply = one_message(self.socket)
        assert reply[7] == REPLY
        assert struct.unpack_from("<II", reply, HEADER.size) == (number, NO_EXCEPTION)
        return result_of(frame.kind, reply)


@dataclass
class Servant:
    """One that the test plays: who came, and what was called."""

    endpoint: str
    connections: int = 0
    called: list[str] = field(default_factory=list)


@contextmanager
def servant(fate: Callable[[socket.socket, int], bool]) -> Iterator[Servant]:
    """Answers each call. Before each one of cubit.idl it asks ``fate``, and says how many this connection has
    had already. That does what it will to the connection, and says whether to go on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        met = Servant(f"corbaloc:iiop:1.2@127.0.0.1:{listening.getsockname()[1]}/servant-0")
        ending = threading.Event()
        threads: list[threading.Thread] = []

        def accept() -> None:
            with suppress(OSError):
                while not ending.is_set():
                    connection, _ = listening.accept()
                    met.connections += 1
                    threads.append(threading.Thread(target=serve, args=(connection,)))
                    threads[-1].start()

        def serve(connection: socket.socket) -> None:
            calls = 0
            with connection, suppress(OSError):
                while data := one_message(connection):
                    if data[7] != REQUEST:
                        continue
                    number, flags, key = struct.unpack_from("<IB3x4xI", data, HEADER.size)
                    at = HEADER.size + 16 + key
                    at += -at % 4
                    length = struct.unpack_from("<I", data, at)[0]
                    operation = data[at + 4 : at + 3 + length].decode()
                    if not operation.startswith("_"):
                        if not fate(connection, calls):
                            ending.wait(PATIENCE_S)
                            return
                        calls += 1
                        met.called.append(operation)
                    if flags & 1:
                        empty = struct.pack("<III", number, NO_EXCEPTION, 0)
                        body = padded(bytes(HEADER.size) + empty, 8)[HEADER.size :] + b"\0"
                        connection.sendall(message(REPLY, body if operation.startswith("_") else empty))

        threads.append(threading.Thread(target=accept))
        threads[0].start()
        try:
            yield met
        finally:
            ending.set()
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join(PATIENCE_S)
                assert not thread.is_alive()
