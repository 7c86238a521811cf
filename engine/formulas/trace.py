"""A program run on symbols: the interpreter's compiler of core programs, with numbers kept exact and branches merged.

A condition that the inputs decide is followed both ways; what the branches leave becomes `where(condition, a, b)`.
"""

from __future__ import annotations

from ...parser.errors import AdiffError
from ..core.errors import failure
from ..core.operands import bare
from ..core.state import STATE, end_of
from ..eager import calls, libraries
from ..eager import compile as eager
from ..eager.builtins import INTRINSICS
from ..eager.statements import assert_ as checked
from ..eager.statements import one_by_one
from ..kinds.functions import Builtin, Function, in_library
from ..kinds.operators import binary, compare, prefix, truth
from ..ops import arithmetic
from ..ops.operation import Operation
from ..ops.rounding import maximum, minimum, round_half_even
from ..ops.support import FOR_LIBRARY
from ..program import core as c
from ..program.core import PARENT, RESULT, UNSET
from .nodes import CALL, HINT, NUMBER, Node, number, symbol
from .symbols import Formula, applied, constant, node_of, refused, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Run = Callable[[Any], Any]

# The functions of the language that are run as they are.
PLAIN = ("len", "list", "tuple", "dict", "zip", "enumerate", "range", "reversed", "map", "sum", "abs", "float", "bool")
FUNCTIONS = (Operation, Builtin)
# A condition that the inputs decide is followed into functions that call one another as deeply as this.
MOST_NESTED = 16


def frame_of(core: c.CoreProgram, values: Mapping[str, Any]) -> list[Any]:
    frame: list[Any] = [None, *[UNSET] * (len(core.slot_names) - 1)]
    for name, (slot, node) in core.optional.items():
        meaning = node.value if hasattr(node, "value") else KNOWN[node.name]
        frame[slot] = values[name] if name in values else constant(bare(meaning))
    for name, slot in core.inputs.items():
        frame[slot] = values[name]
    return frame


def formula_of(core: c.CoreProgram) -> Node:
    """The value of a program as a formula of its inputs. Raises AdiffError E0513 where there is none."""
    STATE.site = end_of(core.source)
    frame = frame_of(core, {name: Formula(symbol(name)) for name in core.inputs})
    try:
        result = Tracer().block(core.body, lambda f: (f[RESULT],))(frame)[0]
        STATE.site = end_of(core.source)
        if result is UNSET or result is None:
            raise failure("E0304", "the program has no value", "end it with the expression to differentiate")
        return node_of(result)
    except AdiffError as error:
        if error.code == "E0513" or Formula.description not in error.message:
            raise
        raise AdiffError("E0513", f"derive writes no formula for this: {error.message}", error.span, HINT) from None


# --- the program ------------------------------------------------------------------------------------------------------


class Intrinsics(dict[str, "Any"]):
    """The functions of the language by name, of which only the plain ones may be called."""

    def __missing__(self, name: str) -> Builtin:
        def refuse(*args: Any, **named: Any) -> Any:
            raise refused(f"'{name}'")

        return Builtin(name, refuse)


def extreme(row: Operation) -> Builtin:
    def pick(*xs: Any) -> Any:
        best, *others = xs if len(xs) > 1 else xs[0]
        for x in others:
            best = row(best, x)
        return best

    return Builtin(row.name, pick)


KNOWN = Intrinsics({name: INTRINSICS[name] for name in PLAIN})
KNOWN.update({name: Builtin(name, function) for name, function in FOR_LIBRARY.items()})
KNOWN["isinstance"] = Builtin(  # a formula is of a number
    "isinstance", lambda x, types: INTRINSICS["isinstance"].run(0.5 if x.__class__ is Formula else x, types)
)
KNOWN.update(
    max=extreme(maximum), min=extreme(minimum), round=Builtin("round", lambda x: plain(round_half_even(x)))
)  # fmt: skip


class Tracer(eager.Compiler):
    """Compiles a core program to closures that run on formulas."""

    def __init__(self) -> None:
        super().__init__(KNOWN, fast=False, stable=False)

    def expression(self, node: c.Expr) -> Run:
        return (EXPRESSIONS.get(node.__class__) or eager.EXPRESSIONS[node.__class__])(self, node)

    def block(self, nodes: list[c.Stmt], then: Run | None = None) -> Run:
        """Statements one after the other, and `then`. What follows an `if` that may return is done in both its branches."""
        runs: list[Run] = []
        for i, node in enumerate(nodes):
            if node.__class__ is c.If and may_return([node]):
                rest = self.block(nodes[i + 1 :], then)
                runs.append(if_(self, node, rest))
                then = None
                break
            runs.append((STATEMENTS.get(node.__class__) or eager.STATEMENTS[node.__class__])(self, node))
        return one_by_one(runs if then is None else [*runs, then])


def may_return(nodes: list[c.Stmt]) -> bool:
    return any(
        node.__class__ is c.Return or (node.__class__ is c.If and (may_return(node.body) or may_return(node.orelse)))
        for node in nodes
    )


def literal(t: Tracer, node: c.Literal) -> Run:
    return lambda f: constant(node.value)


def operation(t: Tracer, node: c.Operator) -> Run:
    left, right = t.expression(node.left), t.expression(node.right)

    def run(f: Any) -> Any:
        x, y = left(f), right(f)
        STATE.site = node.site
        # Where Python's integers have no integer as the result.
        fraction = node.op is arithmetic.divide or (node.op is arithmetic.power and y.__class__ is int and y < 0)
        if fraction and x.__class__ is int and y.__class__ is int:
            x = Formula(number(x))
        return plain(binary(node.op, x, y))

    return run


def plain(x: Any) -> Any:
    return value_of(x.node) if x.__class__ is Formula else x


def prefixed(t: Tracer, node: c.Prefix) -> Run:
    operand = t.expression(node.operand)

    def run(f: Any) -> Any:
        x = operand(f)
        STATE.site = node.site
        return plain(prefix(node.op, x))

    return run


def apply(t: Tracer, node: c.Apply) -> Run:
    collect = calls.arguments(t, node.args, t.expressions(node.args), node.keywords)
    names = [arg.name if arg.__class__ is c.Load else "" for arg in node.args]

    def run(f: Any) -> Any:
        values, keywords = collect(f)
        STATE.site = node.site
        if len(values) == len(names):
            # `beta` in sin(beta) is no function, but an input that has the name of one.
            values = [
                Formula(symbol(name)) if name and x.__class__ in FUNCTIONS else x for name, x in zip(names, values)
            ]
        # Of numbers too a formula: sqrt(2) is no 1.4142135623730951.
        values = [Formula(number(x)) if x.__class__ is int and node.op.dtype == "float" else x for x in values]
        return plain(node.op.call(values, keywords))

    return run


# --- branches ---------------------------------------------------------------------------------------------------------


def condition(x: Any) -> Any:
    """The truth of a condition: a bool, or the formula of one."""
    if x.__class__ is not Formula:
        return truth(x)
    node = x.node
    if node.kind == NUMBER:
        return bool(node.value)
    if STATE.depth > MOST_NESTED:
        raise refused("a recursion that the inputs end")
    if node.kind == CALL and node.value[0].dtype == "bool":
        return x
    return Formula(applied(arithmetic.not_equal, [node, number(0)], None))


def merged(test: Formula, a: Any, b: Any) -> Any:
    """The value of which a branch left `a` or `b`."""
    if a is b:
        return a
    if a is UNSET or b is UNSET:
        return UNSET
    if a.__class__ is b.__class__ and a.__class__ in (tuple, list) and len(a) == len(b):
        return a.__class__([merged(test, x, y) for x, y in zip(a, b)])
    if a is None or b is None or a.__class__ in (str, Function):
        raise refused("a value whose kind the inputs decide")
    return plain(Formula(applied(arithmetic.where_select, [test.node, node_of(a), node_of(b)], None)))


def contents(frame: list[Any]) -> dict[int, tuple[Any, list[Any]]]:
    """What the lists, dicts and outer frames hold that a frame reaches."""
    found: dict[int, tuple[Any, list[Any]]] = {}
    pending: list[Any] = list(frame)
    while pending:
        x = pending.pop()
        x = x.frame if x.__class__ is Function else x
        if x.__class__ in (list, tuple, dict) and id(x) not in found and x is not frame:
            found[id(x)] = x, list(x.values() if x.__class__ is dict else x)
            pending.extend(found[id(x)][1])
    return found


def branch(test: Formula, f: list[Any], then: Run, otherwise: Run) -> Any:
    """Run both branches from the same frame, and merge what they leave in it. Returns a signal if they do."""
    before, others, site = list(f), contents(f), STATE.site
    ends: list[tuple[Any, list[Any]]] = []
    for run in (then, otherwise):
        signal = run(f)
        ends.append((signal, list(f)))
        f[:] = before
        for x, held in others.values():
            now = list(x.values() if x.__class__ is dict else x)
            if len(now) != len(held) or any(u is not v for u, v in zip(now, held)):
                raise refused("a list or an outer variable that is changed where the inputs decide", site)
    (a, first), (b, second) = ends
    STATE.site = site
    f[1:] = [merged(test, x, y) for x, y in zip(first[1:], second[1:])]
    if f[PARENT].__class__ is not list:
        f[PARENT] = f[RESULT]
    return None if a is None and b is None else (merged(test, a[0] if a else None, b[0] if b else None),)


def if_(t: Tracer, node: c.If, rest: Run | None = None) -> Run:
    test, body, orelse = t.expression(node.test), t.block(node.body, rest), t.block(node.orelse, rest)

    def run(f: Any) -> Any:
        x = test(f)
        STATE.site = node.site
        x = condition(x)
        return branch(x, f, body, orelse) if x.__class__ is Formula else (body if x else orelse)(f)

    return run


def choose(t: Tracer, node: c.Choose) -> Run:
    test, then, otherwise = t.expressions([node.test, node.then, node.otherwise])

    def run(f: Any) -> Any:
        x = test(f)
        STATE.site = node.site
        x = condition(x)
        if x.__class__ is not Formula:
            return (then if x else otherwise)(f)
        return branch(x, f, lambda f: (then(f),), lambda f: (otherwise(f),))[0]

    return run


def comparison(t: Tracer, node: c.Comparison) -> Run:
    left, rights = t.expression(node.left), t.expressions(node.rights)

    def link(f: Any, x: Any, i: int) -> Any:
        y = rights[i](f)
        STATE.site = node.site
        op = node.ops[i]
        if op is None or Formula not in (x.__class__, y.__class__):
            found = compare(op, node.symbols[i], x, y)
        else:
            found = plain(op(x, y))
        return found if i + 1 == len(rights) else joined("and", found, f, lambda f: link(f, y, i + 1))

    return lambda f: link(f, left(f), 0)


def joined(word: str, x: Any, f: Any, rest: Run) -> Any:
    """`x and rest`, `x or rest`."""
    holds = condition(x)
    if holds.__class__ is not Formula:
        return rest(f) if holds is (word == "and") else x
    y = condition(rest(f))
    if y.__class__ is not Formula:
        return x if y is (word == "and") else y
    row = arithmetic.logical_and if word == "and" else arithmetic.logical_or
    return Formula(applied(row, [holds.node, y.node], None))


def logical(t: Tracer, node: c.Logical) -> Run:
    values = t.expressions(node.values)

    def link(f: Any, i: int) -> Any:
        x = values[i](f)
        STATE.site = node.site
        return x if i + 1 == len(values) else joined(node.symbol, x, f, lambda f: link(f, i + 1))

    return lambda f: link(f, 0)


def negation(t: Tracer, node: c.Not) -> Run:
    operand = t.expression(node.operand)

    def run(f: Any) -> Any:
        x = condition(operand(f))
        return Formula(applied(arithmetic.logical_not, [x.node], None)) if x.__class__ is Formula else not x

    return run


def assert_(t: Tracer, node: c.Assert) -> Run:
    """An assertion about the inputs says nothing about the formula."""
    test, run = t.expression(node.test), checked(t, node)
    return lambda f: None if condition(test(f)).__class__ is Formula else run(f)


def library_name(t: Tracer, node: c.LibraryName) -> Run:
    """A function of the library: of operations it is run as the program is."""
    return (libraries.library_name if node.file.startswith("operations/") else declined(f"'{node.name}'"))(t, node)


def for_(t: Tracer, node: c.For) -> Run:
    """A loop of an operation over what it knows; those of programs have no formula."""
    return (eager.STATEMENTS[c.For] if in_library(node.site) else declined("a loop"))(t, node)


def declined(what: str) -> Callable[[Tracer, Any], Run]:
    def refuse(t: Tracer, node: Any) -> Run:
        def run(f: Any) -> None:
            raise refused(
                what, node.clauses[0].site if node.__class__ is c.Comprehension else getattr(node, "site", None)
            )

        return run

    return refuse


EXPRESSIONS: dict[type, Callable[[Any, Any], Run]] = {
    c.Literal: literal, c.Operator: operation, c.Prefix: prefixed, c.Apply: apply, c.Choose: choose,
    c.Comparison: comparison, c.Logical: logical, c.Not: negation, c.Comprehension: declined("a loop"),
    c.LibraryName: library_name, c.Watch: declined("gradient tapes"), c.MakeClass: declined("classes"),
}  # fmt: skip
STATEMENTS: dict[type, Callable[[Any, Any], Run]] = {
    c.If: if_, c.For: for_, c.While: declined("a loop"), c.Assert: assert_, c.Raise: declined("exceptions"),
    c.Try: declined("exceptions"), c.With: declined("gradient tapes"),
}  # fmt: skip
