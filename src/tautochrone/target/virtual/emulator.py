"""QEMU's process: started, stopped and let go on, ended; and what its console says."""

import fcntl
import os
import re
import signal
import subprocess

from tautochrone.target.virtual.bound import ends_with_us
from tautochrone.target.virtual.gate import Gate
from tautochrone.target.virtual.host_cpu import HostCpu
from tautochrone.target.virtual.qemu import BOX, CONSOLE, IMAGE, KERNEL, VirtualMachine

_MOST_CONSOLE_BYTES = 65536
_LAST_LINES = 3
_KERNEL_TIME = re.compile(r"^\[ *[0-9.]+\]")
_REGISTERS = re.compile(r"[A-Z][A-Z0-9]{1,4} ?=")  # QEMU shows them all when a guest can't go on
_TELLING = re.compile(r"panic|BUG|Oops|Unable to|tauto-guest|qemu-system|setpriv")


class RunningMachine:
    """A virtual machine that was started.

    It ends with the thread that started it, so with the lab, too, however that ends.
    """

    def __init__(self, machine: VirtualMachine, gate: Gate) -> None:
        """Start it, with this gate."""
        self._console = os.memfd_create("tautochrone-console", os.MFD_CLOEXEC)
        fcntl.fcntl(self._console, fcntl.F_SETFL, os.O_APPEND)  # QEMU's own messages go there, too
        paths = {
            BOX: f"/proc/self/fd/{gate.box}",
            CONSOLE: f"/proc/self/fd/{self._console}",
            KERNEL: str(machine.kernel.image),
            IMAGE: str(machine.image.path),
        }
        words = [_with_path(word, paths) for word in machine.words]
        try:
            self._process = subprocess.Popen(
                [*ends_with_us(), *words],
                stdin=subprocess.DEVNULL,
                stdout=gate.entry,
                stderr=self._console,
                pass_fds=(gate.box, self._console),
                process_group=0,  # a Ctrl-C is for the lab
            )
        except BaseException:
            os.close(self._console)
            raise
        gate.close_far_ends()
        self._place = HostCpu(self._process.pid) if machine.shift is not None else None

    def kill(self) -> None:
        """End it at once. Safe to call from any thread, and twice."""
        self._process.kill()
        self._process.wait()

    def rest(self, *, is_resting: bool) -> None:
        """Stop it or let it go on, where its guest does not notice; see `guest.Emulator`."""
        self._process.send_signal(signal.SIGSTOP if is_resting else signal.SIGCONT)

    def last_words(self) -> str:
        """What is at the end of its console: the end of a sentence."""
        size = os.fstat(self._console).st_size
        said = os.pread(self._console, _MOST_CONSOLE_BYTES, max(0, size - _MOST_CONSOLE_BYTES))
        shown = (
            "".join(filter(str.isprintable, line)) for line in said.decode(errors="replace").splitlines()
        )
        said_of_itself = (_KERNEL_TIME.sub("", line).strip() for line in shown if not _REGISTERS.match(line))
        lines = [line for line in said_of_itself if line]
        telling = [line for line in lines if _TELLING.search(line)][:_LAST_LINES] or lines[-_LAST_LINES:]
        return f"its console says: {' / '.join(telling)}" if telling else "its console says nothing"

    def close(self) -> None:
        """End it and forget its console."""
        self.kill()
        os.close(self._console)
        if self._place is not None:
            self._place.close()


def _with_path(word: str, paths: dict[str, str]) -> str:
    for name, path in paths.items():
        word = word.replace(name, path.replace(",", ",,") if "=" in word else path)
    return word
