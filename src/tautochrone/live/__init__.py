"""The live view of what is being measured: terminal, page and metrics. Read-only, with memory that does not grow."""
