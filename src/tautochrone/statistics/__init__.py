"""Pure functions over arrays of integers: summaries, quantiles with confidence, shapes for charts."""
