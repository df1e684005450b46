"""`tauto lab`: its kernels, and the matrix of kernels times loads."""
