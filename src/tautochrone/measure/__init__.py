"""Carrying out what was asked: cases, plans, plan runs, loads, conditions."""
