"""Two virtual machines beside each other: in the terminal, as JSON, and as a page."""
