"""Which machine: maker, product, board, firmware, architecture."""

import platform
import re
from dataclasses import dataclass

from tautochrone.machine.tree import Tree

# What careless firmware writes instead of a name.
_PLACEHOLDERS = {
    "",
    "none",
    "default string",
    "to be filled by o.e.m.",
    "system product name",
    "system manufacturer",
}


@dataclass(frozen=True)
class MachineFacts:
    """The machine as its firmware names it."""

    vendor: str | None = None
    product: str | None = None
    board: str | None = None
    firmware: str | None = None
    architecture: str | None = None
    hostname: str | None = None
    """None unless asked for: a run may be shown to anybody."""


def observe_machine(tree: Tree, *, hostname: bool = False) -> MachineFacts:
    """Read DMI (PC-like machines) or the device tree (boards)."""
    board = _joined(_dmi(tree, "board_vendor"), _dmi(tree, "board_name"))
    model = tree.first_text("/proc/device-tree/model", "/sys/firmware/devicetree/base/model")
    return MachineFacts(
        vendor=_dmi(tree, "sys_vendor"),
        product=_dmi(tree, "product_name") or model,
        board=board,
        firmware=_joined(_dmi(tree, "bios_vendor"), _dmi(tree, "bios_version"), _dmi(tree, "bios_date")),
        architecture=_architecture(tree),
        hostname=tree.text("/proc/sys/kernel/hostname") if hostname else None,
    )


def _architecture(tree: Tree) -> str | None:
    """As uname(2) has it. Kernels before 6.1 tell it to programs that run there, but in no file."""
    told = tree.text("/proc/sys/kernel/arch") or (platform.machine() if tree.is_live else None)
    if told:
        return told
    cpuinfo = tree.text("/proc/cpuinfo") or ""
    marks = {
        r"^flags\s*:.*\blm\b": "x86_64",
        r"^flags\s*:": "i686",
        r"^CPU architecture\s*:\s*8": "aarch64",
        r"^CPU architecture\s*:\s*7": "armv7l",
        r"^isa\s*:\s*rv64": "riscv64",
    }
    return next((name for mark, name in marks.items() if re.search(mark, cpuinfo, re.MULTILINE)), None)


def _dmi(tree: Tree, name: str) -> str | None:
    text = tree.text(f"/sys/class/dmi/id/{name}")
    return None if text is None or text.lower() in _PLACEHOLDERS else text


def _joined(*parts: str | None) -> str | None:
    return " ".join(part for part in parts if part) or None
