"""Draws the timing diagrams of the documentation: a description (TOML) becomes a picture (SVG)."""
