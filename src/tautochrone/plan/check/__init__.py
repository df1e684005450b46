"""What an engineer asks, as measurements: does this loop hold, and how fast, or how much work, would?"""
