"""Whether a set of periodic tasks meets its deadlines, by mathematics alone: nothing here runs anything.

``taskset`` is the model and ``read`` reads it; ``response_time`` and ``edf_response`` give worst response
times, ``demand`` the processor demand test of EDF, ``timeline`` the exact schedule, ``analysis`` all of it.
"""
