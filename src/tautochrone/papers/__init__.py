"""Papers measured anew: every table and figure beside ours, and whether the claims hold here.

Whatever reads samples here raises DamagedError where these can't be read. Whatever reads what a study's file
says raises ValueError where that can't be: a fault of the file, and so of this program.
"""
