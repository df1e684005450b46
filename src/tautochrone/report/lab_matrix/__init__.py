"""The report of a kernel matrix: kernels, as they preempt, times loads."""
