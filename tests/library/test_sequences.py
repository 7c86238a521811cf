"""Recurrent layers, attention and counting metrics against their formulas in NumPy."""

from typing import Any

import adiff
import numpy as np
import pytest

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 3, 4))
W, U, B = RNG.normal(size=(4, 8)), RNG.normal(size=(2, 8)), RNG.normal(size=8)
AT = {"x": X, "w": W, "u": U, "b": B, "c": np.stack([B[:6], B[2:]])}


def sigmoid(z: Any) -> Any:
    return 1 / (1 + np.exp(-z))


def steps(kind: str, x: Any = X) -> Any:
    """The outputs of each step, and the last states."""
    h, c, outputs = np.zeros((2, 2)), np.zeros((2, 2)), []
    for t in range(x.shape[1]):
        if kind == "simple":
            h = np.tanh(x[:, t] @ W[:, :2] + h @ U[:, :2] + B[:2])
        elif kind == "lstm":
            i, f, g, o = np.split(x[:, t] @ W + h @ U + B, 4, axis=1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
        else:
            zx, rx, hx = np.split(x[:, t] @ W[:, :6] + AT["c"][0], 3, axis=1)
            zh, rh, hh = np.split(h @ U[:, :6] + AT["c"][1], 3, axis=1)
            if kind == "gru before":
                zx, rx, hx = np.split(x[:, t] @ W[:, :6] + B[:6], 3, axis=1)
                zh, rh, _ = np.split(h @ U[:, :6], 3, axis=1)
                candidate = np.tanh(hx + (sigmoid(rx + rh) * h) @ U[:, 4:6])
            else:
                candidate = np.tanh(hx + sigmoid(rx + rh) * hh)
            h = sigmoid(zx + zh) * h + (1 - sigmoid(zx + zh)) * candidate
        outputs.append(h)
    return np.stack(outputs, axis=1), c


SIMPLE, LSTM, GRU = "[w[:, :2], u[:, :2], b[:2]]", "[w, u, b]", "[w[:, :6], u[:, :6], c]"
BACK = X[:, ::-1]
RECURRENT = [
    ("SimpleRNN(2)", SIMPLE, steps("simple")[0][:, -1]),
    ("LSTM(2, return_sequences=True)", LSTM, steps("lstm")[0]),
    ("GRU(2, return_sequences=True)", GRU, steps("gru")[0]),
    ("GRU(2, reset_after=False)", "[w[:, :6], u[:, :6], b[:6]]", steps("gru before")[0][:, -1]),
    ("RNN(tf.keras.layers.LSTMCell(2), go_backwards=True)", LSTM, steps("lstm", BACK)[0][:, -1]),
    ("Bidirectional(tf.keras.layers.GRU(2, return_sequences=True))", f"{GRU} + {GRU}",
     np.concatenate([steps("gru")[0], steps("gru", BACK)[0][:, ::-1]], axis=-1)),
    ("Bidirectional(tf.keras.layers.SimpleRNN(2), merge_mode='ave')", f"{SIMPLE} + {SIMPLE}",
     (steps("simple")[0][:, -1] + steps("simple", BACK)[0][:, -1]) / 2),
]  # fmt: skip


def value(text: str) -> Any:
    return adiff.program(text).value(AT, dtype="float64")


@pytest.mark.parametrize(("layer", "weights", "expected"), RECURRENT, ids=[layer for layer, _, _ in RECURRENT])
def test_recurrent_layers(layer: str, weights: str, expected: Any) -> None:
    found = value(f"layer = tf.keras.layers.{layer}\nlayer(x)\nlayer.set_weights({weights})\nlayer(x)")
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_states_of_recurrent_layers() -> None:
    text = (
        f"layer = tf.keras.layers.LSTM(2, return_state=True, stateful=True)\nlayer(x)\nlayer.set_weights({LSTM})\n"
        "layer.reset_states()\n_, h, c = layer(x[:, :1])\nagain = layer(x[:, 1:])\n"
        "[h, again[0], again[2], layer(x[:, 1:], initial_state=[h, c])[0]]"
    )
    outputs, c = steps("lstm")
    for found, expected in zip(value(text), (outputs[:, 0], outputs[:, -1], c, outputs[:, -1]), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def softmax(z: Any) -> Any:
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("causal", [False, True])
def test_attention_of_several_heads(causal: bool) -> None:
    text = (
        "layer = tf.keras.layers.MultiHeadAttention(num_heads=2, key_dim=3)\nlayer(x, x)\n"
        f"[*layer(x, x, return_attention_scores=True, use_causal_mask={causal}), *layer.get_weights()]"
    )
    found, scores, q, qb, k, kb, v, vb, o, ob = value(text)
    logits = np.einsum("btd,dhk,bse,ehk->bhts", X, q / np.sqrt(3), X, k)
    if causal:
        logits = np.where(np.tri(3, dtype=bool), logits, -np.inf)
    assert not any(bias.any() for bias in (qb, kb, vb, ob))
    np.testing.assert_allclose(scores, softmax(logits), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(found, np.einsum("bhts,bse,ehk,hkd->btd", softmax(logits), X, v, o), rtol=1e-9)


T, P = np.array([0, 0, 1, 1, 1]), np.array([0.1, 0.6, 0.4, 0.8, 0.9])
COUNTS = [
    ("AUC()", 5 / 6),  # of the six pairs of a positive and a negative, five are in order
    ("AUC(curve='PR', thresholds=[0.5])",
     # from (2 of 3 positives, 2 of 3 true) to none, and from all to it, by Davis and Goadrich's interpolation
     (2 / 3 * 2 + 1 / 2 * (1 + (2 - 3 / 2) * np.log(5 / 3))) / 3),
    ("Precision(thresholds=[0.5, 0.7])", [2 / 3, 1.0]),
    ("Recall()", 2 / 3),
    ("TruePositives()", 2), ("FalsePositives()", 1), ("TrueNegatives()", 1), ("FalseNegatives()", 1),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "expected"), COUNTS, ids=[metric for metric, _ in COUNTS])
def test_counting_metrics(metric: str, expected: Any) -> None:
    found = value(f"tf.keras.metrics.{metric}({T.tolist()}, {P.tolist()})")
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_top_k_metrics() -> None:
    p = "[[0.1, 0.5, 0.4], [0.8, 0.05, 0.15]]"
    assert value(f"tf.keras.metrics.SparseTopKCategoricalAccuracy(k=2)([2, 1], {p})") == 0.5
    assert value(f"tf.keras.metrics.TopKCategoricalAccuracy(k=1)([[0, 1, 0], [0, 0, 1]], {p})") == 0.5
