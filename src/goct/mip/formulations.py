"""The formulations of the paper by name, and the cuts that go with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from goct._validation import check_choice, check_flag
from goct.mip.benders import BendersOCT
from goct.mip.conflicts import ConflictCuts, PairCuts
from goct.mip.instances import Instances
from goct.mip.tree_model import TreeModel
from goct.mip.wflow import WFlowOCT

CUTS = (
    "fractional_benders",
    "static_conflicts",
    "count_conflicts",
    "weighted_conflicts",
    "pairs",
    "redundancy",
    "envelope",
)
"""The families of cuts that can be switched on and off."""
IN_THE_MODEL = frozenset({"static_conflicts", "redundancy", "envelope"})
"""Those of them that need not be found on demand."""


@dataclass(frozen=True)
class Formulation:
    """A model and the cuts that it has unless they are switched off.

    Attributes
    ----------
    name
        Its name.
    is_compact
        Whether it is written down as a whole: flows instead of Benders cuts.
    is_merged
        Whether equal samples are one instance.
    cuts
        The families of cuts, of :data:`CUTS`.
    """

    name: str
    is_compact: bool
    is_merged: bool
    cuts: frozenset[str] = frozenset()

    def choose_cuts(self, switches: Mapping[str, bool] | None) -> frozenset[str]:
        """Return the families of cuts after switching some on or off."""
        if switches is not None and not isinstance(switches, Mapping):
            raise TypeError(f"cuts must map names of cuts to True or False, got {switches!r}")
        chosen = set(self.cuts)
        for name, is_on in (switches or {}).items():
            check_choice(name, "family of cuts", CUTS)
            (chosen.add if check_flag(is_on, f"cuts[{name!r}]") else chosen.discard)(name)
        if self.is_compact and "fractional_benders" in chosen:
            raise ValueError(
                f"the formulation {self.name!r} has flows, so there are no Benders cuts to "
                "separate at fractional points"
            )
        return frozenset(chosen)

    def build(
        self,
        instances: Instances,
        depth: int,
        *,
        split_cost: float,
        max_splits: int | None,
        integer_flow: bool,
        cuts: frozenset[str],
        separation: Separation,
    ) -> TreeModel:
        """Build the model."""
        tree: TreeModel
        if self.is_compact:
            tree = WFlowOCT(
                instances,
                depth,
                split_cost=split_cost,
                max_splits=max_splits,
                integer_flow=integer_flow,
            )
        else:
            tree = BendersOCT(
                instances,
                depth,
                split_cost=split_cost,
                max_splits=max_splits,
                integer_flow=integer_flow,
                at_fractional="fractional_benders" in cuts,
                min_violation=separation.min_violation,
                max_cuts=separation.max_cuts,
            )
        if "redundancy" in cuts:
            tree.forbid_redundant_splits()
        if "static_conflicts" in cuts:
            tree.forbid_conflicts()
        if "pairs" in cuts:
            tree.model.separators.append(
                PairCuts(
                    tree,
                    neighbours=separation.neighbours,
                    min_violation=separation.min_violation,
                    max_cuts=separation.max_cuts,
                )
            )
        for name, weighted in (("count_conflicts", False), ("weighted_conflicts", True)):
            if name in cuts:
                tree.model.separators.append(
                    ConflictCuts(
                        tree,
                        weighted=weighted,
                        min_violation=separation.min_violation,
                        max_cuts=separation.max_cuts,
                    )
                )
        return tree


@dataclass(frozen=True)
class Separation:
    """How cuts are looked for.

    Attributes
    ----------
    min_violation
        The least violation of a cut at a fractional point.
    max_cuts
        The largest number of cuts of each family in a round.
    neighbours
        How many neighbours of another label each instance is paired with.
    """

    min_violation: float = 0.01
    max_cuts: int = 200
    neighbours: int = 8


FORMULATIONS = {
    formulation.name: formulation
    for formulation in (
        Formulation("flow", is_compact=True, is_merged=False),
        Formulation("wflow", is_compact=True, is_merged=True),
        Formulation("benders", is_compact=False, is_merged=False),
        Formulation("benders-weighted", is_compact=False, is_merged=True),
        Formulation(
            "benders-weighted-cut",
            is_compact=False,
            is_merged=True,
            cuts=frozenset({"static_conflicts", "count_conflicts"}),
        ),
        Formulation(
            "benders-pair-cut",
            is_compact=False,
            is_merged=True,
            cuts=frozenset(
                {"fractional_benders", "static_conflicts", "pairs", "redundancy", "envelope"}
            ),
        ),
    )
}
