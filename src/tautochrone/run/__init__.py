"""A run: its folder, its manifest, how it is written, sealed, recovered, listed and exported."""
