"""Stands in for a booted guest: speaks as one does, through the same mailbox and pipe; its clock is its own.

Its programs are these few words: `say WORDS…`, `complain WORDS…`, `echo` (until its input ends), `sleep NS`,
`environment`; `die` and `hang` do it to the whole guest.
"""

import mmap
import os
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass

from tautochrone.target.virtual.gate import BOX_BYTES, TimeGate

START, WRITE, CLOSE, SIGNAL, RUN = 1, 2, 3, 4, 5
OUTPUT, ERROR, EXIT, REFUSED, BOOT = 1, 2, 3, 4, 5
_FRAME = struct.Struct("<BBHII")
_REPLY_AT, _REQUEST_AT = 4096, 4 << 20


class StandInMachine:
    """A thread that is the guest, as the lab's side sees a virtual machine."""

    def __init__(self, gate: TimeGate) -> None:
        """Start it."""
        self._killed = threading.Event()
        guest = _Guest(os.dup(gate.box), os.dup(gate.entry), self._killed)
        self._thread = threading.Thread(target=guest.live, daemon=True)
        self._thread.start()
        gate.close_far_ends()

    def kill(self) -> None:
        self._killed.set()

    def rest(self, *, is_resting: bool) -> None:
        pass

    def last_words(self) -> str:
        return "its console says last: no words"

    def close(self) -> None:
        self.kill()


class _DiedError(Exception):
    """The guest has died."""


@dataclass
class _Program:
    words: list[str]
    ends_at_ns: int | None = None


class _Guest:
    def __init__(self, box: int, entry: int, killed: threading.Event) -> None:
        self.box, self.entry, self.killed = box, entry, killed
        self.memory = mmap.mmap(box, BOX_BYTES)
        self.clock_ns = 1_000
        self.programs: dict[int, _Program] = {}
        self.events = b""

    def tell(self, kind: int, number: int, payload: bytes) -> None:
        self.events += _FRAME.pack(kind, 0, 0, number, len(payload)) + payload + b"\0" * (-len(payload) % 4)

    def end(self, number: int, code: int) -> None:
        if self.programs.pop(number, None) is not None:
            self.tell(EXIT, number, struct.pack("<i", code))

    def call(self) -> bytes:
        reply, self.events = self.events, b""
        self.memory[_REPLY_AT : _REPLY_AT + len(reply)] = reply
        struct.pack_into("<IIIIQ", self.memory, 0, 0x42554154, 1, len(reply), 0, self.clock_ns)
        os.write(self.entry, b"\1")
        os.write(self.entry, b"\2")  # waits until the first was read
        (length,) = struct.unpack_from("<I", self.memory, 12)
        return self.memory[_REQUEST_AT : _REQUEST_AT + length]

    def live(self) -> None:
        with suppress(_DiedError, BrokenPipeError):
            self.serve()
        self.memory.close()
        os.close(self.box)
        os.close(self.entry)

    def serve(self) -> None:
        self.tell(BOOT, 0, b"uname=Linux stand-in\ncpus=1\n")
        while not self.killed.is_set():
            request, at = self.call(), 0
            while at < len(request):
                what, _, _, number, length = _FRAME.unpack_from(request, at)
                at += _FRAME.size
                self.do(what, number, request[at : at + length])
                at += length + -length % 4

    def do(self, what: int, number: int, payload: bytes) -> None:
        if what == START:
            self.start(number, payload)
        elif what == WRITE:
            if self.programs[number].words[0] == "echo":
                self.tell(OUTPUT, number, payload)
        elif what == CLOSE and number in self.programs and self.programs[number].words[0] == "echo":
            self.end(number, 0)
        elif what == SIGNAL:
            self.end(number, -struct.unpack("<I", payload)[0])
        elif what == RUN:
            self.run(*struct.unpack("<Q", payload))

    def start(self, number: int, payload: bytes) -> None:
        (count,) = struct.unpack_from("<I", payload)
        words = payload[4:-1].decode().split("\0")
        words, environment = words[:count], words[count:]
        self.programs[number] = program = _Program(words)
        match words[0]:
            case "say" | "complain":
                kind = OUTPUT if words[0] == "say" else ERROR
                self.tell(kind, number, " ".join(words[1:]).encode() + b"\n")
                self.end(number, 0)
            case "environment":
                self.tell(OUTPUT, number, "\n".join(environment).encode())
                self.end(number, 0)
            case "sleep":
                program.ends_at_ns = self.clock_ns + int(words[1])
            case "die":
                raise _DiedError
            case "hang":
                self.killed.wait()
                raise _DiedError
            case "echo":
                pass
            case _:
                del self.programs[number]
                self.tell(REFUSED, number, f"{words[0]} can't be started: No such file or directory".encode())

    def run(self, most_ns: int) -> None:
        until = self.clock_ns + most_ns
        if self.events:
            return
        ends = {number: one.ends_at_ns for number, one in self.programs.items() if one.ends_at_ns is not None}
        number = min(ends, key=lambda one: ends[one], default=None)
        self.clock_ns = until if number is None else min(until, ends[number])
        if number is not None and self.clock_ns == ends[number]:
            self.end(number, 0)
