"""The lab in Python, for notebooks and scripts: what ``import tautochrone as tc`` gives.

Whatever is not there, or can't be read, raises a `TautoError` that says what to do.
"""
