"""The experiments by name."""

from __future__ import annotations

from goct.bench.experiments.base import Experiment, Plan, Profile
from goct.bench.experiments.datasets import Datasets
from goct.bench.experiments.out_of_sample import OutOfSample
from goct.bench.experiments.streed import VersusStreed

__all__ = ["EXPERIMENTS", "Experiment", "Plan", "Profile"]

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for experiment in (Datasets(), VersusStreed(), OutOfSample())
}
"""All experiments, in the order of the paper, then those beyond it."""
