"""Which machine: maker, product, board, firmware, architecture."""

import platform
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
        architecture=tree.text("/proc/sys/kernel/arch") or (platform.machine() if tree.is_live else None),
        hostname=tree.text("/proc/sys/kernel/hostname") if hostname else None,
    )


def _dmi(tree: Tree, name: str) -> str | None:
    text = tree.text(f"/sys/class/dmi/id/{name}")
    return None if text is None or text.lower() in _PLACEHOLDERS else text


def _joined(*parts: str | None) -> str | None:
    return " ".join(part for part in parts if part) or None
