"""The formulations of the paper, compact and Benders, by name, and the cuts that go with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goct._validation import check_choice, check_flag
from goct.mip.cuts import DEFAULT, BendersCuts, ConflictCuts, PairCuts, Separation
from goct.mip.program import Point, Term
from goct.mip.tree_program import Instances, TreeProgram


class WFlowOCT(TreeProgram):
    """The model (eq. ``flow_reg`` in the paper) of depth-D trees as flows.

    Every instance i sends one unit from the source s through the tree to the
    sink t, if it is classified correctly:

    - ``z_in[n, i]``: instance i enters node n;
    - ``z_out[n, i]``: instance i leaves node n for the sink.

    What enters the root is ``g[i]``. On the unique dataset this is WFlowOCT,
    on one with copies FlowOCT. Given b, p and c, the flows have integral
    optima, so z is continuous unless `integer_flow` is set, as in the paper.
    """

    def _reward(self, is_integer: bool) -> None:
        shape = (len(self.topology.nodes), len(self.instances))
        self.z_in = self.add_variables("z_in", shape, integer=is_integer)
        self.z_out = self.add_variables("z_out", shape, integer=is_integer)
        self.g = self.z_in[0]
        self._conserve_flow()
        self._follow_branches()
        self._leave_where_correct()
        self.objective[self.z_out] = self.instances.weight

    def _conserve_flow(self) -> None:
        """What enters a node leaves it, to a child or to the sink."""
        i = np.arange(len(self.instances))
        for n in self.topology.nodes:
            terms: list[Term] = [(i, self.z_in[n - 1], 1.0), (i, self.z_out[n - 1], -1.0)]
            if n in self.topology.branch_nodes:
                terms += [(i, self.z_in[2 * n - 1], -1.0), (i, self.z_in[2 * n], -1.0)]
            self.add_rows(f"conserve_flow_{n}", len(i), terms, lower=0, upper=0)

    def _follow_branches(self) -> None:
        """An instance goes left only on a feature that is 0, right only on one that is 1."""
        x = self.instances.X[self.instances.row]
        i = np.arange(len(x))
        for value, side in ((0, "left"), (1, "right")):
            instance, feature = np.nonzero(x == value)
            for n in self.topology.branch_nodes:
                child = self.z_in[2 * n + value - 1]
                terms: list[Term] = [(i, child, 1.0), (instance, self.b[n - 1, feature], -1.0)]
                self.add_rows(f"go_{side}_{n}", len(i), terms, upper=0)

    def _leave_where_correct(self) -> None:
        """An instance reaches the sink only from a node that predicts its label."""
        i = np.arange(len(self.instances))
        for n in self.topology.nodes:
            label = self.c[n - 1, self.instances.label]
            terms: list[Term] = [(i, self.z_out[n - 1], 1.0), (i, label, -1.0)]
            self.add_rows(f"leave_{n}", len(i), terms, upper=0)

    def _encode_right(self, x: Point, leaf: int, instances: NDArray[np.intp]) -> None:
        """Send the instances from the root to the leaf and on to the sink."""
        x[self.z_out[leaf - 1, instances]] = 1
        for n in self.path(leaf):
            x[self.z_in[n, instances]] = 1


class BendersOCT(TreeProgram):
    """The master problem (eq. ``bendersOCT_master_2`` in the paper).

    ``g[i]`` is 1 if instance i is classified correctly. That it is not larger
    than the maximum flow of i through the tree is left to
    :class:`goct.mip.cuts.BendersCuts`. On the unique dataset this is
    BendersOCT-weighted, on one with copies BendersOCT. Given b, p and c, the
    best g is integral, so it is continuous unless `integer_flow` is set, as in
    the paper.
    """

    def __init__(
        self,
        instances: Instances,
        depth: int,
        *,
        at_fractional: bool = False,
        separation: Separation = DEFAULT,
        **size: Any,
    ) -> None:
        super().__init__(instances, depth, **size)
        self.separators.append(BendersCuts(self, separation, at_fractional=at_fractional))

    def _reward(self, is_integer: bool) -> None:
        self.g = self.add_variables("g", (len(self.instances),), integer=is_integer)
        self.objective[self.g] = self.instances.weight


CUTS = (
    "fractional_benders", "static_conflicts", "count_conflicts", "weighted_conflicts", "pairs",
    "redundancy", "envelope",
)  # fmt: skip
"""The families of cuts that can be switched on and off."""
IN_THE_MODEL = frozenset({"static_conflicts", "redundancy", "envelope"})
"""Those of them that need not be found on demand."""


@dataclass(frozen=True)
class Formulation:
    """A model and the cuts, of :data:`CUTS`, that it has unless they are switched off."""

    name: str
    is_compact: bool  # written down as a whole: flows instead of Benders cuts
    is_merged: bool  # equal samples are one instance
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
        cuts: frozenset[str],
        separation: Separation,
        **size: Any,
    ) -> TreeProgram:
        """Build the model; `size` is for :class:`goct.mip.tree_program.TreeProgram`."""
        tree: TreeProgram
        if self.is_compact:
            tree = WFlowOCT(instances, depth, **size)
        else:
            at_fractional = "fractional_benders" in cuts
            how: dict[str, Any] = {"at_fractional": at_fractional, "separation": separation}
            tree = BendersOCT(instances, depth, **how, **size)
        if "redundancy" in cuts:
            tree.forbid_redundant_splits()
        if "static_conflicts" in cuts:
            tree.forbid_conflicts()
        if "pairs" in cuts:
            tree.separators.append(PairCuts(tree, separation))
        for name, weighted in (("count_conflicts", False), ("weighted_conflicts", True)):
            if name in cuts:
                tree.separators.append(ConflictCuts(tree, separation, weighted=weighted))
        return tree


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
