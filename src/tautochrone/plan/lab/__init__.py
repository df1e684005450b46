"""Plans for virtual machines: many of them measured at once, each by a process of its own."""
