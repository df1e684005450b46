"""`tauto trend`: what the runs of a store say over time, in lines of comparable runs."""
