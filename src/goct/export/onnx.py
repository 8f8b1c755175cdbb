"""A tree in the Open Neural Network Exchange format."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from goct.binarize.conditions import Above, After, Condition, IsTrue, Missing, OneOf
from goct.export.leaves import WHITE_SPACE, microseconds, probabilities
from goct.model import Model, as_model
from goct.tree import Leaf

_MISSING_DATE = np.iinfo(np.int64).min
_TYPES = {"number": "DOUBLE", "boolean": "DOUBLE", "date": "INT64", "category": "STRING"}


def export_onnx(model: Any) -> bytes:
    """Write a tree in ONNX, for onnxruntime and others; needs the package ``onnx``.

    There is one input of shape (rows, 1) per column, by its name: numbers and truth
    values as doubles, NaN is missing; dates as integers, microseconds since
    1970-01-01, the least of all is missing; categories as strings, the empty one is
    missing. Conditions are worked out as the tree does, in doubles. The
    outputs are ``label`` and ``probabilities``, in the order of the classes.

    Parameters
    ----------
    model
        A :class:`goct.Model`, or a fitted :class:`goct.OptimalTreeClassifier`.
    """
    try:
        import onnx
    except ImportError:
        raise ImportError(
            "the ONNX export needs the package onnx: pip install 'goct[onnx]'"
        ) from None
    graph = _Graph(onnx, as_model(model))
    made = onnx.helper.make_model(
        graph.build(),
        opset_imports=[onnx.helper.make_opsetid("", 20), onnx.helper.make_opsetid("ai.onnx.ml", 3)],
        ir_version=9,
        producer_name="goct",
        producer_version=graph.model.version,
    )
    onnx.checker.check_model(made)
    return bytes(made.SerializeToString())


class _Graph:
    """The nodes of an ONNX graph: conditions, then a tree over them, then a look-up."""

    def __init__(self, onnx: Any, model: Model) -> None:
        self.onnx = onnx
        self.helper = onnx.helper
        self.model = model
        self.inputs = {name: f"column {name}" for name in model.columns}
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, kind: str, inputs: list[str], **attributes: Any) -> str:
        """Add a node with one output, and return its name."""
        output = f"value {len(self.nodes)}"
        self.nodes.append(self.helper.make_node(kind, inputs, [output], **attributes))
        return output

    def constant(self, values: Any) -> str:
        """Add a constant, and return its name."""
        name = f"constant {len(self.constants)}"
        array = np.asarray(values)
        if array.dtype.kind in "UO":
            texts = [str(text).encode() for text in array.ravel()]
            tensor = self.helper.make_tensor(name, self.onnx.TensorProto.STRING, array.shape, texts)
        else:
            tensor = self.onnx.numpy_helper.from_array(array, name)
        self.constants.append(tensor)
        return name

    def build(self) -> Any:
        """Return the whole graph."""
        types, model = self.onnx.TensorProto, self.model
        if not model.columns:
            raise ValueError("the tree is a single leaf and needs no column; ONNX needs an input")
        answers = [self.add("Cast", [self.condition(c)], to=types.FLOAT) for c in model.conditions]
        features = self.add("Concat", answers, axis=1)
        leaf = self.add("TreeEnsembleRegressor", [features], **self.tree(), domain="ai.onnx.ml")
        place = self.add("Cast", [self.add("Squeeze", [leaf, self.constant([1])])], to=types.INT64)
        leaves = [
            (node.label, shares)
            for node, shares in zip(model.tree.nodes(), probabilities(model), strict=True)
            if isinstance(node, Leaf)
        ]
        classes = model.classes
        labels = [classes[label] for label, _ in leaves]
        is_whole = all(type(label) is int for label in classes)
        label_type = types.INT64 if is_whole else types.STRING
        labels = labels if is_whole else [str(label) for label in labels]
        table = self.constant(np.array(labels, dtype=np.int64 if is_whole else object))
        shares = self.constant(np.array([shares for _, shares in leaves], dtype=np.float64))
        for name, values in (("label", table), ("probabilities", shares)):
            self.nodes.append(self.helper.make_node("Gather", [values, place], [name]))
        info = self.helper.make_tensor_value_info
        return self.helper.make_graph(
            self.nodes,
            "tree",
            [
                info(name, getattr(types, _TYPES.get(column.kind, "DOUBLE")), [None, 1])
                for name, column in model.columns.items()
            ],
            [
                info("label", label_type, [None]),
                info("probabilities", types.DOUBLE, [None, len(classes)]),
            ],
            self.constants,
        )

    def condition(self, condition: Condition) -> str:
        """Add a condition, and return the name of its truth values."""
        name = condition.column
        kind = self.model.columns[name].kind
        match condition:
            case Above(threshold=threshold):
                return self.add("Greater", [name, self.constant(np.float64(threshold))])
            case After(moment=moment):
                return self.add("Greater", [name, self.constant(np.int64(microseconds(moment)))])
            case OneOf(levels=levels):
                return self.one_of(name, levels)
            case IsTrue():
                return self.add("Equal", [name, self.constant(np.float64(1))])
        assert isinstance(condition, Missing)
        if kind == "category":
            return self.one_of(name, ("", *(self.model.missing_words or ())))
        if kind == "date":
            return self.add("Equal", [name, self.constant(np.int64(_MISSING_DATE))])
        return self.add("IsNaN", [name])

    def one_of(self, name: str, levels: tuple[str, ...]) -> str:
        """Add whether a text is one of some; white space counts as it does for the model."""
        words = self.model.missing_words
        around = "" if words is None else f"[{re.escape(WHITE_SPACE)}]*"
        pattern = "|".join("".join(map(_letter, level)) for level in levels)
        return self.add("RegexFullMatch", [name], pattern=f"{around}(?:{pattern}){around}")

    def tree(self) -> dict[str, Any]:
        """Return the attributes of a tree over 0/1 features whose value is the leaf's number."""
        tree = self.model.tree
        child = {parent: place for place, parent in enumerate(tree.parents)}
        nodes = list(tree.nodes())
        leaves = [i for i, node in enumerate(nodes) if isinstance(node, Leaf)]
        split = [not isinstance(node, Leaf) for node in nodes]
        return {
            "n_targets": 1,
            "nodes_treeids": [0] * len(nodes),
            "nodes_nodeids": list(range(len(nodes))),
            "nodes_modes": ["BRANCH_GT" if s else "LEAF" for s in split],
            "nodes_featureids": [0 if isinstance(n, Leaf) else n.feature for n in nodes],
            "nodes_values": [0.5] * len(nodes),
            "nodes_truenodeids": [child[i, True] if s else 0 for i, s in enumerate(split)],
            "nodes_falsenodeids": [child[i, False] if s else 0 for i, s in enumerate(split)],
            "target_ids": [0] * len(leaves),
            "target_treeids": [0] * len(leaves),
            "target_nodeids": leaves,
            "target_weights": [float(i) for i in range(len(leaves))],
        }


def _letter(letter: str) -> str:
    """Write a letter in a regular expression of RE2."""
    return letter if letter.isalnum() or letter == "_" else f"\\x{{{ord(letter):x}}}"
