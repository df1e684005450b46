"""Memory for large libraries, seen to before they take it: some wait or die where the system refuses it."""

import mmap
import os
import resource
import sys

_OF_OPENBLAS = ("numpy.", "scipy.")
"""Modules with which OpenBLAS may come. It allocates 32 MiB as it is loaded, and where it is refused them it
tries again for ever."""

_ROOM = 128 << 20
_FOR_DRAWING = 66 << 30
"""Addresses, not memory: V8, which draws charts, reserves 64 GiB of them, and kills the process without."""

_RESERVED_ONLY = 0x4000  # MAP_NORESERVE, which Python 3.11 has no name for
_THREADS = "OPENBLAS_NUM_THREADS"
_NO_WORKER = "Failed to launch worker thread"
"""How PyArrow says that the system refused it a thread."""


class RoomForOpenBlas:
    """Sees, before a module is found that may bring OpenBLAS, that there is room for it."""

    def find_spec(self, name: str, *_: object) -> None:
        """Leave the module to those who find it.

        Raises:
            MemoryError: the system refused as much as it takes.
        """
        if name.startswith(_OF_OPENBLAS):
            _see(_ROOM, f"{name.partition('.')[0]} can't be loaded")


def see_to_room() -> None:
    """Have this process never wait for memory that it does not get: for a command, not for a library.

    OpenBLAS is told to begin no threads, each of which takes as much: tauto multiplies no matrices. What is
    put so is not in `os.environ`, so no program that is measured, and no load, hears of it.
    """
    if _THREADS not in os.environ:
        os.putenv(_THREADS, "1")
    sys.meta_path.insert(0, RoomForOpenBlas())


def see_room_for_drawing() -> None:
    """See that a chart can be drawn.

    Raises:
        MemoryError: the system refused the addresses.
    """
    _see(_FOR_DRAWING, "drawing takes 66 GiB of addresses", addresses_only=True)


def may_begin_threads() -> bool:
    """Return whether a library may begin threads: PyArrow dies of one that is refused under `ulimit -v`."""
    return resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY


def see_not_refused(error: Exception) -> None:
    """See that an error does not come from what the system refused, before a file is called damaged for it.

    Raises:
        MemoryError: it does, or may.
        RuntimeError: it comes from a thread that was refused.
    """
    if _NO_WORKER in str(error):
        raise RuntimeError(f"can't start new thread: {error}") from error
    if isinstance(error, MemoryError):
        raise error
    _see(_ROOM, "a file can't be read")


def _see(size: int, what: str, *, addresses_only: bool = False) -> None:
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (_RESERVED_ONLY if addresses_only else 0)
    prot = 0 if addresses_only else mmap.PROT_READ | mmap.PROT_WRITE
    try:
        mmap.mmap(-1, size, flags=flags, prot=prot).close()
    except OSError as error:
        raise MemoryError(what) from error
