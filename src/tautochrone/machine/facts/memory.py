"""Memory, and what the kernel does with it behind a program's back."""

import re
from dataclasses import dataclass

from tautochrone.machine.tree import Tree


@dataclass(frozen=True)
class MemoryFacts:
    """Memory and its management."""

    total_bytes: int | None = None
    swap_bytes: int | None = None
    swappiness: int | None = None
    transparent_huge_pages: str | None = None
    """``always``, ``madvise`` or ``never``."""
    transparent_huge_pages_defrag: str | None = None
    same_page_merging: bool | None = None
    numa_balancing: bool | None = None
    compact_locked_pages: bool | None = None
    """Whether compaction may move locked memory (``vm.compact_unevictable_allowed``)."""
    compaction_proactiveness: int | None = None


def observe_memory(tree: Tree) -> MemoryFacts:
    """Read sizes and settings."""
    sizes_kib = dict(re.findall(r"^(\w+):\s+(\d+) kB", tree.text("/proc/meminfo") or "", re.MULTILINE))
    huge = "/sys/kernel/mm/transparent_hugepage"
    return MemoryFacts(
        total_bytes=_bytes(sizes_kib.get("MemTotal")),
        swap_bytes=_bytes(sizes_kib.get("SwapTotal")),
        swappiness=tree.integer("/proc/sys/vm/swappiness"),
        transparent_huge_pages=tree.chosen(f"{huge}/enabled"),
        transparent_huge_pages_defrag=tree.chosen(f"{huge}/defrag"),
        same_page_merging=_merging(tree.integer("/sys/kernel/mm/ksm/run")),
        numa_balancing=tree.flag("/proc/sys/kernel/numa_balancing"),
        compact_locked_pages=tree.flag("/proc/sys/vm/compact_unevictable_allowed"),
        compaction_proactiveness=tree.integer("/proc/sys/vm/compaction_proactiveness"),
    )


def _bytes(kib: str | None) -> int | None:
    return None if kib is None else int(kib) * 1024


def _merging(run: int | None) -> bool | None:
    return None if run is None else run == 1  # 2 undoes all merging and stops
