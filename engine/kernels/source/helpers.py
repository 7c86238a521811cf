"""The functions that kernels call: those of the prelude, and those of ops/special_*.py, which are compiled into them."""

from __future__ import annotations

import ast
import re

from ...autodiff import revolve as revolve_module
from ...autodiff.revolve import revolve
from ...ops import special_integrals, special_parameters, special_quotients, special_scalar
from .prelude import PRELUDE
from .primitives import TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

BORROWED = {
    **vars(special_parameters),
    **vars(special_quotients),
    **vars(special_integrals),
    **vars(special_scalar),
}
# The helpers that are part of what calls them, whatever their size.
ALWAYS_INLINED = frozenset(re.findall(r"^@inlined\ndef (\w+)", PRELUDE, re.MULTILINE))
# Those that, in a kernel of float32, are of float32 throughout: they choose, or round after every step as NumPy does. And
# those that have a variant for float32.
IN_SINGLE = frozenset(
    "_strong _sign _squared_difference _minimum _maximum _fmin _fmax _clip _relu _round _floor_divide _mod _isclose "
    "_is_close_symmetric".split()
)
SINGLE_HELPERS = {name: f"{name}_single" for name in ("_nan_to_num", "_next_after", "_divisor_unit", "_binary_unit")}
# Where the other helpers are; a module's text is read when none before has what is asked for.
MODULES = (revolve_module, special_scalar, special_integrals, special_quotients, special_parameters)
LOADED: set[str] = set()
SOURCES: dict[str, str] = {}
CONSTANTS: dict[str, Any] = {}


def helper_text(name: str) -> str | None:
    """The source of a function that a kernel may call; None where there is none of the name."""
    if not SOURCES:
        SOURCES.update(functions_of(PRELUDE))
    for module in MODULES:
        if name in SOURCES:
            break
        if module.__name__ not in LOADED:
            spec: Any = module.__spec__
            SOURCES.update(functions_of(spec.loader.get_source(module.__name__)))
            LOADED.add(module.__name__)
    return SOURCES.get(name)


def functions_of(text: str) -> dict[str, str]:
    """The functions at the top of a text, without their decorators."""
    return {
        found[1]: found[0] for found in re.finditer(r"^def (\w+)\(.*?(?=^[^\s)]|\Z)", text, re.MULTILINE | re.DOTALL)
    }


def helper_source(name: str) -> ast.FunctionDef:
    """The syntax of a function that a kernel may call."""
    text = helper_text(name)
    assert text is not None
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.FunctionDef)
    return node


def helper_constants() -> dict[str, Any]:
    """The numbers, and tuples of them, that those functions read."""
    if not CONSTANTS:
        tree = re.findall(r"^([A-Z_]+) = (\(.*?^\)|\S+)", PRELUDE, re.MULTILINE | re.DOTALL)
        CONSTANTS.update({name: ast.literal_eval(value) for name, value in tree})
        CONSTANTS.update({name: x for name, x in BORROWED.items() if x.__class__ in (float, tuple)})
    return CONSTANTS


def borrowed() -> dict[str, Callable[..., Any]]:
    """The functions of ops/special_*.py that texts call, and those that they call: compiled from their source."""
    found: dict[str, Callable[..., Any]] = {}
    pending = sorted({name for text in TEXT.values() for name in re.findall(r"\w+", text)})
    while pending:
        name = pending.pop()
        function = BORROWED.get(name)
        if name not in found and callable(function):
            found[name] = function
            pending.extend(function.__code__.co_names)
    return found


def helpers(compiler: Any) -> dict[str, Any]:
    """The namespace that emitted kernels run in; `compiler` stands for Numba's njit (tests run kernels without it)."""
    import inspect
    import math

    import numpy as np

    namespace: dict[str, Any] = {name: value for name, value in BORROWED.items() if value.__class__ in (float, tuple)}
    sources = [*borrowed().values(), revolve]
    own = "\n\n".join("@compiled\n" + inspect.getsource(function) for function in sources)
    # The gamma function of C is none that a kernel could load: `_gamma` stands for it.
    text = f"from __future__ import annotations\n{PRELUDE}{own.replace('math.gamma(', '_gamma(')}"
    namespace.update(math=math, np=np)
    namespace.update(inlined=compiler(inline="always", error_model="numpy"), compiled=compiler(error_model="numpy"))
    # The source is ours throughout: nothing of any program's text is in it.
    exec(compile(text, "<kernel helpers>", "exec"), namespace)
    return namespace
