"""Selection among deployments, kernels, systems: which one is best, and which can't be told apart from it."""
