"""What made the cycles of a run late: `tauto blame`."""
