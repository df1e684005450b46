"""The report of a plan: its cells side by side."""
