"""`tauto check`: does this loop hold, and how fast, or how much work, would?"""
