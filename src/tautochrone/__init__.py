"""Tautochrone: does this machine keep a control loop's deadlines, and how sure is that?"""

__version__ = "0.1.0"
