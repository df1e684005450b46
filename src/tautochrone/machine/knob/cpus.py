"""CPU lists in knobs: which CPUs there are, and how people name them."""

import re

from tautochrone.base.errors import UsageError
from tautochrone.machine.cpulist import format_cpu_list, parse_cpu_list
from tautochrone.machine.tree import Tree

CPUS = "/sys/devices/system/cpu"
NONE = "none"
_ALL = "all"
_BUT = "all but "
_LIST = re.compile(r"\d{1,5}(-\d{1,5})?(,\d{1,5}(-\d{1,5})?)*")


def present_cpus(tree: Tree) -> tuple[int, ...]:
    """The CPUs that are there, on line or not."""
    return parse_cpu_list(tree.first_text(f"{CPUS}/present", f"{CPUS}/online")) or ()


def online_cpus(tree: Tree) -> tuple[int, ...]:
    """The CPUs that are on line."""
    return parse_cpu_list(tree.text(f"{CPUS}/online")) or ()


def written(cpus: tuple[int, ...]) -> str:
    """CPUs as knobs say them: ``0-3,6`` or ``none``."""
    return format_cpu_list(cpus) or NONE


def cpus_of(text: str) -> tuple[int, ...]:
    """What `written` wrote."""
    return () if text == NONE else parse_cpu_list(text) or ()


def check_cpus(text: str, *, or_none: bool = False) -> None:
    """See whether this names CPUs: ``0-3,6``, ``all``, ``all but 0``, and ``none`` where that has a meaning.

    Raises:
        UsageError: it does not.
    """
    if text == _ALL or (text == NONE and or_none):
        return
    if not _LIST.fullmatch(text.removeprefix(_BUT).strip()) or not parse_cpu_list(text.removeprefix(_BUT)):
        forms = "0-3,6 or all or all but 0" + (" or none" if or_none else "")
        raise UsageError(f"'{text}' is not a list of CPUs", f"Write it as {forms}.")


def named_cpus(text: str, tree: Tree, *, or_none: bool = False) -> tuple[int, ...]:
    """The CPUs that a person named.

    Raises:
        UsageError: it is no list of CPUs, or this machine has not all of them.
    """
    check_cpus(text, or_none=or_none)
    there = present_cpus(tree)
    if text in (_ALL, NONE):
        return there if text == _ALL else ()
    named = parse_cpu_list(text.removeprefix(_BUT).strip()) or ()
    missing = set(named) - set(there)
    if missing:
        raise UsageError(
            f"there is no CPU {format_cpu_list(missing)} on this machine",
            f"It has the CPUs {format_cpu_list(there)}.",
        )
    chosen = tuple(cpu for cpu in there if cpu not in named) if text.startswith(_BUT) else named
    if not chosen:
        raise UsageError(f"'{text}' leaves no CPU on this machine", f"It has the CPUs {written(there)}.")
    return chosen


def format_cpu_mask(cpus: tuple[int, ...]) -> str:
    """CPUs as the kernel's hexadecimal masks have them: ``f``, ``1,00000003``."""
    digits = f"{sum(1 << cpu for cpu in set(cpus)):x}"
    groups: list[str] = []
    while digits:
        digits, group = digits[:-8], digits[-8:]
        groups.insert(0, group)
    return ",".join(groups)


def parse_cpu_mask(text: str | None) -> tuple[int, ...] | None:
    """The CPUs of a hexadecimal mask; None if it is none."""
    try:
        mask = int((text or "").replace(",", ""), 16)
    except ValueError:
        return None
    return tuple(cpu for cpu in range(mask.bit_length()) if mask >> cpu & 1)
