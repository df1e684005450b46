"""From what is wanted to runs: cells, and how one is carried out."""
