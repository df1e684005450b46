"""What a search for the largest tire came to: on a page, in the terminal, as JSON."""
