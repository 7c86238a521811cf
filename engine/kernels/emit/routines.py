"""Rows that are computed on whole arrays by functions of their own, which are put before a kernel that calls them.

Arrays are pointers to memory in row-major order. A function that may have to stop the kernel returns 1 for that, and else 0.
"""

from __future__ import annotations

import re

from ..ir import FLOAT, Apply, Var
from .memory import Ref, fitted
from .nest import Nest, stop_if

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .statements import Statements


def solve(code: Statements, stmt: Apply, out: Var) -> None:
    """Solve a system for each matrix of a batch: the arguments are places of the result and operands, memory to work in, sizes."""
    (n, _), columns = stmt.inputs[0].shape[-2:], out.shape[-1]
    refs = [code.in_memory(x, FLOAT) for x in stmt.inputs]
    made = code.refs[out] = Ref(code.buffer(out), out.shape)
    nest = Nest(code, out.shape[:-2])
    places = [f"{made.buffer.name}, {made.at(nest.index)}"]
    for x, ref in zip(stmt.inputs, refs):
        places.append(f"{ref.buffer.name}, {ref.at(fitted(x.shape[:-2], nest.index))}")
    table = code.buffer(Var(FLOAT, (n, n + columns))).name
    nest.stores += stop_if(f"linear_solution({', '.join(places)}, {table}, {n}, {columns}) != 0")
    nest.emit()


SOURCES: dict[str, str] = {
    # The result is out of bounds where the exact one is. Exponents from 64 on matter where the base is -1, 0 or 1 alone.
    "integer_power": """
def integer_power(a, b):
    result = 1
    for _ in range(min(b, 64 + b % 2)):
        if abs(float(result) * float(a)) > 4.6e18:
            return 4611686018427387905
        result = result * a
    return result
""",
    "eliminated": """
def eliminated(table, n, width):
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(table[i * width + k]) > abs(table[best * width + k]):
                best = i
        if best != k:
            for j in range(width):
                kept = table[k * width + j]
                table[k * width + j] = table[best * width + j]
                table[best * width + j] = kept
        pivot = table[k * width + k]
        if pivot != 0.0:
            for i in range(k + 1, n):
                factor = table[i * width + k] / pivot
                for j in range(k + 1, width):
                    table[i * width + j] -= factor * table[k * width + j]
""",
    "linear_solution": """
def linear_solution(out, o, a, p, b, q, table, n, m):
    width = n + m
    for i in range(n):
        for j in range(n):
            table[i * width + j] = a[p + i * n + j]
        for j in range(m):
            table[i * width + n + j] = b[q + i * m + j]
    eliminated(table, n, width)
    for t in range(n):
        i = n - 1 - t
        pivot = table[i * width + i]
        if pivot == 0.0:
            return 1
        for j in range(m):
            total = table[i * width + n + j]
            for k in range(i + 1, n):
                total -= table[i * width + k] * out[o + k * m + j]
            if not abs(total / pivot) < math.inf:
                return 1
            out[o + i * m + j] = total / pivot
    return 0
""",
}
CALLS = re.compile(r"\b([a-z_]+)\(")


def sources(text: str) -> dict[str, str]:
    """The functions of this module that a text calls, by name, in the order in which they call each other."""
    found: dict[str, str] = {}
    for name in CALLS.findall(text):
        if name in SOURCES and name not in found:
            found.update(sources(SOURCES[name].partition(":")[2]))
            found[name] = SOURCES[name].strip() + "\n\n"
    return found
