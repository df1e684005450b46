"""Runs of middleware, for people: the same tables and figures for single runs and for campaigns."""
