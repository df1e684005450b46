"""Grids and searches of the tire: how many masses, in how many threads."""
