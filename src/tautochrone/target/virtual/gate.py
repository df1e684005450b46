"""The lab's end of the box that a guest speaks through: a mailbox in memory, and a gate that stops its time.

A call is the guest's: it lays its reply into the mailbox and sends two bytes through a serial card. The
card's write blocks all virtual CPUs until the byte is taken, and the pipe behind it holds one: so the second
byte waits until the lab has read the first, and no virtual time passes meanwhile, however long the lab
thinks. The guest then finds the lab's request in the mailbox.
"""

import fcntl
import mmap
import os
import select
import struct
import time
from collections.abc import Callable
from contextlib import suppress

from tautochrone.base.errors import MeasuringError
from tautochrone.target.probes import how_to_build

BOX_BYTES = 8 << 20
_MAGIC, _VERSION = 0x42554154, 1  # "TAUB"
_HEADER = struct.Struct("<IIIIQ")  # magic, version, reply length, request length, guest's clock
_LENGTH = struct.Struct("<I")
_REQUEST_LENGTH_AT = 12
_REPLY_AT, _REQUEST_AT = 4096, 4 << 20
_MOST_REPLY = _REQUEST_AT - _REPLY_AT
MOST_REQUEST = BOX_BYTES - _REQUEST_AT
_SLOT_BYTES = 4096  # one page: the pipe then has one slot, and in packet mode a byte fills it
_LOOK_INTERVAL_MS = 200


class GateClosedError(Exception):
    """Nobody is at the other end any more."""


class TimeGate:
    """One box.

    Attributes:
        box: descriptor of the mailbox's memory, for the virtual machine.
        entry: descriptor into which the card's bytes go, for the virtual machine.
        clock_ns: the guest's clock at its latest call.
    """

    def __init__(self) -> None:
        """Make mailbox and pipe. Neither has a name, so nothing of them can stay."""
        self.clock_ns = 0
        self.box = os.memfd_create("tautochrone-box", os.MFD_CLOEXEC)
        try:
            os.ftruncate(self.box, BOX_BYTES)
            self._memory = mmap.mmap(self.box, BOX_BYTES)
            self._exit, self.entry = os.pipe2(os.O_DIRECT | os.O_CLOEXEC)
            fcntl.fcntl(self.entry, fcntl.F_SETPIPE_SZ, _SLOT_BYTES)
        except BaseException:
            os.close(self.box)
            raise
        self._poll = select.poll()
        self._poll.register(self._exit, select.POLLIN)

    def close_far_ends(self) -> None:
        """The virtual machine has them: from now on its end is the end of the pipe."""
        descriptors, self.box, self.entry = (self.box, self.entry), -1, -1
        for descriptor in descriptors:
            if descriptor >= 0:
                os.close(descriptor)

    def close(self) -> None:
        """Let go of all."""
        self.close_far_ends()
        self._memory.close()
        with suppress(OSError):
            os.close(self._exit)

    def call(self, look: Callable[[float], None]) -> bytes:
        """Wait until the guest calls; its reply. Its time then stands still until `answer`.

        Meanwhile `look` is called now and then with the seconds that were waited; it may raise.

        Raises:
            GateClosedError: the virtual machine has ended.
            MeasuringError: what is in the mailbox is no reply.
        """
        since = time.monotonic()
        while not (events := self._poll.poll(_LOOK_INTERVAL_MS)):
            look(time.monotonic() - since)
        if not events[0][1] & select.POLLIN:
            raise GateClosedError
        magic, version, length, _, self.clock_ns = _HEADER.unpack_from(self._memory)
        if (magic, version) != (_MAGIC, _VERSION) or length > _MOST_REPLY:
            raise MeasuringError(
                f"the guest speaks another language (magic {magic:#x}, version {version})",
                f"What goes into its image is of another version. {how_to_build()}",
            )
        return self._memory[_REPLY_AT : _REPLY_AT + length]

    def answer(self, request: bytes) -> None:
        """Let the guest go on with this request.

        Raises:
            GateClosedError: the virtual machine has ended.
        """
        self._memory[_REQUEST_AT : _REQUEST_AT + len(request)] = request
        _LENGTH.pack_into(self._memory, _REQUEST_LENGTH_AT, len(request))
        for _ in range(2):  # the first read lets the second byte in, the second one the guest's next call
            if not os.read(self._exit, 1):
                raise GateClosedError
