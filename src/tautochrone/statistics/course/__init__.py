"""What changes in the course of a run: levels, periods, large samples that stand apart, sources together."""
