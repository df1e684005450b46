"""The live view of what is measured: terminal, page, metrics. Read-only, in memory that is bounded but for the minutes."""
