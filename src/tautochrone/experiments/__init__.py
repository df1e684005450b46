"""What the lab knows about each experiment: its options, measures, titles, and how long it takes.

What an option may be, the probe knows best: it refuses what it can't do, before it measures.
"""

from tautochrone.base.options import Options, Value
from tautochrone.experiments.experiment import Experiment, Pace, Prepared
from tautochrone.experiments.option import Given, Option
from tautochrone.experiments.registry import EXPERIMENTS

__all__ = ["EXPERIMENTS", "Experiment", "Given", "Option", "Options", "Pace", "Prepared", "Value"]
