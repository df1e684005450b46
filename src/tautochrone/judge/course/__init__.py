"""What stands out in the course of a run, in words."""
