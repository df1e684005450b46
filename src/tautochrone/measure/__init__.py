"""Carrying out what was asked: cells, plans, campaigns, loads, conditions."""
