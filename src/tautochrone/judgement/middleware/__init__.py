"""What runs of middleware say: operations per second, whether an urgent client stays undisturbed, memory."""
