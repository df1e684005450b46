"""Do the conclusions of a study hold here? One file for each kind of test."""
