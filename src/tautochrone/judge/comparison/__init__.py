"""Runs against runs: what changed in the conditions, what in the numbers, and which gate that breaks."""
