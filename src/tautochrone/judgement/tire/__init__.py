"""What a tire says: deadlines, where the time of a step went, the limit, the model of the step."""
