"""How rare a late cycle is: what the tail of a run's samples says, and where it says nothing."""
