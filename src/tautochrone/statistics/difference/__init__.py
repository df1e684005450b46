"""Whether two measurements differ, by how much, and how sure that is."""
