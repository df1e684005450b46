"""A study as it came out here: its tables, figures and claims, theirs beside ours."""
