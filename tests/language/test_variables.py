"""Variables: read under tapes, assigned, and what an optimiser does with them."""

import adiff
import pytest

from .conftest import Runner


def test_a_variable_is_watched_when_it_is_read(run: Runner) -> None:
    assert run("v = Variable(3.0)\nwith GradientTape() as t:\n    y = v * v\nt.gradient(y, v)") == 6.0


def test_watch_accessed_variables_false(run: Runner) -> None:
    text = (
        "a = Variable(2.0)\nb = Variable(3.0)\nwith GradientTape(watch_accessed_variables=False) as t:\n    t.watch(a)\n"
        "    y = a * b\nprint(t.gradient(y, [a, b]), len(t.watched_variables()))"
    )
    run(text)
    assert run.printed == "[3.0, None] 1\n"


def test_watched_variables(run: Runner) -> None:
    text = (
        "a = Variable(2.0, name='a')\nb = Variable(3.0)\nc = Variable(1.0, trainable=False)\nwith GradientTape() as t:\n"
        "    y = a * b * c\n[v.numpy() for v in t.watched_variables()]"
    )
    assert run(text) == [2.0, 3.0]


def test_a_variable_that_is_not_trainable_can_be_watched(run: Runner) -> None:
    assert (
        run(
            "v = Variable(3.0, trainable=False)\nwith GradientTape() as t:\n    t.watch(v)\n    y = v * v\nt.gradient(y, v)"
        )
        == 6.0
    )


def test_an_assignment_inside_a_tape(run: Runner) -> None:
    """The value before and the value after are one source; the assigned value itself is cut off."""
    text = (
        "x = constant(5.0)\nv = Variable(3.0)\nwith GradientTape(persistent=True) as t:\n    t.watch(x)\n    y = v * 2.0\n"
        "    v.assign(x * 4.0)\n    z = y + v * v\nprint(t.gradient(z, v), t.gradient(z, x))"
    )
    run(text)
    assert run.printed == "42.0 None\n"
    assert any("assignment to a Variable" in message for message, _ in run.notices("N0502"))


ASSIGNMENTS = {
    "assign": ("v = Variable([1.0, 2.0])\nv.assign([3.0, 4.0])\nv", [3.0, 4.0]),
    "assign_add": ("v = Variable([1.0, 2.0])\nv.assign_add([3.0, 4.0])\nv", [4.0, 6.0]),
    "assign_sub": ("v = Variable([1.0, 2.0])\nv.assign_sub([3.0, 4.0])\nv", [-2.0, -2.0]),
    "assign broadcasts in assign_add": ("v = Variable([1.0, 2.0])\nv.assign_add(1.0)\nv", [2.0, 3.0]),
    "an element": ("v = Variable([[1.0, 2.0], [3.0, 4.0]])\nv[0, 1].assign(42.0)\nv", [[1.0, 42.0], [3.0, 4.0]]),
    "a row": ("v = Variable([[1.0, 2.0], [3.0, 4.0]])\nv[1].assign([7.0, 8.0])\nv", [[1.0, 2.0], [7.0, 8.0]]),
    "a column": ("v = Variable([[1.0, 2.0], [3.0, 4.0]])\nv[:, 1].assign([0.0, 1.0])\nv", [[1.0, 0.0], [3.0, 1.0]]),
    "an element added": ("v = Variable([1.0, 2.0])\nv[0].assign_add(5.0)\nv", [6.0, 2.0]),
    "a slice subtracted": ("v = Variable([1.0, 2.0, 3.0])\nv[1:].assign_sub([1.0, 1.0])\nv", [1.0, 1.0, 2.0]),
    "scatter_update": ("v = Variable([[1.0, 2.0], [3.0, 4.0]])\nv.scatter_update([1], [[9.0, 9.0]])\nv", [[1.0, 2.0], [9.0, 9.0]]),
    "scatter_nd_update": (
        "v = Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])\nv.scatter_nd_update(indices=[[0, 0], [1, 2]], updates=[100.0, 200.0])\nv",
        [[100.0, 2.0, 3.0], [4.0, 5.0, 200.0]],
    ),
    "scatter_nd_add, a place twice": ("v = Variable([1.0, 2.0])\nv.scatter_nd_add([[0], [0], [1]], [1.0, 2.0, 3.0])\nv", [4.0, 5.0]),
    "scatter_nd_sub": ("v = Variable([1.0, 2.0])\nv.scatter_nd_sub([[1]], [5.0])\nv", [1.0, -3.0]),
    "a function as initial value": ("v = Variable(lambda: 3.0)\nv", 3.0),
    "an integer": ("v = Variable(3)\nv.assign_add(2)\nv", 5),
    "the result is the Variable": ("v = Variable(1.0)\nv.assign(2.0).numpy()", 2.0),
    "attributes": ("v = Variable([[1.0, 2.0]], name='w')\n[v.shape, v.dtype, v.trainable, v.name[0]]", [(1, 2), "float64", True, "w"]),
    "read_value and value()": ("v = Variable(2.0)\n[v.read_value(), v.value(), v.numpy()]", [2.0, 2.0, 2.0]),
    "methods of tensors": ("v = Variable([1.0, 2.0])\nv.sum()", 3.0),
    "a copy does not follow": ("v = Variable(1.0)\nold = v.read_value()\nv.assign(5.0)\nold", 1.0),
    "augmented assignment rebinds the name": ("v = Variable(1.0)\nw = v\nv += 1.0\n[v, w.numpy()]", [2.0, 1.0]),
}  # fmt: skip


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_assignments(run: Runner, name: str) -> None:
    text, expected = ASSIGNMENTS[name]
    assert run(text) == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("v = Variable([1.0, 2.0])\nv.assign([1.0, 2.0, 3.0])", "E0302"),
        ("v = Variable([1.0, 2.0])\nv.assign(constant([1, 2]))", "E0301"),
        ("v = Variable(1.0, dtype=float32)\nv.assign_add(constant(1.0, dtype=float64))", "E0301"),
        ("v = Variable([1.0, 2.0])\nv[5].assign(1.0)", "E0405"),
        ("v = Variable([1.0])\nv.missing(2)", "E0414"),
        ("v = Variable([1.0])\nv.scatter_nd_update([[0, 0]], [1.0])", "E0302"),
    ],
)
def test_assignments_that_do_not_fit(run: Runner, text: str, code: str) -> None:
    assert run.refused(text).code == code


def test_reads_of_a_slice_are_recorded(run: Runner) -> None:
    assert run(
        "v = Variable([1.0, 2.0, 3.0])\nwith GradientTape() as t:\n    y = v[1] ** 2 + v[0]\nt.gradient(y, v)"
    ) == [1.0, 4.0, 0.0]


@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize(
    ("statements", "value"),
    [
        ("t = v[0]\nv.assign(v * 2)\nt * x", 1.5), ("l = [v[0]]\nv.assign(v * 2)\nl[0] * x", 1.5),
        ("t = v[0:2]\nv.assign(v * 2)\nt[1] * x", 3.0), ("t = v[0]\nv[0].assign(5.0)\nt * x + v[0]", 6.5),
        ("s = 0.0\nfor k in range(3):\n    t = v[0]\n    v.assign(v * 2)\n    s = s + t * x\ns", 10.5),
    ],
)  # fmt: skip
def test_a_part_of_a_variable_is_what_it_was(engine: str, statements: str, value: float) -> None:
    program = adiff.program(f"v = Variable([1.0, 2.0])\n{statements}")
    assert program.evaluate("value", {"x": 1.5}, engine=engine).value == value


def test_a_part_that_was_read_before_a_tape_is_a_constant_of_it(run: Runner) -> None:
    text = "v = Variable([1.0, 2.0])\nu = v[0]\nwith GradientTape() as t:\n    y = u * v[1] + v[1]\nt.gradient(y, v)"
    assert run(text) == [0.0, 2.0]
