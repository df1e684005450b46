"""`tauto middleware`: what calls to a servant take, whether an urgent client stays undisturbed, memory."""
