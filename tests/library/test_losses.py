"""Losses, metrics, regularisers and constraints against their formulas in NumPy, and layers against hand-made ones."""

from typing import Any

import adiff
import numpy as np
import pytest

T = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
P = np.array([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]])
Z = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
AT = {"t": T, "p": P, "z": Z}


def logsumexp(z: Any) -> Any:
    return np.log(np.exp(z).sum(-1, keepdims=True))


def value(text: str) -> Any:
    return adiff.program(text).value(AT, dtype="float64")


LOSSES = [
    ("MeanSquaredError()(t, p)", np.mean((T - P) ** 2)),
    ("MeanAbsoluteError()(t, p)", np.mean(abs(T - P))),
    ("MeanSquaredError(reduction='sum')(t, p)", np.sum(np.mean((T - P) ** 2, -1))),
    ("MeanSquaredError(reduction='none')(t, p)", np.mean((T - P) ** 2, -1)),
    ("MeanSquaredError()(t, p, sample_weight=[1.0, 3.0])", np.mean(np.mean((T - P) ** 2, -1) * [1, 3])),
    ("BinaryCrossentropy()(t, p)", -np.mean(T * np.log(P) + (1 - T) * np.log(1 - P))),
    ("BinaryCrossentropy(from_logits=True)(t, z)", np.mean(np.log1p(np.exp(Z)) - T * Z)),
    ("BinaryCrossentropy(label_smoothing=0.2)(t, p)",
     -np.mean((0.8 * T + 0.1) * np.log(P) + (0.9 - 0.8 * T) * np.log(1 - P))),
    ("CategoricalCrossentropy()(t, p)", -np.mean(np.log([0.7, 0.4]))),
    ("CategoricalCrossentropy(from_logits=True)(t, z)", -np.mean(np.sum(T * (Z - logsumexp(Z)), -1))),
    ("SparseCategoricalCrossentropy()([0, 2], p)", -np.mean(np.log([0.7, 0.4]))),
    ("SparseCategoricalCrossentropy(from_logits=True)([[0], [2]], z)", -np.mean(np.sum(T * (Z - logsumexp(Z)), -1))),
    ("Huber()(t, 3*p)", np.mean(np.where(abs(T - 3 * P) <= 1, (T - 3 * P) ** 2 / 2, abs(T - 3 * P) - 0.5))),
    ("KLDivergence()(p, p[::-1])", np.mean(np.sum(P * np.log(P / P[::-1]), -1))),
    ("Poisson()(t, p)", np.mean(P - T * np.log(P + 1e-7))),
    ("LogCosh()(t, p)", np.mean(np.log(np.cosh(P - T)))),
    ("Hinge()(t, z)", np.mean(np.maximum(1 - (2 * T - 1) * Z, 0))),
    ("CosineSimilarity()(t, p)", -np.mean(np.sum(T * P, -1) / np.linalg.norm(P, axis=-1))),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), LOSSES, ids=[text for text, _ in LOSSES])
def test_losses(text: str, expected: Any) -> None:
    np.testing.assert_allclose(value(f"tf.keras.losses.{text}"), expected, rtol=1e-9)


OTHERS = [
    ("tf.keras.metrics.Mean()([1.0, 3.0], sample_weight=[1.0, 3.0])", 2.5),
    ("tf.keras.metrics.RootMeanSquaredError()(t, p)", np.sqrt(np.mean((T - P) ** 2))),
    ("tf.keras.metrics.SparseCategoricalAccuracy()([0, 0], p)", 0.5),
    ("tf.keras.metrics.CategoricalAccuracy()(t, p)", 1.0),
    ("tf.keras.metrics.BinaryAccuracy()([[1.0], [0.0]], [[0.6], [0.7]])", 0.5),
    ("tf.keras.metrics.Precision()([1, 0, 1], [0.9, 0.8, 0.1])", 0.5),
    ("tf.keras.metrics.Recall()([1, 0, 1, 1], [0.9, 0.8, 0.1, 0.7])", 2 / 3),
    ("tf.keras.regularizers.l1_l2(0.1, 0.2)(z)", 0.1 * abs(Z).sum() + 0.2 * (Z**2).sum()),
    ("tf.keras.constraints.NonNeg()(z)", np.maximum(Z, 0)),
    ("tf.keras.constraints.UnitNorm()(z)", Z / (1e-7 + np.linalg.norm(Z, axis=0))),
    ("tf.keras.constraints.MaxNorm(1.0)(z)", Z * np.minimum(np.linalg.norm(Z, axis=0), 1) / (1e-7 + np.linalg.norm(Z, axis=0))),
    ("tf.keras.activations.get('gelu')(z, approximate=True)", Z / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (Z + 0.044715 * Z**3)))),
    ("tf.keras.utils.to_categorical([0, 2])", T),
    ("tf.clip_by_global_norm([tf.constant([3.0]), tf.constant([4.0])], 1.0)[0][1]", [0.8]),
    ("tf.keras.initializers.Orthogonal(seed=1)((3, 3)) @ tf.transpose(tf.keras.initializers.Orthogonal(seed=1)((3, 3)))", np.eye(3)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), OTHERS, ids=[text for text, _ in OTHERS])
def test_metrics_and_penalties(text: str, expected: Any) -> None:
    np.testing.assert_allclose(value(text), expected, rtol=1e-9, atol=1e-12)


def test_the_bounds_of_initialisers() -> None:
    for name, bound in (("GlorotUniform", np.sqrt(6 / 500)), ("HeUniform", np.sqrt(6 / 300)), ("RandomUniform", 0.05)):
        drawn = value(f"tf.keras.initializers.{name}(seed=1)((300, 200))")
        assert 0.99 * bound < abs(drawn).max() <= bound
    deviation = value("tf.keras.initializers.HeNormal(seed=1)((300, 200))").std()
    assert abs(deviation / np.sqrt(2 / 300) - 1) < 0.01


X = np.array([[[1.0, 2.0], [3.0, 4.0], [5.0, 7.0], [-1.0, 0.0]]])
LAYERS = [
    ("Dense(2, kernel_initializer='ones', bias_initializer='ones', activation='relu')", np.repeat(X.sum(-1, keepdims=True) + 1, 2, -1)),
    ("Flatten()", X.reshape(1, 8)),
    ("Conv1D(1, 2, kernel_initializer='ones')", X.sum(-1)[:, :-1, None] + X.sum(-1)[:, 1:, None]),
    ("MaxPool1D()", np.array([[[3.0, 4.0], [5.0, 7.0]]])),
    ("AvgPool1D()", np.array([[[2.0, 3.0], [2.0, 3.5]]])),
    ("GlobalAveragePooling1D()", X.mean(1)),
    ("LayerNormalization(epsilon=0.0)", np.sign(X - X.mean(-1, keepdims=True))),
    ("BatchNormalization(epsilon=0.0)", X),
    ("Rescaling(0.5, 1.0)", X / 2 + 1),
    ("Dropout(0.5)", X),
    ("Reshape((8, 1))", X.reshape(1, 8, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("make", "expected"), LAYERS, ids=[make for make, _ in LAYERS])
def test_layers(make: str, expected: Any) -> None:
    found = adiff.program(f"tf.keras.layers.{make}(x)").value({"x": X}, dtype="float64")
    np.testing.assert_allclose(found, np.maximum(expected, 0) if "relu" in make else expected, rtol=1e-12)


def test_an_lstm_of_one_unit() -> None:
    text = "tf.keras.layers.LSTM(1, kernel_initializer='ones', recurrent_initializer='ones')(x)"
    found = adiff.program(text).value({"x": [[[0.5], [-0.25]]]}, dtype="float64")
    h = c = 0.0
    for x in (0.5, -0.25):
        gate, forget = 1 / (1 + np.exp(-(x + h))), 1 / (1 + np.exp(-(x + h + 1)))
        c = forget * c + gate * np.tanh(x + h)
        h = gate * np.tanh(c)
    np.testing.assert_allclose(found, [[h]], rtol=1e-12)


def test_batch_normalisation_in_training() -> None:
    found = adiff.program(
        "bn = tf.keras.layers.BatchNormalization(momentum=0.9, epsilon=0.0)\n"
        "y = bn(x, training=True)\n[y, bn.moving_mean.numpy(), bn.moving_variance.numpy(), len(bn.trainable_variables)]"
    ).value({"x": [[1.0], [3.0]]}, dtype="float64")
    np.testing.assert_allclose(found[0], [[-1.0], [1.0]], rtol=1e-12)
    np.testing.assert_allclose([found[1][0], found[2][0]], [0.2, 0.9 + 0.1], rtol=1e-12)
    assert found[3] == 2


def test_weights_and_ranks_of_metrics() -> None:
    text = "p = tf.keras.metrics.Precision()\np.update_state([0, 1, 1, 1], [1, 0, 1, 1], sample_weight=[0, 0, 1, 0])\np.result()"
    assert adiff.program(text).value() == 1.0
    assert value("tf.keras.metrics.BinaryAccuracy()([[1.0], [0.0]], [0.9, 0.1])") == 1.0
