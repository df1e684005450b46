"""What people look at: the blocks of an answer, charts, the HTML page, terminal tables."""
