"""Calls: operations, functions of the program and methods applied to their arguments."""

from __future__ import annotations

from functools import cache

from ...parser.errors import AdiffError
from ..core import limits
from ..core.dtypes import DType
from ..core.errors import ARITHMETIC_FAULTS, failure
from ..core.limits import LIMITS
from ..core.operands import describe
from ..core.state import STATE
from ..core.tensor import OPERATORS, Tensor
from ..core.wording import calls_itself
from ..kinds.access import all_of
from ..kinds.functions import Function, check_arguments, in_library, point_outside, without_name
from ..kinds.kind import INVOKE
from ..program import core as c
from ..program.core import UNSET
from ..program.library import operation_of
from ..program.rewrite import rewrite
from .attributes import invoke_method

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .compile import Compiler

    Run = Callable[[list[Any]], Any]


def apply(compiler: Compiler, node: c.Apply) -> Run:
    found = rewrite(node) if compiler.stable else None
    if found is not None:
        return compiler.expression(found)
    op, site = node.op, node.site
    state = STATE
    args = compiler.expressions(node.args)
    if len(args) == 1 and not node.keywords and node.args[0].__class__ is not c.Spread:
        argument = args[0]
        scalar = op.scalar if compiler.fast and op.nin == 1 and op.function is None else None

        def unary(f: list[Any]) -> Any:
            x = argument(f)
            if x.__class__ is float and scalar is not None:
                try:
                    return scalar(x)
                except ARITHMETIC_FAULTS:
                    pass
            state.site = site
            return op.call((x,), None)

        return unary
    collect = arguments(compiler, node.args, args, node.keywords)

    def run(f: list[Any]) -> Any:
        values, keywords = collect(f)
        state.site = site
        return op.call(values, keywords)

    return run


def arguments(
    compiler: Compiler, nodes: list[c.Expr], args: list[Run], keywords: list[tuple[str, c.Expr]]
) -> Callable[[list[Any]], tuple[list[Any], dict[str, Any]]]:
    """The evaluated arguments of a call, spreads spread."""
    spread = [node.__class__ is c.Spread for node in nodes]
    named = [(name, compiler.expression(value)) for name, value in keywords]
    if not any(spread) and all(name != "**" for name, _ in named):
        return lambda f: ([a(f) for a in args], {name: value(f) for name, value in named})

    def collect(f: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        values: list[Any] = []
        for many, a in zip(spread, args):
            values.extend(all_of(a(f)) if many else (a(f),))
        found: dict[str, Any] = {}
        for name, value in named:
            x = value(f)
            if name != "**":
                x = {name: x}
            if x.__class__ is not dict or any(key.__class__ is not str for key in x):
                raise failure("E0305", f"'**' needs a dict whose keys are strings, and got {describe(x)}")
            for key in x:
                if key in found:
                    raise failure("E0305", f"the keyword '{key}' is given twice")
            found.update(x)
        return values, found

    return collect


def call(compiler: Compiler, node: c.Call) -> Run:
    function = compiler.expression(node.function)
    collect = arguments(compiler, node.args, compiler.expressions(node.args), node.keywords)
    site = node.site
    state = STATE

    def run(f: list[Any]) -> Any:
        callee = function(f)
        values, keywords = collect(f)
        state.site = site
        return invoke(callee, values, keywords)

    return run


def method(compiler: Compiler, node: c.Method) -> Run:
    value = compiler.expression(node.value)
    collect = arguments(compiler, node.args, compiler.expressions(node.args), node.keywords)
    name, site = node.name, node.site

    def run(f: list[Any]) -> Any:
        x = value(f)
        values, keywords = collect(f)
        STATE.site = site
        return invoke_method(x, name, values, keywords)

    return run


def make_function(compiler: Compiler, node: c.MakeFunction) -> Run:
    code = node.code
    body = cache(
        lambda: compiler.function(code)
    )  # on the first call: most functions of a library file are never called
    defaults = [None if d is None else compiler.expression(d) for d in code.defaults]

    def run(f: list[Any]) -> Function:
        return Function(code, body, [UNSET if d is None else d(f) for d in defaults], f)

    return run


def invoke(callee: Any, args: list[Any], keywords: dict[str, Any] | None) -> Any:
    """Call any value that can be called."""
    cls = callee.__class__
    if cls is Function:
        # What calls it goes on, and calls it again, at its own place.
        site = STATE.site
        found = call_function(callee, args, keywords)
        STATE.site = site
        return found
    call = getattr(callee, "call", None)
    if call is not None:
        if STATE.site.op is None and cls.__name__ == "Operation":
            STATE.site = STATE.site.of(callee)
        return call(args, keywords or {})
    if cls is DType:
        if len(args) != 1:
            raise failure("E0305", f"{callee.name} takes one value")
        return OPERATORS.constant(args[0], dtype=callee)
    raise failure(
        "E0304",
        f"{describe(callee)} cannot be called",
        "write '*' to multiply" if cls in (int, float, Tensor) else None,
    )


INVOKE.append(invoke)


def call_function(function: Function, args: list[Any], keywords: dict[str, Any] | None) -> Any:
    """Call a function of the program."""
    code = function.code
    frame = [UNSET] * len(code.slot_names)
    frame[0] = function.frame
    count = len(args)
    if count == code.count and not keywords:
        frame[2 : 2 + count] = args
    else:
        place_arguments(function, frame, args, keywords or {})
    state = STATE
    site = state.site
    if function.library and not in_library(site):
        state.outside = site
    body = function.body()
    if code.generates:
        return body(frame)
    if state.depth >= limits.MAX_CALL_DEPTH:
        raise calls_itself(code.name)
    if LIMITS.max_steps is not None:
        limits.step()
    state.depth += 1
    try:
        signal = body(frame)
        return signal[0] if signal is not None else None
    except AdiffError as error:
        if function.library:
            point_outside(error, site)
        raise
    finally:
        state.depth -= 1


def place_arguments(function: Function, frame: list[Any], args: list[Any], keywords: dict[str, Any]) -> None:
    """Put the arguments of a call, and the defaults of those that it lacks, into the slots of the parameters."""
    code = function.code
    names, most = code.parameters, code.positional
    # A method's own instance is none of the arguments that a call shows.
    own = 1 if (code.name.count(".") or function.library) and names[:1] in (["self"], ["cls"]) else 0
    called = code.name.removesuffix(".__init__") if function.library else code.name
    needed = [name for name, default in zip(names, function.defaults) if default is UNSET]
    source = code.site.source
    row = operation_of(code, source.name.removeprefix("adiff/")) if source and source.library else None
    if row is not None:
        keywords = {row.parameter_of(key) or key: x for key, x in keywords.items()}
    named = {key: x for key, x in keywords.items() if key in names}
    if code.named is not None:
        frame[code.named] = {key: x for key, x in keywords.items() if key not in names}
        keywords = named
    elif function.library:
        keywords = without_name(keywords, names)
    try:
        check_arguments(
            row.name if row else called, names, most, code.rest is not None, needed, len(args), keywords, own
        )
    except AdiffError as error:
        hint = error.hint if row is None else f"write {row.usage()}"
        raise AdiffError(error.code, error.message, error.span, hint) from None
    frame[2 : 2 + len(names)] = function.defaults
    frame[2 : 2 + min(len(args), most)] = args[:most]
    for key, value in named.items():
        frame[2 + names.index(key)] = value
    if code.rest is not None:
        frame[code.rest] = tuple(args[most:])
