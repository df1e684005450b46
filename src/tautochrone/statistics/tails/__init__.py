"""Extreme values: how likely a sample is that is larger than most, or than all, that were measured."""
