# ruff: noqa: RUF023  # the order of `__slots__` is the order of the fields
"""The intermediate representation: scalar statements, loops and flat arrays.

Arrays have a static shape and row-major flat storage; every array operation has already become loops over scalars,
so fusion is a matter of how those loops were written, and differentiation sees scalars only. A scalar variable is
assigned in one place; what changes from iteration to iteration is carried by its loop explicitly.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..core.state import Site

FLOAT, INT, BOOL = "f", "i", "b"


class Unsupported(Exception):
    """The program leaves what the kernel tier covers; the message says how, for `-v`."""


class Var:
    """A scalar variable."""

    __slots__ = ("kind", "name")
    counter = 0

    def __init__(self, kind: str, hint: str = "v") -> None:
        Var.counter += 1
        self.kind = kind
        self.name = f"{hint}{Var.counter}"

    def __repr__(self) -> str:
        return self.name


class Array:
    """A flat array of a static shape. `role` is "input", "local" or "output"."""

    __slots__ = ("kind", "name", "role", "shape")

    def __init__(self, kind: str, shape: tuple[int, ...], hint: str = "a", role: str = "local") -> None:
        Var.counter += 1
        self.kind = kind
        self.shape = shape
        self.role = role
        self.name = f"{hint}{Var.counter}"

    @property
    def size(self) -> int:
        total = 1
        for n in self.shape:
            total *= n
        return total

    def __repr__(self) -> str:
        return f"{self.name}{list(self.shape)}"


class Stack:
    """Values of a loop-carried variable at the head of each iteration, indexed by iteration."""

    __slots__ = ("kind", "name")

    def __init__(self, kind: str, hint: str = "h") -> None:
        Var.counter += 1
        self.kind = kind
        self.name = f"{hint}{Var.counter}"

    def __repr__(self) -> str:
        return self.name


class Stmt:
    __slots__: tuple[str, ...] = ()

    def __init__(self, *fields: Any) -> None:
        for name, value in zip(self.__slots__, fields, strict=True):
            setattr(self, name, value)


class Set(Stmt):
    """`var = op(args)`; an argument is a Var or a Python number. `site` is the place in the program."""

    __slots__ = ("var", "op", "args", "site")
    var: Var
    op: str
    args: tuple[Any, ...]
    site: Site | None


class Load(Stmt):
    """`var = array[index]`, the index flat and within bounds."""

    __slots__ = ("var", "array", "index")
    var: Var
    array: Array
    index: Any


class Check(Stmt):
    """Fail with the index error of `site` unless `-size <= index < size`."""

    __slots__ = ("index", "size", "axis", "site")
    index: Any
    size: int
    axis: int
    site: Site | None


class Alloc(Stmt):
    """A local array; zero-filled if `zero`."""

    __slots__ = ("array", "zero")
    array: Array
    zero: bool


class Store(Stmt):
    __slots__ = ("array", "index", "value")
    array: Array
    index: Any
    value: Any


class AddTo(Stmt):
    """`array[index] += value`."""

    __slots__ = ("array", "index", "value")
    array: Array
    index: Any
    value: Any


class Accumulate(Stmt):
    """`var += value`: the one way in which a scalar is assigned in several places (cotangents)."""

    __slots__ = ("var", "value")
    var: Var
    value: Any


class Loop(Stmt):
    """A counted loop (`start`, `stop`, `step`) or a conditional one (`test` block giving `condition`).

    `carried` lists (phi, initial, next): phi holds the value at the head of an iteration and, after the loop, the
    last one. `stop_when` is a bool variable of the body that ends the loop after the iteration that sets it, or None.
    `stacks` gives the Stack that keeps the heads of a phi. `trips` counts the iterations. `own` says that the loop is
    the program's, not one that an array operation became.
    """

    __slots__ = (
        "index",
        "start",
        "stop",
        "step",
        "test",
        "condition",
        "carried",
        "body",
        "stop_when",
        "stacks",
        "trips",
        "own",
    )
    index: Var | None
    start: Any
    stop: Any
    step: Any
    test: list[Stmt] | None
    condition: Any
    carried: list[tuple[Var, Any, Any]]
    body: list[Stmt]
    stop_when: Any
    stacks: dict[Var, Stack]
    trips: Var
    own: bool

    def replace(self, **changes: Any) -> Loop:
        """A copy with some fields changed."""
        return Loop(*(changes.get(name, getattr(self, name)) for name in self.__slots__))


class ReverseLoop(Stmt):
    """The iterations `trips - 1 ... 0` again: `position` is the number of the iteration.

    `restore` lists (phi, stack): the heads to be loaded. `index` is rebuilt from `start` and `step`.
    """

    __slots__ = ("trips", "position", "index", "start", "step", "restore", "body")
    trips: Var
    position: Var
    index: Var | None
    start: Any
    step: Any
    restore: list[tuple[Var, Stack]]
    body: list[Stmt]


class If(Stmt):
    """`merges` lists (var, value if true, value if false)."""

    __slots__ = ("condition", "then", "orelse", "merges")
    condition: Any
    then: list[Stmt]
    orelse: list[Stmt]
    merges: list[tuple[Var, Any, Any]]


class Kernel:
    """A whole kernel: `parameters` in order, `body`, and `results`, which are scalars or arrays."""

    __slots__ = ("body", "parameters", "results")

    def __init__(self, parameters: list[Var | Array], body: list[Stmt], results: list[Any]) -> None:
        self.parameters = parameters
        self.body = body
        self.results = results


def check(kernel: Kernel) -> None:
    """Assert what makes a kernel legal: everything is defined before it is used, with the kind it is used at.

    Run between passes in tests.
    """
    known: set[Any] = set(kernel.parameters)

    def use(x: Any) -> None:
        if x.__class__ in (Var, Array, Stack):
            assert x in known, f"{x} is used before it is defined"

    def walk(block: list[Stmt]) -> None:
        for s in block:
            if s.__class__ is Set:
                for a in s.args:
                    use(a)
                assert s.var not in known or s.op == "zero", f"{s.var} is assigned twice"
                known.add(s.var)
            elif s.__class__ is Load:
                use(s.array)
                use(s.index)
                known.add(s.var)
            elif s.__class__ is Check:
                use(s.index)
            elif s.__class__ is Alloc:
                known.add(s.array)
            elif isinstance(s, Store | AddTo):
                use(s.array)
                use(s.index)
                use(s.value)
            elif s.__class__ is Accumulate:
                use(s.var)
                use(s.value)
            elif s.__class__ is Loop:
                for phi, initial, _ in s.carried:
                    use(initial)
                    known.add(phi)
                known.update(s.stacks.values())
                known.add(s.trips)
                if s.test is not None:
                    walk(s.test)
                    use(s.condition)
                else:
                    use(s.start)
                    use(s.stop)
                    use(s.step)
                    known.add(s.index)
                walk(s.body)
                for _, _, following in s.carried:
                    use(following)
                use(s.stop_when)
            elif s.__class__ is ReverseLoop:
                use(s.trips)
                known.add(s.position)
                for phi, stack in s.restore:
                    use(stack)
                    known.add(phi)
                if s.index is not None:
                    known.add(s.index)
                walk_again(s.body)
            elif s.__class__ is If:
                use(s.condition)
                walk_again(s.then)
                walk_again(s.orelse)
                for var, a, b in s.merges:
                    use(a)
                    use(b)
                    known.add(var)

    def walk_again(block: list[Stmt]) -> None:
        # A reverse sweep runs a loop's body again, under the same names.
        for s in block:
            if s.__class__ is Set:
                known.discard(s.var)
        walk(block)

    walk(kernel.body)
    for r in kernel.results:
        use(r)
