"""Two machines under the same load: where their latencies differ, and what the kernel did meanwhile."""
