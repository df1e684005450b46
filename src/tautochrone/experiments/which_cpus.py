"""The word for a CPU that is chosen when it is known under which deployment a cell is measured."""

FIRST = "first"
WHICH_CPUS = "which_cpus"
"""Condition of a cell whose CPUs are chosen then."""
