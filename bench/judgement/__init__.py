"""Verdicts on data whose truth is known."""
