"""A virtual machine of the lab's own: a real kernel, booted for this, whose runs repeat."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tautochrone.machine.files import Files
from tautochrone.target.far_files import FarFiles
from tautochrone.target.keeper import Request
from tautochrone.target.local import guard_options, placement_environment
from tautochrone.target.machine import MachineWithPrograms
from tautochrone.target.middleware import see_static
from tautochrone.target.program import Guarded, Program
from tautochrone.target.target import ANYWHERE, Answer, Placement, Virtual
from tautochrone.target.virtual.emulator import RunningMachine
from tautochrone.target.virtual.gate import Gate
from tautochrone.target.virtual.guest import Guest
from tautochrone.target.virtual.image import build_image
from tautochrone.target.virtual.kernels import find_kernel
from tautochrone.target.virtual.kmod import load_kernel_half
from tautochrone.target.virtual.program import GuestProgram, ask
from tautochrone.target.virtual.qemu import VirtualMachine, virtual_machine
from tautochrone.target.virtual.spec import LabAddress

_PROBE = "/bin/tauto-probe"
_WANTS_KERNEL_HALF = "kernel"


def boot(
    address: LabAddress, modules: Sequence[str | Path] = (), extra: Mapping[str, Path] | None = None
) -> "VirtualTarget":
    """Prepare a virtual machine; it boots when something is first asked of it.

    Args:
        modules: that it loads when it boots, and `extra`, what else is in its file system: see `build_image`.

    Raises:
        UsageError: the kernel is not there, or QEMU, or what goes into the guest.
    """
    kernel = find_kernel(address.kernel)
    config = {f"/boot/config-{kernel.release}": kernel.config} if kernel.config is not None else {}
    image = build_image(kernel, modules, {**config, **(extra or {})})
    return VirtualTarget(address, virtual_machine(address, kernel, image))


class VirtualTarget(MachineWithPrograms):
    """Probes, loads and keeper as programs in a guest."""

    def __init__(self, address: LabAddress, machine: VirtualMachine) -> None:
        """Nothing is booted yet."""
        super().__init__()
        self.name = address.where
        self._address = address
        self._machine = machine
        self._guest: Guest | None = None
        self._next: Guest | None = None
        self._was_asked = False
        # The guest's own time decides what is asked of it, or it would depend on how fast the host is.
        self._files = FarFiles(_PresentKeeper(self), self.now_s)

    def virtual(self) -> Virtual:
        """What it is; see `Target`."""
        machine = self._machine
        return Virtual(
            machine=machine.identity,
            kernel=machine.kernel.name,
            release=machine.kernel.release,
            package=machine.kernel.package,
            qemu=machine.qemu,
            command_line=" ".join(machine.words),
            image=machine.image.sha256,
            cpus=self._address.cpus,
            shift=machine.shift,
            repeatable=machine.shift is not None and self._address.cpus == 1,
            problems=self._guest.problems() if self._guest is not None else (),
        )

    def renew(self) -> None:
        """Boot afresh, unless nothing was asked since it booted; see `Target`."""
        self._was_asked = True  # from here on nobody knows that there will be another
        if self._guest is not None and not self._guest.is_fresh:
            self._drop()

    def now_s(self) -> float:
        """The guest's clock; see `Target`."""
        return self._guest.clock_ns / 1e9 if self._guest is not None else 0.0

    def sleep(self, seconds: float) -> None:
        """The guest's time runs only while somebody waits for it; see `Target`."""
        self.guest().pass_time(lambda: False, seconds)

    def address_here(self) -> str | None:
        """There is no network."""
        return None

    def address_there(self) -> str | None:
        """There is no network."""
        return None

    def files(self) -> Files:
        """The guest's files; those of the next guest, once there is one."""
        return self._files

    def forget_files(self) -> None:
        """What was read ahead is old."""
        self._files.forget()

    def guest(self) -> Guest:
        """The booted guest. The first one is for questions: the one to measure on boots beside it."""
        if self._guest is None:
            self._guest, self._next = self._next or self._boot(), None
            if not self._was_asked:
                self._was_asked, self._next = True, self._boot()
        self._guest.boot_words()
        return self._guest

    def ask(self, arguments: Sequence[str], patience_s: float = 30.0) -> Answer:
        """Run a short command of the probe to its end; see `Target`."""
        see_static(arguments, self._machine.kernel.architecture, self.name)
        program = GuestProgram(self.guest(), [_PROBE, *arguments], {})
        program.close_input()
        return ask(program, " ".join(arguments), patience_s)

    def start(self, arguments: Sequence[str], placement: Placement) -> Program:
        """Start the probe: by itself, or, where it is placed, under a guard that joins the groups first."""
        see_static(arguments, self._machine.kernel.architecture, self.name)
        words = [_PROBE, *arguments]
        if arguments[:1] == [_WANTS_KERNEL_HALF]:
            load_kernel_half(self.guest(), self._machine.kernel)
        if placement == ANYWHERE:
            return GuestProgram(self.guest(), words, {})
        guarded = [_PROBE, *guard_options(placement), "--", *words]
        return Guarded(GuestProgram(self.guest(), guarded, placement_environment(placement)))

    def start_keeper(self, arguments: Sequence[str]) -> Program:
        """In the guest: what it changed ends with the guest, at the latest."""
        return GuestProgram(self.guest(), [_PROBE, *arguments], {})

    def keeper_options(self) -> list[str]:
        """None: TAUTO_JOURNAL is a word of the host's environment, and no word of that may reach a guest."""
        return []

    def close(self) -> None:
        """Pull the plug. Nothing of a guest outlives it, so nothing need be put back."""
        self._drop()
        if self._next is not None:
            self._next.close()
            self._next = None

    def _boot(self) -> Guest:
        return Guest(self._begin, self.name)

    def _begin(self) -> tuple[Gate, RunningMachine]:
        gate = Gate()
        try:
            return gate, RunningMachine(self._machine, gate)
        except BaseException:
            gate.close()
            raise

    def _drop(self) -> None:
        guest, self._guest, self._standing = self._guest, None, None
        self._files.forget()
        if guest is not None:
            guest.close()


class _PresentKeeper:
    """The keeper of the guest that is booted at the moment."""

    def __init__(self, target: VirtualTarget) -> None:
        self._target = target

    def ask(self, *words: str | bytes) -> bytes:
        """See `Keeper`."""
        return self._target.keeper().ask(*words)

    def ask_all(self, requests: Sequence[Request]) -> list[bytes | OSError]:
        """See `Keeper`."""
        return self._target.keeper().ask_all(requests)
