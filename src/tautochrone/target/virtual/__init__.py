"""The virtual lab: machines that QEMU makes, with real kernels, whose time is counted in instructions."""

KERNEL_HALF = "kernel"
"""The experiment that needs the kernel half of the probe."""
