"""Checks of the firmware, and of what the kernel does for the hardware's sake."""

from tautochrone.machine.audit.finding import Finding, Question
from tautochrone.machine.facts import Facts

_GUIDE = "Documentation/core-api/real-time"
# Booting takes some hundreds of them. More than one a minute since then is work that the firmware does
# regularly.
_AT_BOOT = 1000
_STEADY_PER_S = 1 / 60
_MEASURE = (
    "Measure it while nothing else is measured: sudo rtla hwnoise -d 60s. Gaps above a few us are the "
    "firmware's."
)


def firmware_interrupts(facts: Facts) -> Finding | None:
    """Does the firmware take the CPU away?"""
    firmware = facts.firmware
    question = Question(
        "firmware-interrupts",
        why="System management interrupts stop all CPUs while the firmware works, and the kernel can't see "
        "or mask them.",
        source=f"Documentation/trace/hwlat_detector.rst; {_GUIDE}/hardware.rst, Firmware; Intel 64 and IA-32 "
        "Architectures Software Developer's Manual, volume 4, MSR_SMI_COUNT",
    )
    if facts.machine.architecture not in ("x86_64", "i686", "i386") or facts.confinement.virtual is not False:
        return None
    if firmware.smi_count is not None:
        return _counted(question, firmware.smi_count, firmware.uptime_s)
    if firmware.smi_counter:
        return question.unknown(
            "Whether the firmware interrupts the CPUs was not counted",
            "This processor counts system management interrupts, but /dev/cpu/0/msr of this machine can't be "
            "read.",
            "sudo modprobe msr, then run this again as root, or read it yourself: sudo rdmsr -d -p 0 0x34. "
            f"{_MEASURE}",
        )
    return question.unknown(
        "Whether the firmware interrupts the CPUs can't be seen from here",
        "The kernel has no account of system management interrupts, and this processor has no counter of "
        "them "
        "that can simply be read.",
        _MEASURE,
    )


def efi_runtime(facts: Facts) -> Finding | None:
    """May the kernel call the firmware while it runs?"""
    kernel = facts.kernel
    question = Question(
        "efi-runtime",
        why="While the kernel calls an EFI service, to read a variable or the clock, the CPU may answer no "
        "interrupt, for as long as the firmware likes; some firmware stops all CPUs meanwhile.",
        source=f"{_GUIDE}/kernel-configuration.rst, CONFIG_EFI_DISABLE_RUNTIME; {_GUIDE}/hardware.rst, EFI",
    )
    if not facts.firmware.efi:
        return None
    words = (kernel.parameter("efi") or "").split(",")
    disabled = "noruntime" in words or (
        kernel.option("EFI_DISABLE_RUNTIME") == "y" and "runtime" not in words
    )
    if disabled:
        return question.good("The kernel does not call EFI services", "EFI runtime services are off.")
    return question.note(
        "The kernel may call EFI services while it runs",
        "Booted by EFI, and neither efi=noruntime nor CONFIG_EFI_DISABLE_RUNTIME keeps it from calling them.",
        "Boot with efi=noruntime; or keep the calls on one CPU: echo 1 | sudo tee "
        "/sys/devices/virtual/workqueue/efi_runtime/cpumask",
        "sure" if kernel.options is not None else "likely",
    )


def machine_check_polling(facts: Facts) -> Finding | None:
    """Does every CPU look for corrected hardware errors from time to time?"""
    firmware = facts.firmware
    question = Question(
        "machine-check-polling",
        why="A timer on every CPU reads the banks of the machine check, isolated CPUs too. It is rare, which "
        "makes it hard to find.",
        source="Documentation/ABI/testing/sysfs-mce, check_interval and ignore_ce; TuneD, profile realtime",
    )
    interval_s = firmware.error_poll_interval_s
    if interval_s is None:
        return None
    if interval_s == 0 or firmware.corrected_errors_ignored:
        return question.good(
            "Corrected hardware errors are not polled for", "check_interval is 0, or ignore_ce 1."
        )
    return question.note(
        "Every CPU polls for corrected hardware errors",
        f"Every {interval_s} s; more often after an error.",
        "Only where somebody else watches the hardware: echo 1 | sudo tee "
        "/sys/devices/system/machinecheck/machinecheck*/ignore_ce",
    )


def pcie_power(facts: Facts) -> Finding | None:
    """Do PCI Express links sleep?"""
    policy = facts.firmware.pcie_policy
    question = Question(
        "pcie-power",
        why="A link that sleeps delays the next access to its device, and so a loop that talks to hardware.",
        source=f"{_GUIDE}/hardware.rst, Hardware buses (ASPM); "
        "Documentation/admin-guide/kernel-parameters.txt, "
        "pcie_aspm.policy=",
    )
    if policy is None or facts.confinement.virtual:
        return None
    if policy == "performance" or facts.kernel.parameter("pcie_aspm") == "off":
        return question.good("PCI Express links do not sleep", f"Policy {policy}.")
    return question.note(
        "PCI Express links may sleep",
        f"Policy {policy}{', which leaves it as the firmware set it' if policy == 'default' else ''}.",
        "It counts only for loops that talk to a device: echo performance | sudo tee "
        "/sys/module/pcie_aspm/parameters/policy; for good: pcie_aspm.policy=performance",
        "likely",
    )


def _counted(question: Question, count: int, uptime_s: float | None) -> Finding:
    since = f" in {_duration(uptime_s)} since boot" if uptime_s else ""
    observed = f"{count:,} system management interrupts{since}, those while booting among them."
    if count == 0:
        return question.good("The firmware has not interrupted the CPUs", observed)
    if uptime_s and count > _AT_BOOT + uptime_s * _STEADY_PER_S:
        return question.warning(
            "The firmware interrupts the CPUs regularly",
            observed,
            f"Look in the firmware's settings for what it watches (USB legacy support, power capping, error "
            f"logging), and switch it off where that is safe. {_MEASURE}",
            "likely",
        )
    return question.note(
        "The firmware has interrupted the CPUs",
        observed,
        "Read the count before and after a measurement: sudo rdmsr -d -p 0 0x34. If it has grown, the worst "
        f"cases may be the firmware's. {_MEASURE}",
    )


def _duration(seconds: float) -> str:
    hours = seconds / 3600
    return f"{hours:,.1f} hours" if hours >= 1 else f"{seconds / 60:.0f} minutes"
