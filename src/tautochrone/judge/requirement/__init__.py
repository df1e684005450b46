"""Requirements as people write them, and what runs say about them."""
