"""Programs for tables, by what may go wrong where rows are evaluated together: names to texts.

x and y are floats, n and k integers, v, w and A tensors of a row; kind and side are strings.
"""

PROGRAMS = {
    "branch": "if x > 0:\n    y = sqrt(x)\nelse:\n    y = x**2\ny",
    "value of or": "(x or y) * 2",
    "comparison with a string": "x * y if n == 'none' else y if 'none' != n else 0.0",
    "while": "s = x\nk = 0\nwhile s < 5 and k < 20:\n    s = s * 1.5 + 1\n    k += 1\ns * y",
    "range of a column": "s = 0.0\nfor i in range(n):\n    s += x / (i + 1)\ns",
    "early return": "def f(a, b):\n    if a > 1:\n        return a * b\n    for i in range(3):\n        a = a + b\n        if a > 2:\n            return sin(a)\n    return b\nf(x, y) + f(y, x)",
    "recursion": "def power(a, k):\n    if k < 1:\n        return 1.0\n    return a * power(a, k - 1)\npower(x, n)",
    "list by index of the row": "xs = [x, y, 2.0, x * y]\nxs[n % 4]",
    "integers": "k = n // 2 + 3 * n % 5\nx**k",
    "update of a vector": "v = stack([x, y, 1.0])\nv[0] = x * y\nv[1:] = 2 * v[1:]\nsum(v)",
    "vector result": "stack([x * y, x + y])",
    "list result": "[x * y, x]",
    "where": "where(x > 0, log(x), y)",
    "singular points": "abs(x) + relu(y) + maximum(x, y) + sqrt(abs(x))",
    "singular points in a loop": "s = 0.0\nfor i in range(n):\n    s += abs(x - i * 0.5) * sign(y)\ns",
    "no dependence": "3.0 if x > 0 else 2.0",
    "one side depends": "y * 2 if x > 0 else 1.0",
    "not a number": "log(x) + y",
    "division by zero": "1 / x + y",
    "top-level return": "if x > 0:\n    return x * y\ny",
    "a scan that branches": "def f(c, a):\n    if a > 0:\n        return c * a\n    return c - a\nsum(scan(f, stack([x, y, 1.0]), initializer=y))",
    "a map": "sum(map_fn(lambda t: t**3 * y, [x, y]))",
    "matrices": "A = [[x, y], [y, 2.0]]\ndet(A) + sum(A @ [x, y]) + trace(matmul(A, A))",
    "integer or float": "s = 0\nif x > 0:\n    s = x * y\ns + 1",
}  # fmt: skip


# Some rows fail, and all do.
FAILING = {
    "an assertion": "assert x > 0\nx**2*y",
    "an assertion with a text": "assert x > 0, 'x is below 0'\nx**2*y",
    "an assertion with numbers in its text": "assert x > 0, f'{x} of {y:.3f} and {k}'\nx**2*y",
    "an assertion on a side": "if y > 1.5:\n    assert x > 0\n    y = y*x\nx*y",
    "an assertion in a loop": "s = y\nfor i in range(3):\n    s = s*1.1\n    assert x*s > -1.5, f'at {i}: {s}'\ns*x",
    "an index of a list": "[1.0, 2.0][k]*x",
    "an index of a list of columns": "[x, y][k]*x",
    "an index of a vector": "v[k]*x",
    "an index of a tensor": "array([1.0, 2.0, 5.0])[k]*x",
    "a quotient of integers": "(7 // k)*x",
    "a remainder of integers": "(7 % k)*x",
    "an integer of inf": "z = 1/x if x > 0 else x/0\nint(z)*x",
    "an integer cast of nan": "z = 1/x if x > 0 else 0*x/0\ncast(cast(z, int64), float64)*x",
    "a floor of inf": "import math\nz = 1/x if x > 0 else x/0\nmath.floor(z)*x",
    "a range without steps": "s = x\nfor i in range(0, 5, min(abs(k), 1)):\n    s = s*1.5\ns",
    "a name without a value": "if x > 0:\n    q = 2\nq*x",
    "shapes on a side": "if x > 0:\n    z = sum(v)\nelse:\n    z = sum(v + w)\nz*x",
    "a dtype on a side": "if x > 0:\n    z = y\nelse:\n    z = y + 'a'\nz*x",
    "one after the other": "assert k > -3\n[1.0, 2.0, 3.0][k]*x/(4 // k)",
}
FAILING_IN_ALL = {
    "an assertion": "assert x > 3\nx**2*y",
    "an index": "[1.0][k + 10]*x",
    "an index of a vector": "v[5]*x",
    "shapes": "sum(v + w)*x",
    "a product of vectors": "v @ w*x",
    "a name": "if x > 9:\n    q = 2\nq*x",
}

# Singular points in some rows, and values that are undefined there.
SINGULAR = {
    "a sum": "abs(x) * y + relu(y)",
    "the first on the way back": "a = abs(x)\nb = abs(y)\na + b * 2",
    "branches": "abs(x) if y > 0 else relu(x - 0.5) * y",
    "where it does not matter": "abs(x) * 0.0 + y**2",
    "a loop": "s = 0.0\nfor i in range(3):\n    s += abs(x - 0.5 * i)\ns * y",
    "before an assertion": "def f(u):\n    return abs(u)\ng = grad(f)(x)\nassert y != 0, 'none'\ng * y",
    "after an assertion": "assert x < 1, 'large'\nabs(x) * y",
    "a derivative inside": "grad(lambda u: abs(u) * y)(x) + jvp(lambda u: abs(u), (y,), (1.0,))[1]",
    "a Jacobian inside": "sum(jacobian(lambda u: stack([abs(u), relu(u) * y]))(x))",
    "elements": "v = stack([x, y, x * y])\nsum(abs(v))",
    "all rows": "abs(x - x) * y",
}

# Steps of a row, which a limit counts.
STEPS = {
    "a loop": "s = x\nfor i in range(abs(k)):\n    s = s*1.1\ns",
    "a loop on data": "s = y\nwhile s < 30:\n    s = s*2\ns*x",
    "calls": "def f(t):\n    return t*2\ns = x\nfor i in range(abs(k)):\n    s = f(s)\ns",
    "one side": "s = x\nif x > 0:\n    for i in range(5):\n        s = s*y\nfor i in range(2):\n    s = s + 1\ns",
}

STRINGS = {
    "a branch": 'if kind == "a":\n    r = abs(x)\nelif kind == "b":\n    r = sin(x) * y\nelse:\n    r = x * y**2\nr',
    "a key": 'rates = {"a": 0.1, "b": 0.2, "c": 0.3}\nrates[kind] * x * y',
    "membership": 'x * y if kind in ("a", "b") else y**2',
    "two columns": '(1.0 if side == "long" else -1.0) * (x if kind == "a" else y * x)',
    "beside branches on numbers": 'r = x\nif kind == "b" and x > 0:\n    r = log(x) * y\nr',
    "strings alone": '1.0 if kind == "a" else 2.0',
    "an input that some strings leave out": 'x if kind == "a" else 2 * y',
}

# By vectors and matrices.
OF_TENSORS = {
    "a vector": "sum(v**3) * v[0] + v[1] * v[2]",
    "a vector and a number": "sum(v**2) * x**2 + sin(v[0] * x)",
    "a number and a vector": "x * v[1] + exp(v[2]) * v[0]",
    "a matrix": "A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]**2",
    "a matrix and a vector": "A[0, 1] * v[2]**2 + A[1, 0] * A[0, 0] * sum(v)",
    "branches": "v[0]**2 * x if x > 0 else exp(v[1]) * v[2]",
    "a loop": "s = x\nfor i in range(3):\n    if v[i] > 0:\n        s = s * v[i]\n    else:\n        s = s + v[i]**2\ns",
    "elements that are left out": "v[1]**2",
    "a source that is left out": "x**3 + 0 * v.shape[0]",
    "a norm": "norm(v) * x",
    "zeros below roots": "x**2 * v[0] + (sqrt(v[1] - v[1]) * 0.0 if x > 0.5 else v[2])",
}
