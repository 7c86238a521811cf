"""What TensorFlow's and Keras' documentation prints, of layers of texts and categories, masks, metrics, hashes and checkpoints."""

from __future__ import annotations

from typing import Any

import adiff
import numpy as np
import pytest

TWO = "[['a', 'c', 'd'], ['d', 'z', 'b']]"
LETTERS = "vocabulary=['a', 'b', 'c', 'd']"
MASKED = "tf.constant([[[1.0], [2.0], [0.0]], [[3.0], [0.0], [0.0]]])"
PRINTED = [
    (f"K.layers.StringLookup({LETTERS})({TWO})", [[1, 3, 4], [4, 0, 2]]),
    (f"l = K.layers.StringLookup()\nl.adapt({TWO})\nl.get_vocabulary()", ["[UNK]", "d", "z", "c", "b", "a"]),
    (f"K.layers.StringLookup({LETTERS}, invert=True)([[1, 3, 4], [4, 0, 2]])", [["a", "c", "d"], ["d", "[UNK]", "b"]]),
    (f"K.layers.StringLookup({LETTERS}, output_mode='multi_hot')({TWO})", [[0, 1, 0, 1, 1], [1, 0, 1, 0, 1]]),
    ("K.layers.IntegerLookup(vocabulary=[12, 36, 1138, 42])([[12, 1138, 42], [42, 1000, 36]])", [[1, 3, 4], [4, 0, 2]]),
    ("l = K.layers.TextVectorization(output_sequence_length=4)\nl.adapt(['foo bar', 'bar baz', 'baz bada boom'])\n"
     "l([['foo qux bar'], ['qux baz']])", [[4, 1, 3, 0], [1, 2, 0, 0]]),
    ("K.layers.TextVectorization(vocabulary=['earth', 'wind', 'and', 'fire'])('Earth, wind!')", [2, 3]),
    ("K.layers.CategoryEncoding(num_tokens=4)([[0, 1], [0, 0], [1, 2], [3, 1]])",
     [[1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 1, 0], [0, 1, 0, 1]]),
    ("K.layers.Discretization([0.0, 1.0, 2.0])([[-1.5, 1.0, 3.4, 0.5], [0.0, 3.0, 1.3, 0.0]])", [[0, 2, 3, 1], [1, 3, 2, 1]]),
    ("tf.strings.to_hash_bucket_fast(['Hello', 'TensorFlow', '2.x'], 3)", [0, 2, 2]),
    # By Google's own program for texts of more than 8, 16, 32 and 64 bytes.
    ("tf.strings.to_hash_bucket_fast(['abcdefgh', 'the quick brown fox jumps', 'the quick brown fox jumps over the lazy dog',"
     " '0123456789'*13], 2**62)", [4533385575889643785, 1388962031143230994, 3200379034145657811, 1497403020669705476]),
    ("K.losses.CategoricalHinge()([[0, 1], [0, 0]], [[0.6, 0.4], [0.4, 0.6]])", 1.4),
    ("K.losses.CategoricalFocalCrossentropy()([[0, 1, 0], [0, 0, 1]], [[0.05, 0.95, 0], [0.1, 0.8, 0.1]])", 0.23315276),
    ("K.losses.Dice()([[1.0, 1.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]])", 0.5),
    ("K.metrics.MeanIoU(num_classes=2)([0, 0, 1, 1], [0, 1, 0, 1])", 0.33333334),
    ("K.metrics.F1Score(threshold=0.5)([[1, 1, 1], [1, 0, 0], [1, 1, 0]], [[0.2, 0.6, 0.7], [0.2, 0.6, 0.6], [0.6, 0.8, 0.0]])",
     [0.5, 0.8, 0.6666667]),
    ("m = K.metrics.SpecificityAtSensitivity(0.5)\nm.update_state([0, 0, 0, 1, 1], [0, 0.3, 0.8, 0.3, 0.8])\nm.result()", 2 / 3),
    ("m = K.metrics.PrecisionAtRecall(0.5)\nm.update_state([0, 0, 0, 1, 1], [0, 0.3, 0.8, 0.3, 0.8])\nm.result()", 0.5),
    ("m = K.metrics.RecallAtPrecision(0.8)\nm.update_state([0, 0, 1, 1], [0, 0.5, 0.3, 0.9])\nm.result()", 0.5),
    ("m = K.metrics.SensitivityAtSpecificity(0.5)\nm.update_state([0, 0, 0, 1, 1], [0, 0.3, 0.8, 0.3, 0.8], [1, 1, 2, 2, 1])\n"
     "m.result()", 1 / 3),
    ("str(tf.shape(tf.ragged.constant([[1], [2, 3], [], [4]])))", "<DynamicRaggedShape lengths=[4, (1, 2, 0, 1)] num_row_partitions=1>"),
    # What fit keeps are Python's floats.
    ("m = K.Sequential([K.layers.Dense(1, kernel_initializer='ones')])\nm.compile('sgd', 'mse')\n"
     "str(m.fit(tf.ones((4, 2)), tf.ones((4, 1)), epochs=2, verbose=0).history)", "{'loss': [1.0, 0.883600115776062]}"),
    ("l = K.layers.Normalization()\nl.adapt(np.array([[0., 7., 4.], [2., 9., 6.], [0., 7., 4.], [2., 9., 6.]]))\nl([[0., 7., 4.]])", [[-1.0, -1, -1]]),
    ("l = K.layers.Normalization(axis=None)\nl.adapt(D.from_tensor_slices([1., 2., 3., 4., 5.]).batch(2))\nl([1., 2., 3.])",
     [-1.4142135, -0.70710677, 0]),
    ("K.utils.pad_sequences([[1], [2, 3], [4, 5, 6]], maxlen=2)", [[0, 1], [2, 3], [5, 6]]),
    ("K.utils.pad_sequences([[1], [2, 3], [4, 5, 6]], padding='post')", [[1, 0, 0], [2, 3, 0], [4, 5, 6]]),
    ("t = K.preprocessing.text.Tokenizer(oov_token='?')\nt.fit_on_texts(['I love my dog', 'You love my dog!'])\n"
     "t.texts_to_sequences(['I really love dogs, dog'])", [[5, 1, 2, 1, 4]]),
    ("[x for x, y in K.utils.timeseries_dataset_from_array(np.arange(5), np.arange(5) + 3, 3, batch_size=3)][0]",
     [[0, 1, 2], [1, 2, 3], [2, 3, 4]]),
    # A model of sparse rows, of which a Dataset has one after the other.
    ("x = K.Input(shape=(3,), sparse=True)\nm = K.Model(x, K.layers.Dense(1, kernel_initializer='ones')(x))\n"
     "s = tf.SparseTensor([[0, 0], [2, 1], [2, 2]], [1., 2., 3.], [3, 3])\n"
     "[m(s), m.predict(s, batch_size=2), [[tf.reduce_sum(tf.sparse.to_dense(e))] for e in D.from_tensor_slices(s)]]", [[[1.0], [0.0], [5.0]]]*3),
    # The mask of a symbolic tensor reaches a layer that asks for it.
    ("class L(K.layers.Layer):\n    def call(self, inputs, mask=None):\n        assert mask is not None\n        return tf.cast(mask, tf.float32)\n"
     "x = K.Input(shape=(None,), dtype='int32')\nK.Model(x, L()(K.layers.Embedding(9, 2, mask_zero=True)(x)))(tf.constant([[3, 0]]))", [[1.0, 0.0]]),
    # The layers in a layer that is frozen are.
    ("m = K.Sequential([K.Input((2,)), K.Sequential([K.Input((2,)), K.layers.Dense(3)])])\nm.trainable = False\n"
     "[m.layers[-1].trainable, m.layers[-1].layers[-1].trainable, len(m.trainable_weights)]", [False, False, 0]),
    ("x = K.Input((4, 2))\n_, h, c = K.layers.LSTM(3, return_state=True, name='a')(x)\nlines = []\n"
     "K.Model(x, K.layers.Add()([h, c])).summary(print_fn=lambda line: lines.append(line))\n[any(part in line for line in lines) "
     "for part in ('[(None, 3),', 'a[0][1], a[0][2]')]", [True, True]),
    ("[next(iter(D.counter(3))), int(next(iter(D.from_tensors(1).rejection_resample(lambda x: x, [0.0, 1.0], [0.5, 0.5])))[1])]", [3, 1]),
    ("m = K.Sequential()\nm.add(K.layers.Dense(8, input_shape=(3,)))\nm.add(K.layers.Reshape((2, 4)))\nlist(m.output_shape[1:])", [2, 4]),
    ("m = K.Sequential([K.layers.TextVectorization(vocabulary=['a', 'b']), K.layers.Embedding(5, 3, mask_zero=True), K.layers.LSTM(2)])\n"
     "list(m.predict(np.array(['a b c', ''])).shape)", [2, 2]),
    ("K.metrics.R2Score()([[1.0], [4.0], [3.0]], [[2.0], [4.0], [4.0]])", 0.57142854),
    ("K.layers.Embedding(5000, 3, mask_zero=True)(tf.constant([[71, 6, 0]]))._keras_mask", [[True, True, False]]),
    ("list(D.range(1, 6).interleave(lambda x: D.from_tensors(x).repeat(6), cycle_length=2, block_length=4))",
     [1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5]),
    ("list(D.range(10).shard(3, 0)) + list(D.range(10).take_while(lambda x: x < 2))", [0, 3, 6, 9, 0, 1]),
    ("list(D.choose_from_datasets([D.from_tensors('a').repeat(), D.from_tensors('b').repeat()], D.range(2).repeat(2)))",
     ["a", "b", "a", "b"]),
    ("str(D.from_tensor_slices((np.ones((4, 2), 'float32'), [1, 2, 3, 4])).batch(2).element_spec)",
     "(TensorSpec(shape=(None, 2), dtype=float32), TensorSpec(shape=(None,), dtype=int32))"),
    ("tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['a', 'b'], [1, 2]), -1).lookup(['b', 'z'])", [2, -1]),
    ("tf.stack(tf.io.decode_csv(['1,2', '3,4'], [[0], [0]]))", [[1, 3], [2, 4]]),
    ("tf.stack(tf.io.decode_csv(['\"a,b\",2', '\"c\"\"d\",\"\"'], ['', 'z']))", [["a,b", 'c"d'], ["2", "z"]]),
    # A mean over the steps that count.
    (f"K.losses.MeanSquaredError()(tf.zeros((2, 3, 1)), K.layers.Masking()({MASKED}))", 14 / 3),
    (f"K.layers.GlobalAveragePooling1D()(K.layers.Masking()({MASKED}))", [[1.5], [3.0]]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), PRINTED)
def test_what_the_documentation_prints(text: str, expected: Any) -> None:
    found = adiff.program("K = tf.keras\ntf.random.set_seed(1)\n" + text.replace("D.", "tf.data.Dataset.")).value()
    if np.asarray(expected).dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    else:
        assert np.asarray(found).tolist() == expected


@pytest.mark.parametrize("layer", ["SimpleRNN(2)", "LSTM(2)", "GRU(2)", "Bidirectional(tf.keras.layers.LSTM(2))"])
def test_masked_steps_change_nothing(layer: str) -> None:
    text = f"""
tf.random.set_seed(1)
model = tf.keras.Sequential([tf.keras.layers.Embedding(10, 4, mask_zero=True), tf.keras.layers.{layer}])
tf.reduce_max(abs(model(tf.constant([[1, 2, 0, 0]])) - model(tf.constant([[1, 2]]))))
"""
    assert adiff.program(text).value() == 0


def test_checkpoints() -> None:
    text = """
class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.layer = [tf.Variable([1.0, 2.0])]
net, optimizer = Net(), tf.keras.optimizers.SGD(0.1, momentum=0.9)
optimizer.apply_gradients([(tf.constant([1.0, 1.0]), net.layer[0])])
saved = tf.train.Checkpoint(step=tf.Variable(1), net=net, optimizer=optimizer)
manager = tf.train.CheckpointManager(saved, "/tmp/checkpoints", max_to_keep=2)
paths = [manager.save() for k in range(3)]
other = Net()
fresh = tf.keras.optimizers.SGD(0.5, momentum=0.9)
tf.train.Checkpoint(step=tf.Variable(0), net=other, optimizer=fresh).restore(tf.train.latest_checkpoint("/tmp/checkpoints")).assert_consumed()
fresh.apply_gradients([(tf.constant([1.0, 1.0]), other.layer[0])])
[paths[2], manager.checkpoints == paths[1:], other.layer[0].numpy(), [name for name, shape in tf.train.list_variables(paths[2])][2]]
"""
    path, kept, values, name = adiff.program(text).value()
    assert (path, kept) == ("/tmp/checkpoints/ckpt-3", True)
    # The velocity is -0.1 after the first step, and 0.9 * -0.1 - 0.1 after the second.
    np.testing.assert_allclose(values, [0.9 - 0.19, 1.9 - 0.19], rtol=1e-6)
    assert name == "optimizer/_learning_rate/.ATTRIBUTES/VARIABLE_VALUE"


def test_an_optimiser_of_the_program() -> None:
    text = """
class Plain(tf.keras.optimizers.Optimizer):
    def build(self, variables):
        super().build(variables)
        self.sums = [self.add_variable_from_reference(v, "sum") for v in variables]
    def update_step(self, gradient, variable, learning_rate):
        total = self.sums[self._get_variable_index(variable)]
        self.assign_add(total, gradient)
        self.assign_sub(variable, learning_rate*total)
v, optimizer = tf.Variable(1.0), Plain(0.5)
for k in range(2):
    optimizer.apply_gradients([(tf.constant(1.0), v)])
v.numpy()
"""
    assert adiff.program(text).value() == 1 - 0.5 - 1.0
