"""A plan's file: from its text to the points that are measured."""
