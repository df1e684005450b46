"""The virtual lab: machines that QEMU makes, with real kernels, whose time is counted in instructions."""
