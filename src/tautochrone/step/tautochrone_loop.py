"""Your program's own loop, measured where it runs: `tauto watch -- python3 program.py`.

This file is all that a program needs, with the standard library alone (Linux)::

    from tautochrone_loop import TautoLoop

    loop = TautoLoop("control")          # in the thread of the loop, before its first cycle
    for k in count():
        ...                         # sleep until the release
        loop.begin(k)               # or begin(k, release_ns): the instant that it slept until
        ...                         # the step
        loop.end(k)

`k` is the number of the release: what is left out counts as missed. Without `tauto watch` around the program,
each line costs the call and one branch. With it, neither line waits or calls the system beside the clock: a
row that finds its ring full is counted. The layout of the memory is that of tautochrone_loop.h.
"""

import fcntl
import mmap
import os
import threading
from time import monotonic_ns

_MAGIC, _VARIABLE = 0x31504F4F4C415454, "TAUTOCHRONE_LOOP"
_WORD, _ROW_WORDS, _MEMORY_WORDS, _LOOP_WORDS = 8, 4, 8, 32
_LOOPS, _ROWS, _CLAIMED, _REFUSED = 1, 2, 3, 4
"""Places in the memory, in words of 64 bits."""
_WRITTEN, _DROPPED, _IRREGULAR, _K, _OPEN, _READ, _THREAD, _PROCESS, _NAME = 0, 1, 2, 3, 4, 8, 16, 17, 18
"""Places in a loop."""
_NAME_BYTES = 64
_BITS = (1 << 64) - 1
"""Of a word: a number below 0, as of a warm-up, is written as in C."""


class TautoLoop:
    """The loop of one thread."""

    def __init__(self, name: str) -> None:
        """Find its place in the watcher's memory, where there is one. Not in a step: it calls the system."""
        self._words: memoryview | None = None
        self._at = self._rows = self._read_seen = 0
        self._row: int | None = None
        self._k = self._release_ns = self._begin_ns = 0
        path = os.environ.get(_VARIABLE)
        if path is None:
            return
        try:
            file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return
        try:
            self._claim(file, name.encode()[: _NAME_BYTES - 1])
        finally:
            os.close(file)  # the lock, too
        os.register_at_fork(after_in_child=self._forget)

    def begin(self, k: int, release_ns: int = 0) -> None:
        """Note that the step of release `k` begins; that was at `release_ns`, by the monotonic clock."""
        words = self._words
        if words is None:
            return
        at = self._at
        if self._row is not None:
            words[at + _IRREGULAR] += 1
        written = words[at + _WRITTEN]
        if written - self._read_seen >= self._rows:
            self._read_seen = words[at + _READ]
        has_room = written - self._read_seen < self._rows
        self._row = at + _LOOP_WORDS + (written & (self._rows - 1)) * _ROW_WORDS if has_room else -1
        self._k, self._release_ns = k & _BITS, release_ns & _BITS
        words[at + _K] = self._k
        words[at + _OPEN] = 1
        self._begin_ns = monotonic_ns()

    def end(self, k: int) -> None:
        """Note that the step of release `k` has ended."""
        end_ns = monotonic_ns()
        words = self._words
        if words is None:
            return
        at, row, self._row = self._at, self._row, None
        if row is None or k & _BITS != self._k:
            words[at + _IRREGULAR] += 1
        elif row < 0:
            words[at + _DROPPED] += 1
        else:
            words[row] = self._k
            words[row + 1] = self._release_ns
            words[row + 2] = self._begin_ns
            words[row + 3] = end_ns
            words[at + _WRITTEN] += 1
        words[at + _OPEN] = 0

    def _claim(self, file: int, name: bytes) -> None:
        bytes_there = os.fstat(file).st_size
        if bytes_there < _MEMORY_WORDS * _WORD:
            return
        flags = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)
        memory = memoryview(mmap.mmap(file, bytes_there, flags))
        words = memory.cast("Q")
        loop_words = _LOOP_WORDS + words[_ROWS] * _ROW_WORDS
        if words[0] != _MAGIC or (_MEMORY_WORDS + words[_LOOPS] * loop_words) * _WORD > bytes_there:
            return
        fcntl.flock(file, fcntl.LOCK_EX)
        if words[_CLAIMED] >= words[_LOOPS]:
            words[_REFUSED] += 1
            return
        self._at = at = _MEMORY_WORDS + words[_CLAIMED] * loop_words
        self._rows = words[_ROWS]
        words[at + _THREAD], words[at + _PROCESS] = threading.get_native_id(), os.getpid()
        begin = (at + _NAME) * _WORD
        memory[begin : begin + len(name)] = name
        self._words = words
        words[_CLAIMED] += 1

    def _forget(self) -> None:
        self._words = None
