"""Random numbers with a seed: the same each time, of the distribution they are called after."""

from typing import Any

import numpy as np
import pytest
from adiff import AdiffError, program


def value(text: str, **at: Any) -> Any:
    return program(text).value(at)


def test_the_same_seed_gives_the_same_numbers() -> None:
    text = "tf.random.normal((4,), seed=s)"
    assert value(text, s=7).tolist() == value(text, s=7).tolist()
    assert value(text, s=7).tolist() != value(text, s=8).tolist()
    assert value("random.normal((4,), seed=7)").tolist() == np.random.default_rng([7]).standard_normal(4).tolist()


def test_moments() -> None:
    normal = value("random.normal((100_000,), 3.0, 2.0, seed=1)")
    assert (normal.mean(), normal.std()) == pytest.approx((3.0, 2.0), rel=0.01)
    uniform = value("random.uniform((100_000,), -1.0, 3.0, seed=1)")
    assert -1.0 <= uniform.min() < -0.99 < 2.99 < uniform.max() < 3.0
    assert (uniform.mean(), uniform.std()) == pytest.approx((1.0, 4 / 12**0.5), rel=0.01)
    assert value("random.normal((2, 3), dtype=float32, seed=1)").dtype == np.float32


def test_their_parameters_carry_derivatives() -> None:
    drawn, found = program("sum(random.normal((3,), m, s, seed=4))").value_and_gradient({"m": 1.0, "s": 2.0})
    assert found["m"] == 3.0
    assert found["s"] == pytest.approx((drawn - 3.0) / 2.0, rel=1e-14)
    hessian = program("sum(random.normal((3,), m, s, seed=4)**2)").hessian({"m": 1.0, "s": 2.0})
    assert hessian["m"]["m"] == 6.0


def test_shuffled_rows() -> None:
    assert sorted(value("random.shuffle(range(6), seed=2)").tolist()) == list(range(6))
    gradient = program("random.shuffle(x, seed=3)[0]").value_and_gradient({"x": [1.0, 2.0, 3.0]})[1]["x"]
    assert sorted(gradient.tolist()) == [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    "text", ["random.normal((2,), seed=0.5)", "random.uniform((2,), seed=-1)", "random.shuffle([1, 2], seed=1.5)"]
)
def test_seeds_that_are_none(text: str) -> None:
    with pytest.raises(AdiffError, match="seed"):
        value(text)


@pytest.mark.parametrize("text", ["np.random.gamma(2.0, 1.0)", "jax.random.gamma(jax.random.key(1), 2.0)"])
def test_other_generators_are_refused(text: str) -> None:
    with pytest.raises(AdiffError) as caught:
        value(text)
    assert caught.value.code == "E0204"
    assert "random.normal(shape, seed=1)" in (caught.value.hint or "")


def test_what_is_drawn_without_a_seed_follows_from_the_one_that_is_set() -> None:
    numpy = np.random.RandomState(4)
    text = "{}(4)\nsum(np.random.normal(1.0, 2.0, 3)) + np.random.uniform(0.0, 10.0)"
    expected = numpy.normal(1.0, 2.0, 3).sum() + numpy.uniform(0.0, 10.0)
    for seed in ("np.random.seed", "tf.random.set_seed"):
        assert value(text.format(seed)) == pytest.approx(expected, rel=1e-15)
    numpy = np.random.default_rng(42)
    found = value("rng = np.random.default_rng(42)\n[rng.normal(size=2), rng.random(), rng.uniform(-1, 1, (2, 2))]")
    assert [np.asarray(x).tolist() for x in found] == [
        numpy.normal(size=2).tolist(), numpy.random(), numpy.uniform(-1, 1, (2, 2)).tolist()
    ]  # fmt: skip


def test_without_any_seed_a_notice_says_so_and_every_run_draws_the_same() -> None:
    text = "sum(x**2 * (np.random.randn(2, 3) + tf.cast(tf.random.normal([3]), tf.float64)))"
    outcome = program(text).evaluate("hessian", {"x": 2.0})
    assert [n.code for n in outcome.notices] == ["N0303"]
    assert outcome.hessian["x"]["x"] == pytest.approx(program(text).value({"x": 1.0}) * 2, rel=1e-14)
