"""Statements of emitted source in LLVM's intermediate representation."""

from __future__ import annotations

import ast

from ..ir import BOOL, FLOAT, INT, SINGLE
from ..machine.externals import ROUTINES
from .llvm_extrema import accumulate, over_many
from .llvm_host import HOST_STATEMENTS, clear
from .llvm_parallel import question, shared
from .llvm_streams import streams
from .llvm_values import (
    adding_up,
    branch,
    dotted,
    element,
    expression,
    known_condition,
    load,
    operation,
    range_length,
    range_parts,
    store,
)
from .llvm_vectors import on_vectors
from .llvm_writer import FLOATS, TYPES, UNLIKELY, Untranslatable, Value, Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# How many floats most machines take for a vector.
LANES = 4
# What is computed for each element that is stored where it is worth more that iterations have it in common.
LEAST_COMPUTED = 4
# What a function's result is kept as until it returns: no name in the source is this.
RESULT = "return"


def block(w: Writer, body: list[ast.stmt]) -> None:
    """Statements one after the other, up to one that nothing follows."""
    for node in body:
        if not w.open:
            return
        translate = STATEMENTS.get(node.__class__)
        if translate is None:
            raise Untranslatable(ast.dump(node))
        translate(w, node)


def assign(w: Writer, node: Any) -> None:
    (target,) = node.targets
    if isinstance(target, ast.Name):
        value = value_for(w, target.id, node.value)
        if value[0].isupper():
            # Each name is memory of its own, which LLVM is told.
            if not isinstance(node.value, ast.Call):
                raise Untranslatable("a second name for memory")
            w.module.tag(target.id)
        w.assign(target.id, value)
    elif isinstance(target, ast.Subscript):
        value = expression(w, node.value)
        store(w, *element(w, target), value)
    elif isinstance(target, ast.Tuple):
        # All are computed before any is changed.
        pairs = zip(target.elts, parts(node.value), strict=True)
        values = [value_for(w, getattr(part, "id", ""), node) for part, node in pairs]
        for part, value in zip(target.elts, values, strict=True):
            if not isinstance(part, ast.Name) or value[0].isupper():
                raise Untranslatable(ast.dump(node))
            w.assign(part.id, value)
    else:
        raise Untranslatable(ast.dump(node))


def value_for(w: Writer, name: str, node: ast.expr) -> Value:
    """The value of an expression that a variable is given: what is added to a sum is added in float64."""
    if name in w.module.sums and w.kernel:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            a, b = (summand(w, part) for part in (node.left, node.right))
            return operation(w, node.op.__class__, a, b, freedom=adding_up(w, node.op, node.left))
        return summand(w, node)
    return expression(w, node)


def summand(w: Writer, node: ast.expr) -> Value:
    """A part of a sum, in float64."""
    held = isinstance(node, ast.Name) and node.id in w.module.sums and node.id in w.kinds
    return w.to(FLOAT, w.held(node.id) if held and isinstance(node, ast.Name) else expression(w, node))


def parts(node: ast.expr) -> list[ast.expr]:
    """The elements of a tuple, or of one tuple or another."""
    if isinstance(node, ast.IfExp):
        sides = zip(parts(node.body), parts(node.orelse), strict=True)
        return [ast.IfExp(node.test, a, b) for a, b in sides]
    if not isinstance(node, ast.Tuple):
        raise Untranslatable(ast.dump(node))
    return node.elts


def declare(w: Writer, node: Any) -> None:
    w.assign(node.target.id, expression(w, node.value))


def change(w: Writer, node: Any) -> None:
    """x += y and its like."""
    operator = node.op.__class__
    if isinstance(node.target, ast.Name):
        name = node.target.id
        if name in w.module.sums and w.kernel:
            w.assign(
                name,
                operation(
                    w, operator, w.held(name), summand(w, node.value), freedom=adding_up(w, node.op, node.target)
                ),
            )
            return
        value = expression(w, node.value)
        w.assign(name, operation(w, operator, w.read(name), value, freedom=adding_up(w, node.op, node.target)))
        return
    value = expression(w, node.value)
    kind, where, note = element(w, node.target)
    if kind == FLOAT and value[0] == SINGLE:
        value = w.to(FLOAT, value)  # an array that collects sums does so in float64
    store(w, kind, where, note, operation(w, operator, load(w, kind, where, note), value))


def alone(w: Writer, node: Any) -> None:
    """A call for its effect, or a docstring."""
    if isinstance(node.value, ast.Constant):
        return
    called = dotted(node.value.func)
    args = [expression(w, arg) for arg in node.value.args]
    if called == "clear":
        clear(w, args, w.module.tag(node.value.args[0].id))
    elif called in ROUTINES:
        w.module.external(called)
        (_, matrix), (_, results), rows, columns = args
        sizes = ", ".join(f"i64 {w.to(INT, size)[1]}" for size in (rows, columns))
        w.line(f"call void @{called}(ptr {matrix}, ptr {results}, {sizes})")
    elif called in HOST_STATEMENTS:
        HOST_STATEMENTS[called](w, args)
    else:
        raise Untranslatable(ast.dump(node))


def if_(w: Writer, node: Any) -> None:
    settled = known_condition(w, node.test)
    if settled is not None:
        block(w, node.body if settled else node.orelse)
        return
    yes, end = w.fresh("yes"), w.fresh("end")
    no = w.fresh("no") if node.orelse else end
    branch(w, node.test, yes, no, UNLIKELY if leaves(node.body) else "")
    w.start(yes)
    block(w, node.body)
    w.go(end)
    if node.orelse:
        w.start(no)
        block(w, node.orelse)
        w.go(end)
    w.start(end)


def leaves(body: list[ast.stmt]) -> bool:
    """Whether a block is for what should not be."""
    last = body[-1]
    failing = isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and dotted(last.value.func) == "fail"
    return failing or isinstance(last, ast.Raise | ast.Continue)


def while_(w: Writer, node: Any) -> None:
    head, after = w.fresh("while"), w.fresh("after")
    w.start(head)
    if known_condition(w, node.test) is not True:
        body = w.fresh("body")
        branch(w, node.test, body, after)
        w.start(body)
    w.loops.append((after, head))
    block(w, node.body)
    w.loops.pop()
    w.go(head)
    w.start(after)


def for_(w: Writer, node: Any) -> None:
    if isinstance(node.iter, ast.Call) and dotted(node.iter.func) == "prange":
        shared(w, node, lambda part, own: through(part, own, node.iter))
        return
    found = over_many(node)
    if found is None or w.kinds.get(found[0]) not in FLOATS:
        through(w, node, node.iter)
        return
    name, function, operand = found
    before = f"before.{name}"
    w.assign(before, w.read(name))

    def step() -> None:
        accumulate(w, name, function, expression(w, operand))

    loop(w, node, step)
    again, end = w.fresh("again"), w.fresh("end")
    kind, text = w.read(name)
    w.choose(w.value(BOOL, f"fcmp oeq {TYPES[kind]} {text}, 0.0")[1], again, end, UNLIKELY)
    w.start(again)
    w.assign(name, w.read(before))
    loop(w, node, lambda: block(w, node.body))
    w.go(end)
    w.start(end)


def through(w: Writer, node: Any, over: ast.expr) -> None:
    """A loop, which may be one over a part of the range `over`."""
    around = w.on_vectors
    found = on_vectors(over, node.body)
    w.on_vectors = found is not None
    if found is not None and found.turns:
        w.far = w.place(INT, "far")
        w.line(f"store i64 0, ptr {w.far}")
        before = [(kept, *w.held(kept)) for kept in found.carried if kept in w.kinds]
        loop(w, node, lambda: block(w, node.body))
        w.on_vectors = around
        again, end = w.fresh("again"), w.fresh("end")
        far = w.value(INT, f"load i64, ptr {w.far}")[1]
        w.choose(w.value(BOOL, f"icmp ne i64 {far}, 0")[1], again, end, UNLIKELY)
        w.start(again)
        for kept, kind, text in before:
            w.line(f"store {TYPES[kind]} {text}, ptr %v.{kept}")
        loop(w, node, lambda: block(w, node.body), seldom=True)
        w.start(end)
    else:
        loop(w, node, lambda: block(w, node.body))
    w.on_vectors = around


def loop(w: Writer, node: Any, body_of: Callable[[], None], seldom: bool = False) -> None:
    """A loop over a range, which is worked out once. The variable keeps its last value."""
    of_range = isinstance(node.iter, ast.Call) and dotted(node.iter.func) == "range"
    if not of_range or not isinstance(node.target, ast.Name):
        raise Untranslatable(ast.dump(node))
    args = [expression(w, arg) for arg in node.iter.args]
    start, stop, step = range_parts(w, args)
    counted = not step.lstrip("-").isdigit() or step == "0"
    if counted:  # by a step that is not known: as many as there are
        first, by = start, step
        start, stop, step = "0", range_length(w, args)[1], "1"
    counter = w.place(INT, "counter")
    w.line(f"store i64 {start}, ptr {counter}")
    head, body, on, after = (w.fresh(stem) for stem in ("for", "body", "next", "after"))
    order = "sgt" if step[0] == "-" else "slt"

    def go_on(k: str, note: str = "") -> None:
        w.choose(w.value(BOOL, f"icmp {order} i64 {k}, {stop}")[1], body, after, note)

    # LLVM moves the test to the end of an iteration, and then knows that what an iteration does is done once at least; but
    # not where an iteration asks at its end whether to go on.
    at_end = question(node.body[-1]) is not None
    if at_end:
        go_on(start)
    else:
        w.start(head)
        go_on(w.value(INT, f"load i64, ptr {counter}")[1])
    w.start(body)
    k = w.value(INT, f"load i64, ptr {counter}")[1]
    before, start_of_body = set(w.kinds), len(w.lines)
    if counted:
        by = w.value(INT, f"mul i64 {k}, {by}")[1]
        w.assign(node.target.id, w.value(INT, f"add i64 {first}, {by}"))
    else:
        w.assign(node.target.id, (INT, k))
    w.loops.append((after, on))
    body_of()
    w.loops.pop()
    if w.on_vectors:
        # What an iteration sets on some paths alone it does not have from the one before.
        own = [(x, kind) for x, kind in w.kinds.items() if x not in before and kind in TYPES]
        w.lines[start_of_body:start_of_body] = [f"  store {TYPES[kind]} undef, ptr %v.{x}" for x, kind in own]
    w.start(on)
    following = w.value(INT, f"add nsw i64 {k}, {step}")[1]
    w.line(f"store i64 {following}, ptr {counter}")
    note = "!12" if seldom else "!8" if side_by_side(w, node.body) else "!10" if wide(w, node) else "!6"
    if at_end:
        go_on(following, f", !llvm.loop {note}")
    else:
        w.go(head, f", !llvm.loop {note}")
    w.start(after)


def wide(w: Writer, node: Any) -> bool:
    """Whether a loop is to take the widest vectors."""
    found = w.module.wide_vectors and streams(w, node)
    w.module.streams |= found
    return found


def side_by_side(w: Writer, body: list[ast.stmt]) -> bool:
    """Whether an iteration writes a vector's worth of neighbours: that is the vector, and not what iterations have in
    common, whose elements would be gathered and scattered. Unless functions, and much else, are computed for each."""
    written: dict[str, int] = {}
    for node in body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            if isinstance(target.slice, ast.Constant):
                continue  # the same place in every iteration
            written[target.value.id] = written.get(target.value.id, 0) + 1
    if max(written.values(), default=0) < LANES:
        return False
    computed = sum(isinstance(inner, ast.BinOp | ast.Call) for node in body for inner in ast.walk(node))
    return not w.on_vectors or computed < LEAST_COMPUTED * sum(written.values())


def break_(w: Writer, node: Any) -> None:
    w.go(w.loops[-1][0])


def continue_(w: Writer, node: Any) -> None:
    w.go(w.loops[-1][1])


def raise_(w: Writer, node: Any) -> None:
    w.raises = True
    w.go("raised")


def return_(w: Writer, node: Any) -> None:
    w.assign(RESULT, expression(w, node.value))
    w.go("done")


def pass_(w: Writer, node: Any) -> None:
    """Nothing."""


STATEMENTS: dict[type, Callable[[Writer, Any], None]] = {
    ast.Assign: assign,
    ast.AnnAssign: declare,
    ast.AugAssign: change,
    ast.Expr: alone,
    ast.If: if_,
    ast.While: while_,
    ast.For: for_,
    ast.Break: break_,
    ast.Continue: continue_,
    ast.Raise: raise_,
    ast.Return: return_,
    ast.Pass: pass_,
}
