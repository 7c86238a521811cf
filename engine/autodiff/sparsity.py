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

from ..core.dispatch import apply
from ..core.dtypes import INT64
from ..core.operands import plain, tensor
from ..core.state import STATE
from ..core.tensor import OPERATORS, Tensor, is_complex
from .curvature import curvature, steps
from .pairs import FEW, RECENT, TABLE, PairList, PairTable, numbers, same
from .row_patterns import CHOOSING, Place, joins, ways_of
from .symmetric import SymmetricPattern

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..core.operation import Operation
    from .pairs import Inputs
    from .pattern_loops import Runner
    from .tape import Tape

    Ids = np.ndarray[Any, np.dtype[np.int64]]

# Columns up to which it is no matter that some say in part what others say.
FEW_COLUMNS = 8


class Node:
    """A tensor of the tape, and what it depends on once that has been worked out.

    `columns` are integer arrays that broadcast to the shape: element e depends on the inputs numbered by column[e],
    0 for none; `common` are the inputs on which every element depends.
    """

    __slots__ = ("attributes", "columns", "common", "inputs", "known", "op", "place", "shape", "tensor")

    def __init__(
        self,
        op: Operation | None,
        inputs: Sequence[Any],
        attributes: dict[str, Any] | None,
        shape: tuple[int, ...],
        place: Sequence[Any] = (),
        tensor: Any = None,
    ) -> None:
        self.op = op
        self.inputs = inputs
        self.attributes = attributes
        self.shape = shape
        self.place = place  # the inputs themselves, and `tensor` the result
        self.tensor = tensor
        self.known = False
        self.columns: list[Ids] = []
        self.common: Inputs = frozenset()

    def settle(self, columns: list[Ids], common: Inputs) -> None:
        self.columns = columns
        self.common = common
        self.known = True
        self.inputs = self.place = ()
        self.tensor = None


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
                self.nodes[part] = Node(op, operands, attributes, part.shape, inputs, part)
            self.interactions(op, operands, attributes, inputs, outs[0])
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
            if not item.known and item.shape == () and takes_an_element(item):
                self.work_out_element(item)
            elif not item.known and item.shape != () and leaves_out(item.op):
                self.known(item)
            if item.known:
                part = everything(item)
                if part.__class__ is frozenset:
                    found |= part
                else:
                    arrays.append(part)
                continue
            for x in taking_part(item):
                if x.__class__ is Node and id(x) not in seen:
                    seen.add(id(x))
                    stack.append(x)
        return union([frozenset(found), *arrays])

    def work_out_element(self, node: Node) -> None:
        """A scalar that is one element of a tensor (or of several)."""
        assert node.op is not None
        parts = [self.known(x) if x.__class__ is Node else x for x in node.inputs]
        columns, common = moved(node, parts) if node.op.moves else composed(node, parts)
        ids = {int(c.reshape(())) for c in columns} - {0}
        node.settle([], union([common, frozenset(ids)]))

    def work_out(self, node: Node) -> None:
        """The dependence of a tensor whose inputs' are known."""
        op = node.op
        assert op is not None
        parts = [x for x in node.inputs if x.__class__ is Node]
        if op.moves:
            node.settle(*moved(node, node.inputs))
        elif op is OPERATORS.where_select or steps(op):
            node.settle(*chosen(node, node.inputs))
        elif op.derivative == "partials" or op.name in ELEMENTWISE:
            node.settle(distinct([c for x in parts for c in x.columns]), union([x.common for x in parts]))
        elif op.derivative == "zero":
            node.settle([], frozenset())
        else:
            node.settle(*composed(node, node.inputs))

    # --- what curved rows bring together ----------------------------------------------------------------------------

    def interactions(
        self,
        op: Operation,
        operands: list[Any],
        attributes: dict[str, Any] | None,
        inputs: Sequence[Any],
        result: Tensor,
    ) -> None:
        """The pairs of inputs that a row's second derivative joins."""
        kind = op.derivative
        if kind == "partials":
            if op.linear_above_zero:
                operands = [where(np.asarray(plain(inputs[0])) <= 0, self.known(operands[0]))]
            for j, k in curvature(op, attributes, len(operands), any(map(is_complex, inputs))):
                a, b = operands[j], operands[k]
                if a.__class__ is Node and b.__class__ is Node:
                    self.elementwise(self.known(a), self.known(b))
        elif kind == "multilinear":
            if all(x.__class__ is Node for x in operands):
                self.product(Place(op, inputs, attributes or {}, result.shape), [self.known(x) for x in operands])
        elif kind not in ("linear", "zero", "none") and op.name not in CHOOSING:
            self.joined(Place(op, inputs, attributes or {}, result.shape), operands, result)

    def product(self, place: Place, factors: list[Node]) -> None:
        """A product of tensors: the factors of each of its terms meet."""
        a, b = factors
        if not a.columns and not b.columns:
            self.pairs.cross(a.common, b.common)
            return
        ways = ways_of(place, None)
        if ways is None:
            self.pairs.cross(everything(a), everything(b))
            return
        self.elementwise(gone(a, ways[0]), gone(b, ways[1]))

    def joined(self, place: Place, operands: list[Any], result: Tensor) -> None:
        """A row that is curved in elements of its inputs together."""
        nodes = {k: self.known(x) for k, x in enumerate(operands) if x.__class__ is Node}
        ways = ways_of(place, result) if any(x.columns for x in nodes.values()) else None
        if ways is None:
            ids = union([everything(x) for x in nodes.values()])
            self.pairs.cross(ids, ids)
            return
        for k, x in nodes.items():
            for other, z in nodes.items():
                if other >= k:
                    self.pairs_of_ways(
                        joins(place, k, other, ways[k], ways[other]), gone(x, ways[k]), gone(z, ways[other])
                    )

    def pairs_of_ways(self, table: Any, a: Node, b: Node) -> None:
        """What each way of a brings, with what those ways of b bring that a table joins it with."""
        if table is None and all(c[:1].size == 1 for c in (*a.columns, *b.columns)):
            self.pairs.cross(everything(a), everything(b))
            return
        for way in range(a.shape[0]):
            chosen: Any = slice(None) if table is None else np.flatnonzero(table[way])
            others = part_of(b, chosen)
            if others.shape[0]:
                self.elementwise(part_of(a, slice(way, way + 1)), others)

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
ELEMENTWISE = frozenset("conj real imag complex cast identity".split())
# Numbers of inputs that are brought together for one row at the most; of more, every element is taken to depend on all.
MOST_NUMBERS = 1 << 24


def takes_an_element(node: Node) -> bool:
    """Whether a node that is not known yet is a row that only moves elements, or chooses some of them."""
    op = node.op
    return op is not None and (op.moves or op.name in CHOOSING) and node.inputs[0].__class__ is Node


def leaves_out(op: Operation | None) -> bool:
    """Whether the result of a row may depend on some elements of its inputs only."""
    return op is not None and (op.moves or op.name in CHOOSING or op is OPERATORS.where_select or bool(steps(op)))


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


def masks(node: Node) -> dict[int, Any]:
    """Of inputs that some elements of an element-wise row do not depend on at this point: which elements do."""
    op = node.op
    assert op is not None
    values = [bare(x) for x in node.place]
    if op is OPERATORS.where_select:
        taken = np.asarray(plain(values[0]), dtype=np.bool_)
        return {1: taken, 2: ~taken}
    y = bare(node.tensor)
    bare_values = [plain(x) for x in values]
    found: dict[int, Any] = {}
    for k in steps(op):
        p = plain(op.partials[k](y, *values, **(node.attributes or {})))
        for spot in op.singular:
            choice = spot.choice(STATE.kinks)
            if spot.input == k and choice is not None:
                choice = plain(choice(*bare_values)) if callable(choice) else choice
                p = np.where(spot.where(*bare_values), choice, p)
        found[k] = np.asarray(p) != 0
    return found


def bare(x: Any) -> Any:
    """A value that no tape watches."""
    return Tensor(x.value, x.dtype) if x.__class__ is Tensor else x


def where(mask: Any, x: Node) -> Node:
    """Some elements of a node, and nothing in the place of the others."""
    each = [*x.columns, *(np.array(i) for i in numbers(x.common))]
    found = Node(None, (), None, x.shape)
    found.settle([np.where(mask, c, 0) for c in each], frozenset())
    return found


def taking_part(node: Node) -> Sequence[Any]:
    """The inputs of a scalar that it depends on at this point."""
    op = node.op
    if op is None or node.shape != () or (op is not OPERATORS.where_select and not steps(op)):
        return node.inputs
    met = masks(node)
    return [x for k, x in enumerate(node.inputs) if k not in met or met[k]]


def chosen(node: Node, inputs: Sequence[Any]) -> tuple[list[Ids], Inputs]:
    """The dependence of the result of an element-wise row that at this point leaves inputs aside for some elements."""
    met = masks(node)
    columns: list[Ids] = []
    common: list[Inputs] = [frozenset()]
    for k, x in enumerate(inputs):
        if x.__class__ is not Node:
            continue
        if k not in met:
            columns += x.columns
            common.append(x.common)
        else:
            columns += where(met[k], x).columns
    return distinct(columns), union(common)


def gone(x: Node, ways: Ids) -> Node:
    """What the ways to an input bring: a node of their shape, a way after the other."""
    found = Node(None, (), None, ways.shape)
    columns = [np.concatenate(([0], np.broadcast_to(c, x.shape).ravel()))[ways] for c in x.columns]
    found.settle(columns, x.common)
    return found


def part_of(x: Node, ways: Any) -> Node:
    """Some of the ways."""
    columns = [c[ways] for c in x.columns]
    found = Node(None, (), None, columns[0].shape if columns else (1,))
    found.settle(columns, x.common)
    return found


def composed(node: Node, inputs: Sequence[Any]) -> tuple[list[Ids], Inputs]:
    """The dependence of the result of a row, from the ways to its inputs."""
    assert node.op is not None
    nodes = {k: x for k, x in enumerate(inputs) if x.__class__ is Node}
    ways = None
    if any(x.columns for x in nodes.values()):
        ways = ways_of(Place(node.op, node.place, node.attributes or {}, node.shape), node.tensor)
    if ways is None or sum(ways[k].size * len(x.columns) for k, x in nodes.items()) > MOST_NUMBERS:
        return [], union([everything(x) for x in nodes.values()])
    columns: list[Ids] = []
    common = [x.common for x in nodes.values()]
    for k, x in nodes.items():
        for c in gone(x, ways[k]).columns:
            if c[:1].size == 1:
                common.append(frozenset(set(c.ravel().tolist()) - {0}))
            else:
                columns.extend(c)
    return distinct(columns), union(common)


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
            operands.append(Tensor(np.asarray(np.broadcast_to(columns[k], x.shape), order="C"), INT64))
        elif k < op.skip:
            operands.append(x)
        else:
            shape = x.shape if x.__class__ in (Node, Tensor) else ()
            operands.append(Tensor(np.zeros(shape, dtype=np.int64), INT64) if shape else tensor(0))
    found = apply(op, tuple(operands), node.attributes)
    return np.asarray(found.value if found.__class__ is Tensor else found, dtype=np.int64)


__all__ = ["hessian_pattern"]
