"""CPU lists as the kernel writes them (``0-3,6``) and as people do, and the CPUs that a machine has."""

import re
from collections.abc import Iterable

from tautochrone.base.errors import UsageError
from tautochrone.machine.tree import Tree

CPUS = "/sys/devices/system/cpu"
NONE = "none"
_ALL = "all"
_BUT = "all but "
_NUMBER = re.compile(r"\d{1,5}")
"""No kernel has 100,000 CPUs, and what was damaged must not name a billion."""
_BOOT_REGION = re.compile(r"(all|(\d{1,5})(?:-(\d{1,5}))?)(?::(\d{1,5})/(\d{1,5}))?")
_LIST = re.compile(r"\d{1,5}(-\d{1,5})?(,\d{1,5}(-\d{1,5})?)*")


def parse_cpu_list(text: str | None) -> tuple[int, ...] | None:
    """Read a CPU list such as ``0-3,6``.

    Returns:
        The CPU numbers in ascending order; empty for an empty list or ``(null)`` (older kernels);
        None if the text is None or is not a CPU list.
    """
    if text is None:
        return None
    if text in ("", "(null)"):
        return ()
    cpus: set[int] = set()
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if not _NUMBER.fullmatch(first) or (last and not _NUMBER.fullmatch(last)):
            return None
        if last and int(last) < int(first):
            return None
        cpus.update(range(int(first), int(last or first) + 1))
    return tuple(sorted(cpus))


def parse_boot_cpus(text: str, present: Iterable[int]) -> tuple[int, ...]:
    """Read the CPUs of a boot parameter such as ``isolcpus=``, in ascending order.

    There ``all``, ``N`` (the last CPU) and ``0-15:2/4`` (of each four the first two) are allowed, too. What
    else is in the list, such as the flags of ``isolcpus=``, names no CPU.

    Source: "cpu lists" in the kernel's admin-guide/kernel-parameters.
    """
    last = max(present, default=0)
    cpus: set[int] = set()
    for part in text.split(","):
        region = _BOOT_REGION.fullmatch(re.sub(r"\bN\b", str(last), part.strip()).lower())
        if region is None:
            continue
        first, end = (0, last) if region[1] == "all" else (int(region[2]), int(region[3] or region[2]))
        used, group = (int(region[4]), int(region[5])) if region[4] else (1, 1)
        cpus.update(cpu for cpu in range(first, end + 1) if group and (cpu - first) % group < used)
    return tuple(sorted(cpus))


def parse_cpu_mask(text: str | None) -> tuple[int, ...] | None:
    """Read a CPU mask such as ``ffffffff,00000003``: hexadecimal, in groups of 32 CPUs, the highest first.

    Returns:
        The CPU numbers in ascending order; None if the text is None or is not a mask.
    """
    try:
        mask = int((text or "").replace(",", ""), 16)
    except ValueError:
        return None
    return tuple(cpu for cpu in range(mask.bit_length()) if mask >> cpu & 1)


def format_cpu_list(cpus: Iterable[int]) -> str:
    """Write CPU numbers as the kernel does: ``0-3,6``; empty for none."""
    runs: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def format_cpu_mask(cpus: Iterable[int]) -> str:
    """Write CPU numbers as the kernel's hexadecimal masks have them: ``f``, ``1,00000003``."""
    digits = f"{sum(1 << cpu for cpu in set(cpus)):x}"
    groups: list[str] = []
    while digits:
        digits, group = digits[:-8], digits[-8:]
        groups.insert(0, group)
    return ",".join(groups)


def present_cpus(tree: Tree) -> tuple[int, ...]:
    """Return the CPUs that are there, on line or not."""
    return parse_cpu_list(tree.first_text(f"{CPUS}/present", f"{CPUS}/online")) or ()


def online_cpus(tree: Tree) -> tuple[int, ...]:
    """Return the CPUs that are on line."""
    return parse_cpu_list(tree.text(f"{CPUS}/online")) or ()


def written(cpus: tuple[int, ...]) -> str:
    """CPUs as knobs say them: ``0-3,6`` or ``none``."""
    return format_cpu_list(cpus) or NONE


def cpus_of(text: str) -> tuple[int, ...]:
    """Return what `written` wrote."""
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
    """Return the CPUs that a person named.

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
