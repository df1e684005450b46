"""`tauto run`: the first answer, and everything the probe can measure in one go."""
