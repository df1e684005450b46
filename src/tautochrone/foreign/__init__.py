"""Runs of other tools: what their files hold, as runs in the store."""
