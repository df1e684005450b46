"""One virtual machine: QEMU's command line, what identifies it, and its process.

With instruction counting every instruction takes the same time, and what is idle costs none, so guest time is
the number of instructions, whatever the host does meanwhile. It takes virtual CPUs in turns on one clock; on
x86 it hangs with more than one, so these run without it and do not repeat.
"""

import fcntl
import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tautochrone.errors import UsageError
from tautochrone.target.virtual.gate import BOX_BYTES, Gate
from tautochrone.target.virtual.image import Image
from tautochrone.target.virtual.kernels import Kernel
from tautochrone.target.virtual.spec import DEFAULT_SHIFT, LabAddress

_PACKAGES = {"x86_64": "qemu-system-x86", "aarch64": "qemu-system-arm"}
_KERNEL_LINE = "quiet nokaslr norandmaps mitigations=off cryptomgr.notests panic=-1"
_CONSOLES = {"x86_64": "tsc=reliable 8250.nr_uarts=1 console=ttyS0", "aarch64": "console=ttyAMA0"}
_FIRMWARE = ("bios-256k.bin", "kvmvapic.bin", "pvh.bin", "linuxboot_dma.bin")
_CPU = "max,erms=off,fsrm=off"
"""Without instructions that copy and clear any number of bytes: each byte would count as an instruction."""

_BOX, _CONSOLE, _KERNEL, _IMAGE = "<box>", "<console>", "<kernel>", "<image>"
_MOST_CONSOLE_BYTES = 65536
_LAST_LINES = 3
_KERNEL_TIME = re.compile(r"^\[ *[0-9.]+\]")
_REGISTERS = re.compile(r"[A-Z][A-Z0-9]{1,4} ?=")  # QEMU shows them all when a guest can't go on
_TELLING = re.compile(r"panic|BUG|Oops|Unable to|tauto-guest|qemu-system|setpriv")


@dataclass(frozen=True)
class VirtualMachine:
    """A virtual machine as it will be started.

    Attributes:
        words: its command line; what has another path on each host is a word in angle brackets.
        qemu: the version of QEMU.
        identity: the first 16 digits of the hash over all that decides what happens in it.
        shift: an instruction takes 2**shift ns; None: its time is the host's.
    """

    kernel: Kernel
    image: Image
    words: tuple[str, ...]
    qemu: str
    identity: str
    shift: int | None
    cpus: int


def virtual_machine(address: LabAddress, kernel: Kernel, image: Image) -> VirtualMachine:
    """What has to be started for this address.

    Raises:
        UsageError: QEMU is not there, or can't do it.
    """
    program = _program(kernel.architecture)
    counted = address.cpus == 1 or kernel.architecture != "x86_64"
    if not counted and address.shift is not None:
        raise UsageError(
            f"{address.where}: several CPUs of x86-64 run without instruction counting, so there is no shift",
            f"Leave shift out, or take an arm64 kernel: {LabAddress('debian:rt/arm64', address.cpus).where}.",
        )
    shift = (DEFAULT_SHIFT if address.shift is None else address.shift) if counted else None
    words = (program, *_machine(kernel.architecture, address, shift), *_devices(address, kernel))
    version = _version(program)
    told = "\n".join([version, _firmware(program), kernel.sha256, image.sha256, *words])
    return VirtualMachine(
        kernel, image, words, version, hashlib.sha256(told.encode()).hexdigest()[:16], shift, address.cpus
    )


def _program(architecture: str) -> str:
    program = f"qemu-system-{architecture}"
    if shutil.which(program) is None:
        raise UsageError(
            f"the virtual lab needs {program}, which is not installed",
            f"On Debian: apt-get install {_PACKAGES[architecture]}.",
        )
    return program


def _machine(architecture: str, address: LabAddress, shift: int | None) -> list[str]:
    several, cores = address.cpus > 1, address.cpus // address.threads
    processors = f"{address.cpus},sockets=1,cores={cores},threads={address.threads}" if several else "1"
    if architecture == "x86_64":
        kind = ["-M", "pc", "-cpu", f"{_CPU},vendor=GenuineIntel" if several else _CPU]
    else:
        kind = ["-M", "virt,gic-version=3", "-cpu", "cortex-a57"]
    if shift is None:
        return [*kind, "-accel", "tcg,thread=single", "-smp", processors]
    return [*kind, "-accel", "tcg", "-icount", f"shift={shift},sleep=off", "-smp", processors]


def _devices(address: LabAddress, kernel: Kernel) -> list[str]:
    box = f"memory-backend-file,id=box,size={BOX_BYTES},mem-path={_BOX},share=on"
    line = f"{_KERNEL_LINE} {_CONSOLES[kernel.architecture]} {address.append}".rstrip()
    return [
        *("-nodefaults", "-no-user-config", "-net", "none", "-display", "none", "-no-reboot"),
        *("-seed", "1", "-rtc", "base=2026-01-01T00:00:00,clock=vm", "-m", str(address.memory_mib)),
        *("-chardev", f"file,id=console,path={_CONSOLE},append=on", "-serial", "chardev:console"),
        *("-object", box, "-device", "ivshmem-plain,memdev=box"),
        *("-chardev", "stdio,id=gate,signal=off"),
        *("-device", "tpci200,id=card", "-device", "ipoctal232,bus=card.0,chardev0=gate"),
        *("-kernel", _KERNEL, "-initrd", _IMAGE, "-append", line),
    ]


@cache
def _version(program: str) -> str:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    return said.partition("\n")[0].removeprefix("QEMU emulator version ").strip()


@cache
def _firmware(program: str) -> str:
    """The hashes of what QEMU runs before the kernel; it comes in packages of its own."""
    said = subprocess.run([program, "-L", "help"], capture_output=True, text=True, check=False).stdout
    found = []
    for name in _FIRMWARE if program.endswith("x86_64") else ():
        for folder in said.splitlines():
            with suppress(OSError):
                found.append(f"{name} {hashlib.sha256((Path(folder) / name).read_bytes()).hexdigest()}")
                break
    return "\n".join(found)


class RunningMachine:
    """A virtual machine that was started.

    It ends with the thread that started it, so with the lab, too, however that ends.
    """

    def __init__(self, machine: VirtualMachine, gate: Gate) -> None:
        """Start it, with this gate."""
        self._console = os.memfd_create("tautochrone-console", os.MFD_CLOEXEC)
        fcntl.fcntl(self._console, fcntl.F_SETFL, os.O_APPEND)  # QEMU's own messages go there, too
        paths = {
            _BOX: f"/proc/self/fd/{gate.box}",
            _CONSOLE: f"/proc/self/fd/{self._console}",
            _KERNEL: str(machine.kernel.image),
            _IMAGE: str(machine.image.path),
        }
        words = [_with_path(word, paths) for word in machine.words]
        bound = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
        try:
            self._process = subprocess.Popen(
                [*bound, *words],
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
        if machine.cpus > 1 and machine.shift is not None:
            _keep_in_order(self._process.pid)

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


def _keep_in_order(pid: int) -> None:
    """Give all of a QEMU that was just started one CPU of the host, and let none of its threads cut in.

    When all virtual CPUs are idle, QEMU's main thread moves the clock and looks once more. If this look is so
    late that the other thread is half through its round over the virtual CPUs, another CPU has the next turn.
    """
    with suppress(OSError):  # it only makes that rarer
        os.sched_setaffinity(pid, {random.choice(sorted(os.sched_getaffinity(0)))})
        os.sched_setscheduler(pid, os.SCHED_BATCH, os.sched_param(0))


def _with_path(word: str, paths: dict[str, str]) -> str:
    for name, path in paths.items():
        word = word.replace(name, path.replace(",", ",,") if "=" in word else path)
    return word
