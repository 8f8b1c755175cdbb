"""The experiments by name."""

from __future__ import annotations

from goct.bench.experiments.base import Experiment, Plan, Profile
from goct.bench.experiments.certificates import Certificates
from goct.bench.experiments.datasets import Datasets
from goct.bench.experiments.deep import Deep
from goct.bench.experiments.formulations import Formulations
from goct.bench.experiments.frontier import FrontierExperiment
from goct.bench.experiments.growth import Growth
from goct.bench.experiments.linearization import Linearization
from goct.bench.experiments.out_of_sample import EveryMetric, OutOfSample
from goct.bench.experiments.sparse import Sparse
from goct.bench.experiments.streed import VersusStreed
from goct.bench.experiments.thresholds import ThresholdRace
from goct.bench.experiments.time_to_proof import TimeToProof
from goct.bench.experiments.unseen import Unseen
from goct.bench.experiments.versus_peers import VersusPeers
from goct.bench.experiments.warm_start import WarmStart

__all__ = ["EXPERIMENTS", "Experiment", "Plan", "Profile"]

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Datasets(),
        Formulations(),
        VersusStreed(),
        WarmStart(),
        Linearization(),
        OutOfSample(),
        EveryMetric(),
        TimeToProof(),
        VersusPeers(),
        Growth(),
        FrontierExperiment(),
        Unseen(),
        ThresholdRace(),
        Sparse(),
        Deep(),
        Certificates(),
    )
}
"""All experiments: those of the paper, in its order, then those beyond it."""
