"""A virtual machine of the lab's own: a real kernel, booted for this, whose runs repeat."""

import errno
import fcntl
import hashlib
import itertools
import os
import random
import re
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.machine.cpulist import CPUS, format_cpu_list
from tautochrone.machine.deployment import Deployment
from tautochrone.machine.deployment.apply import boot_parameters
from tautochrone.machine.tree import Files, FutureFiles, Tree
from tautochrone.target.address import DEFAULT_SHIFT, DEFAULT_TURN_US, LabAddress
from tautochrone.target.keeper import FarFiles
from tautochrone.target.middleware import see_static
from tautochrone.target.program import ProbeAnswer, Program
from tautochrone.target.target import Placement, Target, Virtual
from tautochrone.target.virtual import KERNEL_HALF
from tautochrone.target.virtual.gate import BOX_BYTES, TimeGate
from tautochrone.target.virtual.guest import Guest, GuestProgram, ask
from tautochrone.target.virtual.image import Image, build_image
from tautochrone.target.virtual.kernels import Kernel, find_kernel
from tautochrone.target.virtual.kmod import load_kernel_half
from tautochrone.target.virtual.packages import ends_with_us
from tautochrone.target.virtual.qemu import FETCH, Qemu, find_qemu, firmware

# One virtual machine: QEMU's command line, and what identifies it.
#
# With instruction counting every instruction takes the same time, and what is idle costs none, so guest
# time is the number of instructions, whatever the host does meanwhile. Several CPUs share one stream of
# instructions, in turns of a few microseconds, like hardware threads of one core. Before QEMU 10 turns are
# as long as nothing is due, and on x86-64 it hangs, so several CPUs run without counting and do not repeat.


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


def booted_with(machine: BootableMachine, address: LabAddress, added: str) -> BootableMachine:
    """Return the machine with further parameters of its kernel, added by a deployment: the same one."""
    append = f"{address.append} {added}".strip()
    changed = virtual_machine(replace(address, append=append), machine.kernel, machine.image)
    return replace(changed, identity=machine.identity)


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


# One CPU of the host for each QEMU that counts instructions, so that its threads keep their order.


def _give_cpu(pid: int) -> socket.socket:
    """Give a CPU of its own to a process that was just started, and has one thread yet.

    It is the least taken one: no other QEMU of any lab on this machine has it, as long as there are enough.
    The claim is a name in memory, which ends with whoever made it.
    """
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    with suppress(OSError):  # it only makes disorder rarer
        os.sched_setaffinity(pid, {_claimed(claim)})
        os.sched_setscheduler(pid, os.SCHED_BATCH, os.sched_param(0))
    return claim


def _claimed(claim: socket.socket) -> int:
    cpus = sorted(os.sched_getaffinity(0))
    random.shuffle(cpus)
    for turn, cpu in ((turn, cpu) for turn in itertools.count() for cpu in cpus):
        try:
            claim.bind(f"\0tautochrone-host-cpu-{cpu}-{turn}")
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
        else:
            return cpu
    raise AssertionError("not reached")


_MOST_CONSOLE_BYTES = 65536
_LAST_LINES = 3
_KERNEL_TIME = re.compile(r"^\[ *[0-9.]+\]")
_REGISTERS = re.compile(r"[A-Z][A-Z0-9]{1,4} ?=")  # QEMU shows them all when a guest can't go on
_TELLING = re.compile(r"panic|BUG|Oops|Unable to|tauto-agent|qemu-system|setpriv")


class RunningMachine:
    """A virtual machine that was started.

    It ends with the thread that started it, so with the lab, too, however that ends.
    """

    def __init__(self, machine: BootableMachine, gate: TimeGate) -> None:
        self._console = os.memfd_create("tautochrone-console", os.MFD_CLOEXEC)
        fcntl.fcntl(self._console, fcntl.F_SETFL, os.O_APPEND)  # QEMU's own messages go there, too
        box, console = (f"/proc/self/fd/{descriptor}" for descriptor in (gate.box, self._console))
        image, initrd = str(machine.kernel.image), str(machine.image.path)
        paths = {BOX: box, CONSOLE: console, KERNEL: image, IMAGE: initrd}
        words = [_with_path(word, paths) for word in machine.words]
        try:
            self._process = subprocess.Popen(
                [*ends_with_us(), *words],
                stdin=subprocess.DEVNULL,
                stdout=gate.entry,
                stderr=self._console,
                pass_fds=(gate.box, self._console),
                env=machine.qemu.environment(),
                process_group=0,  # a Ctrl-C is for the lab
            )
        except BaseException:
            os.close(self._console)
            raise
        gate.close_far_ends()
        self._place = _give_cpu(self._process.pid) if machine.shift is not None else None

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def rest(self, *, is_resting: bool) -> None:
        """Stop it or let it go on, where its guest does not notice; see `guest.Emulator`."""
        self._process.send_signal(signal.SIGSTOP if is_resting else signal.SIGCONT)

    def last_words(self) -> str:
        """Return what is at the end of its console: the end of a sentence."""
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


_PROBE, _AGENT = "/bin/tauto-probe", "/bin/tauto-agent"


def boot(
    address: LabAddress, modules: Sequence[str | Path] = (), extra: Mapping[str, Path] | None = None
) -> "VirtualTarget":
    """Prepare a virtual machine; it boots when something is first asked of it. See `build_image`."""
    kernel = find_kernel(address.kernel)
    config = {f"/boot/config-{kernel.release}": kernel.config} if kernel.config is not None else {}
    image = build_image(kernel, modules, {**config, **(extra or {})})
    return VirtualTarget(address, virtual_machine(address, kernel, image))


class VirtualTarget(Target):
    """Probes, loads and keeper as programs in a guest."""

    def __init__(self, address: LabAddress, machine: BootableMachine) -> None:
        super().__init__(_PROBE, _AGENT)
        self.name = address.where
        self._address = address
        self._origin = self._machine = machine
        self._added = ""
        self._guest: Guest | None = None
        self._next: Guest | None = None
        self._was_asked = False
        # The guest's own time decides what is asked of it, or it would depend on how fast the host is.
        self._files = FarFiles(self.keeper, self.now_s, are_of_emulated_cpus=True)

    def virtual(self) -> Virtual:
        machine = self._machine
        return Virtual(
            machine=machine.identity,
            kernel=machine.kernel.name,
            release=machine.kernel.release,
            package=machine.kernel.package,
            qemu=machine.qemu.version,
            command_line=" ".join(machine.words),
            image=machine.image.sha256,
            cpus=self._address.cpus,
            shift=machine.shift,
            turn_us=machine.turn_us,
            repeatable=machine.repeats,
            problems=self._guest.problems() if self._guest is not None else (),
        )

    def renew(self, deployment: Deployment | None = None) -> str:
        """Boot afresh, unless nothing was asked since it booted.

        What a deployment can have at boot it has from there, as on a machine of one's own; a parameter that
        somebody gave by name stays as it was given.
        """
        self._was_asked = True  # from here on nobody knows that there will be another
        address = self._address
        given = {word.partition("=")[0] for word in address.append.split()}
        words = boot_parameters(deployment, Tree(_before(address.cpus))) if deployment is not None else ()
        added = " ".join(word for word in words if word.partition("=")[0] not in given)
        if added != self._added:
            self._added = added
            self._machine = booted_with(self._origin, address, added)
            self._drop(and_next=True)
        elif self._guest is not None and not self._guest.is_fresh:
            self._drop()
        return added

    def now_s(self) -> float:
        return self._guest.clock_ns / 1e9 if self._guest is not None else 0.0

    def sleep(self, seconds: float) -> None:
        """The guest's time runs only while somebody waits for it."""
        self.guest().pass_time(lambda: False, seconds)

    def files(self) -> Files:
        """Return the guest's files; those of the next guest, once there is one."""
        return self._files

    def provide(self, transport: str) -> None:
        see_static(transport, self._machine.kernel.architecture, self.name)

    def forget_files(self) -> None:
        self._files.forget()

    def guest(self) -> Guest:
        """Return the booted guest. The first one is for questions: the one to measure on boots beside it."""
        if self._guest is None:
            self._guest, self._next = self._next or self._boot(), None
            if not self._was_asked:
                self._was_asked, self._next = True, self._boot()
        self._guest.boot_words()
        return self._guest

    def ask(self, arguments: Sequence[str], patience_s: float = 30.0) -> ProbeAnswer:
        program = GuestProgram(self.guest(), [_PROBE, *arguments], {})
        program.close_input()
        return ask(program, " ".join(arguments), patience_s)

    def start(self, arguments: Sequence[str], placement: Placement, *, guarded: bool = False) -> Program:
        if arguments[:1] == [KERNEL_HALF]:
            load_kernel_half(self.guest(), self._machine.kernel)
        return super().start(arguments, placement, guarded=guarded)

    def run(self, command: Sequence[str], environment: Mapping[str, str]) -> Program:
        return GuestProgram(self.guest(), command, environment)

    def keeper_words(self) -> list[str]:
        """Return no options: TAUTO_JOURNAL is of the host's environment, none of which may reach a guest."""
        return ["keep"]

    def close(self) -> None:
        """Pull the plug. Nothing of a guest outlives it, so nothing need be put back."""
        self._drop(and_next=True)

    def _boot(self) -> Guest:
        return Guest(self._begin, self.name)

    def _begin(self) -> tuple[TimeGate, RunningMachine]:
        gate = TimeGate()
        try:
            return gate, RunningMachine(self._machine, gate)
        except BaseException:
            gate.close()
            raise

    def _drop(self, *, and_next: bool = False) -> None:
        guest, self._guest, self._standing = self._guest, None, None
        self._files.forget()
        if guest is not None:
            guest.close()
        if and_next and self._next is not None:
            self._next.close()
            self._next = None


def _before(cpus: int) -> FutureFiles:
    """Return what a deployment needs to know of a guest that was not booted yet: which CPUs it has."""
    every = format_cpu_list(range(cpus))
    return FutureFiles({f"{CPUS}/online": every, f"{CPUS}/present": every})
