"""`tauto analyse`: a task set's response times by mathematics, on a page and in a schedule."""
