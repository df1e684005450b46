"""Carrying out a plan: which cells are left, in which order, and what came of each."""
