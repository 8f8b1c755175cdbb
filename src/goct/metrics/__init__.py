"""Metrics of the confusion matrix: exact values, shapes, combinations."""

from goct.metrics.catalogue import (
    F1,
    MCC,
    Accuracy,
    BalancedAccuracy,
    BoundedDOR,
    ClassCost,
    CohenKappa,
    CostMatrix,
    CustomMetric,
    FalseNegatives,
    FalsePositives,
    FBeta,
    FowlkesMallows,
    GMean,
    InstanceCost,
    Jaccard,
    NegativePredictiveValue,
    Precision,
    PredictedPositives,
    Recall,
    Share,
    SmoothedDOR,
    Specificity,
    TrueNegatives,
    TruePositives,
    YoudenJ,
)
from goct.metrics.confusion import Confusion
from goct.metrics.fractional import Affine, FractionalMetric
from goct.metrics.level_line import LevelLine
from goct.metrics.linear import ClassRewardMetric, IntegerObjective
from goct.metrics.metric import Combination, LinearMetric, Metric, Rewards, Shape
from goct.metrics.polynomial import Polynomial
from goct.metrics.quotient import Quotient, QuotientSum
from goct.metrics.rational import QuotientMetric, RationalMetric
from goct.metrics.registry import ALIASES, METRICS, choose_metric, get_metric, is_total

__all__ = [
    "ALIASES", "F1", "MCC", "METRICS", "Accuracy", "Affine", "BalancedAccuracy", "BoundedDOR",
    "ClassCost", "ClassRewardMetric", "CohenKappa", "Combination", "Confusion", "CostMatrix",
    "CustomMetric", "FBeta", "FalseNegatives", "FalsePositives", "FowlkesMallows",
    "FractionalMetric", "GMean", "InstanceCost", "IntegerObjective", "Jaccard", "LevelLine",
    "LinearMetric", "Metric", "NegativePredictiveValue", "Polynomial", "Precision",
    "PredictedPositives", "Quotient", "QuotientMetric", "QuotientSum", "RationalMetric", "Recall",
    "Rewards", "Shape", "Share", "SmoothedDOR", "Specificity", "TrueNegatives", "TruePositives",
    "YoudenJ", "choose_metric", "get_metric", "is_total",
]  # fmt: skip
