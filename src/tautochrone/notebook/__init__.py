"""The lab in Python, for notebooks and scripts: what ``import tautochrone as tc`` gives."""
