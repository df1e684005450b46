"""Charts: pure functions from what was measured to a `grammar.Chart`, which any theme can draw.

`grammar` has rows, channels and layers of marks; `scales` has axes, and the colours, dashes and shapes of
series; `signs` the outlines of keys; `theme` the colours of pages and of paper. The others are families:
distributions (`histogram`, `cumulative`, `tail`), courses over time (`course`, `trend`), row beside row
(`rows`, `bars`), lanes over time (`lanes`), tiles in shades (`tiles`), lines over x (`lines`).

A new chart is a function in its family: it makes scales of the values that they must hold, puts dictionaries
into `Rows`, returns a `Chart` with its layers, its height and its words, and names no colour but a `Tone`."""
