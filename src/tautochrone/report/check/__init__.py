"""The answer of a check: in the terminal, as JSON, as a page, and for programs that build and test."""
