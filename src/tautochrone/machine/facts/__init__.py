"""Under which conditions a run was measured: everything a later reader needs to know.

What can't be known is None, never a guess. The host's name, serial numbers and addresses are not
gathered: a run may be shown to anybody. (`gather(hostname=True)` stores the name on request.)
"""

from tautochrone.machine.facts.collect import Facts, FactTable, gather, observe

__all__ = ["FactTable", "Facts", "gather", "observe"]
