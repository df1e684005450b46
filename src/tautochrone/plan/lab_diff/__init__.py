"""Two virtual machines under the same load, and the guest's own trace of what held the worst release up."""
