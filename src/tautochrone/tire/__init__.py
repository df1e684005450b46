"""`tauto tire`: deadlines of the tire, where the time of a step went, its limit, the model of its step."""
