"""A plan carried out, or what it would cost: `tauto plan` and its report, case beside case."""
