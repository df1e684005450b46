"""Writes arch.json anew: series, and the block length that the package arch finds for each.

It is not among the test dependencies, so what it answered is kept beside the tests:

    python3.11 -m venv arch && arch/bin/pip install arch==8.0.0
    arch/bin/python tests/data/record_arch.py > tests/data/arch.json
"""

import json
import sys
from importlib.metadata import version

import numpy as np
from arch.bootstrap import optimal_block_length

recorded = []
generator = np.random.default_rng(1)
for alike, samples in ((0.0, 60), (0.0, 400), (0.3, 400), (0.9, 400), (-0.5, 400), (0.99, 500)):
    series = [0.0]
    for shock in generator.standard_normal(samples):
        series.append(alike * series[-1] + shock)
    whole = [round(1_000 * one) for one in series[1:]]
    found = optimal_block_length(np.array(whole, float))
    recorded.append({"alike": alike, "circular": float(found["circular"].iloc[0]), "series": whole})
json.dump({"arch": version("arch"), "recorded": recorded}, sys.stdout)
sys.stdout.write("\n")
