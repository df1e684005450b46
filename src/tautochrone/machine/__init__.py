"""The machine a run is measured on: facts about it, and an audit of what can cost deadlines."""
