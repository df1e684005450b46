"""The renderers of an answer's document: one for each medium."""
