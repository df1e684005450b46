"""A virtual machine of the lab's own: a real kernel, booted for this, whose runs repeat."""

import errno
import fcntl
import itertools
import os
import random
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.machine.cpulist import CPUS, format_cpu_list
from tautochrone.machine.deployment import Deployment
from tautochrone.machine.deployment.apply import boot_parameters
from tautochrone.machine.tree import Files, FutureFiles, Tree
from tautochrone.target.address import LabAddress
from tautochrone.target.keeper import FarFiles
from tautochrone.target.local import find_probe
from tautochrone.target.middleware import files_for_guest
from tautochrone.target.own_code import PROGRAM, BroughtCode, brought_code, system_files
from tautochrone.target.probes import architecture_of
from tautochrone.target.program import ProbeAnswer, Program
from tautochrone.target.target import Placement, Target, Virtual
from tautochrone.target.virtual import KERNEL_HALF
from tautochrone.target.virtual.gate import TimeGate
from tautochrone.target.virtual.guest import Guest, GuestProgram, ask
from tautochrone.target.virtual.image import Image, build_image
from tautochrone.target.virtual.kernels import find_kernel
from tautochrone.target.virtual.kmod import load_kernel_half
from tautochrone.target.virtual.machine import (
    BOX,
    CONSOLE,
    IMAGE,
    KERNEL,
    BootableMachine,
    booted_with,
    virtual_machine,
)
from tautochrone.target.virtual.packages import ends_with_us

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
            with _clock().open("rb") as clock:
                self._process = subprocess.Popen(
                    [*ends_with_us(), *words],
                    stdin=subprocess.DEVNULL,
                    stdout=gate.entry,
                    stderr=self._console,
                    pass_fds=(gate.box, self._console, clock.fileno()),
                    env=_environment(machine, clock.fileno()),
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


_CLOCK = "tauto-lab-clock.so"
"""Keeps the order of QEMU's threads where they move the guest's clock: ``agent/guest/lab_clock.c``."""


def _clock() -> Path:
    """Return where it is: beside this Python, or beside the probe."""
    for folder in (Path(sys.prefix) / "bin", find_probe().parent):
        if (path := folder / _CLOCK).exists():
            return path
    raise UsageError(
        f"{_CLOCK}, which the virtual lab loads into QEMU, is not beside tauto-probe",
        "Install the project with `make setup`.",
    )


def _environment(machine: BootableMachine, descriptor: int) -> dict[str, str]:
    """Return the environment of a QEMU that loads a library first: by a path without spaces or colons.

    Where instructions are not counted, its main loop lets the guest's timers expire, and may wait for no CPU.
    """
    environment = machine.qemu.environment()
    if machine.shift is None:
        return environment
    known = environment.get("LD_PRELOAD")
    return {**environment, "LD_PRELOAD": ":".join(filter(None, (f"/proc/self/fd/{descriptor}", known)))}


def _with_path(word: str, paths: dict[str, str]) -> str:
    for name, path in paths.items():
        word = word.replace(name, path.replace(",", ",,") if "=" in word else path)
    return word


_PROBE, _AGENT = "/bin/tauto-probe", "/bin/tauto-agent"
_OWN = "/own"
"""Where the user's own code lies in a guest."""


def boot(
    address: LabAddress, modules: Sequence[str | Path] = (), extra: Mapping[str, Path] | None = None
) -> "VirtualTarget":
    """Prepare a virtual machine; it boots when something is first asked of it. See `build_image`."""
    kernel = find_kernel(address.kernel)
    config = {f"/boot/config-{kernel.release}": kernel.config} if kernel.config is not None else {}
    always = {**config, **(extra or {})}

    def image_with(more: Mapping[str, Path]) -> Image:
        return build_image(kernel, modules, {**always, **more})

    return VirtualTarget(address, virtual_machine(address, kernel, image_with({})), image_with)


class VirtualTarget(Target):
    """Probes, loads and keeper as programs in a guest."""

    def __init__(
        self,
        address: LabAddress,
        machine: BootableMachine,
        image_with: Callable[[Mapping[str, Path]], Image] | None = None,
    ) -> None:
        """Nothing boots yet; `image_with` makes the first file system with further files."""
        super().__init__(_PROBE, _AGENT)
        self.name = address.where
        self._address = address
        self._origin = machine
        self._made: BootableMachine | None = machine
        self._image_with = image_with or (lambda more: build_image(machine.kernel, (), more))
        self._added = ""
        self._brought: Mapping[str, Mapping[str, Path]] = {}
        self._is_deployed = False
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
        self._is_deployed = deployment is not None
        if added != self._added:
            self._added = added
            self._changed()
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
        """See that the guest has the program: boot another one, unless a deployment holds this one."""
        self._bring(transport, self._files_for(transport), f"transport {transport}")

    def own_code(self, code: str) -> str:
        """See that the guest has it, likewise."""
        brought = self._brought_code(code)
        self._bring(code, self._files_of_code(code), code)
        self.environment = brought.environment
        return brought.named

    def boot_with(self, transport: str, code: str = "") -> None:
        found = {
            **({transport: self._files_for(transport)} if transport else {}),
            **({code: self._files_of_code(code)} if code else {}),
        }
        self._have({name: files for name, files in found.items() if files})

    def _bring(self, name: str, files: Mapping[str, Path], shown: str) -> None:
        if not files or self._brought.get(name) == files:
            return
        if self._is_deployed:
            raise UsageError(
                f"{self.name} was not booted for {shown}, and its deployment is in force",
                "Measure it by a command of its own.",
            )
        self._have({**self._brought, name: files})

    def _have(self, brought: Mapping[str, Mapping[str, Path]]) -> None:
        if brought != self._brought:
            self._brought = brought
            self._changed()

    def _files_of_code(self, code: str) -> dict[str, Path]:
        return {**system_files(code), **self._brought_code(code).files}

    def _brought_code(self, code: str) -> BroughtCode:
        kind = self._origin.kernel.architecture
        if architecture_of(kind) != architecture_of(os.uname().machine):
            raise UsageError(
                f"your own code can't be run on {self.name}: it takes {PROGRAM} and the C library of this "
                f"machine, and there are none for {kind} machines",
                f"Take a kernel for {os.uname().machine}.",
            )
        return brought_code(code, _OWN, kind, self.name)

    def _files_for(self, transport: str) -> dict[str, Path]:
        return files_for_guest(transport, self._origin.kernel.architecture, self.name)

    def _changed(self) -> None:
        """Forget the machine as it was to be booted: another one is made when it is needed."""
        self._made = None
        self._drop(and_next=True)

    @property
    def _machine(self) -> BootableMachine:
        if self._made is None:
            files = [one for brought in self._brought.values() for one in brought.items()]
            image = self._image_with(dict(files)) if files else self._origin.image
            self._made = booted_with(self._origin, self._added, image)
        return self._made

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
        program = GuestProgram(self.guest(), [_PROBE, *arguments], self.environment)
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
