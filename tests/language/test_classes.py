"""Classes, exceptions and consoles: what Python does not show (test_against_python.py has what it does)."""

import pytest
from adiff import AdiffError, program

from .conftest import Runner

MODEL = """
class Layer:
    def __init__(self, start):
        self.w = tf.Variable(start)
        self.sizes = []
    @tf.function
    def call(self, x):
        self.sizes.append(1)
        return self.w * x**2
class Model:
    def __init__(self):
        self.layers = [Layer(2.0), Layer(3.0)]
    @tf.function(jit_compile=True)
    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
m = Model()
ws = [layer.w for layer in m.layers]
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # y = 3 (2 x^2)^2 = 12 x^4; by the weights a, b of b (a x^2)^2: 2 a b x^4, a^2 x^4
        ("with GradientTape() as t:\n    y = m(2.0)\n[g.numpy() for g in t.gradient(y, ws)]", [192.0, 64.0]),
        ("grad(m)(2.0)", 384.0),
        ("grad(m.__call__)(2.0)", 384.0),
        ("grad(lambda x: checkpoint(m)(x))(2.0)", 384.0),
        ("m(2.0); len(m.layers[0].sizes)", 1),
        ("m.layers[0].w.assign(1.0); m(2.0).numpy()", 48.0),
        ("m", "<Model>"),
    ],
)
def test_instances_hold_variables(run: Runner, text: str, expected: object) -> None:
    assert run(MODEL + text, dtype="float64") == expected


def test_the_classes_of_the_library_are_not_changed(run: Runner) -> None:
    assert run.refused("D = tf.keras.layers.Dense\nD.zork = 3").code == "E0304"
    assert run("class Mine(tf.keras.layers.Dense): pass\nMine.zork = 3\nMine.zork") == 3


def test_an_array_in_an_attribute_is_written_and_differentiated(run: Runner) -> None:
    text = """
class Box:
    def __init__(self, x):
        self.y = zeros(3) * x
box = Box(x)
kept = box.y
for i in range(3):
    box.y[i] = x ** i
    box.y[i] += 1
sum(box.y) + sum(kept)
"""
    run(text, {"x": 2.0}, "grad")
    assert run.outcome.gradients["x"] == 5.0


ERRORS = [
    ("E0301", "TypeError InvalidArgumentError Exception", "ones(2, dtype=float32) + ones(2, dtype=float64)"),
    ("E0302", "ValueError InvalidArgumentError", "ones(2) + ones(3)"),
    ("E0302", "ValueError InvalidArgumentError", "ones((1, 2)) in zeros(0)"),
    ("E0304", "TypeError", "len(3)"),
    ("E0401", "ValueError", "[1].index(2)"),
    ("E0413", "StopIteration", "next(iter([]))"),
    ("E0414", "AttributeError", "ones(2).shap"),
    ("E0305", "TypeError", "(lambda x: x)()"),
    ("E0402", "ZeroDivisionError ArithmeticError", "1 % 0"),
    ("E0404", "InvalidArgumentError ValueError", "inv([[1.0, 2.0], [2.0, 4.0]])"),
    ("E0405", "IndexError LookupError", "[1][1]"),
    ("E0406", "AssertionError", "assert 1 > 2, 'no'"),
    ("E0407", "InvalidArgumentError", "dynamic_partition([1, 2], [0, 2], 2)"),
    ("E0410", "OutOfRangeError OpError", "tf.queue.FIFOQueue(1, float64).dequeue()"),
    ("E0411", "KeyError LookupError", "{'a': 1}['b']"),
]


@pytest.mark.parametrize(("code", "names", "failing"), ERRORS)
def test_errors_have_pythons_and_tensorflows_names(run: Runner, code: str, names: str, failing: str) -> None:
    text = "try:\n    {}\nexcept {}:\n    'caught'"
    bare = {"InvalidArgumentError", "OutOfRangeError", "OpError"}
    for name in names.split():
        assert run(text.format(failing, f"tf.errors.{name}" if name in bare else name)) == "caught"
    assert run.refused(text.format(failing, "NotImplementedError")).code == code
    assert run(f"try:\n    {failing}\nexcept Exception as e:\n    e.message") == run.refused(
        failing
    ).message.removeprefix("assertion failed: ")


@pytest.mark.parametrize(
    ("code", "body", "options"),
    [
        ("E0601", "while True: pass", {"max_steps": 1000}),
        ("E0602", "zeros((10**9, 10**9))", {}),
        ("E0602", "'a' * 10**400", {}),
        ("E0605", "f = lambda n: f(n + 1); f(0)", {}),
        ("E0604", "(10**300000)**10", {}),
    ],
)
def test_limits_are_not_handled(run: Runner, code: str, body: str, options: dict[str, int]) -> None:
    text = f"try:\n    {body}\nexcept:\n    print('handled')\nfinally:\n    print('finally')"
    assert run.refused(text, **options).code == code
    assert run.printed == ""


@pytest.mark.parametrize("name", ["__class__", "__dict__", "__init__.__globals__", "f.__code__", "__mro__", "fields"])
def test_nothing_of_python_is_reached(run: Runner, name: str) -> None:
    text = "class A:\n    def __init__(self): self.x = 1\n    def f(self): return 1\n"
    assert run.refused(f"{text}A().{name}").code in ("E0206", "E0414")
    assert run.refused(f"{text}A.{name}").code in ("E0206", "E0414")
    last = name.rpartition(".")[2]
    assert run.refused(f"{text}getattr(A(), '{last}')").code in ("E0206", "E0414")


SESSIONS = [
    (">>> x = 2\n>>> x**2\n4\n>>> for i in range(2):\n...     x = x * 3\n...\n>>> x\n18\n", 18),
    ("In [9]: def f(x):\n   ...:     return x**2\n   ...: \nIn [10]: f(3)\nOut[10]: 9\n\nIn [11]: f(4)\nOut[11]: 16\n", 16),
    ("%matplotlib inline\n!pip install tensorflow\nIn [18]:\nx = 3\nif x > 2:\n    %%time\n    x = x + 1\nx\n\nOut[18]:\n4", 4),
    ("# a comment\nIn [28]:\n>>> x = 5\n>>> x * 2", 10),
    ("def f():\n    '''\n    >>> f()\n    3\n    '''\n    return 7\nf()", 7),
    ("x = (7\n%x3)\nx", 1),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SESSIONS)
def test_prompts_and_commands_are_passed_over(run: Runner, text: str, expected: int) -> None:
    assert run(text, {"x3": 3} if "x3" in text else {}) == expected
    assert bool(run.notices("N0805")) == (not text.startswith(("def", "x =")))


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        (">>> x = 2\n>>> x + [1][3]\n", 2, 9),
        ("In [9]: x = 2\nIn [10]: x + [1][3]\n", 2, 14),
        ("%time\nx = 2\n!ls\nx + [1][3]", 4, 5),
        (">>> x = (2\n", 1, 9),
    ],
)
def test_places_are_those_of_the_text(text: str, line: int, column: int) -> None:
    with pytest.raises(AdiffError) as caught:
        program(text).value()
    assert caught.value.span is not None
    assert (caught.value.span.line, caught.value.span.column) == (line, column)
