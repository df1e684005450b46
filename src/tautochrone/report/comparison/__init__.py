"""A comparison in words, tables and figures."""
