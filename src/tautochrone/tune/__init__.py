"""`tauto tune`: how a machine's CPUs are used, shown, applied and put back."""
