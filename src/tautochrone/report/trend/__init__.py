"""A trend in the terminal, as JSON, and as a page."""
