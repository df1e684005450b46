"""Your own code in the loop: what a run of `step` shows."""
