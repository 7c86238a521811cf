"""Cells of the four notebooks that this project began with, and the patterns of TensorFlow's guides.

A cell is pasted as it stands; what it must give is what TensorFlow gave in the notebook.
"""

import pytest

from .conftest import Runner

VARIABLE = "import tensorflow as tf\nvariable = tf.Variable([[1., 2., 3.], [4., 5., 6.]])\n"


def test_what_does_not_become_an_integer(run: Runner) -> None:
    assert "cannot turn float64 into int32" in run.refused("tf.constant([1.5], dtype=tf.int32)").message
    assert "dtypes do not mix" in run.refused("v = tf.Variable(1.0)\nv.assign_add(tf.constant(3))").message
    assert run("v = tf.Variable(1.0)\nv.assign(2)") == 2.0


# The cells of the notebook about tensors as they stand, with what TensorFlow printed under each.
NOTEBOOK = """
In [7]:
import tensorflow as tf
tensor = tf.constant([[1.,2.,3.], [4.,5.,6.]]) #Tensor para una matriz de 2 columnas x 3 filas
{7}
In [17]:
scalar = tf.constant(50)
In [18]:
import numpy as np

array = np.array([2.,4.,5.])
{18}
In [30]:
tensor2 = tf.constant(40., dtype=tf.float64)
{30}
In [40]:
variable = tf.Variable([[1., 2., 3.], [4., 5., 6.]])
{40}
"""
ECHOES = [
    (7, "tensor", (2, 3), "float32", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    (7, "tensor[..., 1, tf.newaxis]", (2, 1), "float32", [[2.0], [5.0]]),
    (7, "tensor[:, 1:]", (2, 2), "float32", [[2.0, 3.0], [5.0, 6.0]]),
    (7, "tf.square(tensor)", (2, 3), "float32", [[1.0, 4.0, 9.0], [16.0, 25.0, 36.0]]),
    (7, "tf.transpose(tensor)", (3, 2), "float32", [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]),
    (7, "tensor + 10", (2, 3), "float32", [[11.0, 12.0, 13.0], [14.0, 15.0, 16.0]]),
    (7, "tensor @ tf.transpose(tensor) # Matrix multiplication", (2, 2), "float32", [[14.0, 32.0], [32.0, 77.0]]),
    (18, "tf.constant(array)", (3,), "float64", [2.0, 4.0, 5.0]),
    (18, "tf.square(array)", (3,), "float64", [4.0, 16.0, 25.0]),
    (18, "np.square(tensor)", (2, 3), "float32", [[1.0, 4.0, 9.0], [16.0, 25.0, 36.0]]),
    (30, "tf.constant(2.0) + tf.cast(tensor2, tf.float32)", (), "float32", 42.0),
    (
        40,
        "variable.assign(2 * variable)\nvariable[0, 1].assign(42)\nvariable[:,2].assign([0.,1.])\n"
        "variable.scatter_nd_update(indices=[[0,0],[1,2]], updates=[100., 200.])\nvariable",
        (2, 3),
        "float32",
        [[100.0, 42.0, 0.0], [8.0, 10.0, 200.0]],
    ),
    (40, "variable", (2, 3), "float32", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    (40, "variable[:,2].assign([0.,1.])", (2, 3), "float32", [[1.0, 2.0, 0.0], [4.0, 5.0, 1.0]]),
]


@pytest.mark.parametrize(("cell", "last", "shape", "dtype", "value"), ECHOES, ids=[e[1] for e in ECHOES])
def test_the_echo_of_a_cell(
    run: Runner, cell: int, last: str, shape: tuple[int, ...], dtype: str, value: object
) -> None:
    """The shape and the dtype that the notebook shows under the cell are those that `types` has in adiff's answer."""
    text = NOTEBOOK[: NOTEBOOK.index(f"{{{cell}}}")]
    for k in (7, 18, 30):
        text = text.replace(f"{{{k}}}", "")
    assert run(text + last) == value
    assert run.outcome.types["value"] == (dtype, shape)


@pytest.mark.parametrize(
    ("last", "message"),
    [
        ("tf.constant(2.) + tf.constant(40)", "add cannot combine float32 and int32"),
        (">>> tf.constant(2.) + tf.constant(40., dtype=tf.float64)", "add cannot combine float32 and float64"),
        ("variable[1]= [7., 8., 9.]", "does not support item assignment"),
    ],
)
def test_cells_that_fail_there(run: Runner, last: str, message: str) -> None:
    text = NOTEBOOK.replace("{40}", "In [46]:")
    for k in (7, 18, 30):
        text = text.replace(f"{{{k}}}", "")
    assert message in run.refused(text + last).message


DEFAULTS = {
    "float32": "tf.constant(2.0);tf.constant([1, 2.5]);tf.Variable(3.0);tf.ones((2, 2));tf.zeros(3);tf.eye(2);tf.fill([2], 2.0)"
    ";tf.linspace(0., 1., 3);tf.range(5.);tf.random.normal([2], seed=1);tf.random.uniform([2], seed=1)"
    ";tf.convert_to_tensor(1.0);tf.one_hot([0], 2);tf.zeros_like([1.0]);tf.constant(2.0) * 3.0;tf.Variable(tf.zeros(2))"
    ";np.array([1.5]) * tf.constant(2.0);tf.constant(2.0) * np.array([1.5]);c = tf.ones\nc(2)"
    ";from tensorflow import constant\nconstant(2.0);tf.constant(np.array([1.5]), dtype=tf.float32);tf.constant(1.0 + x);tf.sqrt(2.0);tf.reduce_mean([1.0, -2.0])",
    "int32": "tf.constant(40);tf.constant([1, 2]);tf.Variable(3);tf.range(5);tf.fill([2], 7);tf.constant(7) // 2;tf.add(1, 2);tf.reduce_sum([1, 2])",
    "int64": "tf.constant(2**31);tf.constant(np.array([1, 2]));np.array([1]);constant(40);tf.constant([1], dtype=tf.int64)",
    "float64": "np.ones(2);np.array([1.5]);tf.constant(np.array([1.5]));tf.square(np.array([1.5]));tf.Variable(np.array([1.5]))"
    ";constant(2.0);Variable(3.0);tf.constant(3) / tf.constant(2);2 * x;tf.sin(x)",
    "complex128": "tf.constant(1 + 2j)",
}  # fmt: skip


@pytest.mark.parametrize(
    ("dtype", "text"), [(dtype, text) for dtype, texts in DEFAULTS.items() for text in texts.split(";")]
)
def test_the_prefix_decides_the_default_dtype(run: Runner, dtype: str, text: str) -> None:
    at = {"x": 0.5} if "x)" in text or "* x" in text or "+ x" in text else {}
    run(text, at)
    assert run.outcome.types["value"][0] == dtype
    run(text, at, dtype="float64")
    assert run.outcome.types["value"][0] == dtype.replace("float32", "float64" if "dtype=" not in text else "float32")


def test_the_version_can_be_printed(run: Runner) -> None:
    run('import tensorflow as tf\nprint("Versión de Tensorflow: ", tf.__version__)')
    assert run.printed.startswith("Versión de Tensorflow:  ")


# --- the patterns of the guides -------------------------------------------------------------------------------------

LINEAR = """
w = tf.Variable([[0.5, -1.0], [2.0, 0.25], [-0.5, 1.5]], name='w')
b = tf.Variable(tf.zeros(2, dtype=tf.float32), name='b')
x = [[1., 2., 3.]]

with tf.GradientTape(persistent=True) as tape:
    y = x @ w + b
    loss = tf.reduce_mean(y**2)
"""
# y = [0.5 + 4 - 1.5, -1 + 0.5 + 4.5] = [3, 4]; loss = mean(y^2), so dloss/dy = y, dloss/dw = x^T y, dloss/db = y.


def test_a_linear_layer(run: Runner) -> None:
    assert run(LINEAR + "[dl_dw, dl_db] = tape.gradient(loss, [w, b])\n[dl_dw, dl_db]") == [
        [[3.0, 4.0], [6.0, 8.0], [9.0, 12.0]],
        [3.0, 4.0],
    ]


def test_a_layer_as_a_function_over_variables(run: Runner) -> None:
    text = """
weights = [tf.Variable([[1.0, -1.0], [0.5, 2.0]]), tf.Variable([0.0, 0.5])]
def layer(x):
    return tf.nn.relu(x @ weights[0] + weights[1])
x = tf.constant([[1., 2.]])
with tf.GradientTape() as tape:
    y = layer(x)
    loss = tf.reduce_mean(y**2)
grads = tape.gradient(loss, weights)
for var, g in zip(weights, grads):
    print(g.shape)
grads
"""
    # before relu: [1 + 1, -1 + 4 + 0.5] = [2, 3.5], both positive; d/dy = y
    assert run(text) == [[[2.0, 3.5], [4.0, 7.0]], [2.0, 3.5]]
    assert run.printed == "(2, 2)\n(2,)\n"


def test_controlling_what_is_watched(run: Runner) -> None:
    text = """
x0 = tf.Variable(3.0, name='x0')
x1 = tf.Variable(3.0, name='x1', trainable=False)
x2 = tf.Variable(2.0, name='x2') + 1.0
x3 = tf.constant(3.0)
with tf.GradientTape() as tape:
    y = (x0**2) + (x1**2) + (x2**2)
grad = tape.gradient(y, [x0, x1, x2, x3])
for g in grad:
    print(g)
"""
    run(text)
    assert run.printed == "6.0\nNone\nNone\nNone\n"
    reasons = [message for message, _ in run.notices("N0502")]
    assert "not trainable" in reasons[0]
    assert len(reasons) == 3


def test_an_update_that_replaces_the_variable(run: Runner) -> None:
    text = """
x = tf.Variable(2.0)
for epoch in range(2):
    with tf.GradientTape() as tape:
        y = x+1
    print(tape.gradient(y, x))
    x = x + 1   # This should be `x.assign_add(1)`
"""
    run(text)
    assert run.printed == "1.0\nNone\n"
    assert "watch" in run.notices("N0502")[0][0]


def test_fitting_a_line_by_gradient_descent(run: Runner) -> None:
    """Least squares of points on y = 3x + 2: descent reaches the line itself."""
    text = """
x = tf.constant([-1.0, 0.0, 0.5, 1.0, 2.0])
y = 3.0 * x + 2.0
w = tf.Variable(5.0)
b = tf.Variable(0.0)
for epoch in range(400):
    with tf.GradientTape() as t:
        loss = tf.reduce_mean(tf.square(y - (w * x + b)))
    dw, db = t.gradient(loss, [w, b])
    w.assign_sub(0.2 * dw)
    b.assign_sub(0.2 * db)
[w.numpy(), b.numpy()]
"""
    assert run(text) == pytest.approx([3.0, 2.0], abs=1e-6)


FACTORY = """
# One vector of parameters for an optimiser, packed and unpacked as the "function factory" around L-BFGS does it.
w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
b = tf.Variable([0.5, -0.5])
unused = tf.Variable([7.0])
trainable = [w, b, unused]

shapes = [v.shape for v in trainable]
count = 0
idx = []   # stitch indices
part = []  # partition indices
for i, shape in enumerate(shapes):
    n = 1
    for size in shape:
        n = n * size
    idx.append(tf.reshape(tf.range(count, count + n), shape))
    part.extend([i] * n)
    count += n

part = tf.constant(part)

def assign_new_model_parameters(params_1d):
    params = tf.dynamic_partition(params_1d, part, len(shapes))
    for i, (shape, param) in enumerate(zip(shapes, params)):
        trainable[i].assign(tf.reshape(param, shape))

def f(params_1d):
    with tf.GradientTape() as tape:
        assign_new_model_parameters(params_1d)
        loss = tf.reduce_sum((w @ tf.reshape(b, (2, 1))) ** 2)
    grads = tape.gradient(loss, trainable, unconnected_gradients='zero')
    return loss, tf.dynamic_stitch(idx, grads)

init = tf.dynamic_stitch(idx, trainable)
"""


def test_the_function_factory(run: Runner) -> None:
    """w b = [-1, -1] for b = (1, -1): loss 2, dw = 2 (wb) b^T = [[-2, 2], [-2, 2]], db = 2 w^T (wb) = -2 (4, 6)."""
    value = run(FACTORY + "loss, g = f(tf.constant([1.0, 2.0, 3.0, 4.0, 1.0, -1.0, 0.0]))\n[loss, g, unused.numpy()]")
    assert value == [2.0, [-2.0, 2.0, -2.0, 2.0, -8.0, -12.0, 0.0], [0.0]]
