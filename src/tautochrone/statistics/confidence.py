"""How sure what is said must be, where nobody asks for another confidence."""

CONFIDENCE = 0.95
"""Of intervals, bounds and verdicts."""
