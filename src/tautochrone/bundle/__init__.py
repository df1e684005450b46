"""Runs, plans and their report as one file to hand on."""
