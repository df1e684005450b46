"""What was judged, in sentences: one file for each kind of judgement."""
