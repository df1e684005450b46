"""A selection in words, tables and figures."""
