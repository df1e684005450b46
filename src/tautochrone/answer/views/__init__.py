"""What the page's template shows, as plain rows of words: one file per section, no HTML."""
