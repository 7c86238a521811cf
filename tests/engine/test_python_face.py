"""`import adiff`: light, small, and the only door that the command line uses."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import adiff
import numpy as np
import pytest
from adiff import AdiffError, program


@pytest.mark.parametrize("copied", [lambda p: pickle.loads(pickle.dumps(p)), copy.deepcopy, copy.copy])
def test_programs_can_be_copied_and_sent(copied: Callable[[Any], Any]) -> None:
    """Those that have been evaluated too, on either tier: what they compiled stays behind."""
    original = program("s = x\nfor i in range(n):\n    s = sin(s) * a\ns", "loop.adiff")
    at = {"x": 0.5, "a": 1.5, "n": 20}
    expected = original.value_and_gradient(at, ["x", "a"], engine="kernel")
    repeated = original.repeated("grad", at, ["x", "a"], engine="kernel")
    found = copied(original)
    assert (found.source.text, found.source.name) == (original.source.text, "loop.adiff")
    assert found.value_and_gradient(at, ["x", "a"], engine="kernel") == expected
    again = copied(repeated)(at)
    assert (again.value, again.gradients) == expected


def test_what_is_bound_may_not_hold_nothing() -> None:
    for value in ([1, 2, None], [[1.0, None], [2.0, 3.0]]):
        with pytest.raises(AdiffError, match="'x' holds None") as caught:
            program("sum(x)").value({"x": value})
        assert caught.value.code == "E0802"
    with pytest.raises(AdiffError, match="got None"):
        program("sum([1, None])").value()


@pytest.mark.parametrize(
    ("n", "said"),
    [(2.5, "got a float"), (np.float64(2.5), "got a float64 number"), (np.ones(2), "float64 tensor of shape [2]")],
)
def test_numbers_are_not_called_tensors(n: Any, said: str) -> None:
    with pytest.raises(AdiffError) as caught:
        program("s = x\nfor i in range(n):\n    s += i\ns").value_and_gradient({"x": 1.0, "n": n})
    assert caught.value.message.endswith(said), caught.value.message


def test_inputs_in_order_of_first_use() -> None:
    assert program("y = b * a\ny + c + a").inputs == ("b", "a", "c")
    assert program("sin(pi) + e").inputs == ()
    assert program("def f(u):\n    return u * k\nf(z)").inputs == ("k", "z")
    assert program("beta * x + gamma(x) * I").inputs == ("beta", "x", "I")


BINDINGS: list[tuple[Any, Any]] = [
    (2, 4), (2.5, 6.25), (True, 1), (1 + 2j, -3 + 4j), ([1.0, 2.0], [1.0, 4.0]), (np.array([1.0, 2.0]), [1.0, 4.0]), (np.float64(3.0), 9.0),
    (np.int32(3), 9), ((1, 2), [1, 4]), (np.array(2.0), 4.0), ([np.float64(1.0), 2], [1.0, 4.0]), (adiff.constant("array([1, 2]) * 2"), [4, 16]),
    (np.array([1, 2], dtype=np.uint8), [1, 4]), (np.array([1.0], dtype=np.float16), [1.0]), (adiff.constant("pi/pi"), 1.0),
    ([np.array([1.0, 2.0]), np.array([3, 4])], [[1.0, 4.0], [9.0, 16.0]]), ([np.float32(1.5), 2], [2.25, 4.0]), ([[np.float64(1.0)], (2,)], [[1.0], [4.0]]),
    (np.array([1, 2.5], object), [1.0, 6.25]), (np.ma.array([1.0, 2.0]), [1.0, 4.0]),
]  # fmt: skip


@pytest.mark.parametrize(("given", "squared"), BINDINGS, ids=[repr(b[0])[:20] for b in BINDINGS])
def test_bindings(given: Any, squared: Any) -> None:
    found = program("x**2").value({"x": given})
    assert np.asarray(found).tolist() == squared


@pytest.mark.parametrize("engine", ["tape", "kernel"])
@pytest.mark.parametrize("dtype", [">f8", ">f4", ">i4", ">i8", "float128", "uint64"])
def test_other_number_formats_become_those_of_the_language(dtype: str, engine: str) -> None:
    given = np.array([1, 2], dtype=dtype)
    for text in ("x", "x[::-1]", "x * 2"):
        found = program(text).value({"x": given}, engine=engine)
        assert found.dtype.isnative
        assert found.dtype.name in ("float64", "float32", "int32", "int64")
        assert sorted(found.tolist()) == ([2, 4] if "*" in text else [1, 2])


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [("x", {"x": np.array([2**63 + 5, 3], dtype=np.uint64)}, "the integer 9223372036854775813 does not fit int64"),
     ("cast(x, int32) * k", {"x": [1, 2], "k": 2**40}, "the integer 1099511627776 does not fit int32"),
     ("cast(x, int32) + 2147483648", {"x": [1, 2]}, "the integer 2147483648 does not fit int32")],
)  # fmt: skip
def test_integers_that_do_not_fit_are_refused(text: str, at: dict[str, Any], message: str) -> None:
    for engine in ("tape", "kernel"):
        with pytest.raises(AdiffError) as caught:
            program(text).value(at, engine=engine)
        assert (caught.value.code, caught.value.message) == ("E0303", message)


def test_unbound_inputs_are_one_error() -> None:
    with pytest.raises(AdiffError) as caught:
        program("x * y + z").value({"y": 1.0})
    assert caught.value.code == "E0801"
    assert caught.value.exit_code == 2
    assert "'x' and 'z'" in caught.value.message


def test_an_evaluation_leaves_nothing_behind() -> None:
    compiled = program("with GradientTape() as t:\n    t.watch(x)\n    y = x / n\n    assert y < 1\nt.gradient(y, x)")
    with pytest.raises(AdiffError):
        compiled.value({"x": 2.0, "n": 1.0})
    assert compiled.value({"x": 2.0, "n": 4.0}) == 0.25
    assert compiled.value_and_gradient({"x": 2.0, "n": 4.0}, wrt=["n"]) == (0.25, {"n": -1 / 16})


def test_a_misspelt_command_names_the_commands() -> None:
    program = adiff.program("x**2")
    for call in (lambda: program.evaluate("gradd", {"x": 2.0}), lambda: program.repeated("gradd", {"x": 2.0})):
        with pytest.raises(
            adiff.AdiffError, match="no such command: 'gradd'; the commands are value, derivative, grad, "
        ) as error:
            call()
        assert error.value.hint == "did you mean 'grad'?"


def test_an_error_shows_its_code_and_place() -> None:
    with pytest.raises(adiff.AdiffError) as error:
        adiff.program("1 + sine(x)")
    assert repr(error.value) == "AdiffError(E0203: \"unknown function 'sine'\", at <expr>:1:5)"
    assert str(error.value) == (
        "<expr>:1:5: error[E0203]: unknown function 'sine'\n1 + sine(x)\n    ^^^^\nhelp: did you mean 'sin'?"
    )


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (
            "x[x > 0 and x < 2]",
            "; `and`, `or` and `not` of whole tensors are written (a > 0) & (b > 0), (a > 0) | (b > 0), ",
        ),
        ("x[x > 0 & x < 2]", "& binds tighter than comparisons: write (a > 0) & (b > 0)"),
        ("x[x > 0 | x < -2]", "| binds tighter than comparisons: write (a > 0) | (b > 0)"),
    ],
)
def test_masks_written_as_in_other_places(text: str, hint: str) -> None:
    with pytest.raises(adiff.AdiffError) as error:
        adiff.program(text).value({"x": [1.0, 2.0, 3.0]})
    assert hint in str(error.value.hint)


@pytest.mark.parametrize(
    "given",
    [
        np.ma.array([1.0, 2.0], mask=[0, 1]), np.array([1, None], object), np.array([{}, 2], object), [object()], {1, 2}, b"a",
        np.datetime64("2020"), [[np.array([1.0])], np.array([2.0, 3.0])], np.array([2**63], np.uint64),
    ],
)  # fmt: skip
def test_what_is_no_number_is_refused(given: Any) -> None:
    with pytest.raises(adiff.AdiffError):
        adiff.program("sum(x**2)").value_and_gradient({"x": given})


@pytest.mark.parametrize("text", [Path("x"), 123, None, b"x"])
def test_a_program_is_a_text(text: Any) -> None:
    for make in (adiff.program, adiff.constant):
        with pytest.raises(adiff.AdiffError, match="is a text, and not a"):
            make(text)


CALLS: dict[str, tuple[Any, Any]] = {  # of x**2 * y at (3, 2), by keyword
    "value": ({}, 18.0),
    "gradient": ({"wrt": "x"}, {"x": 12.0}),
    "value_and_gradient": ({"wrt": ["y"]}, (18.0, {"y": 9.0})),
    "jacobian": ({"wrt": "x, y"}, {"x": 12.0, "y": 9.0}),
    "hessian": ({"wrt": "x"}, {"x": {"x": 4.0}}),
    "laplacian": ({}, 4.0),
    "derivatives": ({"wrt": "x", "order": 2}, [12.0, 4.0]),
    "jvp": ({"tangent": {"x": 1.0}}, (18.0, 12.0)),
    "vjp": ({"cotangent": 2.0, "wrt": "y"}, (18.0, {"y": 18.0})),
    "hvp": ({"vector": {"x": 1.0}}, {"x": 4.0, "y": 6.0}),
}


@pytest.mark.parametrize("method", CALLS)
def test_inputs_by_keyword(method: str) -> None:
    given, expected = CALLS[method]
    call = getattr(program("x**2 * y"), method)
    assert (
        call(x=3.0, y=2.0, **given)
        == call({"x": 3.0}, y=2.0, **given)
        == call({"x": 3.0, "y": 2.0}, **given)
        == expected
    )


def test_keywords_that_are_options_and_inputs() -> None:
    assert program("order * x").derivatives({"order": 3.0}, x=2.0, wrt="x") == [3.0]
    assert program("x**2").repeated("grad", x=2.0)({"x": 3.0}).gradients == {"x": 6.0}
    assert program("x**2").rows(x=[1.0, 2.0]).value.tolist() == [1.0, 4.0]
    with pytest.raises(AdiffError, match="value has no option z, and the program no such input"):
        program("x**2").value(x=1.0, z=2.0)


def test_a_program_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "spring.adiff"
    path.write_bytes(b"\xef\xbb\xbfy = x\r\ny * sine(y)")
    with pytest.raises(AdiffError) as caught:
        adiff.load(path)
    assert str(caught.value).startswith(f"{path}:2:5: error[E0203]")
    path.write_text("x**2", encoding="utf-8")
    assert adiff.load(str(path)).gradient(x=3.0) == {"x": 6.0}
    with pytest.raises(AdiffError, match="E0711"):
        adiff.load(tmp_path / "none.adiff")


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (lambda: program("x**2").evaluate("grad", x=3.0), "Outcome(value=9.0, gradients={'x': 6.0}, engine='tape')"),
        (lambda: program("x**2").check(x=3.0), "Check(ok=True, max_error=0, method='complex step')"),
        (lambda: adiff.constant("1/2"), "Binding(0.5, float64)"),
        (lambda: adiff.constant("[1, 2]"), "Binding(array([1, 2]), int64)"),
        (lambda: next(row for row in adiff.operations() if row.name == "sin"), "OperationInfo(sin(x): The sine of x radians.)"),
    ],
)  # fmt: skip
def test_what_is_shown(shown: Callable[[], Any], text: str) -> None:
    assert repr(shown()) == text


def test_what_a_program_prints_reaches_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    printing = program("print('x is', x)\nx**2")
    for engine in ("kernel", "tape"):  # a kernel that does not print is not taken for one that is to
        printing.value(x=3.0, write=None, engine=engine)
        assert capsys.readouterr().out == ""
        printing.gradient(x=3.0, engine=engine)
        assert capsys.readouterr().out == "x is 3.0\n"


@pytest.mark.parametrize(
    ("text", "command", "given", "hint"),
    [
        ("x * y", "value", {"x": 1.0}, "bind the input: y=..."),
        ("x * y", "jvp", {"x": 1.0, "y": 1.0}, 'give one per input: tangent={"x": 1, "y": 0}'),
        ("x * y", "derivative", {"x": 1.0, "y": 1.0}, 'choose one: wrt="x"'),
        ("abs(x)", "grad", {"x": 0.0, "kinks": "error"}, 'drop kinks="error" to take the documented choice'),
        ("while True: pass", "value", {"max_steps": 10}, "raise the limit: max_steps=N"),
        ("x", "grad", {}, "bind the input: x=...; `Program.derive` gives derivatives as formulas, with nothing bound"),
    ],
)  # fmt: skip
def test_advice_in_words_of_python(text: str, command: str, given: dict[str, Any], hint: str) -> None:
    with pytest.raises(AdiffError) as caught:
        program(text).evaluate(command, **given)
    assert caught.value.hint == hint
    assert str(caught.value).endswith(f"help: {hint}")
