"""Deployments: how a machine's CPUs are used, applied and put back."""
