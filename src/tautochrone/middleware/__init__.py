"""`tauto middleware`: calls to a servant, a high-priority client beside others, memory."""
