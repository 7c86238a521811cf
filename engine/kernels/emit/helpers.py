"""The functions that emitted code calls on whole arrays, as source text that is put before a kernel which calls them.

Arrays are pointers to memory in row-major order. A function that may have to stop the kernel returns 1 for that, and else 0.
"""

from __future__ import annotations

import re

SOURCES: dict[str, str] = {
    # The result is out of bounds where the exact one is, and for negative exponents.
    "integer_power": """
def integer_power(a, b):
    if b < 0:
        return 4611686018427387905
    result = 1
    for _ in range(b if abs(a) > 1 else min(b, 2 - b % 2)):
        if abs(float(result) * float(a)) > 4.6e18:
            return 4611686018427387905
        result = result * a
    return result
""",
    "running_sum": """
def running_sum(out, x, outer, n, inner, exclusive, reverse, zero, check):
    for o in range(outer):
        for i in range(inner):
            total = zero
            for k in range(n):
                at = (o * n + (n - 1 - k if reverse else k)) * inner + i
                if exclusive:
                    out[at] = total
                total = total + x[at]
                if check and abs(total) > 4611686018427387904:
                    return 1
                if not exclusive:
                    out[at] = total
    return 0
""",
    "linear_states": """
def linear_states(out, a, b, n, inner, reverse, strong):
    for k in range(n):
        at = (n - 1 - k if reverse else k) * inner
        before = at + inner if reverse else at - inner
        for i in range(inner):
            found = b[at + i]
            if k > 0:
                state = out[before + i]
                if not strong or state != 0.0:
                    found = found + a[at + i] * state
            out[at + i] = found
""",
    "sorted_places": """
def sorted_places(out, spare, x, outer, n, inner, descending):
    for o in range(outer):
        for i in range(inner):
            base = o * n * inner + i
            source, target = 0, n
            for k in range(n):
                spare[k] = k
            width = 1
            while width < n:
                start = 0
                while start < n:
                    middle, end = min(start + width, n), min(start + 2 * width, n)
                    left, right = start, middle
                    for k in range(start, end):
                        take = left < middle
                        if take and right < end:
                            a = x[base + spare[source + left] * inner]
                            b = x[base + spare[source + right] * inner]
                            # nan is larger than any number; of equal elements the earlier one comes first.
                            if descending:
                                take = not (a < b or (b != b and a == a))
                            else:
                                take = not (b < a or (a != a and b == b))
                        if take:
                            spare[target + k] = spare[source + left]
                            left += 1
                        else:
                            spare[target + k] = spare[source + right]
                            right += 1
                    start = end
                source, target = target, source
                width = 2 * width
            for k in range(n):
                out[base + k * inner] = spare[source + k]
""",
    "search_place": """
def search_place(a, start, n, value, right):
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        x = a[start + middle]
        if right:
            further = not (value < x or (x != x and value == value))
        else:
            further = x < value or (value != value and x == x)
        if further:
            low = middle + 1
        else:
            high = middle
    return low
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
def eliminated(table, sides, o, n, m):
    sign = 1.0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(table[i * n + k]) > abs(table[best * n + k]):
                best = i
        if best != k:
            sign = -sign
            for j in range(n):
                kept = table[k * n + j]
                table[k * n + j] = table[best * n + j]
                table[best * n + j] = kept
            for j in range(m):
                kept = sides[o + k * m + j]
                sides[o + k * m + j] = sides[o + best * m + j]
                sides[o + best * m + j] = kept
        pivot = table[k * n + k]
        if pivot != 0.0:
            for i in range(k + 1, n):
                factor = table[i * n + k] / pivot
                for j in range(k + 1, n):
                    table[i * n + j] -= factor * table[k * n + j]
                for j in range(m):
                    sides[o + i * m + j] -= factor * sides[o + k * m + j]
    return sign
""",
    "linear_solution": """
def linear_solution(out, o, a, p, b, q, table, n, m, unit):
    for i in range(n * n):
        table[i] = a[p + i]
    for i in range(n):
        for j in range(m):
            out[o + i * m + j] = (1.0 if i == j else 0.0) if unit else b[q + i * m + j]
    eliminated(table, out, o, n, m)
    for t in range(n):
        i = n - 1 - t
        pivot = table[i * n + i]
        if pivot == 0.0:
            return 1
        for k in range(i + 1, n):
            factor = table[i * n + k]
            for j in range(m):
                out[o + i * m + j] -= factor * out[o + k * m + j]
        for j in range(m):
            out[o + i * m + j] = out[o + i * m + j] / pivot
            if not abs(out[o + i * m + j]) < math.inf:
                return 1
    return 0
""",
    "determinant": """
def determinant(out, o, a, p, table, n):
    for i in range(n * n):
        table[i] = a[p + i]
    total = eliminated(table, table, 0, n, 0)
    for k in range(n):
        pivot = table[k * n + k]
        product = total * pivot
        if not (1e-300 <= abs(product) < math.inf) and pivot != 0.0 and total != 0.0:
            return 1
        total = product
    out[o] = total
    return 0
""",
    "log_determinant": """
def log_determinant(out, logs, o, a, p, table, n):
    for i in range(n * n):
        table[i] = a[p + i]
    sign, total = eliminated(table, table, 0, n, 0), 0.0
    for k in range(n):
        pivot = table[k * n + k]
        if pivot == 0.0 or pivot != pivot:
            return 1
        if pivot < 0.0:
            sign = -sign
        total += math.log(abs(pivot))
    out[o] = sign
    logs[o] = total
    return 0
""",
}
for _name, _combine in {
    "running_product": "total * found",
    "running_maximum": "total if total >= found or total != total else found",
    "running_minimum": "total if total <= found or total != total else found",
    "running_logaddexp": "_logaddexp(total, found)",
}.items():
    SOURCES[_name] = f"""
def {_name}(out, x, outer, n, inner, check):
    for o in range(outer):
        for i in range(inner):
            total = x[o * n * inner + i]
            for k in range(n):
                at = (o * n + k) * inner + i
                if k > 0:
                    found = x[at]
                    if check and abs(float(total) * float(found)) > 4.6e18:
                        return 1
                    total = {_combine}
                out[at] = total
    return 0
"""
CALLS = re.compile(r"\b([a-z_]+)\(")


def sources(text: str) -> dict[str, str]:
    """The functions of this module that a text calls, by name, in the order in which they call each other."""
    found: dict[str, str] = {}

    def visit(calls: str) -> None:
        for name in dict.fromkeys(CALLS.findall(calls)):
            if name in SOURCES and name not in found:
                source = SOURCES[name].strip()
                visit(source.partition("\n")[2])
                found[name] = source + "\n\n"

    visit(text)
    return found
