"""What the source of a kernel names beside its own variables, and comments that say what it is."""

from __future__ import annotations

import builtins
import keyword
import re

from ..machine.externals import EXTERNALS, ROUTINES
from .primitives import TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..emitted import Emitted

LEGEND = {
    "run": "what the kernel shares with its caller",
    "floats": "(run, k, n): memory number k, with room for n numbers",
    "ints": "(run, k, n): the same for integers",
    "bools": "(run, k, n): the same for truth values",
    "few_floats": "(n): a short array",
    "few_ints": "(n): a short array of integers",
    "few_bools": "(n): a short array of truth values",
    "doubles": "(run, k, n): memory number k of float64, where floats are float32",
    "few_doubles": "(n): a short array of float64",
    "held": "(k, n): known numbers, n of them, as they came out when the kernel was made",
    "clear": "(a, n): n zeros",
    "prange": "(n): range(n) in any order, for several cores",
    "poll": "(run, k): Ctrl-C or a time limit ends the kernel here",
    "fail": "(run, k, i): an error ends the kernel here",
    "_strong": "(g, p): g * p, and 0 where g is 0",
}
# What the helpers do whose text is longer than a line.
HELPERS = {
    "_binary_unit": "the power of 2 that brings x to between 1/2 and 1",
    "_binary_unit_single": "the same for float32",
    "_rotation_tangent": "the tangent of the rotation that makes [[a, b], [b, d]] diagonal",
    "_round": "x rounded to so many decimals, halves to even",
    "_next_after": "the float next to a towards b",
    "_next_after_single": "the same for float32",
    "_floor_divide": "a // b of floats",
    "_mod": "a % b of floats",
    "_clip": "x, but no less than low and no more than high",
    "_sech": "1/cosh(x)",
    "_sigmoid": "1/(1 + exp(-x))",
    "_log_cosh": "log(cosh(x)), without overflow",
    "_logit": "log(p/(1 - p))",
    "_logaddexp": "log(exp(a) + exp(b)), without overflow",
    "_logaddexp2": "log2(2**a + 2**b), without overflow",
    "_whole": "the integer that x is; OverflowError hands the program to the tape",
    "_int_add": "a + b; OverflowError, beyond 64 bits, hands the program to the tape",
    "_int_subtract": "a - b, likewise",
    "_int_multiply": "a * b, likewise",
    "_int_power": "a**b, likewise",
    "_int_factorial": "n!, likewise",
    "_int_gcd": "the greatest common divisor of integers that are not negative",
    "_int_lcm": "their least common multiple; OverflowError hands the program to the tape",
    "_int_comb": "n!/(k! (n - k)!), likewise",
    "_divisor": "b, which is not 0: that is an error",
    "_gamma": "the gamma function",
    "_lanczos_sum": "the sum in Lanczos' approximation of the gamma function",
    "_sin_of_half_turns": "sin(pi*x)",
    "_nan_to_num": "x, or what stands for nan, inf and -inf",
    "_nan_to_num_single": "the same for float32",
    "_isclose": "whether |a - b| <= atol + rtol*|b|",
    "_is_close_symmetric": "whether |a - b| <= max(rel_tol*max(|a|, |b|), abs_tol)",
    "_entr": "-x*log(x), 0 at 0",
    "_rel_entr": "x*log(x/y), 0 where x is 0",
}

# What an input may not be called: whatever the source of a kernel names by itself, and Python's own words.
RESERVED = frozenset(
    [
        *keyword.kwlist, *dir(builtins), *LEGEND, *EXTERNALS, *ROUTINES, "kernel", "math", "np",
        *re.findall(r"(?<![.\w{])[A-Za-z_]\w*", " ".join(TEXT.values())),
    ]
)  # fmt: skip


def legend(emitted: Emitted) -> str:
    """Comments that say what a kernel's source calls beside arithmetic, and what its floats are."""
    text = emitted.text
    widths = ""
    if emitted.single:
        wide = ", ".join([*emitted.sums, *emitted.doubles])
        widths = "# floats are float32" + (f"; in float64: {wide}" if wide else "") + "\n"
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    libraries = [f"# {name}: SciPy's {EXTERNALS[name].name}\n" for name in sorted(words & set(EXTERNALS))]
    libraries += [
        f"# {name}(x, y, n, m): {ROUTINES[name].row} of the n by m matrix x in y, after a 1 that says it succeeded\n"
        for name in sorted(words & set(ROUTINES))
    ]
    from .helpers import helper_text

    helpers = [f"# {explained(name)}\n" for name in sorted(words - set(LEGEND)) if helper_text(name) is not None]
    return (
        widths
        + "".join(libraries)
        + "".join(f"# {name}{'' if said[0] == '(' else ': '}{said}\n" for name, said in LEGEND.items() if name in words)
        + "".join(helpers)
    )


def explained(name: str) -> str:
    """A helper and what it does: in words, or by its formula."""
    import ast

    from .helpers import helper_source

    function = helper_source(name)
    head = f"{name}({', '.join(parameter.arg for parameter in function.args.args)})"
    said = HELPERS.get(name) or ast.get_docstring(function)
    if said is None:
        (line,) = function.body
        assert isinstance(line, ast.Return)
        assert line.value is not None
        said = ast.unparse(line.value)
    return f"{head}: {said.splitlines()[0].rstrip('.')}"
