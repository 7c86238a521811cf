"""Programs of each kind of code, with the same gradient written by hand for Numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Workload:
    """A program, its inputs, and the same gradient by hand; `by_hand` returns the value and the gradients of `wrt`."""

    def __init__(self, name: str, program: str, point: dict[str, Any], by_hand: Any, wrt: list[str]) -> None:
        self.name = name
        self.program = program
        self.point = point
        self.by_hand = by_hand
        self.wrt = wrt


def workloads() -> list[Workload]:
    import math

    import numpy as np
    from numba import njit

    compiled = njit(error_model="numpy")
    draw = np.random.default_rng(7)
    found: list[Workload] = []

    def add(name: str, program: str, wrt: list[str], **point: Any) -> Callable[[Any], Any]:
        def keep(function: Any) -> Any:
            found.append(Workload(name, program, point, compiled(function), wrt))
            return function

        return keep

    @add(
        "branching loop, 10^6",
        """
y = x
for i in range(n):
    if y > 1.0:
        y = y * 0.5 + a
    else:
        y = y + x * 0.1
y
""",
        ["x", "a"],
        x=0.7,
        a=0.3,
        n=1_000_000,
    )
    def branching(x: float, a: float, n: int) -> Any:
        heads = np.empty(n)
        y = x
        for i in range(n):
            heads[i] = y
            y = y * 0.5 + a if y > 1.0 else y + x * 0.1
        dy, dx, da = 1.0, 0.0, 0.0
        for i in range(n - 1, -1, -1):
            if heads[i] > 1.0:
                da += dy
                dy *= 0.5
            else:
                dx += dy * 0.1
        return y, dx + dy, da

    @add(
        "sum over pairs of 1500",
        """
e = 0.0
for i in range(len(v)):
    for j in range(i):
        d = v[i] - v[j]
        e += exp(-d * d) / (1 + d * d)
e
""",
        ["v"],
        v=np.linspace(-3, 3, 1500),
    )
    def pairs(v: Any) -> Any:
        total = 0.0
        slopes = np.zeros(v.size)
        for i in range(v.size):
            for j in range(i):
                d = v[i] - v[j]
                term = math.exp(-d * d) / (1 + d * d)
                total += term
                slope = -2 * d * term * (1 + 1 / (1 + d * d))
                slopes[i] += slope
                slopes[j] -= slope
        return total, slopes

    @add(
        "pairs without exp, 2000",
        """
e = 0.0
for i in range(len(v)):
    for j in range(i):
        d = v[i] - v[j]
        e += 1 / (1 + d * d)
e
""",
        ["v"],
        v=np.linspace(-3, 3, 2000),
    )
    def plain_pairs(v: Any) -> Any:
        total = 0.0
        slopes = np.zeros(v.size)
        for i in range(v.size):
            collected = 0.0
            for j in range(i):
                d = v[i] - v[j]
                term = 1.0 / (1.0 + d * d)
                total += term
                slope = -2 * d * term * term
                collected += slope
                slopes[j] -= slope
            slopes[i] += collected
        return total, slopes

    @add("element-wise chain, 10^6", "sum((v * v + 1) * v / (2 + v * v))", ["v"], v=draw.normal(size=1_000_000))
    def chain(v: Any) -> Any:
        total = 0.0
        slopes = np.empty(v.size)
        for i in range(v.size):
            x = v[i]
            bottom = 2.0 + x * x
            value = (x * x + 1.0) * x / bottom
            total += value
            slopes[i] = (3.0 * x * x + 1.0 - 2.0 * x * value) / bottom
        return total, slopes

    @add(
        "chain in named steps, 10^6",
        "a = sin(v)\nb = a * v + 1\nc = b * b / (2 + v * v)\nsum(c * a)",
        ["v"],
        v=draw.normal(size=1_000_000),
    )
    def steps(v: Any) -> Any:
        total = 0.0
        slopes = np.empty(v.size)
        for i in range(v.size):
            x = v[i]
            a, da = math.sin(x), math.cos(x)
            b = a * x + 1.0
            bottom = 2.0 + x * x
            c = b * b / bottom
            total += c * a
            slopes[i] = c * da + a * (2.0 * b * (da * x + a) - 2.0 * x * c) / bottom
        return total, slopes

    @add(
        "dense layer with tanh, 256x64x64",
        "sum(tanh(x @ w + b) * y)",
        ["w", "b"],
        x=draw.normal(size=(256, 64)),
        w=draw.normal(size=(64, 64)) / 8,
        b=draw.normal(size=64),
        y=draw.normal(size=(256, 64)),
    )
    def dense(x: Any, w: Any, b: Any, y: Any) -> Any:
        rows, inner, columns = x.shape[0], x.shape[1], w.shape[1]
        total = 0.0
        dw = np.zeros((inner, columns))
        db = np.zeros(columns)
        z = np.empty(columns)
        for i in range(rows):
            for j in range(columns):
                z[j] = b[j]
            for k in range(inner):
                for j in range(columns):
                    z[j] += x[i, k] * w[k, j]
            for j in range(columns):
                t = math.tanh(z[j])
                total += t * y[i, j]
                z[j] = y[i, j] * (1.0 - t * t)
                db[j] += z[j]
            for k in range(inner):
                for j in range(columns):
                    dw[k, j] += x[i, k] * z[j]
        return total, dw, db

    @add(
        "logsumexp over rows, 2000x100",
        "sum(log(sum(exp(x), axis=1)))",
        ["x"],
        x=draw.normal(size=(2000, 100)),
    )
    def logsumexp(x: Any) -> Any:
        rows, columns = x.shape
        total = 0.0
        slopes = np.empty((rows, columns))
        for i in range(rows):
            s = 0.0
            for j in range(columns):
                slopes[i, j] = math.exp(x[i, j])
                s += slopes[i, j]
            total += math.log(s)
            for j in range(columns):
                slopes[i, j] /= s
        return total, slopes

    @add(
        "chained Rosenbrock, 10^6",
        "sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)",
        ["x"],
        x=draw.normal(size=1_000_000),
    )
    def rosenbrock(x: Any) -> Any:
        n = x.size
        total = 0.0
        slopes = np.zeros(n)
        for i in range(n - 1):
            a, b = x[i + 1] - x[i] * x[i], 1.0 - x[i]
            total += 100.0 * a * a + b * b
            slopes[i] += -400.0 * a * x[i] - 2.0 * b
            slopes[i + 1] += 200.0 * a
        return total, slopes

    add(
        "Rosenbrock in a loop, 10^6",
        """
s = 0.0
for i in range(len(x) - 1):
    s += 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
s
""",
        ["x"],
        x=draw.normal(size=1_000_000),
    )(rosenbrock)

    @add(
        "Lorenz equations, 3 numbers, 10^6 steps",
        """
x = x0
y = 1.0
z = 1.0
for i in range(n):
    dx = s * (y - x)
    dy = x * (r - z) - y
    dz = x * y - b * z
    x = x + 0.0001 * dx
    y = y + 0.0001 * dy
    z = z + 0.0001 * dz
x + y + z
""",
        ["x0", "s", "r", "b"],
        x0=1.0,
        s=10.0,
        r=28.0,
        b=2.5,
        n=1_000_000,
    )
    def lorenz(x0: float, s: float, r: float, b: float, n: int) -> Any:
        xs, ys, zs = np.empty(n), np.empty(n), np.empty(n)
        x, y, z = x0, 1.0, 1.0
        for i in range(n):
            xs[i], ys[i], zs[i] = x, y, z
            dx, dy, dz = s * (y - x), x * (r - z) - y, x * y - b * z
            x, y, z = x + 0.0001 * dx, y + 0.0001 * dy, z + 0.0001 * dz
        total = x + y + z
        ax, ay, az, gs, gr, gb = 1.0, 1.0, 1.0, 0.0, 0.0, 0.0
        for i in range(n - 1, -1, -1):
            x, y, z = xs[i], ys[i], zs[i]
            hx, hy, hz = 0.0001 * ax, 0.0001 * ay, 0.0001 * az
            gs += hx * (y - x)
            gr += hy * x
            gb -= hz * z
            ax += -s * hx + (r - z) * hy + y * hz
            ay += s * hx - hy + x * hz
            az += -x * hy - b * hz
        return total, ax, gs, gr, gb

    @add(
        "Lorenz 96, an array of 8, 10^5 steps",
        """
y = y0
for i in range(n):
    d = zeros(8)
    for j in range(8):
        d[j] = (y[(j + 1) % 8] - y[(j + 6) % 8]) * y[(j + 7) % 8] - y[j] + f
    y = y + 0.001 * d
sum(y)
""",
        ["y0", "f"],
        y0=draw.normal(size=8),
        f=8.0,
        n=100_000,
    )
    def lorenz96(y0: Any, f: float, n: int) -> Any:
        heads = np.empty((n, 8))
        y = y0.copy()
        d = np.empty(8)
        for i in range(n):
            heads[i] = y
            for j in range(8):
                d[j] = (y[(j + 1) % 8] - y[(j + 6) % 8]) * y[(j + 7) % 8] - y[j] + f
            for j in range(8):
                y[j] += 0.001 * d[j]
        total = y.sum()
        dy = np.ones(8)
        df = 0.0
        for i in range(n - 1, -1, -1):
            h = heads[i]
            for j in range(8):
                d[j] = 0.001 * dy[j]
            for j in range(8):
                g = d[j]
                dy[(j + 1) % 8] += g * h[(j + 7) % 8]
                dy[(j + 6) % 8] -= g * h[(j + 7) % 8]
                dy[(j + 7) % 8] += g * (h[(j + 1) % 8] - h[(j + 6) % 8])
                dy[j] -= g
                df += g
        return total, dy, df

    @add(
        "recurrent layer of 10, 20,000 steps",
        """
h = h0
for t in range(n):
    h = tanh(w @ h + b)
sum(h)
""",
        ["w", "b"],
        h0=draw.normal(size=10),
        w=draw.normal(size=(10, 10)) / 3,
        b=draw.normal(size=10),
        n=20_000,
    )
    def recurrent(h0: Any, w: Any, b: Any, n: int) -> Any:
        m = h0.size
        heads = np.empty((n + 1, m))
        heads[0] = h0
        for t in range(n):
            for i in range(m):
                s = b[i]
                for j in range(m):
                    s += w[i, j] * heads[t, j]
                heads[t + 1, i] = math.tanh(s)
        dh = np.ones(m)
        back = np.empty(m)
        dw = np.zeros((m, m))
        db = np.zeros(m)
        for t in range(n - 1, -1, -1):
            for j in range(m):
                back[j] = 0.0
            for i in range(m):
                y = heads[t + 1, i]
                g = dh[i] * (1.0 - y * y)
                db[i] += g
                for j in range(m):
                    dw[i, j] += g * heads[t, j]
                    back[j] += g * w[i, j]
            dh, back = back, dh
        return heads[n].sum(), dw, db

    @add(
        "inner loop of 20, 50,000 times",
        """
y = x
for i in range(n):
    z = y
    for j in range(20):
        z = z * a + 0.1 * z * z
    y = 0.5 * y + 0.1 * z + 0.1 * x
y
""",
        ["x", "a"],
        x=0.4,
        a=0.8,
        n=50_000,
    )
    def inner(x: float, a: float, n: int) -> Any:
        heads = np.empty(n)
        zs = np.empty(20)
        y = x
        for i in range(n):
            heads[i] = y
            z = y
            for _ in range(20):
                z = z * a + 0.1 * z * z
            y = 0.5 * y + 0.1 * z + 0.1 * x
        dy, dx, da = 1.0, 0.0, 0.0
        for i in range(n - 1, -1, -1):
            z = heads[i]
            for j in range(20):
                zs[j] = z
                z = z * a + 0.1 * z * z
            dz = 0.1 * dy
            dx += 0.1 * dy
            dy *= 0.5
            for j in range(19, -1, -1):
                da += dz * zs[j]
                dz *= a + 0.2 * zs[j]
            dy += dz
        return y, dx + dy, da

    @add(
        "Newton's iteration, while and break, 50,000 times",
        """
s = 0.0
for i in range(n):
    t = a + 0.001 * i
    z = t
    k = 0
    while k < 50:
        d = (z * z - t) / (2 * z)
        z = z - d
        if abs(d) < 1e-9:
            break
        k += 1
    s += z
s
""",
        ["a"],
        a=2.0,
        n=50_000,
    )
    def newton(a: float, n: int) -> Any:
        s, da = 0.0, 0.0
        zs = np.empty(50)
        for i in range(n):
            t = a + 0.001 * i
            z, k = t, 0
            while k < 50:
                zs[k] = z
                d = (z * z - t) / (2 * z)
                z -= d
                k += 1
                if abs(d) < 1e-9:
                    break
            s += z
            dz, dt = 1.0, 0.0
            for m in range(k - 1, -1, -1):
                z = zs[m]
                dt += dz / (2 * z)
                dz *= 0.5 - t / (2 * z * z)
            da += dz + dt
        return s, da

    @add(
        "array filled in a loop, 10^5",
        """
w = zeros(100000)
w[0] = x[0]
for i in range(1, 100000):
    w[i] = 0.9 * w[i - 1] + x[i] * x[i]
sum(w * w)
""",
        ["x"],
        x=draw.normal(size=100_000),
    )
    def filled(x: Any) -> Any:
        n = x.size
        w = np.empty(n)
        w[0] = x[0]
        total = w[0] * w[0]
        for i in range(1, n):
            w[i] = 0.9 * w[i - 1] + x[i] * x[i]
            total += w[i] * w[i]
        slopes = np.empty(n)
        g = 0.0
        for i in range(n - 1, 0, -1):
            g += 2.0 * w[i]
            slopes[i] = 2.0 * g * x[i]
            g *= 0.9
        slopes[0] = g + 2.0 * w[0]
        return total, slopes

    return found
