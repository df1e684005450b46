"""`tauto lab kernels`, `fetch` and `matrix`: the kernels of the virtual lab, and all of them side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.errors import UsageError
from tautochrone.base.words import listed, verb
from tautochrone.command import completion
from tautochrone.command.lab_needs import YesOption, provide, telling
from tautochrone.command.options import (
    AgainOption,
    JsonOption,
    OpenReportOption,
    StoreOption,
    deployment_option,
    load_option,
)
from tautochrone.command.told import tell_json
from tautochrone.target.address import LabAddress, canonical_kernel, read_lab_address

if TYPE_CHECKING:
    from tautochrone.answer.document import TypedCell
    from tautochrone.measure.lab.preemption import KernelPreemption
    from tautochrone.target.virtual.kernels import Kernel


# ``tauto lab fetch``: bring kernels for the virtual lab.


def fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME...",
            help="debian:rt, debian:stock/arm64, ... (`tauto lab kernels`); qemu.",
            autocompletion=completion.fetchable,
        ),
    ] = None,
    kernel: Annotated[
        Path | None,
        typer.Option(
            "--kernel", metavar="PATH", help="Kernel of your own: a bzImage, vmlinux or arm64 Image."
        ),
    ] = None,
    modules: Annotated[
        Path | None,
        typer.Option("--modules", metavar="DIR", help="Folder of its modules: lib/modules/RELEASE."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Name for your own kernel.")
    ] = None,
    kernel_half: Annotated[
        bool,
        typer.Option(
            "--kernel-half",
            help="Also build the kernel-space half of the probe for them (`tauto probe kernel`).",
        ),
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Fetch the newest version, even if one is there.")
    ] = False,
) -> None:
    """Fetch what virtual machines run: Debian's kernels or one of your own, and QEMU.

    Nothing is installed, and root is not needed. What is there already is checked and kept.

    Examples:
        tauto lab fetch qemu debian:rt debian:stock
        tauto lab fetch --kernel bzImage --name mine
    """
    from tautochrone.target.virtual.fetch import adopt_kernel, fetch_kernel
    from tautochrone.target.virtual.kernels import known_kernel

    wanted = [canonical_kernel(one) for one in names or [] if one != _QEMU]
    _see_complete(names or [], kernel, modules, name)
    if _QEMU in (names or []):
        _fetch_qemu(again=again)
    for one in dict.fromkeys(wanted):
        before = known_kernel(one)
        with telling() as tell:
            fetched = fetch_kernel(one, tell, again=again, look_over=True)
        _say(fetched, before)
        if kernel_half:
            _build_kernel_half(fetched, again=again)
    if kernel is not None and name is not None:
        with telling() as tell:
            adopted = adopt_kernel(name, kernel, modules, tell)
        _say(adopted, None)
        if kernel_half:
            _build_kernel_half(adopted, again=again)


_QEMU = "qemu"


def _fetch_qemu(*, again: bool) -> None:
    from tautochrone.target.virtual.qemu import fetch_qemu

    with telling() as tell:
        qemu, is_new = fetch_qemu(tell, again=again)
    typer.echo(f"QEMU {qemu.version}: {'fetched' if is_new else 'is there already'}")


def _build_kernel_half(kernel: Kernel, *, again: bool) -> None:
    from tautochrone.target.virtual.kmod import build_module

    with telling() as tell:
        module = build_module(kernel, tell, again=again)
    typer.echo(f"{kernel.name}: the kernel-space half of the probe is {module}")


def _see_complete(wanted: list[str], kernel: Path | None, modules: Path | None, name: str | None) -> None:
    if kernel is None and (modules is not None or name is not None):
        given = "--modules" if modules is not None else "--name"
        raise UsageError(f"{given} is for a kernel of your own", "Give it with --kernel PATH.")
    if kernel is not None and name is None:
        raise UsageError("a kernel of your own needs a name", "Give it with --name NAME.")
    if kernel is None and not wanted:
        raise UsageError(
            "there is nothing to fetch",
            "Name kernels: tauto lab fetch debian:rt debian:stock. `tauto lab kernels` lists them.",
        )


def _say(kernel: Kernel, before: Kernel | None) -> None:

    origin = f"{kernel.package}, " if kernel.package else ""
    state = "is there already" if kernel == before else "fetched"
    where = LabAddress(kernel.name).where
    typer.echo(f"{kernel.name}: Linux {kernel.release}, {origin}{state}; --on {where}")


def forget(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...", help="debian:rt, your own, qemu, or all.", autocompletion=completion.fetchable
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Remove without asking.")] = False,
) -> None:
    """Remove what was fetched or built for virtual machines, to have its space back.

    It can be fetched again; the version of a kernel may be a newer one then. Runs stay.

    Examples:
        tauto lab forget debian:6.12 qemu
        tauto lab forget all --yes
    """
    from tautochrone.target.virtual.forget import ALL, QEMU, folders_of
    from tautochrone.target.virtual.forget import forget as remove

    wanted = list(dict.fromkeys(one if one in (QEMU, ALL) else canonical_kernel(one) for one in names))
    folders = folders_of(wanted)
    size = sum(size for _, size in folders)
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("Nobody can be asked here whether to remove it", "Add --yes to remove it.")
        if not typer.confirm(f"Remove {listed(wanted)} ({size / 1e6:.0f} MB)?", err=True):
            raise typer.Exit(1)
    with telling() as tell:
        remove([folder for folder, _ in folders], tell)
    typer.echo(f"{size / 1e6:.0f} MB {verb(round(size / 1e6), 'is')} free again.")


_SHOWN_DIGITS = 12
_LOADS, _PERIOD = "idle,exit,munmap,thp,pipe", "250us"
"""What `tauto lab matrix` measures where nothing else is said."""


def kernels(as_json: JsonOption = False) -> None:
    """List the kernels that guests can be booted with: Debian's, and your own.

    What is known of a kernel comes from its configuration.

    Examples:
        tauto lab kernels
    """
    from tautochrone.target.address import known_kernels
    from tautochrone.target.virtual.kernels import known_kernel, own_kernels

    found = {name: known_kernel(name) for name in (*known_kernels(), *own_kernels())}
    if as_json:
        content = [_as_json(name, kernel) for name, kernel in found.items()]
        tell_json("kernels", lambda: {"kernels": content})
    else:
        _show(found)


def _show(kernels: dict[str, Kernel | None]) -> None:
    from tautochrone.answer.console import make_console
    from tautochrone.answer.document import TypedTable, columns
    from tautochrone.answer.render.terminal import show_table
    from tautochrone.target.virtual.cache import cache_folder

    console = make_console()
    fetched = tuple(_row(kernel) for kernel in kernels.values() if kernel is not None)
    missing = [name for name, kernel in kernels.items() if kernel is None]
    if fetched:
        heads = columns("name", "release", "package version", "preemption", "tracers", "MB", "sha256")
        notes = (f"They lie in {cache_folder()}; after --on, lab:debian-rt means debian:rt.",)
        for part in show_table(console, TypedTable("Kernels of the virtual lab", heads, fetched, notes)):
            console.print(part)
    if missing:
        gap = "\n" if fetched else ""
        typer.echo(f"{gap}Not fetched: {', '.join(missing)}.")
        typer.echo(f"To have one: tauto lab fetch {missing[0]}")
    typer.echo("To have one of your own: tauto lab fetch --kernel PATH --modules DIR --name NAME")


def _row(kernel: Kernel) -> tuple[TypedCell, ...]:
    from tautochrone.answer.document import TypedCell, formatted, words
    from tautochrone.measure.lab.preemption import preemption_of
    from tautochrone.target.virtual.kernels import size_of, tracers_of

    tracers = tracers_of(kernel)
    return (
        words(kernel.name),
        words(kernel.release),
        words(kernel.version or "your own"),
        TypedCell(_preemption_words(preemption_of(kernel))),
        TypedCell(None if tracers is None else ", ".join(tracers) or "none"),
        formatted(size_of(kernel) / 1e6, "{:.0f}"),
        words(kernel.sha256[:_SHOWN_DIGITS]),
    )


def _preemption_words(preemption: KernelPreemption) -> str | None:
    if preemption.model == "rt":
        return "PREEMPT_RT"
    if preemption.model is None:
        return None
    return f"{preemption.model}, or preempt=" if preemption.choosable else preemption.model


def _as_json(name: str, kernel: Kernel | None) -> dict[str, object]:
    from tautochrone.measure.lab.preemption import preemption_of
    from tautochrone.target.virtual.kernels import fetch_command, size_of, tracers_of

    told: dict[str, object] = {"name": name, "fetched": kernel is not None, "fetch": fetch_command(name)}
    if kernel is None:
        return told
    preemption = preemption_of(kernel)
    return told | {
        "architecture": kernel.architecture,
        "release": kernel.release,
        "package": kernel.package,
        "preemption": preemption.model,
        "preemption_choosable": preemption.choosable,
        "tracers": tracers_of(kernel),
        "bytes": size_of(kernel),
        "sha256": kernel.sha256,
        "image": str(kernel.image),
        "modules": str(kernel.modules) if kernel.modules else None,
    }


def matrix(
    kernels: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Kernels to compare: debian:stock,debian:rt,... `tauto lab kernels` [all that are here]",
            autocompletion=completion.kernels,
        ),
    ] = None,
    preempt: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Preemption models, for kernels that take preempt=: some of none, voluntary, full, lazy.",
        ),
    ] = "none,voluntary,full",
    load: Annotated[
        list[str] | None,
        load_option(
            f"Loads, a column for each, separated by commas; repeatable. `tauto load list` [{_LOADS}]", "LIST"
        ),
    ] = None,
    deployment: Annotated[
        str | None,
        deployment_option("Deployments to compare: M,MI,... `tauto tune list` [as it boots]", "LIST"),
    ] = None,
    smp: Annotated[
        int | None, typer.Option(metavar="N", help="Virtual CPUs. [1; with --deployment 4]")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(metavar="N", help="CPUs on one core. [1; with --deployment alone 2]")
    ] = None,
    period: Annotated[
        str | None, typer.Option(metavar="TIME", help=f"Time between two releases. [{_PERIOD}]")
    ] = None,
    rate: Annotated[str | None, typer.Option(metavar="RATE", help="Rate instead of a period: 4kHz.")] = None,
    duration: Annotated[
        str, typer.Option(metavar="TIME", help="Length of each case, in the guest's time.")
    ] = "2s",
    priority: Annotated[
        int | None, typer.Option(help="Priority of the measuring thread, policy fifo. [90]")
    ] = None,
    shift: Annotated[
        int | None, typer.Option(metavar="0-10", help="Time of an instruction in the guest: 2**SHIFT ns. [1]")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", help="Number of guests measured at once. [as many as there are CPUs]"),
    ] = None,
    repetitions: Annotated[int | None, typer.Option(hidden=True)] = None,
    again: AgainOption = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the cases and how long they take; measure nothing.")
    ] = False,
    as_json: JsonOption = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write the report. [the store]")
    ] = None,
    open_it: OpenReportOption = False,
    yes: YesOption = False,
    store: StoreOption = None,
) -> None:
    """Scheduling latency of each kernel, preemption model and deployment, beside each load.

    All of it runs on virtual machines, which repeat to the bit: each case is measured once, and as many
    at once as there are CPUs, which changes no number. Finished cases are not measured again: after
    Ctrl-C or a crash, run the same command again.

    Examples:
        tauto lab matrix --kernels debian:stock,debian:rt --load idle,exit
        tauto lab matrix --kernels debian:rt --deployment M,MI --load exit
    """
    import os

    from tautochrone.base.units import given_period, parse_duration_ns, parse_period_ns
    from tautochrone.campaign.verb import Wanted, carry_through, hands
    from tautochrone.measure.lab.matrix import (
        deployments_of,
        document_of,
        kernel_names_of,
        loads_of,
        machines_of,
        models_of,
    )
    from tautochrone.measure.lab.preemption import why_one_row
    from tautochrone.target.virtual.kernels import find_kernel

    if repetitions is not None:
        raise UsageError(
            "--repetitions: a virtual machine repeats to the bit, so a second repetition is the first one",
            "Leave it out. A longer --duration sees more; --again measures anew.",
        )
    between = given_period({"rate": rate, "period": period}) or _PERIOD
    parse_period_ns(between)  # here, since nothing else reads it before a guest has booted
    parse_duration_ns(duration)
    cpus, per_core = _processors(smp, threads, deployment)
    # All that was typed is read before anything is fetched for it.
    models, loads, deployments = (
        models_of(preempt),
        loads_of(",".join(load or [_LOADS])),
        deployments_of(deployment),
    )
    names = kernel_names_of(kernels)
    provide((f"lab:{name},smp={cpus}" for name in names), yes=yes)
    found = [find_kernel(name) for name in names]
    for kernel in found:
        if why := why_one_row(kernel):
            typer.echo(why, err=True)
    options: dict[str, str | int | float | bool] = {"period": between, "duration": duration}
    if priority is not None:
        options["priority"] = priority
    machines = machines_of(found, models, shift, cpus, per_core)
    document = document_of(machines, loads, options, deployments)
    at_once = hands(jobs) or len(os.sched_getaffinity(0))
    carry_through(document, store, Wanted(again, dry_run, as_json, out, open_it, at_once, yes=yes))


def _processors(smp: int | None, threads: int | None, deployment: str | None) -> tuple[int, int]:
    """Return how many CPUs, and of them on one core; with deployments the machine of delgado2020.

    Raises:
        UsageError: there can't be so many.
    """
    usual = (1, 1) if deployment is None else (4, 2 if smp is None else 1)
    cpus, per_core = usual[0] if smp is None else smp, usual[1] if threads is None else threads
    read_lab_address(f"debian:stock,smp={cpus},threads={per_core}")
    return cpus, per_core
