"""The five studies: each a plan, what was published, and both side by side."""
