"""A short audit: which settings of this machine can cost deadlines, why, and what to do about it.

To add a check: a row in the table of its concern. It rests on facts only, never on files, so that the facts
stored with a run can be audited too. It answers nothing where the question does not arise.
"""

from tautochrone.machine.audit.finding import LEVELS, Finding, Level
from tautochrone.machine.audit.table import CHECKS, audit, audit_facts

__all__ = ["CHECKS", "LEVELS", "Finding", "Level", "audit", "audit_facts"]
