"""The sparsity pattern of a Hessian, from a tape of the function.

An entry (i, j) can differ from zero only where an operation that is not linear brings together something that depends
on input i with something that depends on input j. Which inputs of a row are brought together is read off the row's own
partials: where the partial by a depends on b, so does the second derivative. What each tensor depends on is followed
element by element through rows that are element-wise or only move elements; through every other row each element of
the result is taken to depend on all elements of the inputs, which is never too little. Dependences are worked out
where a curved row asks for them and nowhere else: a sum of a million terms costs nothing until it is squared.

After Walther, Computing sparse Hessians with automatic differentiation (ACM TOMS 34, 2008), on whole tensors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.dispatch import apply, tensor
from ..core.dtypes import INT64
from ..core.tensor import Tensor
from .pairs import FEW, RECENT, TABLE, PairList, PairTable, numbers, same
from .symmetric import SymmetricPattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..core.operation import Operation
    from .pairs import Inputs
    from .pattern_loops import Runner
    from .tape import Tape

    Ids = np.ndarray[Any, np.dtype[np.int64]]

# Columns up to which it is no matter that some say in part what others say.
FEW_COLUMNS = 8


class Mark:
    """Stands for inputs of a row while its partials are asked what they depend on."""

    __slots__ = ("inputs",)
    description = "an input of a partial"

    def __init__(self, inputs: frozenset[int]) -> None:
        self.inputs = inputs

    def as_symbol(self, op: Operation, inputs: tuple[Any, ...], attributes: dict[str, Any] | None) -> Any:
        if op.derivative in ("none", "zero"):
            return Mark(frozenset())
        return joined(inputs)


def joined(values: Iterable[Any]) -> Mark:
    return Mark(frozenset(k for v in values if v.__class__ is Mark for k in v.inputs))


def _give_operators() -> None:
    def either(self: Mark, *others: Any) -> Mark:
        return joined((self, *others))

    def steers(self: Mark, other: Any) -> Mark:
        return Mark(frozenset())

    for name in "add sub mul truediv pow floordiv mod".split():
        setattr(Mark, f"__{name}__", either)
        setattr(Mark, f"__r{name}__", either)
    for name in ("neg", "abs", "pos"):
        setattr(Mark, f"__{name}__", either)
    for name in "lt le gt ge and or rand ror".split():
        setattr(Mark, f"__{name}__", steers)


_give_operators()

CURVATURES: dict[str, frozenset[tuple[int, int]]] = {}


def curvature(op: Operation, attributes: dict[str, Any] | None, count: int) -> frozenset[tuple[int, int]]:
    """The pairs of inputs of an element-wise row by which its second derivative is not zero everywhere."""
    known = CURVATURES.get(op.name)
    if known is not None:
        return known
    marks = [Mark(frozenset((k,))) for k in range(count)]
    y = Mark(frozenset(range(count)))
    pairs: set[tuple[int, int]] = set()
    for k, formula in enumerate(op.partials):
        if not callable(formula):
            continue
        try:
            found = formula(y, *marks, **(attributes or {}))
        except Exception:
            found = y  # a formula that looks at its values: it may depend on all of them
        if found.__class__ is Mark:
            pairs.update((min(k, j), max(k, j)) for j in found.inputs)
    result = frozenset(pairs)
    if attributes is None:
        CURVATURES[op.name] = result
    return result


class Node:
    """A tensor of the tape, and what it depends on once that has been worked out.

    `columns` are integer arrays that broadcast to the shape: element e depends on the inputs numbered by column[e],
    0 for none; `common` are the inputs on which every element depends.
    """

    __slots__ = ("attributes", "columns", "common", "inputs", "known", "op", "shape")

    def __init__(
        self, op: Operation | None, inputs: Sequence[Any], attributes: dict[str, Any] | None, shape: tuple[int, ...]
    ) -> None:
        self.op = op
        self.inputs = inputs
        self.attributes = attributes
        self.shape = shape
        self.known = False
        self.columns: list[Ids] = []
        self.common: Inputs = frozenset()

    def settle(self, columns: list[Ids], common: Inputs) -> None:
        self.columns = columns
        self.common = common
        self.known = True
        self.inputs = ()


def hessian_pattern(tape: Tape, sources: Sequence[Tensor], target: Any, run: Runner) -> SymmetricPattern:
    """The entries that may differ from zero, found with loops that `run` goes through.

    Inputs are numbered through all `sources` in turn, elements in row-major order. The tape must still hold its log.
    Raises AdiffError E0510 where the pattern is too dense to be worth following.
    """
    interactions = Interactions(sources, run)
    interactions.follow(tape.log, target)
    return SymmetricPattern(interactions.total, *interactions.pairs.entries(), run)


class Interactions:
    """What the tensors of a tape depend on, and the pairs of inputs that its rows bring together."""

    def __init__(self, sources: Sequence[Tensor], run: Runner) -> None:
        self.nodes: dict[Any, Node] = {}
        total = 0
        for x in sources:
            node = Node(None, (), None, x.shape)
            size = int(np.prod(x.shape, dtype=np.int64))
            if x.shape == ():
                node.settle([], frozenset((total + 1,)))
            else:
                node.settle([np.arange(total + 1, total + 1 + size, dtype=np.int64).reshape(x.shape)], frozenset())
            self.nodes[x] = node
            total += size
        self.total = total
        self.pairs = PairTable(total) if total <= TABLE else PairList(total, run)

    def follow(self, log: list[Any], target: Any) -> None:
        """Walk the records that lead to the target."""
        needed = {target}
        records = []
        for i in range(len(log) - 4, -1, -4):
            site, a, b, out = log[i : i + 4]
            outs = out if out.__class__ is tuple else (out,)
            if not any(part in needed for part in outs):
                continue
            inputs, attributes = (a, b) if a.__class__ is tuple else ((a,) if b is None else (a, b), None)
            needed.update(x for x in inputs if x.__class__ is Tensor)
            records.append((site.op, inputs, attributes, outs))
        for number, (op, inputs, attributes, outs) in enumerate(reversed(records)):
            nodes = [self.nodes.get(x) if x.__class__ is Tensor else None for x in inputs]
            if not any(nodes):
                continue
            operands = [x if node is None else node for x, node in zip(inputs, nodes)]
            for part in outs:
                self.nodes[part] = Node(op, operands, attributes, part.shape)
            self.interactions(op, operands, attributes)
            # Now and then: what is walked in vain is no more than what was walked before.
            if number & (number - 1) == 0 and self.pairs.full():
                return

    # --- what a node depends on -------------------------------------------------------------------------------------

    def known(self, node: Node) -> Node:
        """The node with its dependence worked out."""
        if not node.known:
            if node.shape == ():
                node.settle([], self.reached(node))
            else:
                stack = [node]
                while stack:
                    item = stack[-1]
                    waiting = [x for x in item.inputs if x.__class__ is Node and not x.known]
                    if item.known:
                        stack.pop()
                    elif waiting and item.shape != ():
                        stack.extend(waiting)
                    else:
                        stack.pop()
                        if item.shape == ():
                            item.settle([], self.reached(item))
                        else:
                            self.work_out(item)
        return node

    def reached(self, node: Node) -> Inputs:
        """The inputs that a scalar depends on: one walk, however long the chain of sums behind it."""
        found: set[int] = set()
        arrays: list[Inputs] = []
        seen = {id(node)}
        stack = [node]
        while stack:
            item = stack.pop()
            if not item.known and item.shape == () and moves_an_element(item):
                self.work_out_element(item)
            if item.known:
                part = everything(item)
                if part.__class__ is frozenset:
                    found |= part
                else:
                    arrays.append(part)
                continue
            for x in item.inputs:
                if x.__class__ is Node and id(x) not in seen:
                    seen.add(id(x))
                    stack.append(x)
        return union([frozenset(found), *arrays])

    def work_out_element(self, node: Node) -> None:
        """A scalar that is one element of a tensor (or of several)."""
        parts = [self.known(x) if x.__class__ is Node else x for x in node.inputs]
        columns, common = moved(node, parts)
        ids = {int(c) for c in columns} - {0}
        node.settle([], union([common, frozenset(ids)]))

    def work_out(self, node: Node) -> None:
        """The dependence of a tensor whose inputs' are known."""
        op = node.op
        assert op is not None
        parts = [x for x in node.inputs if x.__class__ is Node]
        if op.moves:
            node.settle(*moved(node, node.inputs))
        elif op.derivative == "partials" or op.name in ELEMENTWISE:
            node.settle(distinct([c for x in parts for c in x.columns]), union([x.common for x in parts]))
        elif op.derivative == "zero":
            node.settle([], frozenset())
        elif op.name in REDUCTIONS and parts[0].columns and (found := reduced(node, parts[0])) is not None:
            node.settle(found, parts[0].common)
        else:
            node.settle([], union([everything(x) for x in parts]))

    # --- what curved rows bring together ----------------------------------------------------------------------------

    def interactions(self, op: Operation, operands: list[Any], attributes: dict[str, Any] | None) -> None:
        """The pairs of inputs that a row's second derivative joins."""
        kind = op.derivative
        if kind == "partials":
            for j, k in curvature(op, attributes, len(operands)):
                a, b = operands[j], operands[k]
                if a.__class__ is Node and b.__class__ is Node:
                    self.elementwise(self.known(a), self.known(b))
        elif kind == "multilinear":
            followed = [self.known(x) for x in operands if x.__class__ is Node]
            if len(followed) > 1:
                self.product(op, followed)
        elif kind not in ("linear", "zero", "none"):
            ids = union([everything(self.known(x)) for x in operands if x.__class__ is Node])
            self.pairs.cross(ids, ids)

    def product(self, op: Operation, factors: list[Node]) -> None:
        """A product of matrices: rows of one meet columns of the other; every other such row joins all with all."""
        a, b = factors[0], factors[1]
        if op.name == "matmul" and max(len(a.shape), len(b.shape)) <= 2:
            m, k = a.shape if len(a.shape) == 2 else (1, a.shape[0])
            n = b.shape[1] if len(b.shape) == 2 else 1
            self.elementwise(viewed(a, (m, k, 1)), viewed(b, (1, k, n)))
        else:
            self.pairs.cross(everything(a), everything(b))

    def elementwise(self, a: Node, b: Node) -> None:
        """What element e of a depends on, with what element e of b does."""
        for k, p in enumerate(a.columns):
            # A pair is the same in either order.
            for q in b.columns[k:] if a is b else b.columns:
                self.pairs.add(p, q)
            self.beside(p, b.common)
        for q in b.columns:
            self.beside(q, a.common)
        if len(a.common) and len(b.common):
            self.pairs.cross(a.common, b.common)

    def beside(self, column: Ids, common: Inputs) -> None:
        """All of a column with all of the inputs that its elements have in common."""
        if len(common) > FEW:
            self.pairs.cross(different([column.ravel()]), common)
            return
        for i in common:
            self.pairs.add(column, np.array(i))


# Rows that are linear and whose elements depend on the corresponding elements only.
ELEMENTWISE = frozenset("where_select conj real imag complex cast identity".split())
REDUCTIONS = frozenset(("sum", "mean"))
# A reduced axis up to this length is followed element by element.
LONGEST_REDUCED = 64


def moves_an_element(node: Node) -> bool:
    """Whether a node that is not known yet is a row that only moves elements."""
    return node.op is not None and node.op.moves and node.inputs[0].__class__ is Node


def union(parts: Sequence[Inputs]) -> Inputs:
    """The inputs of all parts."""
    if len(parts) == 1:
        return parts[0]
    sets = [part for part in parts if isinstance(part, frozenset)]
    found = frozenset().union(*sets)
    arrays = [part for part in parts if not isinstance(part, frozenset)]
    return different([numbers(found), *arrays]) if arrays else found


def different(parts: Sequence[Ids]) -> Ids:
    """The different numbers, in order: parts are nearly so already, which sorting makes use of."""
    found = np.concatenate(parts)
    found.sort(kind="stable")
    return found[np.concatenate(([True], found[1:] != found[:-1]))] if found.size else found


def everything(node: Node) -> Inputs:
    """All inputs that any element depends on."""
    if not node.columns:
        return node.common
    found = different([c.ravel() for c in node.columns])
    found = found[1:] if found.size and not found[0] else found
    return union([node.common, found if found.size > FEW else frozenset(found.tolist())])


def distinct(columns: list[Ids]) -> list[Ids]:
    """Columns without those that say the same as another, and of many only as many as the longest set of inputs needs."""
    kept: list[Ids] = []
    for c in columns:
        if not any(same(c, k) for k in kept[-RECENT:]):
            kept.append(c)
    return kept if len(kept) <= FEW_COLUMNS else in_order(kept)


def in_order(columns: list[Ids]) -> list[Ids]:
    """Columns of the same sets, each element's inputs in falling order and once: a stencil that is applied again and
    again brings each input by many ways."""
    shape = np.broadcast_shapes(*(c.shape for c in columns))
    sets = np.stack([np.broadcast_to(c, shape) for c in columns])
    sets.sort(axis=0)
    sets[1:][sets[1:] == sets[:-1]] = 0
    sets.sort(axis=0)
    return [c for c in sets[::-1] if c.any()]


def viewed(node: Node, shape: tuple[int, ...]) -> Node:
    """A node of another shape with the same elements."""
    view = Node(None, (), None, shape)
    view.settle([np.broadcast_to(c, node.shape).reshape(shape) for c in node.columns], node.common)
    return view


def moved(node: Node, inputs: Sequence[Any]) -> tuple[list[Ids], Inputs]:
    """The dependence of the result of a row that only moves elements: the row itself, applied to the columns."""
    op = node.op
    assert op is not None
    skip = op.skip
    single = len(inputs) - skip == 1
    if single:
        part = inputs[skip]
        return [apply_to(node, inputs, {skip: c}) for c in part.columns], part.common
    # Of several inputs each brings columns of its own; what all its elements share becomes columns too.
    columns: list[dict[int, Ids]] = []
    for k, x in enumerate(inputs):
        if x.__class__ is not Node:
            continue
        own = [np.broadcast_to(c, x.shape) for c in x.columns]
        own += [np.full(x.shape, i, dtype=np.int64) for i in numbers(x.common)]
        for place, c in enumerate(own):
            if place == len(columns):
                columns.append({})
            columns[place][k] = c
    return distinct([apply_to(node, inputs, each) for each in columns]), frozenset()


def apply_to(node: Node, inputs: Sequence[Any], columns: dict[int, Ids]) -> Ids:
    """A row that moves elements, applied to numbers of inputs; an input without a column brings zeros."""
    op = node.op
    assert op is not None
    operands: list[Any] = []
    for k, x in enumerate(inputs):
        if k in columns:
            operands.append(Tensor(np.broadcast_to(columns[k], x.shape).copy(), INT64))
        elif k < op.skip:
            operands.append(x)
        else:
            shape = x.shape if x.__class__ in (Node, Tensor) else ()
            operands.append(Tensor(np.zeros(shape, dtype=np.int64), INT64) if shape else tensor(0))
    found = apply(op, tuple(operands), node.attributes)
    return np.asarray(found.value if found.__class__ is Tensor else found, dtype=np.int64)


def reduced(node: Node, x: Node) -> list[Ids] | None:
    """The columns of a sum over axes: those of every summand; None where there are too many."""
    attributes = node.attributes or {}
    axis = attributes.get("axis")
    rank = len(x.shape)
    axes = tuple(range(rank)) if axis is None else tuple(a % rank for a in ((axis,) if axis.__class__ is int else axis))
    length = int(np.prod([x.shape[a] for a in axes], dtype=np.int64))
    if length > LONGEST_REDUCED:
        return None
    found: list[Ids] = []
    for c in x.columns:
        together = np.moveaxis(np.broadcast_to(c, x.shape), axes, range(len(axes)))
        together = together.reshape(length, *together.shape[len(axes) :])
        found.extend(np.broadcast_to(part.reshape(node.shape), node.shape) for part in together)
    return distinct(found)


__all__ = ["curvature", "hessian_pattern"]
