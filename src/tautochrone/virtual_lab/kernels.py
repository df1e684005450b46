"""``tauto lab kernels``: the kernels of the virtual lab."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import typer

from tautochrone.base.reading import Json
from tautochrone.command.options import JsonOption

if TYPE_CHECKING:
    from tautochrone.measure.lab.preemption import Preemption
    from tautochrone.target.virtual.kernels import Kernel

_SHOWN_DIGITS = 12
_UNKNOWN = "N/A"


def verb(as_json: JsonOption = False) -> None:
    """List the kernels that guests can be booted with: Debian's, and your own.

    What is known of one is read from the configuration that came with it.
    """
    from tautochrone.target.address import known_kernels
    from tautochrone.target.virtual.kernels import known_kernel, own_kernels

    kernels = {name: known_kernel(name) for name in (*known_kernels(), *own_kernels())}
    if as_json:
        content = [_as_json(name, kernel) for name, kernel in kernels.items()]
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
    else:
        _show(kernels)


def _show(kernels: dict[str, Kernel | None]) -> None:
    from tautochrone.answer.blocks import Grid
    from tautochrone.answer.console import make_console
    from tautochrone.answer.terminal import show_grid
    from tautochrone.target.virtual.cache import cache_folder

    console = make_console()
    fetched = tuple(_row(kernel) for kernel in kernels.values() if kernel is not None)
    missing = [name for name, kernel in kernels.items() if kernel is None]
    if fetched:
        columns = ("name", "release", "package version", "preemption", "tracers", "MB", "sha256")
        notes = (f"They lie in {cache_folder()}; after --on, lab:debian-rt means debian:rt.",)
        grid = Grid("Kernels of the lab", columns, fetched, notes, words=columns[:5] + columns[6:])
        for part in show_grid(console, grid):
            console.print(part)
    if missing:
        gap = "\n" if fetched else ""
        typer.echo(f"{gap}Not fetched: {', '.join(missing)}.")
        typer.echo(f"To have one: tauto lab fetch {missing[0]}")
    typer.echo("To have one of your own: tauto lab fetch --kernel PATH --modules DIR --name NAME")


def _row(kernel: Kernel) -> tuple[str, ...]:
    from tautochrone.measure.lab.preemption import preemption_of
    from tautochrone.target.virtual.kernels import size_of, tracers_of

    tracers = tracers_of(kernel)
    return (
        kernel.name,
        kernel.release,
        kernel.package.partition("_")[2] if kernel.package else "your own",
        _preemption_words(preemption_of(kernel)),
        _UNKNOWN if tracers is None else ", ".join(tracers) or "none",
        f"{size_of(kernel) / 1e6:.0f}",
        kernel.sha256[:_SHOWN_DIGITS],
    )


def _preemption_words(preemption: Preemption) -> str:
    if preemption.model is None:
        return _UNKNOWN
    if preemption.model == "rt":
        return "PREEMPT_RT"
    return f"{preemption.model}, or preempt=" if preemption.choosable else preemption.model


def _as_json(name: str, kernel: Kernel | None) -> Json:
    from tautochrone.measure.lab.preemption import preemption_of
    from tautochrone.target.virtual.kernels import fetch_command, size_of, tracers_of

    told: Json = {"name": name, "fetched": kernel is not None, "fetch": fetch_command(name)}
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
