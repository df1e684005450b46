"""Checks of the firmware, of what the kernel does for the hardware's sake, and of memory management."""

from tautochrone.base.words import plural
from tautochrone.machine.audit.finding import AuditAnswer, Check, good, note, unknown, unread, warning
from tautochrone.run.facts import Facts

_HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage/enabled"
_GUIDE = "Documentation/core-api/real-time"
# Booting takes some hundreds of them. More than one a minute since then is work that the firmware does
# regularly.
_AT_BOOT = 1000
_STEADY_PER_S = 1 / 60
# Kernels with PREEMPT_RT in which it alone switched EFI services off; later ones have an option for that
# (commit a031651ff214).
_OFF_WITH_RT = ((4, 18), (5, 19))
_MEASURE = (
    "Measure it while nothing else is measured: sudo rtla hwnoise -d 60s. Gaps above a few us are the "
    "firmware's."
)


def _firmware_interrupts(facts: Facts) -> AuditAnswer | None:
    count, uptime_s = facts.firmware.smi_count, facts.firmware.uptime_s
    if facts.machine.architecture not in ("x86_64", "i686", "i386") or facts.confinement.virtual is not False:
        return None
    if count is None and facts.firmware.smi_counter:
        return unknown(
            "Whether the firmware interrupts the CPUs was not counted",
            "This processor counts system management interrupts, but /dev/cpu/0/msr of this machine can't be "
            "read.",
            "sudo modprobe msr, then run this again as root, or read it yourself: sudo rdmsr -d -p 0 0x34. "
            f"{_MEASURE}",
        )
    if count is None:
        return unknown(
            "Whether the firmware interrupts the CPUs can't be seen from here",
            "The kernel has no account of system management interrupts, and this processor has no counter of "
            "them that can simply be read.",
            _MEASURE,
        )
    since = f" in {_duration(uptime_s)} since boot" if uptime_s else ""
    observed = f"{count:,} system management interrupts{since}, those while booting among them."
    if count == 0:
        return good("The firmware has not interrupted the CPUs", observed)
    if uptime_s and count > _AT_BOOT + uptime_s * _STEADY_PER_S:
        return warning(
            "The firmware interrupts the CPUs regularly",
            observed,
            "Look in the firmware's settings for what it watches (USB legacy support, power capping, error "
            f"logging), and switch it off where that is safe. {_MEASURE}",
            "likely",
        )
    return note(
        "The firmware has interrupted the CPUs",
        observed,
        "Read the count before and after a measurement: sudo rdmsr -d -p 0 0x34. If it has grown, the worst "
        f"cases may be the firmware's. {_MEASURE}",
    )


def _duration(seconds: float) -> str:
    hours = seconds / 3600
    return f"{hours:,.1f} hours" if hours >= 1 else f"{seconds / 60:.0f} minutes"


def _efi_runtime(facts: Facts) -> AuditAnswer | None:
    kernel = facts.kernel
    if not facts.firmware.efi:
        return None
    words = (kernel.parameter("efi") or "").split(",")
    not_asked_for = "runtime" not in words
    of_realtime = kernel.realtime and _OFF_WITH_RT[0] <= (kernel.number or (0, 0)) < _OFF_WITH_RT[1]
    told = "noruntime" in words or kernel.parameter("noefi") is not None
    told = told or (not_asked_for and kernel.option("EFI_DISABLE_RUNTIME") == "y")
    if told or (not_asked_for and of_realtime):
        return good(
            "The kernel does not call EFI services",
            "EFI runtime services are off.",
            certainty="sure" if told else "likely",
        )
    return note(
        "The kernel may call EFI services while it runs",
        "Booted by EFI, and neither efi=noruntime nor CONFIG_EFI_DISABLE_RUNTIME keeps it from calling them.",
        "Boot with efi=noruntime; or, where this file is there (since 2026), keep the calls on one CPU: "
        "echo 1 | sudo tee /sys/devices/virtual/workqueue/efi_runtime/cpumask",
        "sure" if kernel.options is not None else "likely",
    )


def _links_are_left(facts: Facts) -> bool:
    """Return whether the kernel leaves links as the firmware set them; their sleep is not off with that."""
    return facts.kernel.parameter("pcie_aspm") == "off"


def _links(facts: Facts) -> dict[str, object]:
    policy = "pcie_aspm.policy=performance"
    if _links_are_left(facts):
        left = "; but pcie_aspm=off is on the kernel's command line, which leaves all as the firmware set it"
        return {"left": left, "how": f"boot with {policy} in place of pcie_aspm=off"}
    left = ", which leaves it as the firmware set it" if facts.firmware.pcie_policy == "default" else ""
    now = "echo performance | sudo tee /sys/module/pcie_aspm/parameters/policy"
    return {"left": left, "how": f"{now}; for good: {policy}"}


CHECKS = (
    Check(
        code="firmware-interrupts",
        of_hardware=True,
        why="System management interrupts stop all CPUs while the firmware works, and the kernel can't see "
        "or mask them.",
        source=f"Documentation/trace/hwlat_detector.rst; {_GUIDE}/hardware.rst, Firmware; Intel 64 and IA-32 "
        "Architectures Software Developer's Manual, volume 4, MSR_SMI_COUNT",
        answers=_firmware_interrupts,
    ),
    Check(
        code="efi-runtime",
        of_hardware=True,
        why="While the kernel calls an EFI service, to read a variable or the clock, the CPU may answer no "
        "interrupt, for as long as the firmware likes; some firmware stops all CPUs meanwhile.",
        source=f"{_GUIDE}/kernel-configuration.rst, CONFIG_EFI_DISABLE_RUNTIME; {_GUIDE}/hardware.rst, EFI",
        answers=_efi_runtime,
    ),
    Check(
        code="machine-check-polling",
        of_hardware=True,
        why="A timer on every CPU reads the banks of the machine check, isolated CPUs too. It is rare, which "
        "makes it hard to find.",
        source="Documentation/ABI/testing/sysfs-mce, check_interval and ignore_ce; TuneD, profile realtime",
        needs="firmware.error_poll_interval_s",
        answers=(
            note(
                "Every CPU polls for corrected hardware errors",
                "Every {firmware.error_poll_interval_s} s; more often after an error.",
                "Only where somebody else watches the hardware: echo 1 | sudo tee "
                "/sys/devices/system/machinecheck/machinecheck*/ignore_ce",
                when=lambda f: f.firmware.error_poll_interval_s and not f.firmware.corrected_errors_ignored,
            ),
            good("Corrected hardware errors are not polled for", "check_interval is 0, or ignore_ce 1."),
        ),
    ),
    Check(
        code="pcie-power",
        of_hardware=True,
        why="A link that sleeps delays the next access to its device, and so a loop that talks to hardware.",
        source=f"{_GUIDE}/hardware.rst, Hardware buses (ASPM); "
        "Documentation/admin-guide/kernel-parameters.txt, pcie_aspm= and pcie_aspm.policy=",
        needs="firmware.pcie_policy",
        numbers=_links,
        answers=(
            good(
                "PCI Express links do not sleep",
                "Policy {firmware.pcie_policy}.",
                when=lambda f: (
                    not f.confinement.virtual
                    and f.firmware.pcie_policy == "performance"
                    and not _links_are_left(f)
                ),
            ),
            note(
                "PCI Express links may sleep",
                "Policy {firmware.pcie_policy}{left}.",
                "It counts only for loops that talk to a device: {how}",
                "likely",
                when=lambda f: not f.confinement.virtual,
            ),
        ),
    ),
    Check(
        code="transparent-huge-pages",
        why="The kernel joins pages of running programs into huge ones. A thread that touches memory "
        "meanwhile waits, also where memory is locked; and a first touch may have to clear or make room for "
        "2 MB.",
        source="Documentation/admin-guide/mm/transhuge.rst; delgado2020 III.A (TRANSPARENT_HUGEPAGE "
        "disabled)",
        answers=(
            warning(
                "Every program gets transparent huge pages",
                f"{_HUGE_PAGES} is always.",
                f"Until the next boot: echo never | sudo tee {_HUGE_PAGES}. For good: "
                "transparent_hugepage=never (or madvise)",
                "likely",
                when=lambda f: f.memory.transparent_huge_pages == "always",
            ),
            good(
                "Transparent huge pages come only on request",
                f"{_HUGE_PAGES} is madvise.",
                when=lambda f: f.memory.transparent_huge_pages == "madvise",
            ),
            good(
                "No transparent huge pages",
                _HUGE_PAGES + " is {memory.transparent_huge_pages}.",
                when=lambda f: f.memory.transparent_huge_pages is not None,
            ),
            good(
                "No transparent huge pages",
                "The kernel was built without them.",
                when=lambda f: f.kernel.option("TRANSPARENT_HUGEPAGE") == "n",
            ),
            unread("Whether huge pages are used unasked is unknown", _HUGE_PAGES),
        ),
    ),
    Check(
        code="compaction",
        why="Compaction moves pages, locked ones too if allowed. A thread that touches a page while it "
        "moves takes a page fault and waits. PREEMPT_RT kernels forbid it by default.",
        source="Documentation/admin-guide/sysctl/vm.rst, compact_unevictable_allowed; delgado2020 III.A "
        "(COMPACTION and MIGRATION disabled)",
        needs="memory.compact_locked_pages",
        answers=(
            warning(
                "Compaction may move locked memory",
                "vm.compact_unevictable_allowed is 1.",
                "sudo sysctl vm.compact_unevictable_allowed=0",
                "likely",
                when=lambda f: f.memory.compact_locked_pages,
            ),
            good("Locked memory is not moved", "vm.compact_unevictable_allowed is 0."),
        ),
    ),
    Check(
        code="proactive-compaction",
        why="The kernel moves pages about in the background to have large ones in store. Whoever touches a "
        "page that moves waits.",
        source='Documentation/admin-guide/sysctl/vm.rst, compaction_proactiveness ("could also lead to '
        'latency spikes in unsuspecting applications")',
        needs="memory.compaction_proactiveness",
        answers=(
            note(
                "Memory is compacted in the background",
                "vm.compaction_proactiveness is {memory.compaction_proactiveness}.",
                "sudo sysctl vm.compaction_proactiveness=0",
                when=lambda f: f.memory.compaction_proactiveness,
            ),
            good("Memory is compacted only on demand", "vm.compaction_proactiveness is 0."),
        ),
    ),
    Check(
        code="swap",
        why="A page that was swapped out comes back by a disk access. Locked memory stays; so do not rely "
        "on swap being unused, lock.",
        source="mlock(2); swapon(8)",
        numbers=lambda f: {
            "gib": (f.memory.swap_bytes or 0) / 2**30,
            "swappiness": "unknown" if f.memory.swappiness is None else f.memory.swappiness,
        },
        answers=(
            note(
                "Swap is on",
                "{gib:.1f} GiB, vm.swappiness {swappiness}.",
                "Real-time programs lock their memory (mlockall). Or: sudo swapoff -a",
                when=lambda f: f.memory.swap_bytes,
            ),
            good("No swap", "SwapTotal is 0.", when=lambda f: f.memory.swap_bytes == 0),
            unread("Whether swap is used is unknown", "/proc/meminfo", advice="swapon"),
        ),
    ),
    Check(
        code="numa-balancing",
        why="The kernel unmaps pages now and then to see which CPU touches them. Each touch is then a page "
        "fault, and the page may be moved to another node.",
        source="Documentation/admin-guide/sysctl/kernel.rst, numa_balancing",
        needs="memory.numa_balancing",
        numbers=lambda f: {
            "nodes": plural(f.cpu.numa_nodes, "node") if f.cpu.numa_nodes else "an unknown number of nodes"
        },
        answers=(
            warning(
                "NUMA balancing causes page faults",
                "kernel.numa_balancing is on; {nodes}.",
                "Until the next boot: sudo sysctl kernel.numa_balancing=0. For good: numa_balancing=disable",
                "likely",
                when=lambda f: f.memory.numa_balancing,
            ),
            good("NUMA balancing is off", "kernel.numa_balancing is 0."),
        ),
    ),
    Check(
        code="same-page-merging",
        why="The kernel scans and merges equal pages of programs that asked for it. Writing to a merged "
        "page faults.",
        source="Documentation/admin-guide/mm/ksm.rst",
        answers=(
            note(
                "Same-page merging is on",
                "/sys/kernel/mm/ksm/run is 1.",
                "echo 2 | sudo tee /sys/kernel/mm/ksm/run",
                when=lambda f: f.memory.same_page_merging,
            ),
        ),
    ),
)
