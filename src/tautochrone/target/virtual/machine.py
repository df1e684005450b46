"""One virtual machine: QEMU's command line, and what identifies it.

With instruction counting every instruction takes the same time, and what is idle costs none, so guest
time is the number of instructions, whatever the host does meanwhile. Several CPUs share one stream of
instructions, in turns of a few microseconds, like hardware threads of one core. Before QEMU 10 turns are
as long as nothing is due, and on x86-64 it hangs, so several CPUs run without counting and do not repeat.
"""

import hashlib
from dataclasses import dataclass, replace

from tautochrone.base.errors import UsageError
from tautochrone.target.address import DEFAULT_SHIFT, DEFAULT_TURN_US, LabAddress
from tautochrone.target.virtual.gate import BOX_BYTES
from tautochrone.target.virtual.image import Image
from tautochrone.target.virtual.kernels import Kernel
from tautochrone.target.virtual.qemu import FETCH, Qemu, find_qemu, firmware

_KERNEL_LINE = "quiet nokaslr norandmaps mitigations=off cryptomgr.notests panic=-1"
_CONSOLES = {"x86_64": "tsc=reliable 8250.nr_uarts=1 console=ttyS0", "aarch64": "console=ttyAMA0"}
_NO_TIMER_CHECK = "no_timer_check"
"""Where instructions are not counted, a busy host stops the guest for longer than the kernel waits for its
first ticks, and it would panic: "IO-APIC + timer doesn't work!"."""
_CPU = "max,erms=off,fsrm=off"
"""Without instructions that copy and clear any number of bytes: each byte would count as an instruction."""

BOX, CONSOLE, KERNEL, IMAGE = "<box>", "<console>", "<kernel>", "<image>"
"""What stands in a command line for what has another path on each host."""


@dataclass(frozen=True)
class BootableMachine:
    """A virtual machine as it will be started.

    Attributes:
        words: its command line; what has another path on each host is a word in angle brackets.
        identity: the first 16 digits of the hash over all that decides what happens in it.
        shift: an instruction takes 2**shift ns; None: its time is the host's.
        turn_us: how long a CPU runs, at most, before it is the next one's turn; None: nobody limits it.
    """

    kernel: Kernel
    image: Image
    words: tuple[str, ...]
    qemu: Qemu
    identity: str
    shift: int | None
    turn_us: int | None
    cpus: int

    @property
    def repeats(self) -> bool:
        """Return whether the same run gives the same numbers, to the bit, always.

        Of several CPUs of arm64 one run in ten was another one, on a busy host.
        """
        in_turns = self.turn_us is not None and self.kernel.architecture == "x86_64"
        return self.shift is not None and (self.cpus == 1 or in_turns)


def virtual_machine(address: LabAddress, kernel: Kernel, image: Image) -> BootableMachine:
    """Return what has to be started for this address.

    Raises:
        UsageError: QEMU is not there, or can't do it.
    """
    qemu = find_qemu(kernel.architecture)
    several, is_x86 = address.cpus > 1, kernel.architecture == "x86_64"
    counted = not several or not is_x86 or qemu.counts_several
    turn_us = (address.turn_us or DEFAULT_TURN_US) if several and qemu.counts_several else None
    if not counted and (address.shift is not None or address.turn_us is not None):
        raise UsageError(
            f"{address.where}: QEMU {qemu.version} can't count the instructions of several CPUs of x86-64",
            f"Leave shift and turn out, or run `{FETCH}`.",
        )
    shift = (DEFAULT_SHIFT if address.shift is None else address.shift) if counted else None
    words = (
        qemu.program,
        *_machine(kernel.architecture, address, shift),
        *(_turns(turn_us) if turn_us is not None else ()),
        *_devices(address, kernel, counted=counted),
    )
    told = "\n".join([qemu.version, firmware(qemu), kernel.sha256, image.sha256, *words[1:]])
    identity = hashlib.sha256(told.encode()).hexdigest()[:16]
    return BootableMachine(kernel, image, words, qemu, identity, shift, turn_us, address.cpus)


def booted_with(machine: BootableMachine, added: str, image: Image) -> BootableMachine:
    """Return the machine as it is booted for a case: the same one.

    Args:
        added: further parameters of its kernel, for a deployment.
        image: its first file system, with what the case needs.
    """
    *words, line = machine.words  # which ends with what the kernel is told
    return replace(machine, image=image, words=(*words, f"{line} {added}".rstrip()))


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


def _turns(turn_us: int) -> list[str]:
    """A timer of virtual time that does nothing.

    QEMU lets a CPU run until the next timer, at most, before it is the next one's turn. This one is of a
    filter of a network that nobody is in, so the guest has no device of it.
    """
    every = f"filter-buffer,id=turns,netdev=nobody,queue=all,interval={turn_us}"
    return ["-netdev", "hubport,id=nobody,hubid=0", "-object", every]


def _devices(address: LabAddress, kernel: Kernel, *, counted: bool) -> list[str]:
    box = f"memory-backend-file,id=box,size={BOX_BYTES},mem-path={BOX},share=on"
    consoles = _CONSOLES[kernel.architecture]
    if not counted:
        consoles = f"{_NO_TIMER_CHECK} {consoles}"
    line = f"{_KERNEL_LINE} {consoles} {address.append}".rstrip()
    return [
        *("-nodefaults", "-no-user-config", "-net", "none", "-display", "none", "-no-reboot"),
        *("-seed", "1", "-rtc", "base=2026-01-01T00:00:00,clock=vm", "-m", str(address.memory_mib)),
        *("-chardev", f"file,id=console,path={CONSOLE},append=on", "-serial", "chardev:console"),
        *("-object", box, "-device", "ivshmem-plain,memdev=box"),
        *("-chardev", "stdio,id=gate,signal=off"),
        *("-device", "tpci200,id=card", "-device", "ipoctal232,bus=card.0,chardev0=gate"),
        *("-kernel", KERNEL, "-initrd", IMAGE, "-append", line),
    ]
