"""`tauto doctor`: what of this machine can cost deadlines, and what to do about it."""
