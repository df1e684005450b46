"""How rare a late cycle is, in the terminal and on the page of a run."""
