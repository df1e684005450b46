"""Late cycles and their causes, as answers show them."""
