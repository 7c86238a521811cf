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


def memory(code: Statements, x: Var) -> Ref:
    """New memory for a result."""
    code.refs[x] = Ref(code.buffer(x), x.shape)
    return code.refs[x]


def on_matrices(code: Statements, stmt: Apply, out: Var) -> None:
    """Call a function for each matrix of a batch: its arguments are places of the results and operands, memory to work in, sizes."""
    name, inputs, n = stmt.row.name, list(stmt.inputs), stmt.inputs[0].shape[-1]
    given = [code.in_memory(x, FLOAT) for x in inputs]
    made = memory(code, out)
    batch = out.shape[:-2]
    columns = inputs[1].shape[-1] if len(inputs) > 1 else 0
    nest = Nest(code, batch)
    arguments = [f"{made.buffer.name}, {made.at(nest.index)}"]
    for x, ref in zip(inputs, given):
        arguments.append(f"{ref.buffer.name}, {ref.at(fitted(x.shape[:-2], nest.index))}")
    if name == "solve":
        arguments.append(code.buffer(Var(FLOAT, (n, n + columns))).name)
    arguments.append(str(n))
    if columns:
        arguments.append(str(columns))
    if name == "triangular_system":
        arguments += [str(bool(stmt.attributes["lower"])), str(bool(stmt.attributes["adjoint"]))]
    nest.stores += stop_if(f"{FUNCTIONS[name]}({', '.join(arguments)}) != 0")
    nest.emit()


FUNCTIONS = {
    "triangular_system": "triangular_solution", "cholesky": "cholesky_factor", "solve": "linear_solution",
}  # fmt: skip
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
    "triangular_solution": """
def triangular_solution(out, o, a, p, b, q, n, m, lower, adjoint):
    down = lower != adjoint
    for k in range(n):
        i = k if down else n - 1 - k
        pivot = a[p + i * n + i]
        if pivot == 0.0:
            return 1
        for j in range(m):
            out[o + i * m + j] = 0.0
        for t in range(k):
            other = t if down else n - 1 - t
            factor = a[p + other * n + i] if adjoint else a[p + i * n + other]
            for j in range(m):
                out[o + i * m + j] += factor * out[o + other * m + j]
        for j in range(m):
            found = (b[q + i * m + j] - out[o + i * m + j]) / pivot
            if not abs(found) < math.inf:
                return 1
            out[o + i * m + j] = found
    return 0
""",
    "cholesky_factor": """
def cholesky_factor(out, o, x, p, n):
    for j in range(n):
        for i in range(j):
            out[o + i * n + j] = 0.0
        rest = x[p + j * n + j]
        for k in range(j):
            rest -= out[o + j * n + k] * out[o + j * n + k]
        if not 0.0 < rest < math.inf:
            return 1
        root = math.sqrt(rest)
        out[o + j * n + j] = root
        for i in range(j + 1, n):
            total = (x[p + i * n + j] + x[p + j * n + i]) * 0.5
            for k in range(j):
                total -= out[o + i * n + k] * out[o + j * n + k]
            out[o + i * n + j] = total / root
    return 0
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
