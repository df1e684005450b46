"""Many virtual machines measured at once, each by a process of its own."""
