"""What to write for a name that is not bound, and was hardly meant as an input."""

from __future__ import annotations

from .core.errors import span_of
from .program.vocabulary import FORBIDDEN, MODULES, bare, is_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..parser.source import Span
    from .api import Program


# What JSON and other languages call Python's constants.
CONSTANTS = {"true": "True", "false": "False", "null": "None", "none": "None", "nil": "None", "NULL": "None"}


def unbound_hint(program: Program, name: str) -> str | None:
    """What to write for a name that was hardly meant as an input; None for one that may have been."""
    if name in CONSTANTS:
        return f"write {CONSTANTS[name]}, as in Python"
    if name in MODULES:
        return f"'{name}' is a module, and a module is no value: write what is meant of it, as in {name}.name(x)"
    span = first_use(program, name)
    if span is not None and span.source.text[span.end : span.end + 1] == ".":
        return (
            f"bind the input: --at {name}=...; if it is meant as a module: NumPy's names stand under np, TensorFlow's "
            "under tf, JAX's under jnp, Python's under math"
        )
    if is_function(bare(name)):
        return f"'{name}' is a function, to be called: {name}(...); an input of that name is bound by --at {name}=..."
    return None


def of_python(names: list[str]) -> str:
    """What to add for names that Python has functions of, and the language has none."""
    found = [f"'{name}'" for name in names if name in FORBIDDEN]
    return f" (Python's {' and '.join(found)} cannot be reached from here)" if found else ""


def first_use(program: Program, name: str) -> Span | None:
    """The first place where an input is read, for the diagnostic of one that is not bound."""
    return span_of(program.core.places[name])
