"""Background loads: how people write them, which there are, running them, and whether they loaded."""
