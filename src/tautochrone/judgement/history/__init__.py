"""What the runs of a store say over time: one number of each, in lines of comparable runs."""
