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
    return (
        widths
        + "".join(libraries)
        + "".join(f"# {name}{'' if said[0] == '(' else ': '}{said}\n" for name, said in LEGEND.items() if name in words)
    )
