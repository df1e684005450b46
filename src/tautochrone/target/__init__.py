"""Where a probe runs."""
