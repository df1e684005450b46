"""The settings of a machine that a deployment may change: one small class per knob."""
