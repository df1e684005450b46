"""Several stores as one: `tauto store merge` and `tauto store sync`."""
