"""`tauto select`: which deployment, kernel or system is best, and which can't be told apart from it."""
