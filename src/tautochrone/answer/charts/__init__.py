"""Charts: pure functions from what was measured to a `grammar.Chart`, which any theme can draw.

`grammar` has rows, channels and layers of marks; `scales` has axes, and the colours, dashes and shapes of
series; `signs` the outlines of keys; `theme` the colours of pages and of paper. The others are families:
distributions (`histogram`, `cumulative`, `responses`, `tail`), courses over time (`course`), row beside row
(`rows`), lanes over time (`lanes`).

What one feature alone draws is in that feature's folder. A new chart is a function beside those of its kind:
it makes scales of the values that they must hold, puts dictionaries into `Rows`, returns a `Chart` with its
layers, its height and its words, and names no colour but a `Tone`."""
