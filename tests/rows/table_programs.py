"""Programs for tables, by what may go wrong where rows are evaluated together: names to texts.

x and y are floats, n and k integers, v, w and A tensors of a row; kind and side are strings.
"""

TAPE = "with GradientTape() as t:\n    t.watch(x)\n"
FAILS_AT_ZERO = "def f(u):\n    assert x != 0\n    return u**3\n"

PROGRAMS = {
    "branch": "if x > 0:\n    y = sqrt(x)\nelse:\n    y = x**2\ny",
    "branch of one side": "z = x\nif x > 1:\n    z = z * y\nz",
    "nested branches": "if x > 0:\n    if y > 0:\n        z = x * y\n    else:\n        z = sin(x)\nelif y > 1:\n    z = y\nelse:\n    z = 0\nz",
    "choice": "sqrt(x) if x > 0 else y * x",
    "and or": "1.0 if x > 0 and 1 / x > 1 or y > 2 else x * y",
    "value of or": "(x or y) * 2",
    "chain of comparisons": "x * y if -1 < x <= y else y",
    "membership": "x * y if n in (1, 3) or x in [0.5, 7.25] else y**2 if n not in range(2, 5) else y",
    "comparison with a string": "x * y if n == 'none' else y if 'none' != n else 0.0",
    "not": "y if not x else x",
    "while": "s = x\nk = 0\nwhile s < 5 and k < 20:\n    s = s * 1.5 + 1\n    k += 1\ns * y",
    "range of a column": "s = 0.0\nfor i in range(n):\n    s += x / (i + 1)\ns",
    "range from a column": "s = 0.0\nfor i in range(n, 6, 2):\n    s += x * i\ns",
    "break and continue": "s = x\nfor i in range(6):\n    if s > 3:\n        break\n    if i == n:\n        continue\n    s = s + y * i + 0.5\nelse:\n    s = -s\ns",
    "early return": "def f(a, b):\n    if a > 1:\n        return a * b\n    for i in range(3):\n        a = a + b\n        if a > 2:\n            return sin(a)\n    return b\nf(x, y) + f(y, x)",
    "recursion": "def power(a, k):\n    if k < 1:\n        return 1.0\n    return a * power(a, k - 1)\npower(x, n)",
    "closure": "def scale(a):\n    return a * x\nz = scale(y) if y > 0 else scale(2 * y)\nz",
    "mutual recursion": "def even(k):\n    return 1.0 if k == 0 else odd(k - 1)\ndef odd(k):\n    return x if k == 0 else even(k - 1)\neven(n)",
    "list": "xs = [x, y, x * y]\nsum([a**2 for a in xs])",
    "list by index of the row": "xs = [x, y, 2.0, x * y]\nxs[n % 4]",
    "constants by index of the row": "[1.0, 2.0, 4.0, 8.0][n % 4] * x",
    "tuple": "a, b = (x, y) if x > y else (y, x)\na - b**2",
    "integers": "k = n // 2 + 3 * n % 5\nx**k",
    "integer functions": "int(x) * y + round(y) + floor(x)",
    "extremes": "max(x, y, 0.5) - min(x, y)",
    "abs": "abs(x) + abs(n - 2)",
    "vector": "v = stack([x, y, 1.0])\nsum(v * v) + v[1]",
    "update of a vector": "v = stack([x, y, 1.0])\nv[0] = x * y\nv[1:] = 2 * v[1:]\nsum(v)",
    "vector result": "stack([x * y, x + y])",
    "list result": "[x * y, x]",
    "where": "where(x > 0, log(x), y)",
    "stable forms": "sqrt(x**2 + y**2) + log(1 + exp(x)) + sqrt(x + 9) - sqrt(x + 8)",
    "singular points": "abs(x) + relu(y) + maximum(x, y) + sqrt(abs(x))",
    "singular points in a loop": "s = 0.0\nfor i in range(n):\n    s += abs(x - i * 0.5) * sign(y)\ns",
    "no dependence": "3.0 if x > 0 else 2.0",
    "one side depends": "y * 2 if x > 0 else 1.0",
    "not a number": "log(x) + y",
    "division by zero": "1 / x + y",
    "assertion of all": "assert x < 100, 'large'\nx * y",
    "lambda": "f = lambda a: a**2 if a > 0 else -a\nf(x) + f(y)",
    "else of a loop": "s = 0.0\nfor i in range(3):\n    s += x\n    if s > 2:\n        break\nelse:\n    s = y\ns",
    "while with return": "def f(a):\n    while True:\n        a = a + 1.25\n        if a > 4:\n            return a * x\nf(y)",
    "nested loops": "s = 0.0\nfor i in range(n):\n    for j in range(i):\n        if x * j > 2:\n            break\n        s += x * y * j\ns",
    "top-level return": "if x > 0:\n    return x * y\ny",
    "a scan": "c, ys = scan(lambda c, a: (c + a * x, c * a), y, stack([x, y, 2.0]))\nsum(ys) * c",
    "a scan that branches": "def f(c, a):\n    if a > 0:\n        return c * a\n    return c - a\nsum(scan(f, stack([x, y, 1.0]), initializer=y))",
    "a map": "sum(map_fn(lambda t: t**3 * y, [x, y]))",
    "a vectorized map": "sum(vmap(lambda a, b: sin(a) * b * x)(stack([x, y]), stack([y, 1.0])))",
    "a map of an operation": "sum(vmap(sin)(stack([x, y])))",
    "folds": "foldl(lambda c, a: c * a + y, stack([x, y]), x) + foldr(lambda c, a: c - a * x, stack([x, y, 1.0]), 0.0)",
    "a loop that is a function": "s, k = while_loop(lambda s, k: s < 5 + x, lambda s, k: (s * 1.5 + 1, k + 1), (abs(x), 0))\ns * y + k",
    "a loop of a body that fails": "def f(s):\n    assert s != 2.5, 'no'\n    return s + 1.0\nwhile_loop(lambda s: s < 4, f, x) * y",
    "a bounded loop": "while_loop(lambda s: s < 5, lambda s: s + y, x, maximum_iterations=3)",
    "a branch that is a function": "cond(x > 0, lambda a: a * sqrt(x), lambda a: a * x, y) + cond(y > 1, 2.0, x)",
    "counted loops and cases": "fori_loop(0, 3, lambda i, s: s * y + i, x) + switch_case(1, [lambda a: a, lambda a: a * y], x)",
    "a partial function": "partial(lambda a, b: a * b**2, x)(y)",
    "a tree": "d = tree_map(lambda a, b: a * b, {'a': x, 'b': [y]}, {'a': y, 'b': [y]})\nd['a'] + d['b'][0]",
    "matrices": "A = [[x, y], [y, 2.0]]\ndet(A) + sum(A @ [x, y]) + trace(matmul(A, A))",
    "tensors of a dtype": "det(array([[2.0, x], [x, 3.0]])) * array(y) + sum(tf.constant([x, 2], dtype='float64'))",
    "an element by the place of the largest": "v = stack([x, y, 1.0])\nv[argmax(v)] * v[argmin(v)] + sum(sort(v) * [1.0, 2.0, 3.0])",
    "truths of elements": "v = stack([x, y])\nx * y if any(v > 1) else y if all(v < 0.3) else x",
    "integer or float": "s = 0\nif x > 0:\n    s = x * y\ns + 1",
}  # fmt: skip

# Items that only some rows replace, or each row at a place of its own.
ITEMS = {
    "an element on each branch": "a = zeros(3)\na[0] = y\nif x > 0:\n    a[1] = x**2\nelse:\n    a[2] = x\nsum(a * a)",
    "an element changed in a loop": "a = ones(3)\nfor i in range(3):\n    if x > i - 1:\n        a[i] = x * y\n    else:\n        a[i] += y\n    a[i] *= 2.0\nsum(a**2)",
    "an element of a matrix": "A = zeros((2, 2))\nA[0, 0] = x\nif x > 0:\n    A[0, 1] = y\nelse:\n    A[1, 0] += y\nA[0, 0] * A[0, 1] + A[1, 0] * x",
    "an item of a list": "a = [1.0, 2.0, 3.0]\nif x > 0:\n    a[1] = x**2\na[0] * a[1] + a[2] * y",
    "an item changed on both branches": "a = [x, y, x * y]\nif x > 0:\n    a[-1] *= 2.0\n    a[0] = 1.0\nelse:\n    a[1] = a[2] + y\na[0] * a[1] * a[2]",
    "an item seen under another name": "a = [x, y]\nb = a\nif y > 0:\n    a[0] = x * y\nb[0] + 2 * a[0] * b[1]",
    "an item of a list in a list": "a = [[x, 1.0], [y, 2.0]]\nif x > 0:\n    a[1][0] = x * y\na[0][0] * a[1][0] + a[1][1]",
    "an item of a list made on the branch": "r = x\nif x > 0:\n    a = [x, 2.0]\n    if y > 0:\n        a[1] = y\n    r = a[0] * a[1]\nr",
    "a list made by repetition": "if x > 0:\n    a = [0.0] * 2\n    a[1] = x\n    r = a[0] + a[1] * y\nelse:\n    r = y\nr",
    "items by rows that leave a loop": "a = [0.0, 0.0, 0.0, 0.0]\nfor i in range(4):\n    if x > i * 2:\n        a[i] = x * (i + 1)\n    elif y > 1:\n        break\n    else:\n        continue\n    a[0] += y\na[0] * a[1] + a[2] - a[3]",
    "items by a function": "def put(a, i, v):\n    if v < 0:\n        return 0.0\n    a[i] = v\n    return a[0]\na = [1.0, x]\nr = put(a, 0, x) + put(a, 1, y)\nr * a[0] + a[1]",
    "a value of a dict": "d = {'p': 1.0, 'q': x}\nif x > 0:\n    d['p'] = x**2\nd['q'] -= y\nd['p'] * d['q']",
    "a value of a dict by the row's key": "d = {0: x, 1: y, 2: [x][0] * y, 3: 1.0, 4: x**2, 5: 2}\nd[n] * x + d[n // 2]",
    "integers and floats": "a = [1, 2]\nif x > 0:\n    a[0] = y\na[0] + a[1] * x",
    "at a place of each row": "a = zeros(6)\na[n] = y\na[n - 1] += x * y\na[1] += x\nsum(a**3)",
    "from the end": "a = [x, y, 3.0, x * y, 1.0, 2.0]\na[-1 - n] = x**2\na[n] *= y\nsum(stack(a) * [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])",
    "at a place of a matrix": "A = ones((2, 3))\nA[n % 2, n // 2] = x * y\nA[1, n % 3] += x\nA[n % 2, 0] * A[0, 1] + sum(A**2)",
    "from a matrix of constants": "A = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]\narray(A)[n % 2, n % 3] * x",
    "a row of a matrix": "A = ones((2, 3))\nA[n % 2] = stack([x, y, x * y])\nsum(A[1] * A[0]) + sum(A**2)",
    "counting": "counts = [0, 0, 0]\nfor i in range(n):\n    counts[i % 3] += 1\ncounts[n % 3] * x + counts[0] * y",
    "at a place on a branch": "a = [x, y, 2.0, 3.0, 4.0, 5.0]\nif x > 0:\n    a[n] = x * y\na[n] * a[0] + a[3]",
}  # fmt: skip

# Values that are of another kind or length in some rows.
OTHER_KINDS = {
    "a list that some rows make longer": "xs = [1.0]\nfor i in range(4):\n    if x > i - 2:\n        xs.append(x * i)\nsum([a * a for a in xs]) * y",
    "a list that some rows make shorter": "xs = [x, y, 2.0]\nif x > y:\n    xs.pop()\nsum(xs) * xs[-1]",
    "vectors of different lengths": "v = stack([x, y]) if x > 0 else stack([x, y, 1.0])\nsum(v * v) + len(v)",
    "a dict that some rows make longer": "d = {'a': x}\nif y > 0:\n    d['b'] = x * y\nsum(list(d.values()))",
    "a number or a vector": "z = x\nif y > 0:\n    z = stack([x, y])\nsum(z * z)",
    "a variable of another function": "s = 0.0\ndef add(a):\n    xs.append(a)\n    return a\nxs = []\nif x > 0:\n    s = add(x)\ns * y + len(xs)",
}

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
UNDEFINED = {
    "a product of zeros": "dot(v, v + 0.0)**0.5*x",
    "an order of the sources that is not the program's": "arctan2(minimum(y*x, 1.0), x*x)",
    "an undefined slope on one side": "s = x\nif y > 0:\n    s = x - y\nelse:\n    s = 3*y\nlog(sqrt(s))",
    "what one side does not read": "z = y\nif z == 1:\n    z = clip(x, -1.0, 1.0)*x\nsinc(z if z <= x else arcsin(x)*y)",
    "kinks of kinks": "abs(abs(x) - abs(y)) + relu(x*y)**2 + maximum(x, y)*minimum(x, y)",
    "powers": "(x**2)**y + abs(x)**1.5 + (x*y)**0 + x**3",
    "roots": "sqrt(x)*sqrt(y) + sqrt(abs(x*y)) + (x/y if y != 0 else cbrt(x))",
    "a zero exponent": "clip(y, -1.0, 1.0)**(y if x > 0 else 0.0) * log(x)",
    "constants on one side": "hypot(xlogy(y if x > 1 else 2.0, x**1.5), (y*x)**0)",
    "several singular points in one place": "s = y\nfor i in range(3):\n    s = arccosh(log2(s))\ns + x",
    "a product that one side does not read": "z = prod(v)\nz*x if x > 0 else x**2",
    "a sum of exponentials that one side does not read": "z = logsumexp(v*x)\nz if x > 0 else x**2",
    "a norm and a deviation that one side does not read": "z = norm(v)*max(v) + std(v)\nz*x if x > 0 else x*y",
    "a running product that one side does not read": "z = sum(cumprod(v))\nz*x if x > 0 else x**2",
    "what softmax makes of nan": "z = sum(softmax(v)*[1.0, 2.0, 3.0])\nz*x if x > 0 else x**2",
    "a contraction that one side does not read": "z = einsum('i,i->', v, v)\nz*x if x > 0 else x**2",
    "a slope inside": "g = grad(lambda u: xlogy(u, u)**y)(x)\nmax(y, g)*hypot(y, g)",
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

# Derivatives inside the program.
DERIVATIVES = {
    "a function": "def f(t):\n    return t**2*y\ngrad(f)(x)*x",
    "nan in some rows": "def f(t):\n    return sqrt(t)*y\ngrad(f)(x)*x",
    "a function that branches": "def f(t):\n    if t > 0:\n        return t**3\n    return t*y\ngrad(f)(x)*x",
    "a second derivative": "grad(grad(lambda t: sin(t*y)))(x)",
    "two arguments": "v, g = value_and_grad(lambda t, s: t*s**2, argnums=(0, 1))(x, y)\nv + g[0]*g[1]",
    "an operation": "grad(sin)(x)",
    "a kink": "grad(abs)(x - x)*y",
    "a loop": "s = x\nfor i in range(k):\n    s = s - 0.1*grad(lambda t: t**4 + y*t)(s)\ns",
    "a constant argument": "grad(lambda t: t*y if y > 1.5 else t*t)(2.0)*x",
    "a column of integers": "grad(lambda t: t*x)(k)",
    "an argument that plays no part": "grad(lambda t: y)(x) + x",
    "an assertion inside": "def f(t):\n    assert t > 0, f'{t}'\n    return t*y\ngrad(f)(x)",
    "no scalar": "grad(lambda t: [t, x])(x)",
    "a tape": f"{TAPE}    z = sqrt(x)*y\nt.gradient(z, x)*x",
    "a tape asked twice": (
        "with GradientTape(persistent=True) as t:\n    t.watch([x, y])\n    z = x*y + x**2\n"
        "a = t.gradient(z, x)\nb = t.gradient(z, [x, y])\na*b[1]"
    ),
    "a tape that may be asked once": f"{TAPE}    z = x*y\na = t.gradient(z, x)\na + t.gradient(z, x)",
    "a tape of branches": f"{TAPE}    if x > 0:\n        z = x*x\n    else:\n        z = x*y\nt.gradient(z, x)",
    "a tape on one side": f"if x > 0:\n    {TAPE[:-1].replace(chr(10), chr(10) + '    ')}\n        z = x**3\n"
    "    g = t.gradient(z, x)\nelse:\n    g = x\ng*y",
    "a tape around a tape": (
        "with GradientTape() as a:\n    a.watch(x)\n    with GradientTape() as b:\n        b.watch(x)\n        z = x**3*y\n"
        "    g = b.gradient(z, x)\na.gradient(g, x)"
    ),
}
DERIVATIVES |= {
    "a tape asked on one side": f"{TAPE}    z = x*y\ng = t.gradient(z, x) if x > 0 else y\ng*x",
    "a pullback asked on one side": "p, pull = vjp(lambda u: u**2*y, x)\nr = pull(1.0)[0] if x > 0 else p\nr*x",
    "a Jacobian of a tape": "with GradientTape() as t:\n    u = stack([x, y])\n    t.watch(u)\n    z = u**2*x\nJ = t.jacobian(z, u)\nJ[0,0]*y + J[1,1] + J[0,1]",
    "a Jacobian of a tape by a number": f"{TAPE}    z = stack([x*y, x**3])\nt.jacobian(z, x)[1]",
    "Jacobians of a tape": f"{TAPE}    z = x*y\n    w = stack([x**2, y])\na, b = t.jacobian([z, w], x)\na*b[0] + b[1]",
    "a Jacobian": "def f(u):\n    return stack([u[0]*u[1], sin(u[0]), y*u[1]])\nJ = jacobian(f)(stack([x, y]))\nJ[0,0]*J[1,0] + J[2,1]*J[0,1]",
    "a Jacobian by a number": "J = jacobian(lambda u: [u*y, u**3, 2.0])(x)\nJ[0]*J[1] + J[2]",
    "a Jacobian, column by column": "J = jacfwd(lambda u: stack([u**2*y, u*y]))(x)\nJ[0] + J[1]*x",
    "a Jacobian of a number": "jacrev(lambda u: u[0]*u[1]**2)(stack([x, y]))[1]",
    "a Jacobian by two arguments": "a, b = jacobian(lambda u, v: stack([u*v, v]), argnums=(0, 1))(x, y)\nsum(a)*sum(b)",
    "a Jacobian of branches": "def f(u):\n    if u > 0:\n        return stack([u**2, y])\n    return stack([y*u, u])\nJ = jacobian(f)(x)\nJ[0] + 2*J[1]",
    "a Jacobian of what is constant": "jacobian(lambda u: 3.0)(x) + x",
    "a list of arguments": "J = jacobian(lambda p: p[0]**2*p[1])([x, y])\nJ[0]*J[1]",
    "a Hessian": "H = hessian(lambda u: u[0]**2*u[1] + sin(u[1]))(stack([x, y]))\nH[0,0]*H[1,1] - H[0,1]**2",
    "a Hessian by a number": "hessian(lambda u: u**3*y + abs(u))(x) + x",
    "a Hessian by two arguments": "H = hessian(lambda u, v: u**2*v**3, argnums=(0, 1))(x, y)\nH[0][1]*x + H[1][1]",
    "a Newton step": "def f(u):\n    return exp(u[0]*0.5) + u[0]*u[1] + u[1]**2*y\nu = stack([x, y])\ng = grad(f)(u)\nH = hessian(f)(u)\n(g[0]*H[1,1] - g[1]*H[0,1])/(H[0,0]*H[1,1] - H[0,1]**2)",
    "a tangent": "p, t = jvp(lambda u: u**3*y, (x,), (1.0,))\np*t",
    "a tangent of two arguments": "p, t = jvp(lambda u, v: stack([u*v, u**2]), (x, y), (y, 2.0))\nsum(p*t)",
    "a tangent of vectors": "u = stack([x, y])\nt = jvp(lambda v: sum(v**3), (u,), (2*u,))[1]\nt*x",
    "a tangent that decides nothing": "p, t = jvp(lambda u: sqrt(u - u)*0.0 + u*y, (x,), (1.0,))\nt",
    "a tangent that meets nothing": "p, t = jvp(lambda u: y, (x,), (1.0,))\nt + p*x",
    "a linear function": "p, push = linearize(lambda u: u**2*y, x)\npush(y) + p",
    "a cotangent": "p, pull = vjp(lambda u, v: u**2*v, x, y)\na, b = pull(2.0)\np*a + b",
    "a cotangent of vectors": "p, pull = vjp(lambda u: u**2*y, stack([x, y]))\na = pull(stack([1.0, x]))\nsum(a[0]*p)",
    "a cotangent asked twice": "p, pull = vjp(lambda u: stack([u*y, u**2]), x)\npull(stack([1.0, 0.0]))[0]*pull(stack([0.0, y]))[0]",
    "a product with a Hessian": "u = stack([x, y])\np = hvp(lambda v: v[0]**2*v[1]**3, u, stack([y, 1.0]))\np[0]*p[1]",
    "a product with a Hessian by two arguments": "p = hvp(lambda a, b: a**2*b**3, (x, y), (1.0, x))\np[0] + p[1]*y",
    "a product with what roots leave in doubt": "hvp(lambda a: sqrt(a - a)*0.0 + a**2*y, x, y)",
    "a gradient of a Jacobian": "grad(lambda a: sum(jacobian(lambda u: stack([u**2*a, u**3]))(a)))(x)*y",
    "derivatives on one side": "hessian(lambda u: u**3*y)(x) if x > 0 else jvp(lambda u: u**2, (x,), (y,))[1]",
    "derivatives in a loop": "s = x\nfor i in range(k):\n    s = s - 0.1*jacobian(lambda u: stack([u**2, y*u]))(s)[0]\ns",
    "a Hessian of what is no scalar": "hessian(lambda u: [u, y])(x)",
}
DERIVATIVES |= {
    "a path in some rows": f"{TAPE}    if x > 0:\n        z = x*x\n    else:\n        z = y*y\nt.gradient(z, x)",
    "no path": f"{TAPE}    z = y\nt.gradient(z, x)",
}
AFTER_FAILURES = {
    "a Hessian": FAILS_AT_ZERO + "hessian(f)(x)",
    "a Jacobian of a gradient": FAILS_AT_ZERO + "jacobian(grad(f))(x)",
    "a Jacobian by columns of a gradient": FAILS_AT_ZERO + "jacfwd(grad(f))(x)",
    "a Jacobian of a Jacobian": FAILS_AT_ZERO + "jacobian(jacobian(f))(x)",
    "a gradient of a Jacobian": FAILS_AT_ZERO + "grad(lambda w: jacobian(f)(w))(x)",
    "a gradient of a gradient": FAILS_AT_ZERO + "grad(grad(f))(x)",
    "a gradient of a product with a Hessian": FAILS_AT_ZERO + "grad(lambda w: hvp(f, w, w))(x)",
    "a gradient of a pullback": FAILS_AT_ZERO + "grad(lambda w: vjp(f, w)[1](1.0)[0])(x)",
    "a pullback asked later": "a, p = vjp(lambda u: u**3, x)\nassert x != 0\np(x)[0]",
    "a tape asked later": f"{TAPE}    z = x**3\nassert x != 0\nw = z*2\nt.gradient(z, x) + w*0",
}
