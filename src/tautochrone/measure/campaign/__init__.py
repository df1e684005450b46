"""Carrying out a plan: which cases are left, in which order, and what came of each."""
