"""Whatever the text, only an AdiffError escapes: programs are mutated, cut and joined at random."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from adiff import AdiffError, program
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

HERE = Path(__file__).parent
LIMITS = {"max_steps": 3000, "max_memory": 2**28, "timeout": 2.0}
CORPUS = [
    *[path.read_text(encoding="utf-8") for path in sorted((HERE.parents[1] / "samples").glob("*.adiff"))],
    *(HERE / "python_programs.txt").read_text(encoding="utf-8").split("\n===\n"),
    *(HERE / "python_failures.txt").read_text(encoding="utf-8").split("\n===\n"),
]
TOKEN = re.compile(r"\s+|\w+|\*\*|//|==|[<>=!]=|.", re.DOTALL)
WORDS = [
    *sorted({token for text in CORPUS for token in TOKEN.findall(text) if not token.isspace()}),
    "None", "True", "[]", "()", "{}", "''", "-1", "0", "1e308", "nan", "1j", "10**30", "x", "constant([1, 2])", "ones((2, 3))", "...",
    "cast(x, int64)", "Variable(x)", "stack", "grad", "__class__", "constant('a')", "zeros(0)", "range(3)", "float32", "tf", "lambda",
    "reduce_sum", "dynamic_partition", "x.T", "x.shape", "GradientTape()", ".numpy()", "gradient", "vmap", "scan", "while_loop", "print",
    "hessian(lambda v: v)", "custom_gradient", "checkpoint", "slice", "einsum('ij,jk', x, x)", "[x, x]", "{'a': x}", "sorted", "map",
]  # fmt: skip
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "@", "<", "==", "!=", ">=", "&", "|", "<<", ">>"]
FUNCTIONS = [
    "sin", "log", "sqrt", "sum", "max", "min", "abs", "round", "len", "range", "list", "tuple", "dict", "sorted", "zip", "enumerate", "map",
    "print", "str", "int", "float", "bool", "complex", "grad", "hessian", "jacobian", "vjp", "jvp", "hvp", "value_and_grad", "stack", "concat",
    "reshape", "transpose", "matmul", "cast", "constant", "Variable", "ones", "zeros", "where", "argmax", "sort", "cumsum", "prod", "mean",
    "std", "norm", "det", "inv", "solve", "einsum", "dynamic_partition", "dynamic_stitch", "boolean_mask", "segment_sum", "gather", "one_hot",
    "pad", "tile", "split", "top_k", "clip", "logsumexp", "softmax", "erf", "lgamma", "while_loop", "cond", "scan", "map_fn", "foldl", "vmap",
    "checkpoint", "custom_gradient", "stop_gradient", "GradientTape", "isinstance", "any", "all", "filter", "divmod", "pow", "reversed",
    "exp", "tanh", "cosh", "array", "linspace", "arange", "eye", "cholesky", "svd", "interp", "trapezoid", "polyval", "unique", "searchsorted",
]  # fmt: skip
NUMBERS = ["0", "1", "2", "-1", "3", "0.5", "1e308", "2.5", "10", "1j", "100000000", "10**20", "nan", "inf", "0.0"]
VALUES = [
    *NUMBERS, "None", "True", "'a'", "[]", "()", "[1.0, 2.0]", "[[1, 2], [3, 4]]", "{'a': 1}", "ones((2, 3))", "constant(['a', 'b'])", "x",
    "(lambda v: v)", "constant([1, 2])", "Variable([1.0])", "range(3)", "float32", "sin", "zeros((0, 2))", "cast(2.0, float32)", "a", "xs",
    "cast([1, 2], int32)", "GradientTape()", "zip([1], [2])", "'%d'", "f'{x}'", "1 + 2j", "[None]", "[x, 'a']", "constant(True)", "...",
]  # fmt: skip
KINDS = [OPERATORS, FUNCTIONS, NUMBERS]
POINT = dict(zip(
    ["x", "a", "k", "c", "S", "K", "T", "r", "v", "xs", "w", "u", "d", "z", "A", "M", "e", "theta", "omega", "g", "points", "b",
     "logits", "means", "scales", "y", "n", "i", "f", "t"],
    [2.0, 0.5, 4.0, 0.5, [[2.0, 0.5], [0.5, 1.0]], 105, 0.5, 0.03, 0.2, [1.0, 0.5], 0.5, -0.3, [1.0, 2.0, 3.0], 1 + 2j,
     [[1.0, 2.0], [2.0, 4.0]], 1, 0.3, 0.5, 0.0, 9.81, [[0.0, 1.0], [1.0, 3.0]], 0.0, [0.0, 1.0], [0.0, 1.0], [0.0, -0.5], 3, 5, 2, "s", True],
))  # fmt: skip


@st.composite
def mutants(draw: st.DrawFn) -> str:
    tokens = TOKEN.findall(draw(st.sampled_from(CORPUS)))[:400]
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(tokens) - 1, 0)))
        how = draw(st.integers(0, 12))
        if how > 5 and tokens:  # a token of the same kind, so that the program still parses
            kinds = [group for group in KINDS if tokens[at] in group]
            tokens[at] = draw(st.sampled_from(kinds[0] if kinds else VALUES))
        elif how == 0:
            tokens[at : at + 1] = []
        elif how == 1:
            tokens.insert(at, draw(st.sampled_from(WORDS)))
        elif how == 2 and tokens:
            other = draw(st.integers(0, len(tokens) - 1))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif how == 3:
            tokens[at : at + 3] = []
        else:
            tokens[at : at + 1] = [draw(st.sampled_from(WORDS))]
    return "".join(tokens)


@settings(
    max_examples=250,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
)
@given(mutants(), st.sampled_from(["value", "value", "grad", "grad", "hessian", "jacobian", "tape", "jvp", "check"]))
def test_mutants(text: str, command: str) -> None:
    error: AdiffError | None = None
    try:
        compiled = program(text)
        at = {name: POINT.get(name, 1.5) for name in compiled.inputs}
        options = dict(LIMITS)
        if command == "jvp":
            options["tangent"] = dict.fromkeys(list(at)[:1], 1.0)  # type: ignore[assignment]
        compiled.evaluate(command, at, write=lambda text: None, **options)
    except AdiffError as found:
        error = found
    if error is not None:
        assert error.message
        assert not error.code.startswith("E09"), (error.code, error.message)


def callable_names() -> list[str]:
    from adiff.engine.ops.registry import METHODS, NAMES
    from adiff.engine.program.vocabulary import INTRINSICS, WRITTEN

    return [
        *sorted({*NAMES, *INTRINSICS, *WRITTEN}),
        *(f"({value}).{name}" for name in sorted(METHODS) for value in VALUES[:3]),
    ]


@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
)
@given(
    st.sampled_from(callable_names()),
    st.lists(st.sampled_from(VALUES), max_size=4),
    st.sampled_from(["", "axis", "dtype", "n", "shape", "order", "keepdims"]),
    st.sampled_from(VALUES),
    st.sampled_from(["value", "grad", "hessian", "jacobian", "tape", "check"]),
)
def test_calls_with_anything(name: str, values: list[str], keyword: str, extra: str, command: str) -> None:
    """Every function of the language, called with arguments that mostly do not fit, gives an answer or says why not."""
    text = f"{name}({', '.join([*values, *([f'{keyword}={extra}'] if keyword else [])])})"
    error: AdiffError | None = None
    try:
        compiled = program(text)
        at = {name: POINT.get(name, 1.5) for name in compiled.inputs}
        compiled.evaluate(command, at, write=lambda text: None, **LIMITS)
    except AdiffError as found:
        error = found
    if error is not None:
        assert error.message
        assert not error.code.startswith("E09"), (error.code, error.message)


FORBIDDEN = [
    "x.__class__", "().__class__.__bases__", "[].__class__", "__import__('os')", "open('/etc/passwd')", "eval('1')", "exec('1')",
    "import os", "import sys", "from os import system", "import numpy.ctypeslib", "from subprocess import *", "globals()", "getattr(x, 'y')",
    "lambda: __builtins__", "np.load('a.npy')", "np.__builtins__", "tf.io.read_file('x')", "np.fromfile('x')", "'{0.__class__}'.format(x)",
    "'{0[0]}'.format([1])", "f'{x.__class__}'", "help()", "input()", "breakpoint()", "dir()", "vars()", "compile('1', '', 'eval')",
    "type(x).__mro__", "print.__globals__", "(lambda: 1).__code__", "constant(1).__dict__", "x.value", "x.on", "x._value", "tf.Variable(1.0).snapshot",
    "GradientTape().tape", "f = lambda: 1\nf.frame", "grad(lambda v: v).run", "print.run", "sin.array", "float64.bits",
]  # fmt: skip


@pytest.mark.parametrize("text", FORBIDDEN)
def test_python_cannot_be_reached(text: str) -> None:
    with pytest.raises(AdiffError) as caught:
        program(text).value({"x": 1.0})
    assert caught.value.exit_code in (1, 2, 3)
    assert caught.value.span is not None
