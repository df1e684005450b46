"""Whether a set of periodic tasks meets its deadlines, by mathematics alone: nothing here runs anything.

``taskset`` is the model and ``read`` reads it; ``response_time`` gives worst response times under fixed
priorities, ``demand`` those under EDF and its processor demand test, ``timeline`` the exact schedule;
``search`` finds what would make a set schedulable, and ``analysis`` is all of it.
"""
