"""The machines of a fleet: named in a file, measured on side by side, each by one at a time."""
