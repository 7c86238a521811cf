"""Programs of the numeric core, written by drawing: bounded operations, so that rounding stays small."""

from typing import Any

import numpy as np
from grammar import Forms, Pick, text_of

SIZE = 4
# x, y, a, b and c are floats, n, k, m, i and j integers, v, w, u and z vectors, of which the inputs x, y, n, v and w stay.
FORMS: Forms = {
    "<program>": ["<function>a = x * 0.5\nb = y\nc = 0.3\nk = n % 3\nm = 1\ni = j = 0\nu = v * 1.0\nz = w * x\n<s>\n<s>\n<s>\n<s>\na + b + c + <small> + sum(tanh(u)) + sum(tanh(z))"],
    "<function>": ["", "def f(p, q):\n    return tanh(<f>) * q + p\n", "def f(p, q):\n    if <cond>:\n        return <small> * p\n    return q + <small>\n",
                   "def f(p, q):\n    for i in range(<count>):\n        p = p * 0.5 + <small>\n        if p > <number>:\n            return p * q\n    return p\n",
                   "def f(p, q):\n    q = tanh(grad(lambda p: p * <small> + sin(p))(p))\n    return p * q\n"],
    "<s>": [*["<scalar> = <small>"] * 3, "<scalar> <assign> <small>", "<scalar> <assign> <small>", "<array> = <v> * 1.0", "<array>[<place>] <assign> <small>",
            "<array>[<place>] = <small>", "<array>[:2] = tanh(<vector>[:2])", "<array>[1:] = <vector>[1:] * 0.5", "<array>[::2] = <f>", "<array>[::-1] = tanh(<vector>)",
            "a, b = <small>, <small>", "b, c = c, b * 0.5 + <small>", "k = (<int>) % 5", "m = (<int>) % 5", "if <cond>:<block>", "if <cond>:<block>\nelse:<block>",
            "if <cond>:<block>\nelif <cond>:<block>\nelse:<block>", *["for <over>:<block><leave>\n    a = a * 0.5 + <small>"] * 4,
            "t = 0\nwhile t < <count> and (<cond>):\n    t += 1\n    <simple><leave>\n    c = c * 0.5 + <small>"],
    "<block>": ["\n<simple>", "\n<s>", "\n<s>\n<s>", "\n<s>\n<s>"], "<simple>": ["<scalar> = <small>", "<array>[<place>] += <small>", "u = <v> * 1.0", "k = (<int>) % 5"],
    "<leave>": ["", "", "", "\n    if <cond>:\n        break", "\n    if <cond>:\n        continue"],
    "<over>": ["i in range(<count>)", "i in range(n, 0, -1)", "j in range(1, 4, 2)", "r in <vector>", "j, r in enumerate(<vector>)"],
    "<f>": [*["<float>"] * 4, "<number>", "<vector>[<place>]", "sin(<f>)", "cos(<f>)", "tanh(<f>)", "sigmoid(<f>)", "exp(-abs(<f>))", "sqrt(1 + (<f>) ** 2)", "log(2 + (<f>) ** 2)",
            "-(<f>)", "abs(<f>)", "relu(<f>)", "atan(<f>)", "(<f> + <f>)", "(<f> - <f>)", "<f> * <f>", "(<f> / (2 + abs(<f>)))", "max(<f>, <f>)", "min(<f>, <f>)",
            "hypot(<f>, 1 + abs(<f>))", "(<f> if <cond> else <f>)", "<float> * (<int>)", "sum([<float> * t for t in <vector>])", "sum(<v>)", "sum((<v>)[1:] ** 2)",
            "sum(x * (<v>)[::-1][:2])", "mean(<v>)", "max(<v>)", "min(<v>)", "prod(tanh(<v>))", "logsumexp(<v>)", "sum((<v>) ** 2)"],
    "<v>": [*["<vector>"] * 4, "sin(<vector>)", "tanh(<vector>)", "<vector>[::-1]", "abs(<vector>)", "cumsum(<vector>) * 0.3", "softmax(<vector>)", "roll(<vector>, 1)", "relu(<vector>)",
            "(<vector> * <float> + <vector>)", "where(<vector> > <number>, <vector>, <vector> * 0.5)", "tanh((<vector>[:, newaxis] * <vector>) @ <vector>)",
            "concat([<vector>[1:], <vector>[:1]])", "<vector>[constant([0, -1, 1, 0])]"],
    "<small>": ["tanh(<f>)", "0.5 * sin(<f>)", "atan(<f>)", "tanh(<f>)"], "<cond>": ["<f> < <float>", "<f> >= <float>", "<int> == <int>", "<f> > <float> or not <float> > <number>", "<f> <= 0.3 and k < 2"],
    "<int>": ["<whole>", "<whole> + 1", "<whole> - <whole>", "<whole> * 2", "<whole> % 3", "(<whole> + <whole>) // 2"], "<place>": ["0", "-1", "1", "(<int>) % 4"],
    "<count>": ["n", "2", "3"], "<assign>": ["+=", "-=", "*="], "<scalar>": ["a", "b", "c"], "<array>": ["u", "z"], "<float>": ["x", "y", "a", "b", "c"],
    "<vector>": ["v", "w", "u", "z"], "<whole>": ["n", "k", "m", "i", "j"], "<number>": ["0.5", "-1.25", "2.0", "0.3", "1", "-2"],
}  # fmt: skip


def program(pick: Pick) -> str:
    text = text_of(FORMS, pick, "<program>", 5)
    return text.replace("+ c +", "+ c + f(a, y) +") if text.startswith("def") else text


def point(pick: Pick) -> dict[str, Any]:
    values = (0.7, -1.3, 1.9, 0.2, -0.4, 0.0, 1.0, 1.1, -2.3)
    arrays = {name: np.array([pick(values) for _ in range(SIZE)]) for name in "vw"}
    return {"x": pick(values), "y": pick(values), "n": pick((0, 1, 2, 3, 4)), **arrays}
