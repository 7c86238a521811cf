"""Models: where their variables are, how they train, and what is said where they are used wrongly."""

from typing import Any

import adiff
import numpy as np
import pytest
from adiff.parser.errors import AdiffError

ONES = "kernel_initializer='ones'"
NETWORK = f"""
model = tf.keras.Sequential([
    tf.keras.layers.Dense(3, activation='relu', {ONES}, input_shape=(2,)),
    tf.keras.layers.Dense(1, {ONES}, kernel_regularizer=tf.keras.regularizers.l2(0.1))])
"""
MODULES = """
class Linear(tf.Module):
    def __init__(self, n, m, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(tf.ones([n, m]), name='w')
        self.b = tf.Variable(tf.zeros([m]), name='b')
        self.count = tf.Variable(0, trainable=False, name='count')
    def __call__(self, x):
        return x @ self.w + self.b

class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.parts = {"z": Linear(1, 1), "a": [Linear(2, 1)]}
net = Net()
"""


def value(text: str, **at: Any) -> Any:
    return adiff.program(text).value(at, dtype="float64")


def test_the_variables_of_modules_are_in_the_order_of_names() -> None:
    found = value(
        MODULES + "[[v.name for v in net.variables], len(net.trainable_variables), len(net.submodules), net.name]"
    )
    assert found == [["b:0", "count:0", "w:0", "b:0", "count:0", "w:0"], 4, 2, "net"]
    assert value(MODULES + "[list(v.shape) for v in net.trainable_variables]") == [[1], [2, 1], [1], [1, 1]]


def test_gradients_have_the_structure_of_the_variables() -> None:
    found = value(
        NETWORK + "x = tf.constant([[1.0, 2.0]])\n"
        "with tf.GradientTape() as tape:\n    loss = tf.reduce_sum(model(x)) + tf.add_n(model.losses)\n"
        "tape.gradient(loss, model.trainable_variables)"
    )
    expected = [[[1.0] * 3, [2.0] * 3], [1.0] * 3, [[3.0 + 0.2]] * 3, [1.0]]
    for g, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-12)


def test_a_step_of_fit_is_a_step_of_the_loop() -> None:
    data = "x = tf.constant([[1.0, 2.0], [0.5, -1.0], [2.0, 0.0]])\ny = tf.constant([[1.0], [0.0], [2.0]])\n"
    loop = """
opt = tf.keras.optimizers.Adam(0.1)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(y - model(x, training=True))) + tf.add_n(model.losses)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
model.get_weights()
"""
    fit = """
model.compile(optimizer=tf.keras.optimizers.Adam(0.1), loss='mse')
model.fit(x, y, epochs=3, verbose=0)
model.get_weights()
"""
    for ours, theirs in zip(value(NETWORK + data + fit), value(NETWORK + data + loop), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_fit_evaluate_and_predict() -> None:
    found = value(
        f"model = tf.keras.Sequential([tf.keras.layers.Dense(1, {ONES}, use_bias=False)])\n"
        "x = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]])\ny = 3.0*x\n"
        "model.compile(optimizer=tf.keras.optimizers.SGD(0.01), loss='mse', metrics=['mae'])\n"
        "first = model.evaluate(x, y, batch_size=2, verbose=0)\n"
        "history = model.fit(x, y, batch_size=5, epochs=40, verbose=0, validation_data=(x, y), "
        "callbacks=[tf.keras.callbacks.EarlyStopping(monitor='loss', patience=2)])\n"
        "[first, history.history['loss'][0], model.predict(x), len(history.history['val_mae'])]"
    )
    np.testing.assert_allclose(found[0], [4 * 11, 6.0], rtol=1e-12)  # (3x - x)**2 and |3x - x|
    np.testing.assert_allclose(found[1], 44.0, rtol=1e-12)
    np.testing.assert_allclose(found[2], [[3.0], [6.0], [9.0], [12.0], [15.0]], rtol=1e-3)
    assert found[3] == 40


def test_a_graph_of_layers() -> None:
    found = value(
        f"a = tf.keras.Input(shape=(2,))\nh = tf.keras.layers.Dense(2, {ONES})(a)\n"
        "b = tf.keras.layers.Concatenate()([h, a])\n"
        f"model = tf.keras.Model(inputs=a, outputs=tf.keras.layers.Dense(1, {ONES})(tf.keras.layers.add([b, b])))\n"
        "[model(tf.constant([[1.0, 2.0]])), len(model.trainable_variables), model.count_params()]"
    )
    np.testing.assert_allclose(found[0], [[18.0]], rtol=1e-12)
    assert found[1:] == [4, 6 + 5]


def test_frozen_layers_constraints_and_subclasses() -> None:
    found = value(
        f"""
class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.first = tf.keras.layers.Dense(2, {ONES})
        self.last = tf.keras.layers.Dense(1, {ONES}, kernel_constraint='non_neg')
    def call(self, x, training=False):
        return self.last(self.first(x)) if training else -self.last(self.first(x))
net = Net()
a, b = net(tf.constant([[1.0]])), net(tf.constant([[1.0]]), training=True)
net.first.trainable = False
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(net(tf.constant([[1.0]]), training=True))
opt = tf.keras.optimizers.SGD(10.0)
opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
[a, b, len(net.trainable_variables), net.last.kernel.numpy(), net.last.bias.numpy()]
"""
    )
    assert [found[0].item(), found[1].item(), found[2]] == [-2.0, 2.0, 2]
    assert (found[3].tolist(), found[4].tolist()) == ([[0.0], [0.0]], [-10.0])


def test_activity_regularisation_is_per_sample_and_reset_by_each_call() -> None:
    text = (
        f"layer = tf.keras.layers.Dense(1, {ONES}, activity_regularizer=tf.keras.regularizers.L2(0.5))\n"
        "a, b = layer(x), layer(x)\nlayer.losses"
    )
    assert [float(x) for x in value(text, x=[[1.0], [3.0]])] == [0.5 * 10 / 2]


WRONG = [
    (NETWORK + "model(tf.ones((1, 3)))", "'dense' was built for inputs whose last axis is 2"),
    (NETWORK + "model.fit(tf.ones((1, 2)), tf.ones((1, 1)))", "has not been compiled"),
    ("tf.keras.layers.Dense(2, activation='rellu')", "there is no activation 'rellu'"),
    ("tf.keras.optimizers.Adam().apply_gradients([(None, tf.Variable(1.0))])", "no gradients were given"),
    ("class L(tf.keras.layers.Layer):\n    def __init__(self):\n        pass\nL()(1.0)", "call super().__init__() first"),
    ("tf.keras.layers.Dropout(2)", "from 0 to 1"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), WRONG, ids=[words for _, words in WRONG])
def test_wrong_uses_point_at_the_program(text: str, words: str) -> None:
    with pytest.raises(AdiffError) as caught:
        value(text)
    assert words in caught.value.message
    assert caught.value.span is not None
    assert caught.value.span.source.text == text


def test_the_library_reads_nothing_from_outside() -> None:
    from pathlib import Path

    from adiff.engine.program import library
    from adiff.engine.program.lower import library_core

    files = sorted(Path(library.FOLDER).rglob("*.adiff"))
    assert len(files) > 10
    for file in files:
        core = library_core(file.relative_to(library.FOLDER).with_suffix("").as_posix())
        assert (file.name, list(core.inputs)) == (file.name, [])


def test_the_last_tape_of_a_program() -> None:
    text = NETWORK + (
        "x = tf.constant([[1.0, 2.0]])\n"
        "for k in range(2):\n    with tf.GradientTape() as tape:\n        loss = tf.reduce_sum(model(x))*(k + 1)\n"
        "    g = tape.gradient(loss, model.trainable_variables)\n"
    )
    rows = adiff.program(text).evaluate("value", last_tape=True).tape
    assert rows is not None
    inputs = {row.name: row for row in rows if row.operation == "input"}
    assert list(inputs) == ["kernel", "bias", "kernel 3", "bias 4"]
    np.testing.assert_allclose(inputs["kernel 3"].adjoint, [[6.0]] * 3)  # twice the hidden layer's 1 + 2
    assert [row.operation for row in rows if row.operation != "input"].count("matmul") == 2


def test_several_inputs_and_outputs_by_name() -> None:
    text = (
        "a, b = tf.keras.Input((1,), name='a'), tf.keras.Input((1,), name='b')\n"
        f"p = tf.keras.layers.Dense(1, {ONES}, name='p')(a)\nq = tf.keras.layers.Dense(1, {ONES}, name='q')(a*2 + b)\n"
        "model = tf.keras.Model([a, b], {'p': p, 'q': q})\n"
        "model.compile('sgd', loss={'p': 'mse', 'q': 'mae'}, loss_weights={'p': 2.0, 'q': 1.0}, metrics={'q': ['mse']})\n"
        "x = {'b': tf.constant([[1.0], [3.0]]), 'a': tf.constant([[1.0], [2.0]])}\n"
        "zero = tf.zeros((2, 1))\nlogs = model.evaluate(x, {'q': zero, 'p': zero}, verbose=0, return_dict=True)\n"
        "[logs, [layer.name for layer in model.layers], tf.keras.models.clone_model(model).count_params()]"
    )
    logs, names, count = value(text)
    # p is 1, 2 and q is 3, 7: the losses are (1 + 4)/2 and (3 + 7)/2, and the metric is (9 + 49)/2.
    assert logs == {"loss": 10.0, "p_loss": 2.5, "q_loss": 5.0, "q_mse": 29.0}
    assert (names[:2], sorted(names[2:])[-2:], count) == (["a", "b"], ["p", "q"], 4)


def test_a_train_step_of_the_program_gets_what_was_given() -> None:
    text = (
        "class M(tf.keras.Model):\n    def train_step(self, data):\n        x, y = data\n"
        "        for m in self.metrics:\n            if m.name != 'loss':\n                m.update_state(y, self(x))\n"
        "        return {m.name: m.result() for m in self.metrics}\n"
        f"i = tf.keras.Input((1,))\nmodel = M(i, tf.keras.layers.Dense(1, {ONES})(i))\n"
        "model.compile('sgd', 'mse', metrics=['mae'])\nx = tf.constant([[1.0], [2.0]])\n"
        "model.fit(x, 3*x, epochs=1, verbose=0).history"
    )
    assert value(text) == {"loss": [0.0], "mae": [3.0]}


# Layers on fixed inputs; the expected values by hand.
LAYERS = [
    ("Conv2DTranspose(1, 2, strides=2, kernel_initializer='ones')(tf.ones((1, 1, 2, 1)))[0, :, :, 0]", [[1] * 4] * 2),
    ("Conv2DTranspose(1, 3, padding='same', kernel_initializer='ones')(tf.ones((1, 2, 2, 1)))[0, :, :, 0]", [[4, 4]] * 2),
    ("Conv2DTranspose(1, 2, kernel_initializer='ones')(tf.ones((1, 1, 2, 1)))[0, :, :, 0]", [[1, 2, 1]] * 2),
    ("UpSampling2D(2)(tf.reshape(tf.constant([1.0, 2.0]), (1, 1, 2, 1)))[0, :, :, 0]", [[1, 1, 2, 2]] * 2),
    ("Dot(axes=1)([tf.constant([[1.0, 2.0]]), tf.constant([[3.0, 4.0]])])", [[11]]),
    ("PReLU(alpha_initializer='ones')(tf.constant([[-2.0, 3.0]]))", [[2 * -1, 3]]),
    ("Permute((2, 1))(tf.constant([[[1.0, 2.0]]]))", [[[1], [2]]]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), LAYERS, ids=[text.partition("(")[0] for text, _ in LAYERS])
def test_layers(text: str, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(value("tf.keras.layers." + text)), expected, rtol=1e-12)


def test_what_is_saved_is_kept_until_the_program_ends() -> None:
    text = NETWORK + (
        "x, y = tf.ones((2, 2)), tf.zeros((2, 1))\nmodel.compile('adam', 'mse')\nmodel.save('m.keras')\n"
        "model.save_weights('w')\nkeep = tf.keras.callbacks.ModelCheckpoint('{epoch}', save_weights_only=True)\n"
        "model.fit(x, y, epochs=2, verbose=0, callbacks=[keep, tf.keras.callbacks.TensorBoard('logs')])\n"
        "copy = tf.keras.models.load_model('m.keras')\nbefore = copy.predict(x)[0, 0]\n"
        "copy.fit(x, y, epochs=2, verbose=0)\nlast = model.predict(x)[0, 0]\nmodel.load_weights('1')\n"
        "first = model.predict(x)[0, 0]\nmodel.load_weights('w')\n"
        "[before, copy.predict(x)[0, 0] - last, first != last, model.predict(x)[0, 0]]"
    )
    found = adiff.program(text).evaluate("value", dtype="float64")
    assert found.value == [6.0, 0.0, True, 6.0]
    assert {notice.code for notice in found.notices} >= {"N0806"}
    with pytest.raises(AdiffError, match="has saved nothing as 'm'"):
        value("tf.keras.models.load_model('m')")


def test_nothing_that_is_saved_is_found_by_the_next_run() -> None:
    text = "r = tf.train.latest_checkpoint('/a')\ntf.train.Checkpoint(a=tf.Variable(x)).save('/a/c')\nx if r is None else 10.0*x"
    program = adiff.program(text)
    assert [program.value({"x": 2.0}), program.value({"x": 3.0}), program.check({"x": 2.0}).ok] == [2.0, 3.0, True]
    program = adiff.program("x * tf.random.get_global_generator().normal([])")
    assert program.value({"x": 1.0}) == program.value({"x": 1.0})


def test_targets_have_the_dtype_of_predictions() -> None:
    text = (
        "def ours(y_true, y_pred):\n    return tf.square(y_true - y_pred)\n"
        f"model = tf.keras.Sequential([tf.keras.layers.Dense(1, {ONES}, use_bias=False)])\n"
        "model.compile(loss=ours, optimizer='sgd')\n"
        "model.evaluate(np.array([[1.0], [2.0]]), np.array([3, 3]), verbose=0)"
    )
    assert adiff.program(text).value() == ((3 - 1) ** 2 + (3 - 2) ** 2) / 2
