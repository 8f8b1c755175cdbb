"""FlowOCT and WFlowOCT: the compact flow models of the paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from goct.mip.instances import Instances
from goct.mip.model import Point, Term
from goct.mip.tree_model import TreeModel


class WFlowOCT(TreeModel):
    """The model (eq. ``flow_reg`` in the paper) of depth-D trees as flows.

    Every instance i sends one unit from the source s through the tree to the
    sink t, if it is classified correctly:

    - ``z_in[n, i]``: instance i enters node n;
    - ``z_out[n, i]``: instance i leaves node n for the sink.

    What enters the root is ``g[i]``. On the unique dataset this is WFlowOCT,
    on one with copies FlowOCT. Given b, p and c, the flows have integral
    optima, so z is continuous unless `integer_flow` is set, as in the paper.

    Parameters
    ----------
    instances, depth, split_cost, max_splits
        As for :class:`goct.mip.tree_model.TreeModel`.
    integer_flow
        Whether z is binary.
    """

    def __init__(
        self,
        instances: Instances,
        depth: int,
        *,
        split_cost: float = 0.0,
        max_splits: int | None = None,
        integer_flow: bool = False,
    ) -> None:
        super().__init__(instances, depth, split_cost=split_cost, max_splits=max_splits)
        shape = (len(self.topology.nodes), len(instances))
        self.z_in = self.model.add_variables("z_in", shape, integer=integer_flow)
        self.z_out = self.model.add_variables("z_out", shape, integer=integer_flow)
        self.g = self.z_in[0]
        self._conserve_flow()
        self._follow_branches()
        self._leave_where_correct()
        self.model.objective[self.z_out] = instances.weight

    def _conserve_flow(self) -> None:
        """What enters a node leaves it, to a child or to the sink."""
        i = np.arange(len(self.instances))
        for n in self.topology.nodes:
            terms: list[Term] = [(i, self.z_in[n - 1], 1.0), (i, self.z_out[n - 1], -1.0)]
            if n in self.topology.branch_nodes:
                terms += [(i, self.z_in[2 * n - 1], -1.0), (i, self.z_in[2 * n], -1.0)]
            self.model.add_rows(f"conserve_flow_{n}", len(i), terms, lower=0, upper=0)

    def _follow_branches(self) -> None:
        """An instance goes left only on a feature that is 0, right only on one that is 1."""
        x = self.instances.X[self.instances.row]
        i = np.arange(len(x))
        for value, side in ((0, "left"), (1, "right")):
            instance, feature = np.nonzero(x == value)
            for n in self.topology.branch_nodes:
                child = self.z_in[2 * n + value - 1]
                terms: list[Term] = [(i, child, 1.0), (instance, self.b[n - 1, feature], -1.0)]
                self.model.add_rows(f"go_{side}_{n}", len(i), terms, upper=0)

    def _leave_where_correct(self) -> None:
        """An instance reaches the sink only from a node that predicts its label."""
        i = np.arange(len(self.instances))
        for n in self.topology.nodes:
            label = self.c[n - 1, self.instances.label]
            terms: list[Term] = [(i, self.z_out[n - 1], 1.0), (i, label, -1.0)]
            self.model.add_rows(f"leave_{n}", len(i), terms, upper=0)

    def _encode_right(self, x: Point, leaf: int, instances: NDArray[np.intp]) -> None:
        """Send the instances from the root to the leaf and on to the sink."""
        x[self.z_out[leaf - 1, instances]] = 1
        for n in self.path(leaf):
            x[self.z_in[n, instances]] = 1
