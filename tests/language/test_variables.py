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
