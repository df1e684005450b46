"""What every part of the lab stands on: errors, units, quantities, words, strict readers, the stream."""
