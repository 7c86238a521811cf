"""What emitted adjoints must look like: what one would not write by hand is not in them."""

from __future__ import annotations

import re
from typing import Any

import adiff
import numpy as np
import pytest
from agreement import agree

pytestmark = pytest.mark.usefixtures("interpret")
V = np.array([0.3, -1.1, 0.9, 2.0])


def emitted(text: str, **at: Any) -> str:
    wrt = [name for name in at if name != "n"]
    outcome = adiff.program(text).evaluate("grad", at, wrt, engine="kernel")
    assert outcome.engine == "kernel", outcome.reason
    tape = adiff.program(text).evaluate("grad", at, wrt, engine="tape")
    for name in wrt:
        assert np.allclose(outcome.gradients[name], tape.gradients[name], rtol=1e-13), name
    return str(outcome.emitted)


def test_a_loop_that_sums_has_its_adjoint_in_it() -> None:
    text = "e = 0.0\nfor i in range(len(v)):\n    for j in range(i):\n        e += exp(v[i] * v[j])\n0.5 * e"
    found = emitted(text, v=V)
    assert found.count("math.exp") == 1
    assert "-1, -1" not in found  # nothing runs backwards


def test_a_loop_that_multiplies_has_a_reverse_sweep() -> None:
    assert "-1, -1" in emitted("e = 1.0\nfor x in v:\n    e = e * sin(x)\ne", v=V)


def test_what_comes_later_decides_about_a_sum() -> None:
    """The cotangent of the sum is known when the loop is over."""
    assert emitted("s = 0.0\nfor x in v:\n    s += sin(x)\ns * s", v=V).count("math.sin") == 1


def test_element_wise_steps_are_one_loop() -> None:
    found = emitted("a = sin(v)\nb = a * v + 1\nsum(b * b / (2 + v * v) * a)", v=V)
    assert found.count("for ") == 1
    assert found.count("floats(") == 1  # the gradient


def test_neighbours_are_not_one_loop() -> None:
    """What an element takes from its neighbour must have been computed before."""
    assert emitted("a = sin(v)\nsum(a[1:] * a[:-1])", v=V).count("for ") >= 2


def test_nothing_is_logged_that_no_adjoint_reads() -> None:
    filled = "w = v * 1.0\nfor i in range(1, 4):\n    w[i] = 0.9 * w[i - 1] + v[i] * v[i]\nsum(w * w)"
    assert "_was" not in emitted(filled, v=V)
    squared = "w = v * 1.0\nfor i in range(1, 4):\n    w[i] = w[i - 1] * w[i]\nsum(w)"
    assert "_was" in emitted(squared, v=V)


def test_a_log_is_kept_where_an_iteration_may_overwrite_few_elements_of_many() -> None:
    """Copies of a whole array at each iteration would take its size squared, whatever there is to do."""
    stored = "w[j] = w[j] * w[j - 1]"
    head = "w = concat([v] * 30)\nfor i in range(1, 120):\n"
    for inner in (
        "    for j in range(i, 120, i):\n        %s\n",
        "    j = i\n    while j > 0 and w[j] > w[j - 1]:\n        %s\n        j -= 1\n",
    ):
        assert "w1_was" in emitted(head + inner % stored + "sum(w)", v=V * 0.5)


def test_states_that_are_replaced_are_not_stored_again() -> None:
    found = emitted("y = v\nfor i in range(n):\n    y = y + 0.1 * sin(y)\nsum(y)", v=V, n=3)
    assert found.count("math.sin") == 1


def test_sums_into_one_element_are_collected() -> None:
    found = emitted("s = 0.0\nfor i in range(4):\n    for j in range(4):\n        s += v[i] * v[j] * v[j]\ns", v=V)
    assert "if b" in found


def test_flags_of_singular_points_are_sums() -> None:
    found = emitted("sum(abs(v))", v=V)
    assert "n1 += " in found


def test_quotients_divide_once() -> None:
    """Beside the value's division there is one, for both derivatives."""
    assert emitted("sum(v / (2 + v * v))", v=V).count(" / ") == 2
    assert emitted("sum(1 / (2 + v * v))", v=V).count(" / ") == 1


def test_one_division_serves_where_a_reciprocal_would_overflow() -> None:
    """Zeros of both signs, numbers below the normal ones, infinities and nan, each by each, as the tape's."""
    points = [0.0, 5e-324, 3e-315, 1e-310, 1e-309, 2e-308, 1e-301, 1e-300, 1e-200, 0.7, 1e300, 1.7e308, np.inf]
    sides = np.array([sign * x for x in points for sign in (1.0, -1.0)] + [np.nan])
    a, b = (x.ravel() for x in np.meshgrid(sides, sides))
    found = {
        engine: adiff.program("sum(a / b)").evaluate("grad", {"a": a, "b": b}, ["a", "b"], engine=engine)
        for engine in ("kernel", "tape")
    }
    assert found["kernel"].engine == "kernel", found["kernel"].reason
    for name in ("a", "b"):
        ours, theirs = (found[engine].gradients[name] for engine in ("kernel", "tape"))
        # The least numbers of all are multiples of 5e-324.
        np.testing.assert_allclose(ours, theirs, rtol=1e-15, atol=1e-322)


@pytest.mark.parametrize(
    "text",
    [
        "sum((v[1:] - v[:-1] ** 2) ** 2)",
        "s = 0.0\nfor i in range(len(v) - 2):\n    s += v[i] * v[i + 2] * v[i + 1] * v[i + 1]\ns",
        "s = 0.0\nfor i in range(2, len(v)):\n    s += v[i] * v[i - 2]\ns",
        "s = 0.0\nfor i in range(1, len(v)):\n    s += v[i - 1] * sin(v[i]) * s\ns + sum(v * v)",
    ],
)
def test_sums_into_neighbours_are_handed_on(text: str) -> None:
    found = emitted(text, v=np.array([0.3, -1.1, 0.9, 2.0, 0.6, -0.4]))
    if "* s" not in text:
        assert "clear" not in found
        assert "] += " not in found


@pytest.mark.parametrize(
    "text",
    [
        "s = 0.0\nfor i in range(len(v) - 2):\n    s += v[i] * v[i + 1]\ns",  # the last element has nothing
        "s = 0.0\nfor i in range(len(v)):\n    s += v[i] * v[(i + 1) % 6]\ns",
        "s = 0.0\nfor i in range(len(v) - 1):\n    s += v[i] * v[i + 1] if v[i] > 0 else v[i]\ns",
    ],
)
def test_sums_that_leave_out_elements_are_not(text: str) -> None:
    assert "] += " in emitted(text, v=np.array([0.3, -1.1, 0.9, 2.0, 0.6, -0.4]))


@pytest.mark.parametrize("n", [8, 10, 7, 3])
def test_hessians_hand_on_the_sums_of_all_their_lanes(n: int) -> None:
    """What a pass adds for several directions at once; its columns are stored one beside the other."""
    program = adiff.program("sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)")
    x = np.linspace(-1.2, 1.0, n)
    found = program.evaluate("hessian", {"x": x}, engine="kernel")
    assert found.engine == "kernel", found.reason
    exact = np.diag([*(1200 * x[:-1] ** 2 - 400 * x[1:] + 2), 0.0])
    exact += np.diag([0.0] + [200.0] * (n - 1)) + np.diag(-400 * x[:-1], 1) + np.diag(-400 * x[:-1], -1)
    np.testing.assert_allclose(found.hessian["x"]["x"], exact, rtol=1e-13)
    assert not np.signbit(found.hessian["x"]["x"][exact == 0]).any()
    text = str(found.emitted)
    assert "da2[" in text
    assert not re.search(r"da2\[.*\] \+= ", text)
    table = re.findall(r"^( *)a1\[.*\] = .* \+ 0\.0$", text, re.MULTILINE)
    assert len(table) >= min(n, 4)


def test_what_is_told_twice_has_one_flag() -> None:
    found = emitted("sum(v / (2 + v * v))", v=V)
    assert "n1 += " in found
    assert "n2" not in found


def test_a_steep_iteration_finds_its_slope_before_it_multiplies() -> None:
    found = emitted("z = x\nfor i in range(n):\n    z = z - (z * z - x) / (2 * z)\nz", x=2.0, n=6)
    lines = [line.strip() for line in found.splitlines()]
    (start,) = (k for k, line in enumerate(lines) if line.endswith(" != 0.0:"))
    cotangent = lines[start].split()[1]
    (update,) = (line for line in lines[start:] if line.startswith(f"{cotangent} = "))
    assert update.startswith(f"{cotangent} = {cotangent} + ({cotangent} * ")


def test_quotients_share_a_division_where_loops_become_vectors_and_not_in_steep_iterations() -> None:
    """A processor that waits for the iteration before divides meanwhile: what guards a shared reciprocal is dearer there."""
    assert "_divisor_unit" in emitted("sum(v * v / (2 + v))", v=V)
    assert "_divisor_unit" not in emitted("z = x\nfor i in range(n):\n    z = z - (z * z - x) / (2 * z)\nz", x=2.0, n=6)


def test_a_cotangent_of_zero_stays_zero_in_such_loops() -> None:
    """The first iterations have infinite slopes, and their cotangents are zero."""
    text = "z = x\nfor i in range(4):\n    z = 0.0 * z if i == 3 else z / y * z / y - z\nz + x"
    for engine in ("kernel", "tape"):
        found = adiff.program(text).evaluate("grad", {"x": 1.0, "y": 1e-200}, ["x"], engine=engine)
        assert found.engine == engine, found.reason
        assert found.gradients is not None
        assert found.gradients["x"] == 1.0


def test_states_that_are_replaced_are_kept_whole() -> None:
    found = emitted("y = v\nfor i in range(n):\n    y = y + 0.1 * y * y[::-1]\nsum(y)", v=V, n=5)
    assert "_was" not in found
    assert " * 4 + " in found


def test_heads_of_loops_that_end_early_are_kept_whole() -> None:
    text = "y = v\nk = 0\nwhile sum(y * y) < n:\n    y = y * y * 0.5 + 1.1\n    k += 1\nsum(y) * k"
    assert "_was" not in emitted(text, v=V, n=1e9)


def test_arrays_that_take_over_others_are_these() -> None:
    """The cotangents of `w` before the loop are those after it; the loop goes on where the zeros are."""
    filled = "w = zeros(4)\nw[0] = v[0]\nfor i in range(1, 4):\n    w[i] = 0.9 * w[i - 1] + v[i] * v[i]\nsum(w * w)"
    found = emitted(filled, v=V)
    assert found.count("floats(") == 3, "w, its cotangents, and the gradient"
    assert found.count("for ") == 3, "the loop, the sum with its adjoint, the loop in reverse"


ZEROS = "] = 0.0\n"
FILLED = {
    # What is written before it is read, and whether zeros are stored first.
    "all of it in order": ("w = zeros(40)\nfor i in range(40):\n    w[i] = v[0] * i\nsum(w * w)", False),
    "the first one apart": (
        "w = zeros(40)\nw[0] = v[0]\nfor i in range(1, 40):\n    w[i] = w[i - 1] * v[1]\nsum(w)",
        False,
    ),
    "all but the first": ("w = zeros(40)\nfor i in range(1, 40):\n    w[i] = w[i - 1] + v[1]\nsum(w * w)", True),
    "all but the last": ("w = zeros(40)\nfor i in range(39):\n    w[i] = v[1] * i\nsum(w * w)", True),
    "one that is read too early": (
        "w = zeros(40)\nw[0] = v[0]\nfor i in range(1, 40):\n    w[i] = w[min(i + 1, 39)] + w[i - 1] * v[1]\nsum(w)",
        True,
    ),
    "some": ("w = zeros(40)\nfor i in range(40):\n    if v[i % 4] > 1:\n        w[i] = v[1] * i\nsum(w * w)", True),
}


@pytest.mark.parametrize("name", FILLED)
def test_what_is_written_anyway_is_not_filled_before(name: str) -> None:
    text, zeros = FILLED[name]
    outcome, tape = (adiff.program(text).evaluate("value", {"v": V}, engine=e) for e in ("kernel", "tape"))
    assert np.isclose(outcome.value, tape.value, rtol=1e-13)
    assert (ZEROS in outcome.emitted or "clear(" in outcome.emitted) == zeros


def test_what_stands_there_is_not_computed_again() -> None:
    found = emitted("logsumexp(v)", v=V)
    assert found.count(" = _maximum(") == 1
    assert found.count("math.exp(") == 2  # of the elements, and of a largest one that is not finite
    found = emitted("sum(logsumexp(a, axis=1)**2)", a=np.outer(V, V))
    assert found.count(" = _maximum(") == 1
    assert found.count("math.exp(") == 2
    found = emitted("a = v[n] * v[n]\nb = exp(a)\nsum(b * v) + exp(a)", v=V, n=2)
    assert found.count("math.exp(") == 1
    found = emitted("e = 0.0\nfor i in range(n):\n    d = v[0] - i\n    e += 1 / (1 + d * d)\ne", v=V, n=9)
    assert found.count("_strong(") <= 1


def test_what_was_stored_is_not_loaded_again() -> None:
    """The product with a matrix, its residual, and their adjoint are one loop; no array holds what a variable does, and no
    copy of the matrix is made."""
    found = emitted("sum((a @ v - b)**2)", a=np.ones((3, 4)), v=V, b=np.ones(3))
    assert len(re.findall("^    for ", found, re.M)) == 1
    made = re.findall(r"(\w+) = (?:few_)?floats\(", found)
    assert len(made) == 3, "three gradients: the product is a variable in its loop"
    assert not re.search(r"\w+\[[^]]*\] = a\[", found)


def test_what_is_collected_in_a_row_is_a_sum() -> None:
    found = emitted("y = v[0]\nfor i in range(n):\n    y = y + y * y / v[1]\ny", v=V, n=3)
    lines = [line.strip() for line in found.splitlines()]
    started = {line.split(" = ")[0]: k for k, line in enumerate(lines) if re.match(r"b\d+ = ", line)}
    for name, k in started.items():
        assert not lines[k + 1].startswith(f"{name} += ")


def test_loops_of_the_reverse_sweep_are_joined() -> None:
    found = emitted("y = v\nfor i in range(n):\n    d = sin(y)\n    y = y + 0.001 * d\nsum(y)", v=V, n=3)
    back = found[found.index("-1, -1") :]
    assert back.count("for ") == 2, "the state is restored, and its cotangents change"


def test_products_with_what_is_finite_are_plain() -> None:
    """A state that is finite has finite derivatives in a loop of sums and products; where it is not, a careful kernel tells."""
    turning = "x, y = v[0], v[1]\nfor i in range(n):\n    x, y = x - 0.1 * y * y, y + 0.1 * x * v[2]\nx * y"
    assert "_strong(" not in emitted(turning, v=V, n=3)
    assert "_strong(" in emitted(turning.replace("y * y", "exp(y)"), v=V, n=3)


def test_a_loop_around_loops_asks_at_the_end_of_an_iteration() -> None:
    """What comes before is sure to run, so that what no iteration changes is loaded before all of them."""
    around = "y = v\nfor i in range(n):\n    y = tanh(a @ y)\nsum(y)"
    found = adiff.program(around).evaluate("tape", {"v": V, "a": np.eye(4), "n": 3}, ["v"], emit=True).emitted
    assert found is not None
    lines = [*found[found.index("def ") :].splitlines(), ""]
    asked = [k for k, line in enumerate(lines) if line == "        poll(run, 0)"]
    assert len(asked) == 2
    assert not any(lines[k + 1].startswith("        ") for k in asked)


BRANCHING = "y = x\nfor i in range(n):\n    if y > 1.0:\n        y = y * 0.5 + a\n    else:\n        y = y + x * 0.1\ny"
BY_HAND = """\
def kernel(run, x, n, a):
    l1 = x
    t1 = max(n, 0)
    h1 = floats(run, 0, t1)
    for i1 in range(n):
        poll(run, 0)
        h1[i1] = l1
        if l1 > 1.0:
            l1 = (l1 * 0.5) + a
        else:
            l1 = l1 + (x * 0.1)
    b1 = 1.0
    b2 = 0.0
    b3 = 0.0
    for i2 in range(t1 - 1, -1, -1):
        poll(run, 0)
        r1 = h1[i2]
        if r1 > 1.0:
            b2 += b1
            b1 = b1 * 0.5
        else:
            b3 += b1 * 0.1
    b3 += b1
    return l1, b3, b2
"""


def test_what_a_loop_hands_on_has_the_name_of_what_it_replaces() -> None:
    found = adiff.program(BRANCHING).evaluate("tape", {"x": 0.7, "n": 5, "a": 0.3}, ["x", "a"], emit=True).emitted
    assert found is not None
    assert found[found.index("def ") :] == BY_HAND
    assert "s1 = s1 + " in emitted("sum(exp(v))", v=V)
    one_side = emitted("s = x\nfor i in range(n):\n    if s < 3.0:\n        s = s * 1.5\ns", x=0.7, n=5)
    assert "else:" not in one_side.partition("b1 = ")[0]
    other_side = emitted("s = x\nfor i in range(n):\n    s = s if s < 3.0 else s * 0.5\ns", x=9.7, n=5)
    assert "pass" not in other_side
    nested = emitted("s = x\nfor i in range(n):\n    for j in range(i):\n        s = s + j * sin(x)\ns", x=0.7, n=5)
    assert len(set(re.findall(r"^ +(\w+) = \1 \+", nested, re.MULTILINE))) == 1


def test_a_choice_on_one_condition_is_made_once() -> None:
    nested = "s = 0.0\nfor i in range(n):\n    for j in range(i):\n        s = s + x**j * y\ns"
    found = emitted(nested, x=0.5, y=2.0, n=5)
    choices = re.findall(r" if (\w+) else \(.* if (\w+) else ", found)
    assert " if v" in found
    assert all(outer != inner for outer, inner in choices), choices


@pytest.mark.parametrize(
    "text",
    [
        # What is read after it has been replaced keeps a name of its own.
        "p = x\nq = y\nfor i in range(n):\n    t = p * q\n    q = q + p\n    p = t * 0.3\np + q * x",
        "p = x\nq = y\nfor i in range(n):\n    p, q = q, p * q + y\np * q",
        "p = x\nq = y\nfor i in range(n):\n    u = p * 2.0\n    p = p * q\n    q = u + q * p\np + q",
        "s = x\nfor i in range(n):\n    u = s * y\n    t = s\n    for j in range(3):\n        t = t * 0.5 + u\n    s = t + s * 0.1\ns",
        "s = x\nt = y\nfor i in range(n):\n    u = s * t\n    for j in range(3):\n        s = s * 0.5 + y\n        t = t + s * u\ns * t",
        "s = x\nt = y\nfor i in range(n):\n    u = sin(s)\n    if t > 0.5:\n        s, t = t - u, s\n    else:\n        t = t + s * u\ns * t",
        "s = x\nwhile s < 50.0:\n    u = s\n    s = s * 1.5 + y * y\n    if s > 20.0:\n        s = s + u\ns",
        "s = x\nz = 0.0\nfor i in range(n):\n    t = s * y\n    for j in range(3):\n        s = s * 0.5 + 0.1\n        t = t + s\n    z = z + t\ns * z",
        "s = x\nz = 0.0\nfor i in range(n):\n    t = s * y\n    s = 0.5\n    for j in range(3):\n        s = s * y + 0.1\n        t = t + s\n    z = z + t\ns * z",
        "s = x\nz = 0.0\nfor i in range(n):\n    t = s * y\n    s = 0.5\n    for j in range(3):\n        t = t * 0.9\n        s = s * t + 0.1\n    z = z + t\ns * z",
        "s = x\nk = 0\nfor i in range(n):\n    k = k + 1 if s > y else k\n    s = s * 0.7 + k * y\ns",
    ],
)
@pytest.mark.parametrize("command", ["grad", "hessian"])
def test_what_is_read_later_is_not_replaced(text: str, command: str) -> None:
    for at in ({"x": 0.7, "y": 0.4, "n": 6}, {"x": 1.9, "y": -0.3, "n": 1}):
        given = {name: at[name] for name in adiff.program(text).inputs}
        assert agree(text, given, ["x", "y"], command, 1e-12) == ""


def test_rules_begin_where_the_value_began() -> None:
    """What the value has sorted, and the mean that it has taken, are there for the derivative."""
    ordered = adiff.program("sum(sort(v)**2)").evaluate("value", {"v": V}, engine="kernel")
    assert emitted("sum(sort(v)**2)", v=V).count("_int_add(v") == ordered.emitted.count("_int_add(v") > 0
    assert emitted("std(v) + var(v)", v=V).count("for ") == 6  # three of them for extreme numbers


def test_a_function_that_is_called_twice_is_computed_once() -> None:
    """Though each call has a derivative of its own: the sweep comes first."""
    assert emitted("def h(p):\n    return p * exp(p * p)\nsum(h(v)) + y * sum(h(v))", v=V, y=2.0).count("exp(") == 1
