"""Items that only some rows replace, or each at a place of its own: tables on whole columns give what each row alone gives."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest
from one_by_one import same_as_rows

X = [-1.5, 0.0, 0.5, 2.0, 0.25, 7.25]
Y = [0.25, 1.5, -2.0, 0.0, 3.0, -0.5]
N = [0, 3, 1, 5, 2, 4]
TOGETHER = {
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
# What fails in some rows, in the words that it fails with in each alone.
FAILING = {
    "a[n - 2] += x\nsum(a)": [0, 3, 5],
    "a[n - 1] = x * y\na[n] = x\na[2] * x": [1, 3, 5],
    "A[0, n] = x\nsum(A)": [1, 3, 5],
    "xs[n] = x * y\nxs[0] + xs[1]": [1, 3, 4, 5],
    "{0: x, 2: y, 3: x * y}[n] * x": [2, 3, 5],
}


def columns_for(text: str) -> dict[str, Any]:
    given = {"x": X, "y": Y, "n": N}
    return {name: given[name] for name in adiff.program(text).inputs}


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("name", TOGETHER)
def test_whole_columns(name: str, order: int) -> None:
    columns = columns_for(TOGETHER[name])
    found = same_as_rows(TOGETHER[name], columns, order, wrt=[c for c in columns if c != "n"])
    assert not found.one_by_one, found.one_by_one


def test_places_that_an_input_counts_which_is_differentiated() -> None:
    """A bare integer that is a source is a float, and counts where it says a place."""
    found = same_as_rows("a = array([x, y, 3.0, x * y, 1.0, 2.0])\na[n] * n + a[5 - n]", {"x": X, "y": Y, "n": N})
    assert not found.one_by_one, found.one_by_one


@pytest.mark.parametrize("text", FAILING)
def test_places_that_are_not_there(text: str) -> None:
    text = "a = ones(3)\nA = ones((2, 3))\nxs = [1.0, x]\n" + text
    columns = columns_for(text)
    found = same_as_rows(text, columns, wrt=[c for c in columns if c != "n"])
    assert not set(found.one_by_one) - {"an error in some rows"}
    assert all(error.code == "E0405" for error in found.errors.values())
    assert found.errors


@pytest.mark.parametrize("name", ["an item of a list", "at a place of each row", "a value of a dict"])
def test_in_compiled_loops(name: str) -> None:
    columns = columns_for(TOGETHER[name])
    found = same_as_rows(TOGETHER[name], columns, wrt=[c for c in columns if c != "n"], engine="kernel")
    assert (found.engine, found.one_by_one) == ("kernel", {})


def test_a_list_that_is_handed_out_is_not_the_branchs_own() -> None:
    text = "a = [[x], [y]]\nd = {'p': [y, x]}\nif x > 0:\n    a[1].append(x)\n    d.get('p').append(x * y)\nlen(a[1]) * x + len(d['p']) * y"
    same_as_rows(text, {"x": X, "y": Y})


@pytest.mark.parametrize(
    "text",
    [
        "l = [x, 1.0]\nm = [y, 2.0]\nif x > 0:\n    l = m\nz = l[0]\nm[0] = 7.0 * x\nl[0] * z",
        "l = [x, 1.0]\nm = [y, 2.0]\nk = l if x > 0 else m\nz = k[0]\nm[n % 2] = 7.0 * x\nsum(k) * z",
        "l = [[x, 1.0], [y, 1.0]]\nm = [[y, 2.0], [x, 3.0]]\nq = m[1]\nif x > 0:\n    l = m\nz = l[0][0]\nq[0] = 7.0 * x\nl[1][0] * z",
        "a = [0.0, 0.0]\nb = [x, y]\nfor i in range(3):\n    if b[0] > a[0]:\n        a = b\n    b[0] += y\na[0] * x",
    ],
)  # fmt: skip
@pytest.mark.parametrize("engine", ["tape", "kernel"])
def test_a_list_is_changed_after_rows_have_read_one_of_several(text: str, engine: str) -> None:
    columns = columns_for(text)
    same_as_rows(text, columns, wrt=[c for c in columns if c != "n"], engine=engine)


@pytest.mark.parametrize(
    "change",
    [
        "r[0] = 7.0\nN[1][0]",
        "N[1][0] = 7.0\nr[0]",
        "r += [3.0]\nlen(N[0]) + x",
        "r[0] = y\nN[0][0] + 2*N[1][0]",
        "r[0]*r[1]",
    ],
)
@pytest.mark.parametrize("made", ["[[x, 1.0], [y, 2.0]]", "([x, 1.0], [y, 2.0])", "[[x, 1.0], [y, 2.0, x]]"])
def test_a_list_that_each_row_picks_is_the_list_itself(made: str, change: str) -> None:
    columns = {"x": np.array([0.5, -1.2, 2.0]), "y": np.array([0.1, 0.7, -0.4]), "n": np.array([0, 1, 0])}
    same_as_rows(f"N = {made}\nr = N[n]\n{change}", columns, wrt=["x", "y"])
