"""A short audit: which settings of this machine can cost deadlines, why, and what to do about it.

To add a check: write a function ``Facts -> Finding | None`` in the file of its concern and put it into
the table in `audit/table.py`. It reads facts only, never files, so that the facts stored with a run can be
audited too. It answers None where the question does not arise.
"""

from tautochrone.machine.audit.finding import LEVELS, Finding, Level
from tautochrone.machine.audit.table import CHECKS, audit, audit_facts

__all__ = ["CHECKS", "LEVELS", "Finding", "Level", "audit", "audit_facts"]
