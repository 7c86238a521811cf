"""One nest of loops over the indices of arrays: the elements that it computes, each once and as far out as it may stand."""

from __future__ import annotations

from math import prod

from ...core.tensor import OPERATORS
from ..ir import INT, Unsupported, Var
from .memory import ZERO, Affine, Ref, fitted, source_index, variable, view
from .scalars import BOUND, bound_of, converted, is_atom, is_elementwise, kind_of, literal, template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .code import Code
    from .memory import Index, Shape

    # Source text, and the number of loops that it must stand in.
    Element = tuple[str, int]

AXES = "ijklmnpqrstuvw"
# A nest of more iterations looks at the stop word.
LONG = 10_000_000


class Nest:
    """Loops over `shape`."""

    def __init__(self, code: Code, shape: Shape) -> None:
        if len(shape) > len(AXES):
            raise Unsupported("an array of so many dimensions")
        self.code = code
        self.shape = shape
        self.index: Index = tuple([ZERO if n == 1 else variable(AXES[k]) for k, n in enumerate(shape)])
        self.levels = {AXES[k]: k + 1 for k in range(len(shape))}
        # What stands in so many loops: before the next loop, at the end of an iteration, and behind the next loop.
        self.lines: list[list[str]] = [[] for _ in range(len(shape) + 1)]
        self.stores: list[str] = []
        self.after: list[list[str]] = [[] for _ in range(len(shape) + 1)]
        self.memo: dict[Any, Element] = {}
        self.written: set[str] = set()  # memory that this nest stores to

    # --- elements ---------------------------------------------------------------------------------------------------

    def level(self, place: Affine) -> int:
        return max([self.levels.get(name, 0) for name, _ in place.terms], default=0)

    def element(self, x: Any, index: Index | None = None) -> Element:
        """An element of an operand: at the index of the nest, unless another one is given."""
        if x.__class__ is not Var:
            return literal(x, kind_of(x)), 0
        if not x.shape:
            return self.memo.get((x, ())) or (self.code.atom(x), 0)
        if index is None:
            index = fitted(x.shape, self.index)
        key = (x, index)
        found = self.memo.get(key)
        if found is None:
            # What a group is yet to store is computed.
            stored = x in self.code.refs and x not in self.code.pending
            found = self.load(self.code.refs[x], index) if stored else self.computed(x, index)
            if self.code.shared(x):
                found = self.bound(found, x)
            self.memo[key] = found
        return found

    def load(self, ref: Ref, index: Index) -> Element:
        return ref.element(index), self.level(ref.at(index))

    def bound(self, element: Element, hint: Var | str = "t") -> Element:
        """An element under a name, which may be repeated."""
        text, level = element
        if is_atom(text):
            return element
        name = self.code.new(hint)
        self.lines[level].append(f"{name} = {text}")
        self.levels[name] = level
        return name, level

    def computed(self, x: Var, index: Index) -> Element:
        """An element of a lazy array."""
        stmt: Any = self.code.lazy[x]
        name, attributes, v = stmt.row.name, stmt.attributes, stmt.inputs[0]
        given = v.shape if v.__class__ is Var else ()
        if is_elementwise(stmt.row):
            at = [fitted(v.shape, index) if v.__class__ is Var else () for v in stmt.inputs]
            return self.row(stmt, x, [self.element(v, i) for v, i in zip(stmt.inputs, at)])
        if name == "ramp":
            start, step = [converted(self.element(v)[0], kind_of(v), x.kind) for v in stmt.inputs]
            return f"({start} + {converted(index[0].as_operand(), INT, x.kind)} * {step})", self.level(index[0])
        if name == "take_rows":
            axis, rank = attributes["axis"], len(attributes["indices"].shape)
            place = self.gathered(attributes["indices"], index[axis : axis + rank], given[axis])
            return self.element(v, (*index[:axis], place, *index[axis + rank :]))
        if not given:
            return self.element(v)
        if name == "reshape" and v.size == 1:
            return self.element(v, (ZERO,) * len(given))
        if name == "reshape":
            return self.load(view(self.code.refs[v], name, attributes, x.shape, self.code.place), index)
        return self.element(v, source_index(name, attributes, given, index, self.code.place))

    def row(self, stmt: Any, x: Var, elements: list[Element]) -> Element:
        """An element of an element-wise row."""
        inputs = stmt.inputs
        kinds = [kind_of(v) for v in inputs]
        text, wanted, refused, overflow = template(stmt.row, x.kind, kinds, stmt.attributes)
        if refused == "{1} == 0" and inputs[1].__class__ is int and inputs[1] != 0:
            refused = ""
        if x.kind == INT and not x.shape:
            bound = self.code.bounds[x] = min(BOUND, bound_of(stmt.row, [self.code.bound(v) for v in inputs]))
            if bound < BOUND:
                overflow = ""
                refused = "" if stmt.row is OPERATORS.multiply else refused
        level = max([n for _, n in elements], default=0)
        texts = []
        for k, element in enumerate(elements):
            if refused or text.count(f"{{{k}}}") > 1 or element[1] < level or len(element[0]) > 100:
                element = self.bound(element)
            known = inputs[k].__class__ is not Var
            texts.append(literal(inputs[k], wanted[k]) if known else converted(element[0], kinds[k], wanted[k]))
        if refused:
            self.lines[level] += stop_if(refused.format(*texts))
        found = text.format(*texts), level
        if overflow:
            found = self.bound(found, x)
            self.lines[level] += stop_if(overflow.format(found[0]))
        return found

    def gathered(self, indices: Any, at: Index, size: int) -> Affine:
        """A place along an axis that an array of integers says. Known ones lie within it."""
        name, level = self.bound(self.element(indices, at), "row")
        if indices in self.code.within:
            return Affine(int(name)) if name.isdigit() else variable(name)
        key = (indices, at, size)
        if key not in self.memo:
            place, _ = self.memo[key] = self.bound((f"{name} + {size} if {name} < 0 else {name}", level), "row")
            self.lines[level] += stop_if(f"not 0 <= {place} < {size}")
        return variable(self.memo[key][0])

    # --- what is done with elements ---------------------------------------------------------------------------------

    def store(self, place: str, element: Element, sign: str = "=") -> None:
        """Write an element to memory at the end of the innermost iteration."""
        self.stores.append(f"{place} {sign} {self.settled(element)}")
        self.written.add(place.partition("[")[0])

    def settled(self, element: Element) -> str:
        """An element as text that may follow the stores so far: what it loads from their memory is loaded before them."""
        if any(f"{name}[" in element[0] for name in self.written):
            element = self.bound(element)
        return element[0]

    def emit(self) -> None:
        """Write the nest to the code at hand."""
        out = self.code
        begin = out.depth
        depths = [begin]
        self.lines[-1] += self.stores
        for level, lines in enumerate(self.lines):
            if level and self.shape[level - 1] != 1:
                out.add(f"for {AXES[level - 1]} in range({self.shape[level - 1]}):")
                out.depth += 1
                if out.depth == begin + 1 and prod(self.shape) > LONG and level < len(self.shape):
                    out.add("poll(run)")
            out.add(*lines)
            depths.append(out.depth)
        for level in reversed(range(len(self.shape) + 1)):
            out.depth = depths[level + 1]
            out.add(*self.after[level])


def stop_if(condition: str) -> list[str]:
    """Lines that stop the kernel if a condition holds."""
    return [f"if {condition}:", "    return 1"]
