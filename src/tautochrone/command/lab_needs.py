"""What virtual machines need and this machine lacks is fetched, after one question."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tautochrone.target.address import LabAddress
    from tautochrone.target.virtual.cache import Tell


@contextmanager
def telling() -> Iterator[Tell]:
    """Show what is being done on standard error: a bar, or where it is no terminal a line for each thing."""
    from tautochrone.answer.console import make_console

    console = make_console(stderr=True)
    if not console.is_terminal:
        last = ""

        def tell_lines(what: str, done: int, of: int) -> None:  # noqa: ARG001 - as a bar is told
            nonlocal last
            if what != last:
                typer.echo(what, err=True)
            last = what

        yield tell_lines
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (BarColumn(bar_width=12), DownloadColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task("", total=None)

        def tell(what: str, done: int, of: int) -> None:
            bars.update(task, description=what, completed=done, total=of or None)

        yield tell


YesOption = Annotated[
    bool, typer.Option("--yes", "-y", help="Fetch what virtual machines need without asking.")
]


@dataclass(frozen=True)
class _Need:
    """One thing that is not here.

    Attributes:
        megabytes: about as much is downloaded; 0: it is built.
    """

    what: str
    megabytes: int
    bring: Callable[[Tell], object]


def provide(systems: Iterable[str | None], *, yes: bool, kernel_half: bool = False) -> None:
    """Fetch what the virtual machines among these systems lack: kernels, QEMU, the kernel half of the probe.

    A person at a terminal is asked once; `yes` is the answer. Where nobody can be asked nothing is fetched,
    and whoever boots the machine says what is missing. Kernels of one's own can't be fetched.

    Raises:
        typer.Exit: the answer is no.
    """
    if not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    needs = list(_needs(systems, kernel_half=kernel_half))
    if not needs:
        return
    size = sum(one.megabytes for one in needs)
    told = ", ".join(one.what for one in needs) + (f", {size} MB to download" if size else "")
    if not yes and not typer.confirm(f"A virtual machine needs {told}. Fetch?", default=True, err=True):
        raise typer.Exit(1)
    with telling() as tell:
        for one in needs:
            one.bring(tell)


def _needs(systems: Iterable[str | None], *, kernel_half: bool) -> Iterator[_Need]:
    from tautochrone.target.address import LabAddress, is_debian, read_address

    lab: list[LabAddress] = []
    for system in dict.fromkeys(systems):
        with suppress(UsageError):  # what is no address is told where it is opened
            address = read_address(system) if system is not None else None
            lab += [address] if isinstance(address, LabAddress) else []
    if any(_lacks_qemu(address) for address in lab):
        from tautochrone.target.virtual.qemu import MEGABYTES, fetch_qemu

        yield _Need("QEMU", MEGABYTES, fetch_qemu)
    for name in dict.fromkeys(address.kernel for address in lab if is_debian(address.kernel)):
        yield from _needs_of_kernel(name, kernel_half=kernel_half)


def _lacks_qemu(address: LabAddress) -> bool:
    """One CPU takes any QEMU; several need one that gives them short turns."""
    from tautochrone.target.virtual.kernels import known_kernel
    from tautochrone.target.virtual.qemu import find_qemu

    kernel = known_kernel(address.kernel)
    architecture = kernel.architecture if kernel else "aarch64" if "/arm64" in address.kernel else "x86_64"
    try:
        return address.cpus > 1 and not find_qemu(architecture).counts_several
    except UsageError:
        return True


def _needs_of_kernel(name: str, *, kernel_half: bool) -> Iterator[_Need]:
    from tautochrone.target.virtual.fetch import fetch_kernel
    from tautochrone.target.virtual.kernels import known_kernel
    from tautochrone.target.virtual.kmod import build_module, is_built

    kernel = known_kernel(name)
    if kernel is None:
        yield _Need(f"Debian's kernel {name}", _MEGABYTES, lambda tell: fetch_kernel(name, tell))
    if kernel_half and (kernel is None or not is_built(kernel)):
        yield _Need(
            f"the kernel half of the probe for {name}",
            _HEADERS_MEGABYTES,
            lambda tell: build_module(fetch_kernel(name, tell), tell),
        )


_MEGABYTES, _HEADERS_MEGABYTES = 80, 12
"""About what Debian's kernel, and its headers, are to download."""
