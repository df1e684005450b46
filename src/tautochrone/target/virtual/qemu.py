"""One virtual machine: QEMU's command line, and what identifies it.

With instruction counting every instruction takes the same time, and what is idle costs none, so guest time is
the number of instructions, whatever the host does meanwhile. It takes virtual CPUs in turns on one clock; on
x86 it hangs with more than one, so these run without it and do not repeat.
"""

import hashlib
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.target.virtual.gate import BOX_BYTES
from tautochrone.target.virtual.image import Image
from tautochrone.target.virtual.kernels import Kernel
from tautochrone.target.virtual.spec import DEFAULT_SHIFT, LabAddress

_PACKAGES = {"x86_64": "qemu-system-x86", "aarch64": "qemu-system-arm"}
_KERNEL_LINE = "quiet nokaslr norandmaps mitigations=off cryptomgr.notests panic=-1"
_CONSOLES = {"x86_64": "tsc=reliable 8250.nr_uarts=1 console=ttyS0", "aarch64": "console=ttyAMA0"}
_FIRMWARE = ("bios-256k.bin", "kvmvapic.bin", "pvh.bin", "linuxboot_dma.bin")
_CPU = "max,erms=off,fsrm=off"
"""Without instructions that copy and clear any number of bytes: each byte would count as an instruction."""

BOX, CONSOLE, KERNEL, IMAGE = "<box>", "<console>", "<kernel>", "<image>"
"""What stands in a command line for what has another path on each host."""


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
    box = f"memory-backend-file,id=box,size={BOX_BYTES},mem-path={BOX},share=on"
    line = f"{_KERNEL_LINE} {_CONSOLES[kernel.architecture]} {address.append}".rstrip()
    return [
        *("-nodefaults", "-no-user-config", "-net", "none", "-display", "none", "-no-reboot"),
        *("-seed", "1", "-rtc", "base=2026-01-01T00:00:00,clock=vm", "-m", str(address.memory_mib)),
        *("-chardev", f"file,id=console,path={CONSOLE},append=on", "-serial", "chardev:console"),
        *("-object", box, "-device", "ivshmem-plain,memdev=box"),
        *("-chardev", "stdio,id=gate,signal=off"),
        *("-device", "tpci200,id=card", "-device", "ipoctal232,bus=card.0,chardev0=gate"),
        *("-kernel", KERNEL, "-initrd", IMAGE, "-append", line),
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
