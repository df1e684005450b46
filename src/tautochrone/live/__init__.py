"""The live view of what is measured: terminal, page, metrics. Read-only, in memory that does not grow."""
