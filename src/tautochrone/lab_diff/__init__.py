"""`tauto lab diff`: two virtual machines under one load, where they differ, and what the kernel did."""
