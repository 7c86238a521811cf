"""What fit, evaluate and their callbacks do, against sums in NumPy."""

from typing import Any

import adiff
import numpy as np
import pytest
from adiff.parser.errors import AdiffError

X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]])
Y = np.array([[1.0], [0.0], [2.0], [1.0], [3.0]])
WEIGHTS = np.array([1.0, 2.0, 0.5, 0.0, 3.0])
# y = w*x with w = 1, so that the errors are X - Y.
LINEAR = """
model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer='ones', use_bias=False)])
sgd = tf.keras.optimizers.SGD(0.01)
"""
SQUARES = ((X - Y) ** 2)[:, 0]


def value(text: str) -> Any:
    return adiff.program(LINEAR + text).value({"x": X, "y": Y, "w": WEIGHTS}, dtype="float64")


def trained(weights: Any, epochs: int = 1, rates: Any = None, rows: Any = slice(None)) -> float:
    """The weight after steps of gradient descent on the mean of the weighted squares, all rows at once."""
    w, x, y = 1.0, X[rows, 0], Y[rows, 0]
    for k in range(epochs):
        w -= (0.01 if rates is None else rates[k]) * np.mean(2 * (w * x - y) * x * np.asarray(weights)[rows])
    return w


ONES = np.ones(5)
FITS = [
    ("sample_weight=w", trained(WEIGHTS)),
    ("class_weight={0: 2.0, 1: 1.0, 2: 0.5, 3: 3.0}", trained([1.0, 2.0, 0.5, 1.0, 3.0])),
    ("class_weight={0: 2.0, 3: 3.0}, sample_weight=w", trained(WEIGHTS * [1, 2, 1, 1, 3])),
    ("validation_split=0.4", trained(ONES, rows=slice(3))),
    ("epochs=3, callbacks=[tf.keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate/2)]",
     trained(ONES, 3, [0.005, 0.0025, 0.00125])),
    ("epochs=9, callbacks=[tf.keras.callbacks.EarlyStopping('loss', min_delta=1e9, patience=2)]", trained(ONES, 3)),
    ("epochs=9, callbacks=[tf.keras.callbacks.EarlyStopping('loss', min_delta=1e9, patience=2, restore_best_weights=True)]",
     trained(ONES, 1)),
    ("epochs=4, callbacks=[tf.keras.callbacks.ReduceLROnPlateau('loss', factor=0.5, patience=1, min_delta=1e9, min_lr=0.004)]",
     trained(ONES, 4, [0.01, 0.01, 0.005, 0.004])),
]  # fmt: skip


@pytest.mark.parametrize(("options", "expected"), FITS, ids=[options for options, _ in FITS])
def test_fit(options: str, expected: float) -> None:
    found = value(
        f"model.compile(sgd, 'mse')\nmodel.fit(x, y, batch_size=5, verbose=0, {options})\nmodel.get_weights()[0]"
    )
    np.testing.assert_allclose(found, [[expected]], rtol=1e-12)


def test_steps_of_an_epoch_and_of_a_validation() -> None:
    found = value(
        "data = tf.data.Dataset.from_tensor_slices((x, y)).batch(1)\n"
        "model.compile(tf.keras.optimizers.SGD(0.0), 'mse')\n"
        "h = model.fit(data, epochs=2, steps_per_epoch=2, validation_data=data, validation_steps=3, verbose=0)\n"
        "[h.history, model.evaluate(data, steps=4, verbose=0), len(model.predict(data, steps=2))]"
    )
    np.testing.assert_allclose(found[0]["loss"], [SQUARES[:2].mean(), SQUARES[2:4].mean()])
    np.testing.assert_allclose(found[0]["val_loss"], [SQUARES[:3].mean()] * 2)
    np.testing.assert_allclose(found[1:], [SQUARES[:4].mean(), 2])


def test_weighted_metrics_divide_by_the_weights() -> None:
    found = value(
        "model.compile(sgd, 'mse', metrics=['mae'], weighted_metrics=['mse'])\n"
        "model.evaluate(x, y, sample_weight=w, batch_size=2, verbose=0)"
    )
    expected = [np.mean(SQUARES * WEIGHTS), np.mean(abs(X - Y)), np.sum(SQUARES * WEIGHTS) / np.sum(WEIGHTS)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_callbacks_hear_of_everything() -> None:
    text = (
        "told = []\nclass C(tf.keras.callbacks.Callback):\n"
        + "".join(
            f"    def on_{name}(self, *args):\n        told.append('{name}')\n"
            for name in ("epoch_begin", "train_batch_end", "test_begin", "test_batch_begin", "epoch_end", "train_end")
        )
        + "model.compile(sgd, 'mse')\nmodel.fit(x, y, validation_data=(x, y), verbose=0, callbacks=[C()])\n"
        "tell = tf.keras.callbacks.LambdaCallback(on_predict_end=lambda logs: told.append('lambda'))\n"
        "model.predict(x, callbacks=[tell])\ntold"
    )
    expected = "epoch_begin train_batch_end test_begin test_batch_begin epoch_end train_end lambda"
    assert value(text) == expected.split()


CONFIGS = [
    ("layers.Dense(3, activation='relu', name='d')", "units", 3),
    ("layers.Dropout(0.25)", "rate", 0.25),
    ("optimizers.Adam(0.5, beta_1=0.8)", "beta_1", 0.8),
    ("losses.Huber(delta=2.0)", "name", "huber_loss"),
    ("metrics.Precision(thresholds=0.7)", "thresholds", 0.7),
    ("initializers.RandomNormal(stddev=0.5)", "stddev", 0.5),
]


@pytest.mark.parametrize(("made", "name", "expected"), CONFIGS, ids=[made for made, _, _ in CONFIGS])
def test_configurations(made: str, name: str, expected: Any) -> None:
    assert value(f"a = tf.keras.{made}\ntype(a).from_config(a.get_config()).get_config()['{name}']") == expected


def test_the_configuration_of_a_graph_makes_weights_of_its_own() -> None:
    text = (
        "i = tf.keras.Input((2,))\nm = tf.keras.Model(i, tf.keras.layers.Dense(1, kernel_initializer='ones')(i))\n"
        "c = tf.keras.Model.from_config(m.get_config())\nc.set_weights([tf.zeros((2, 1)), tf.ones(1)])\n"
        "[m(tf.ones((1, 2))), c(tf.ones((1, 2)))]"
    )
    assert [float(found[0, 0]) for found in value(text)] == [2.0, 1.0]


SMALL = [
    ("ops.one_hot([0, 2], 3)", [[1, 0, 0], [0, 0, 1]]),
    ("ops.matmul(x, [[2.0]])[:, 0]", 2 * X[:, 0]),
    ("ops.relu(tf.keras.ops.mean(x - 4))", 0.0),
    ("ops.softmax([0.0, 0.0])", [0.5, 0.5]),
    ("ops.concatenate([x, y], axis=1)[1]", [2, 0]),
    ("random.normal((2,), seed=3) - tf.random.normal((2,), seed=3)", [0, 0]),
    ("random.uniform((3,), 2.0, 2.0, seed=tf.keras.random.SeedGenerator(1))", [2, 2, 2]),
    ("random.dropout(x, 0.0)", X),
    ("backend.std(x)", np.std(X)),
]


@pytest.mark.parametrize(("text", "expected"), SMALL, ids=[text for text, _ in SMALL])
def test_ops_and_random(text: str, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(value(f"tf.keras.{text}")), expected, rtol=1e-12, atol=1e-12)


def test_operations_on_symbolic_tensors_are_layers() -> None:
    text = (
        "i = tf.keras.Input((2,))\nh = tf.nn.relu(tf.keras.layers.Dense(2, kernel_initializer='ones')(i))\n"
        "o = tf.concat([h, tf.square(i)], axis=1)\nm = tf.keras.Model(i, tf.reduce_sum(o, axis=1, keepdims=True))\n"
        "[o.shape, m(tf.constant([[1.0, 2.0], [-3.0, 1.0]]))]"
    )
    shape, found = value(text)
    assert shape == (None, 4)
    np.testing.assert_allclose(found, [[3 + 3 + 1 + 4], [9 + 1]])


WRONG = [
    ("model.build((None, 2))\ny = model(tf.ones((3, 4)))", "'dense' was built for inputs whose last axis is 2", "(tf.ones"),
    ("model(tf.ones(3))", "rank 2 or more", "model(tf.ones(3))"),
    ("model.compile(sgd, 'mse')\nmodel.fit(x, y[:3])", "5 and 3", "model.fit"),
    ("model.compile(sgd, 'mse')\nmodel.fit(x, y, callbacks=[tf.keras.callbacks.EarlyStopping()])", "there are loss", "model.fit"),
    ("model.add_loss(tf.reduce_sum(tf.keras.Input((1,))))", "symbolic tensor is no loss", "add_loss"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words", "place"), WRONG, ids=[words for _, words, _ in WRONG])
def test_wrong_uses(text: str, words: str, place: str) -> None:
    with pytest.raises(AdiffError, match=words) as caught:
        value(text)
    span = caught.value.span
    assert span is not None
    assert place in span.source.text[span.start : span.end]


def test_integers_and_lists_of_numbers_are_inputs() -> None:
    assert float(value("model(tf.constant([[3]]))[0, 0]")) == 3.0
    made = "m = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1, kernel_initializer='ones')])\n"
    np.testing.assert_allclose(value(made + "m.predict(x[:, 0])"), X)
