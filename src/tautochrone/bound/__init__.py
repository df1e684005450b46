"""What a run shows of the bound on the scheduling latency: `tauto bound`."""
