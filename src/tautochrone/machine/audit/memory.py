"""Checks of what memory management does behind a program's back."""

from tautochrone.machine.audit.finding import Finding, Question
from tautochrone.machine.facts import Facts


def transparent_huge_pages(facts: Facts) -> Finding:
    """Are pages joined into huge ones without being asked?"""
    mode = facts.memory.transparent_huge_pages
    question = Question(
        "transparent-huge-pages",
        why="The kernel joins pages of running programs into huge ones. A thread that touches memory "
        "meanwhile waits, also where memory is locked; and a first touch may have to clear or make room for "
        "2 MB.",
        source="Documentation/admin-guide/mm/transhuge.rst; delgado2020 III.A (TRANSPARENT_HUGEPAGE "
        "disabled)",
    )
    place = "/sys/kernel/mm/transparent_hugepage/enabled"
    if mode is None:
        if facts.kernel.option("TRANSPARENT_HUGEPAGE") == "n":
            return question.good("No transparent huge pages", "The kernel was built without them.")
        return question.unknown(
            "Whether huge pages are used unasked is unknown",
            f"{facts.reading.reason(place)}.",
            f"cat {place}",
        )
    if mode == "always":
        return question.warning(
            "Every program gets transparent huge pages",
            f"{place} is {mode}.",
            f"Until the next boot: echo never | sudo tee {place}. For good: transparent_hugepage=never (or "
            "madvise)",
            "likely",
        )
    title = (
        "Transparent huge pages come only on request" if mode == "madvise" else "No transparent huge pages"
    )
    return question.good(title, f"{place} is {mode}.")


def compaction(facts: Facts) -> Finding | None:
    """May compaction move locked memory?"""
    allowed = facts.memory.compact_locked_pages
    question = Question(
        "compaction",
        why="Compaction moves pages, locked ones too if allowed. A thread that touches a page while it "
        "moves takes a page fault and waits. PREEMPT_RT kernels forbid it by default.",
        source="Documentation/admin-guide/sysctl/vm.rst, compact_unevictable_allowed; delgado2020 III.A "
        "(COMPACTION and MIGRATION disabled)",
    )
    if allowed is None:
        return None
    if not allowed:
        return question.good("Locked memory is not moved", "vm.compact_unevictable_allowed is 0.")
    return question.warning(
        "Compaction may move locked memory",
        "vm.compact_unevictable_allowed is 1.",
        "sudo sysctl vm.compact_unevictable_allowed=0",
        "likely",
    )


def proactive_compaction(facts: Facts) -> Finding | None:
    """Does the kernel compact memory before anybody needs it?"""
    value = facts.memory.compaction_proactiveness
    question = Question(
        "proactive-compaction",
        why="The kernel moves pages about in the background to have large ones in store. Whoever touches a "
        "page "
        "that moves waits.",
        source='Documentation/admin-guide/sysctl/vm.rst, compaction_proactiveness ("could also lead to '
        "latency "
        'spikes in unsuspecting applications")',
    )
    if value is None:
        return None
    if value == 0:
        return question.good("Memory is compacted only on demand", "vm.compaction_proactiveness is 0.")
    return question.note(
        "Memory is compacted in the background",
        f"vm.compaction_proactiveness is {value}.",
        "sudo sysctl vm.compaction_proactiveness=0",
    )


def swap(facts: Facts) -> Finding:
    """Can memory be paged out?"""
    size, swappiness = facts.memory.swap_bytes, facts.memory.swappiness
    question = Question(
        "swap",
        why="A page that was swapped out comes back by a disk access. Locked memory stays; so do not rely "
        "on swap being unused, lock.",
        source="mlock(2); swapon(8)",
    )
    if size is None:
        return question.unknown(
            "Whether swap is used is unknown", f"{facts.reading.reason('/proc/meminfo')}.", "swapon"
        )
    if size == 0:
        return question.good("No swap", "SwapTotal is 0.")
    return question.note(
        "Swap is on",
        f"{size / 2**30:.1f} GiB, vm.swappiness {'unknown' if swappiness is None else swappiness}.",
        "Real-time programs lock their memory (mlockall). Or: sudo swapoff -a",
    )


def numa_balancing(facts: Facts) -> Finding | None:
    """Does the kernel unmap pages to learn who uses them?"""
    on, nodes = facts.memory.numa_balancing, facts.cpu.numa_nodes
    question = Question(
        "numa-balancing",
        why="The kernel unmaps pages now and then to see which CPU touches them. Each touch is then a page "
        "fault, and the page may be moved to another node.",
        source="Documentation/admin-guide/sysctl/kernel.rst, numa_balancing",
    )
    if on is None:
        return None
    if not on:
        return question.good("NUMA balancing is off", "kernel.numa_balancing is 0.")
    return question.warning(
        "NUMA balancing causes page faults",
        f"kernel.numa_balancing is on; {nodes or 'an unknown number of'} node(s).",
        "Until the next boot: sudo sysctl kernel.numa_balancing=0. For good: numa_balancing=disable",
        "likely",
    )


def same_page_merging(facts: Facts) -> Finding | None:
    """Are equal pages merged?"""
    question = Question(
        "same-page-merging",
        why="The kernel scans and merges equal pages of programs that asked for it. Writing to a merged "
        "page faults.",
        source="Documentation/admin-guide/mm/ksm.rst",
    )
    if not facts.memory.same_page_merging:
        return None
    return question.note(
        "Same-page merging is on", "/sys/kernel/mm/ksm/run is 1.", "echo 2 | sudo tee /sys/kernel/mm/ksm/run"
    )
