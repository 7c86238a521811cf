"""Custom derivative rules (`custom_gradient`): functions whose derivative is a rule of the program's.

The rule runs on symbols of cotangents, once, while the program is specialised. Where it is linear in the cotangent of
one number, as rules mostly are, its slopes stand beside the value (`sloped`), and every mode and order follows. Any
other rule is kept with the statements of the function, as a region, and put where the reverse sweep passes.
"""

from __future__ import annotations

import functools

from ...core.state import STATE
from ...core.tensor import OPERATORS
from ...ops.registry import NAMES
from ...ops.support import leave_unless
from .. import ir
from ..ir import FLOAT, Array, Stmt, Unsupported, Var
from ..passes.statements import blocks_of
from ..symbols.regions import in_memory
from ..symbols.symbol import NUMBERS, Lazy, Sym, raw
from ..symbols.values import FUNCTIONS, List, Made, flatten, read, rebuild

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..differentiation.adjoint import Adjoint
    from .statements import Specialiser


class Rule:
    """The statements of a rule: cotangents of the results, in; those of the arguments, out.

    `captured` are the values that it takes from around it, the operands of its region after the arguments.
    """

    __slots__ = ("block", "captured", "given", "made")

    def __init__(self, given: list[Any], block: list[Stmt], made: list[Any], captured: list[Any]) -> None:
        self.given = given
        self.block = block
        self.made = made
        self.captured = captured

    def apply(self, adjoint: Adjoint, s: ir.Region) -> list[Any]:
        """The cotangents of the arguments, for those of the results as the sweep has them."""
        names: dict[Any, Any] = dict(zip(self.captured, s.operands[len(self.made) :]))
        given = [adjoint.collected(x) for x in s.results]
        for g, found in zip(self.given, given):
            names[g] = found.stored if found.__class__ is Lazy else raw(found)
            if names[g] is None:
                names[g] = adjoint.builder.materialised(found).stored
        for statement in adjoint.renamed(self.block, names):
            adjoint.builder.append(statement)
        found = [adjoint.symbol(names.get(c, c) if c.__class__ in (Var, Array) else c) for c in self.made]
        # Of a rule that makes something of nothing the tape knows whether the path has the value at all.
        leave_unless(OPERATORS["logical_or"](something(given), OPERATORS["logical_not"](something(found))))
        return found


def something(parts: list[Any]) -> Any:
    """Whether any number is not 0."""
    truths = [NAMES["any"](OPERATORS["not_equal"](x, 0.0)) for x in parts]
    return functools.reduce(OPERATORS["logical_or"], truths, False)


def custom_gradient(machine: Specialiser, f: Any) -> Made:
    if f.__class__ not in FUNCTIONS:
        raise Unsupported("custom_gradient of what is no function of the program")
    return Made(lambda args, keywords: call(machine, f, args, keywords), (f,))


def call(machine: Specialiser, f: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
    """What the function gives, with the rule for its derivative."""
    builder = machine.builder
    if machine.most_steps is not None:
        raise Unsupported("a limit of steps beside a custom_gradient function")
    if keywords:
        raise Unsupported("a custom_gradient function that is called with keywords")
    leaves = [in_memory(builder, read(x)) for x in flatten(args)]
    if any(x.__class__ not in (*NUMBERS, Sym, Lazy) for x in leaves):
        raise Unsupported("a custom_gradient function with an argument that is no number and no tensor")
    given = [rebuild(x, take) for take in [list(leaves)] for x in args]
    body, pair = apart(machine, lambda: machine.invoke(f, given, {}))
    pair = pair.items if pair.__class__ is List else pair
    if pair.__class__ not in (list, tuple) or len(pair) != 2 or pair[1].__class__ not in FUNCTIONS:
        raise Unsupported("a custom_gradient function that does not return a value and a function")
    operands = [held(x) for x in leaves]
    own = {x for x in operands if x.__class__ in (Var, Array)}
    if any(x not in own for x in free(body)):
        # A tape says so of each value that it follows.
        raise Unsupported("a custom_gradient function that uses a value from outside")
    for s in body:
        builder.append(s)
    value, rule = pair
    outputs = [in_memory(builder, builder.settle(read(x))) for x in flatten(value)]
    if any(x.__class__ not in (*NUMBERS, Sym, Lazy) or (x.__class__ is Lazy and x.kind != FLOAT) for x in outputs):
        raise Unsupported("a custom_gradient function with a result that is no number and no tensor")
    cotangents = [Array(FLOAT, x.shape, "g") if x.__class__ is Lazy else Var(FLOAT, "g") for x in outputs]
    block, made = apart(machine, lambda: pulled(machine, rule, cotangents, len(leaves)))
    inside = own | defined(body)
    captured = [x for x in free(block) if x not in cotangents]
    if any(x not in inside for x in captured):
        raise Unsupported("the rule of a custom_gradient that uses a value from outside")
    if len(outputs) == 1 and not any(x.__class__ is Lazy for x in (*outputs, *leaves)):
        if linear(block, made, cotangents[0]):
            return sloped(machine, outputs[0], leaves, pulled(machine, rule, [1.0], len(leaves)))
    found = region(machine, outputs, operands, Rule(cotangents, block, made, captured))
    return rebuild(value, found) if value.__class__ in (List, tuple, dict) else found[0]


def apart(machine: Specialiser, run: Callable[[], Any]) -> tuple[list[Stmt], Any]:
    """The statements of something that shares no computation with what is around it, and what it gives."""
    builder = machine.builder
    memos, builder.memos = builder.memos, [{}]
    machine.derived += 1
    try:
        return builder.nested(lambda: builder.settle(run()))
    finally:
        builder.memos = memos
        machine.derived -= 1


def held(x: Any) -> Any:
    return x.stored if x.__class__ is Lazy else raw(x)


def pulled(machine: Specialiser, rule: Any, cotangents: list[Any], count: int) -> list[Any]:
    """What the rule makes of cotangents: one for each argument, in memory."""
    builder = machine.builder
    symbols = [
        Sym(builder, g) if g.__class__ is Var else builder.stored(g) if g.__class__ is Array else g for g in cotangents
    ]
    found = machine.invoke(rule, symbols, {})
    flat = flatten(found) if found.__class__ in (List, tuple, dict) else [found]
    if len(flat) != count:
        raise Unsupported("a gradient function that returns another number of cotangents")
    made = [in_memory(builder, builder.settle(read(c))) for c in flat]
    if any(c.__class__ not in (*NUMBERS, Sym, Lazy) for c in made):
        raise Unsupported("a gradient function that returns no number for an argument")
    return [held(c) for c in made]


def sloped(machine: Specialiser, value: Any, leaves: list[Any], slopes: list[Any]) -> Any:
    """A number whose derivatives by others are as given."""
    builder = machine.builder
    y = Var(FLOAT)
    builder.append(ir.Set(y, "stop_gradient", (raw(builder.to_float(value)),), STATE.site, None))
    for x, slope in zip(leaves, slopes):
        if x.__class__ is Sym and x.kind == FLOAT:
            slope = raw(builder.to_float(Sym(builder, slope) if slope.__class__ is Var else slope))
            before, y = y, Var(FLOAT)
            builder.append(ir.Set(y, "sloped", (before, x.var, slope), STATE.site, None))
    return Sym(builder, y)


def region(machine: Specialiser, outputs: list[Any], operands: list[Any], rule: Rule) -> list[Any]:
    """The results of a function with a rule of its own: copies that the rule connects with the arguments."""
    builder = machine.builder
    results: list[Any] = []
    for x in outputs:
        if x.__class__ is Lazy:
            array = Array(FLOAT, x.shape)
            builder.append(ir.Alloc(array, False))
            results.append(array)
        else:
            results.append(Var(FLOAT))

    def opaque(x: Any, var: Var) -> Var:
        builder.append(ir.Set(var, "opaque", (raw(builder.to_float(x)),), STATE.site, None))
        return var

    def copies() -> None:
        for x, result in zip(outputs, results):
            if result.__class__ is Var:
                opaque(x, result)
                continue

            def store(index: tuple[Any, ...], x: Any = x, result: Array = result) -> None:
                place = builder.flat(index, result.shape)
                builder.append(ir.Store(result, raw(place), opaque(x.element(index), Var(FLOAT))))

            builder.each(result.shape, store)

    body, _ = apart(machine, copies)
    everything = (*operands, *rule.captured)
    builder.append(ir.Region("custom_gradient", results, everything, {"rule": rule}, body, STATE.site))
    return [builder.stored(x) if x.__class__ is Array else Sym(builder, x) for x in results]


# --- what statements read and set -----------------------------------------------------------------------------------


def parts(s: Stmt) -> tuple[list[Any], list[Any], list[list[Stmt]]]:
    """What a statement sets, all that it names, and the blocks in it."""
    blocks = blocks_of(s)
    sets = [getattr(s, name) for name in ("var", "trips", "index", "position") if hasattr(s, name)]
    if s.__class__ in (ir.Store, ir.AddTo, ir.Check, ir.Keep, ir.Accumulate):
        sets = []
    if s.__class__ is ir.Load:
        sets = [s.var]
    if s.__class__ is ir.Alloc:
        sets = [s.array]
    sets += [phi for phi, _, _ in getattr(s, "carried", ())] + [var for var, _, _ in getattr(s, "merges", ())]
    named: list[Any] = []

    def name(x: Any) -> None:
        if x.__class__ in (Var, Array):
            named.append(x)
        elif x.__class__ in (list, tuple):
            for item in x:
                name(item)

    for slot in s.__slots__:
        if slot not in s.blocks:
            name(getattr(s, slot))
    return sets, named, blocks


def defined(block: list[Stmt]) -> set[Any]:
    """What statements set, those in blocks inside included."""
    found: set[Any] = set()
    for s in block:
        sets, _, blocks = parts(s)
        found.update(sets, *map(defined, blocks))
    return found


def free(block: list[Stmt]) -> list[Any]:
    """The variables and arrays that statements take from around them, constants apart."""
    own = defined(block)
    found: dict[Any, None] = {}

    def walk(block: list[Stmt]) -> None:
        for s in block:
            _, named, blocks = parts(s)
            found.update((x, None) for x in named if x not in own and getattr(x, "role", "") != "constant")
            for inner in blocks:
                walk(inner)

    walk(block)
    return list(found)


def linear(block: list[Stmt], made: list[Any], g: Any) -> bool:
    """Whether what a rule gives is linear in the cotangent, as its statements show."""
    dependent = {g}
    for s in block:
        _, named, blocks = parts(s)
        if not any(x in dependent for x in named) and not any(x in dependent for b in blocks for x in free(b)):
            continue
        if s.__class__ is not ir.Set:
            return False
        hit = [a in dependent if a.__class__ is Var else False for a in s.args]
        fits = (
            (s.op in ("negative", "copy", "to_float", "to_single") and hit == [True])
            or (s.op in ("multiply", "strong_multiply") and hit in ([True, False], [False, True]))
            or (s.op == "divide" and hit == [True, False])
            or (s.op in ("add", "subtract") and hit == [True, True])
        )
        if not fits:
            return False
        dependent.add(s.var)
    return all(c in dependent or (c.__class__ in (int, float) and c == 0) for c in made)
