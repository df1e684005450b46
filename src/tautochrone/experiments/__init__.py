"""What the lab knows about each experiment: its options, what it is called, how long it takes.

One table for whoever makes cells of them. What an option may be, the probe knows best.
"""

from tautochrone.experiments.experiment import Experiment, Options, Prepared, Value, without_dashes
from tautochrone.experiments.table import EXPERIMENTS

__all__ = ["EXPERIMENTS", "Experiment", "Options", "Prepared", "Value", "without_dashes"]
