"""CPU lists as the kernel writes them: ``0-3,6``."""

from collections.abc import Iterable


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
        if not first.isdecimal() or (last and not last.isdecimal()):
            return None
        cpus.update(range(int(first), int(last or first) + 1))
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
