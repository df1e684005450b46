"""A machine that SSH reaches, as a target."""
