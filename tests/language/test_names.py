"""Names that mean nothing here, and what the error advises."""

import pytest
from adiff import AdiffError, program
from adiff.engine.program import vocabulary
from adiff.engine.program.core import LibraryName


def test_names_of_tensorflow_that_are_not_built() -> None:
    for text in ("tf.image.ssim(1)", "tf.image.sobel_edges(1)", "tf.bitcast(1, 2)"):
        with pytest.raises(AdiffError, match="is TensorFlow's, and is not built here"):
            program(text)


@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize("name", ["open", "id", "vars", "input", "dir", "hash", "type", "object", "exit", "bytes"])
def test_names_of_pythons_functions_are_names_of_inputs(name: str, engine: str) -> None:
    """Where there is no function to be called, a name is as good as any other: tables have such columns."""
    reading = program(f"f = lambda {name}, y: {name} * y\n{name}**2 + f({name}, close) + [{name}][0]")
    assert reading.value_and_gradient({name: 3.0, "close": 5.0}, engine=engine) == (27.0, {name: 12.0, "close": 3.0})
    rows = reading.rows({"close": [5.0, 6.0], name: [3.0, 1.0]}, engine=engine)
    assert (rows.value.tolist(), rows.gradients[name].tolist()) == ([27.0, 8.0], [12.0, 9.0])


@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize("name", ["gamma", "beta", "e"])
def test_an_input_with_the_name_of_a_function_is_one_input_wherever_it_is_read(name: str, engine: str) -> None:
    """First where a function might stand, then where none can."""
    reading = program(f"s = {name}\ns * {name} + [{name}][0]")
    assert reading.value_and_gradient({name: 3.0}, engine=engine) == (12.0, {name: 7.0})
    assert reading.hessian({name: 3.0}, engine=engine) == {name: {name: 2.0}}
    rows = reading.rows({name: [3.0, 1.0]}, engine=engine)
    assert (rows.value.tolist(), rows.gradients[name].tolist()) == ([12.0, 2.0], [7.0, 3.0])


def test_modules_hold_what_is_theirs() -> None:
    """Where a module is not about dense tensors, its names are no functions that happen to be called the same."""
    for module in vocabulary.APART:
        for name in vocabulary.callable_names():
            meaning = vocabulary.dotted(["tensorflow", module, name])
            if meaning is not None and meaning.__class__ is not LibraryName:
                assert name in vocabulary.APART[module][0], (module, name)
    assert program("tf.bitwise.invert(5) + tf.dtypes.cast(1.5, tf.dtypes.int32)").value() == -5
    assert program("scipy.signal.convolve([1, 2], [1, 1])").value().tolist() == [1, 3, 2]
    assert program("jax.lax.max(2, 3) - lax.min(2, 3)").value() == 1
    assert program("lax.cumsum([[1, 2], [3, 4]])").value().tolist() == [[1, 2], [4, 6]]
    assert program("lax.cummax([[1, 4], [2, 3]])").value().tolist() == [[1, 4], [2, 4]]
    for name, expected in (("lax.cumsum", [6, 5, 3]), ("jax.lax.cumprod", [6, 6, 3])):
        assert program(f"{name}([1, 2, 3], 0, True)").value().tolist() == expected


def test_sums_of_ranges_are_exact_and_quick() -> None:
    for bounds in ("5, 0, -2", "0", "3, 30, 7", "-4, 5"):
        assert program(f"sum(range({bounds}))").value() == sum(range(*map(int, bounds.split(","))))
    assert program("sum(range(10**30))").value() == 10**30 * (10**30 - 1) // 2


def test_a_function_of_the_program_is_no_input() -> None:
    for text, hint in (
        ("lambda x: x", "call it"),
        ("def f(x):\n    return x\nf", "call it"),
        ("f = sin\nf", "call it, or bind an input of that name: sin=..."),
    ):
        with pytest.raises(AdiffError) as caught:
            program(text).evaluate("grad", {})
        assert caught.value.hint == hint
    assert program("f = sin\nf").evaluate("grad", {"sin": 2.0}).gradients == {"sin": 1.0}


@pytest.mark.parametrize("command", ["grad", "jacobian", "hessian", "derivative", "check"])
def test_a_dict_that_is_to_be_differentiated_is_named(command: str) -> None:
    made = program("d['a'] * x")
    with pytest.raises(AdiffError, match="'d' is bound to a dict, which has no derivative as a whole"):
        made.evaluate(command, {"d": {"a": 2.0}, "x": 3.0}, ["d"])
    assert made.value_and_gradient({"d": {"a": 2.0}, "x": 3.0}, ["x"]) == (6.0, {"x": 2.0})


UPDATED = {  # text -> the point, the value, and the gradient by x
    "while x > 1e-300:\n    x = x/2\nx": ({"x": 1.0}, 2.0**-997, 2.0**-997),
    "x = x*3\nx**2": ({"x": 2.0}, 36.0, 36.0),
    "x += 1\nx**2": ({"x": 2.0}, 9.0, 6.0),
    "for i in range(3):\n    x = x*x\nx": ({"x": 2.0}, 256.0, 1024.0),
    "if x > 1:\n    x = x*3\nx*x": ({"x": 2.0}, 36.0, 36.0),
    "x, y = y, x\nx**2*y": ({"x": 2.0, "y": 3.0}, 18.0, 9.0),
    "def f():\n    global x\n    x = x*x\nf()\nx": ({"x": 3.0}, 9.0, 6.0),
    "with GradientTape() as t:\n    x = x*x\nx": ({"x": 3.0}, 9.0, 6.0),
    "for x in [x, 2*x]:\n    pass\nx": ({"x": 3.0}, 6.0, 2.0),
}


@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize("text", UPDATED)
def test_an_input_that_the_program_updates(text: str, engine: str) -> None:
    at, value, slope = UPDATED[text]
    found = program(text).evaluate("grad", at, engine=engine)
    assert (found.value, found.gradients["x"]) == (value, slope)
    assert not found.notices


def test_what_a_program_assigns_first_is_no_input() -> None:
    texts = ("x = 3\nx*2", "if y > 0:\n    x = 1\nelse:\n    x = 2\nx*y", "def f():\n    return x\nx = 3\nf()")
    for text in texts:
        found = program(text).evaluate("value", {"x": 5, "y": 1.0} if "y" in text else {"x": 5})
        assert [notice.code for notice in found.notices] == ["N0801"], text
    with pytest.raises(AdiffError, match="read before it is assigned"):
        program("x += 1\nx").value()


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
