"""A loop of 100 Hz that `tauto watch` measures.

tauto watch --header python > tautochrone_loop.py
tauto watch --rate 100Hz -- python3 controller.py
"""

import sys
import time
from itertools import count

from tautochrone_loop import TautoLoop

PERIOD_NS = 10_000_000

cycles = range(int(sys.argv[1])) if len(sys.argv) > 1 else count()
loop = TautoLoop("control")
position = integral = 0.0
release_ns = time.monotonic_ns()
for k in cycles:
    release_ns += PERIOD_NS
    time.sleep(max(0, release_ns - time.monotonic_ns()) / 1e9)
    loop.begin(k, release_ns)
    integral += 0.01 * (1.0 - position)
    position += 0.01 * (2.0 * (1.0 - position) + 5.0 * integral)
    loop.end(k)
print(f"position {position:.3f}")
