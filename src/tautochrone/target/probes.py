"""The programs for other machines: static, so that they need nothing there but a kernel."""

import os
import sys
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.base.installation import own_version

_ARCHITECTURES = {
    "x86_64": "x86_64",
    "amd64": "x86_64",
    "aarch64": "aarch64",
    "arm64": "aarch64",
    "armv7l": "armv7",
    "armv8l": "armv7",  # a 64-bit machine that shows itself as a 32-bit one
    "riscv64": "riscv64",
    "s390x": "s390x",  # not among those that `make probes` builds: tests of big-endian streams want it
}
_SHOWN = {"tauto-probe": "the probe", "tauto-agent": "the agent"}


def find_probe_for(machine: str) -> Path:
    """Return the probe for the machine that ``uname -m`` calls so."""
    return _find("tauto-probe", machine)


def find_agent_for(machine: str) -> Path:
    """Return the agent for the machine that ``uname -m`` calls so."""
    return _find("tauto-agent", machine)


WINDOWS_PROBE = "tauto-probe.exe"


def find_windows_probe(machine: str) -> Path:
    """Return the probe for a machine with Windows, whose %PROCESSOR_ARCHITECTURE% is `machine`."""
    if machine != "AMD64":
        raise UsageError(
            f"there is no probe for Windows on machines of the kind {machine!r}",
            "There is one for 64-bit x86 (AMD64).",
        )
    found = _built(WINDOWS_PROBE)
    if found is None:
        raise UsageError(
            "the probe for Windows was not built",
            "Run `make probes WINDOWS=1` in the source folder, or let TAUTO_PROBES name the folder that has "
            f"{WINDOWS_PROBE}.",
        )
    return found


def find_static(program: str, machine: str) -> Path | None:
    """A program of this name for the machine that ``uname -m`` calls so; None: it was not built."""
    architecture = architecture_of(machine)
    return _built(f"{program}-{architecture}") if architecture else None


def architecture_of(machine: str) -> str | None:
    """Return what our programs call the machine that ``uname -m`` calls so; None: there are none for it."""
    return _ARCHITECTURES.get(machine)


def _find(program: str, machine: str) -> Path:
    architecture = architecture_of(machine)
    if architecture is None:
        raise UsageError(
            f"there is no probe for machines of the kind {machine!r}",
            f"There are probes for {', '.join(dict.fromkeys(_ARCHITECTURES.values()))}.",
        )
    if (found := find_static(program, machine)) is not None:
        return found
    shown = f"{_SHOWN[program]} for {architecture} machines"
    raise UsageError(f"{shown} was not built", how_to_build(f"{program}-{architecture}"))


def how_to_build(name: str = "") -> str:
    """Return how to get the program of this name, or all, from the sources, which a wheel does not have."""
    if _checkouts():
        other = f", or let TAUTO_PROBES name the folder that has {name}" if name else ""
        return f"Run `make probes` in the source folder{other}."
    release = own_version() or "of this version"
    return (
        "This tauto was installed without them. Install tautochrone-probes beside it, as "
        '`pip install "tautochrone[probes]"` does; or get the sources of version '
        f"{release}, run `make probes` there, and let TAUTO_PROBES name the folder build/probes in them."
    )


def _built(name: str) -> Path | None:
    """Return the first file of this name where probes for other machines may lie; None: there is none."""
    return next((place for folder in _folders() if (place := folder / name).is_file()), None)


def _folders() -> list[Path]:
    """Where probes for other machines may lie, first come first."""
    named = os.environ.get("TAUTO_PROBES")
    if named:
        return [Path(named)]
    return [
        Path(sys.prefix) / "share" / "tautochrone" / "probes",
        *(place / "build" / "probes" for place in _checkouts()),
    ]


def _checkouts() -> list[Path]:
    """Return the source folders that this tauto belongs to; none where it was installed from a wheel."""
    places = (Path(sys.prefix).parent, Path(__file__).parents[3])  # of .venv, of src/
    return [place for place in places if (place / "scripts" / "build-probes").is_file()]
