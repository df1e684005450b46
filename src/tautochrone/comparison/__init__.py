"""`tauto compare`: runs against runs, in words, tables and figures."""
