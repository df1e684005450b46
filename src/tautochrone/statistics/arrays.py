"""What arrays of numbers are called."""

from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float64]
