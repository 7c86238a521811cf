"""Patterns of TensorFlow's guides, and what TensorFlow prints for them."""

import cmath
import math

import pytest

from .conftest import Runner

# text -> its value, by closed forms and TensorFlow's documentation
VALUES = {
    "drawing": (
        """
import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib import pyplot

mpl.rcParams['figure.figsize'] = (8, 6)
figure, axes = plt.subplots(1, 2, figsize=(3, 4))
axes[0].plot([1, 2], label='y')
pyplot.gca().lines.thing = 3
_ = plt.title('h')
3
""",
        3,
    ),
    "shapes, formats and names of errors": (
        """
x, v, caught = tf.ones([2, 3]), tf.Variable([1., 2.]), []
for failing in (lambda: tf.constant([1, 2]) + tf.constant([1, 2, 3]), lambda: tf.constant(1.) + tf.constant(1), lambda: x[5]):
    try:
        failing()
    except Exception as e:
        caught.append(type(e).__name__)
np.set_printoptions(precision=3, suppress=True)
[x.shape == [2, 3], x.shape != [2, 3], '{0.shape}'.format(x), '%.2f' % v[0], caught, str(np.array([1.23456, 2e-10]))]
""",
        [True, False, "(2, 3)", "1.00", ["InvalidArgumentError"] * 3, "[1.235 0.   ]"],
    ),
    "concrete functions of models": (
        """
class S(tf.Module):
    def __init__(self):
        super().__init__()
        self.weight = tf.Variable(2.)
    @tf.Module.with_name_scope
    def __call__(self, x):
        with self.name_scope:
            return self.weight*x
model = S()
concrete = tf.function(lambda m, x: m(x) + 1.).get_concrete_function(model, tf.constant(3.))
@tf.py_function(Tout=tf.float32)
def add(x, y):
    return x + y
[concrete(tf.constant(10.)), add(1., 2.)]
""",
        [21.0, 3.0],
    ),
    "JAX's rules beside fixed arguments": (
        """
from functools import partial
@partial(jax.custom_vjp, nondiff_argnums=(1,))
def f(x, n):
    return x**n
f.defvjp(lambda x, n: (f(x, n), x), lambda n, x, g: (10*g*n*x**(n - 1),))
@partial(jax.custom_jvp, nondiff_argnums=(0,))
def app(h, x):
    return h(x)
@app.defjvp
def rule(h, primals, tangents):
    return h(primals[0]), 10*tangents[0]
[f(3.0, 2), grad(f)(3.0, 2), grad(lambda x: app(sin, x))(2.0)]
""",
        [9.0, 60.0, 10.0],
    ),
    "symbolic gradients": (
        """
v = tf.Variable([1., 2.])
@tf.function
def f(x):
    y = x**2
    return tf.gradients(y**2, [x, y]) + tf.gradients(tf.gradients(y, x), x)
class M(tf.Module):
    @tf.function(autograph=False)
    def weighted(self, n):
        return tf.hessians(tf.reduce_sum(v**3)*n, v)[0], tf.gradients(v**2, v, grad_ys=[[1., 10.]])[0]
with tf.GradientTape() as tape:
    x = tf.constant(3.)
    tape.watch(x)
    y = f(x)[0]
[f(tf.constant(3.)), M().weighted(2), tape.gradient(y, x)]
""",
        [[108.0, 18.0, 2.0], ([[12.0, 0.0], [0.0, 24.0]], [2.0, 40.0]), 108.0],
    ),
    "pipelines": (
        """
def count(stop):
    for i in range(stop):
        yield i, range(i)
pairs = tf.data.Dataset.from_generator(count, args=[4], output_types=(tf.int32, tf.float32))
ids, rows = next(iter(pairs.padded_batch(3)))
steps = tf.data.Dataset.range(7)
windows = [list(w) for w in steps.window(3, shift=2, stride=2, drop_remainder=True)]
batches = list(steps.window(3).flat_map(lambda w: w.batch(3)))
padded = list(pairs.map(lambda i, row: row).padded_batch(4, padded_shapes=[4], padding_values=-1.))
[ids, rows, rows.dtype.name, windows, batches, padded]
""",
        [
            [0, 1, 2],
            [[0, 0], [0, 0], [0, 1]],
            "float32",
            [[0, 2, 4], [2, 4, 6]],
            [[0, 1, 2], [3, 4, 5], [6]],
            [[[-1, -1, -1, -1], [0, -1, -1, -1], [0, 1, -1, -1], [0, 1, 2, -1]]],
        ],
    ),
    "draws with parameters": (
        """
g = tf.random.gamma([20000], 3., 2., seed=1)
p = tf.random.poisson([20000], [2., 5.], seed=1)
b = tf.Variable(2.)
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.random.gamma([3], 1., b, seed=2))
[abs(tf.reduce_mean(g) - 1.5) < 0.02, abs(tf.math.reduce_std(g) - 0.866) < 0.02, p.shape, p.dtype.name,
 tf.reduce_max(abs(tf.reduce_mean(p, 0) - [2., 5.])) < 0.05, tf.abs(tape.gradient(y, b)*2 + y) < 1e-5]
""",
        [True, True, (20000, 2), "float32", True, True],
    ),
    "names of literals": (
        """
a = 2.0
n = 3
b = [1.0, 2.0]
c = 2.0
c = c + 1
w = 2.0
def f(a):
    return tf.sqrt(a).dtype.name
with tf.GradientTape() as tape:
    tape.watch(w)
    y = tf.square(w)
[tf.sqrt(b).dtype.name, tf.square(n).dtype.name, (lambda: tf.exp(b).dtype.name)(), f(2.0), tf.sqrt(c).dtype.name, y.dtype.name]
""",
        ["float32", "int32", "float32", "float64", "float64", "float64"],
    ),
    "Python's random": (
        """
import random
from random import sample
random.seed(1)
xs = [1, 2, 3]
random.shuffle(xs)
drawn = [random.random() for i in range(2000)]
[sorted(xs), abs(sum(drawn)/2000 - 0.5) < 0.03, sorted({random.randint(1, 3): 1 for i in range(99)}), sorted(sample(range(5), 5)), random.choice([7]), 1 <= random.uniform(1, 2) < 2,
 np.random.RandomState(0).randn(2, 3).shape]
""",
        [[1, 2, 3], True, [1, 2, 3], [0, 1, 2, 3, 4], 7, True, (2, 3)],
    ),
    "modules of Python's": (
        """
import datetime, itertools, logging, time, timeit, warnings
import pandas as pd
from collections import Counter, defaultdict
from functools import reduce
from tqdm.auto import tqdm

logging.getLogger('tensorflow').setLevel(logging.ERROR)
start = time.time()
began = time.perf_counter()
time.sleep(1000)
took = timeit.timeit(lambda: tf.constant(1.) + 1., number=3)
name = datetime.datetime.now().strftime('%Y%m%d-%H%M%S')
words = defaultdict(list)
for word in tqdm(['a', 'b', 'a']):
    words[word].append(len(words))
[time.time() - start < 100.0, time.perf_counter() - began < 100.0, took < 100.0, len(name), str(datetime.timedelta(seconds=90061.5)), words['a'],
 Counter('abca').most_common(1), reduce(lambda a, b: a*b, [2, 3, 4]), itertools.combinations([1, 2, 3], 2)]
""",
        [True, True, True, 15, "1 day, 1:01:01.500000", [1, 2], [("a", 2)], 24, [(1, 2), (1, 3), (2, 3)]],
    ),
    "a module under a name": (
        """
import tensorflow as tf
from tensorflow import keras
layers = tf.keras.layers
K = keras.backend
layer = layers.Dense(2, kernel_initializer="ones")
[layer(tf.ones((1, 3))).numpy(), float(K.mean(tf.constant([1.0, 2.0])))]
""",
        [[[3.0, 3.0]], 1.5],
    ),
    "the tangent of a loss": (
        """
x = tf.constant([[2.0, 3.0], [1.0, 4.0]])
w = tf.Variable([[1.0], [2.0]])
with tf.autodiff.ForwardAccumulator(primals=w, tangents=tf.constant([[1.], [0.]])) as acc:
    loss = tf.reduce_sum((x @ w - [[1.], [-1.]]) ** 2.)
acc.jvp(loss)
""",
        48.0,
    ),
    "forward over reverse": (
        """
v = tf.Variable([1., 2.])
with tf.autodiff.ForwardAccumulator(v, tf.constant([1., 0.])) as acc:
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v ** 3.)
    g = tape.gradient(y, v)
[acc.jvp(g), acc.jvp(tf.constant(1.)), acc.jvp(tf.constant(1.), unconnected_gradients='zero')]
""",
        [[6.0, 0.0], None, 0.0],
    ),
    "forward over forward": (
        """
x, z = tf.constant(2.), tf.constant(3.)
with tf.autodiff.ForwardAccumulator([x, z], [tf.constant(1.), tf.constant(10.)]) as outer:
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.)) as inner:
        y = x**3 * z
    d = inner.jvp(y)
[d, outer.jvp(d), outer.jvp([y, x])]
""",
        [36.0, 156.0, [116.0, 1.0]],
    ),
    "a vjp of JAX's": (
        """
import jax

@jax.custom_vjp
def f(x, y):
    return sin(x) * y
def f_fwd(x, y):
    return f(x, y), (cos(x), sin(x), y)
def f_bwd(residuals, g):
    cos_x, sin_x, y = residuals
    return 3 * cos_x * g * y, 5 * sin_x * g
f.defvjp(f_fwd, f_bwd)
jax.grad(f, (0, 1))(1.0, 2.0)
""",
        pytest.approx((6 * math.cos(1.0), 5 * math.sin(1.0)), rel=1e-15),
    ),
    "a jvp of JAX's": (
        """
import jax

@jax.custom_jvp
def f(x, y):
    return sin(x) * y
@f.defjvp
def f_jvp(primals, tangents):
    x, y = primals
    return f(x, y), 3 * cos(x) * tangents[0] * y + 5 * sin(x) * tangents[1]
jax.grad(f, (0, 1))(1.0, 2.0)
""",
        pytest.approx((6 * math.cos(1.0), 5 * math.sin(1.0)), rel=1e-15),
    ),
    "holomorphic": ("[jax.grad(jnp.exp, holomorphic=True)(1j), jax.grad(jnp.conj, holomorphic=True)(1j)]", pytest.approx([cmath.exp(1j), 1], rel=1e-15)),
    "keys": (
        """
from jax import random
key, sub = random.split(random.key(0))
draw = random.normal(sub, (2,))
[all(draw == random.normal(sub, (2,))), all(draw == random.normal(key, (2,))), random.randint(sub, (9,), 5, 8) // 8,
 sort(random.permutation(key, 3)), random.categorical(key, [0.0, -1e9])]
""",
        [True, False, [0] * 9, [0, 1, 2], 0],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), VALUES.values(), ids=list(VALUES))
def test_value(run: Runner, text: str, expected: object) -> None:
    assert run(text) == expected


# Values that follow from the definitions in TensorFlow's documentation.
FUNCTIONS = [
    ("tf.ensure_shape([[1, 2]], [None, 2])", [[1, 2]]),
    ("tf.saturate_cast([300.0, -1.0], tf.uint8)", [255, 0]),
    ("[tf.float32.max, tf.uint8.max, tf.int16.min, tf.uint8.min]", [3.4028234663852886e38, 255, -32768, 0]),
    ("tf.truncatediv([7, -7], [2, 2])", [3, -3]),
    ("tf.math.invert_permutation([2, 0, 1])", [1, 2, 0]),
    ("[tf.math.is_non_decreasing([1, 1, 2]), tf.math.is_strictly_increasing([1, 1, 2])]", [True, False]),
    ("tf.math.lbeta([2.0, 3.0]) - tf.math.log(1/12)", pytest.approx(0.0, abs=1e-6)),
    ("tf.nn.zero_fraction([0, 1, 0, 2])", 0.5),
    ("tf.math.in_top_k([0, 1, 0], [[0.5, 0.1], [0.2, 0.9], [1.0, 2.0]], 1)", [True, True, False]),
    ("tf.unravel_index([5, 2], [2, 3])", [[1, 0], [2, 2]]),
    ("tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3])", [[2, 1, 3], [6, 5, 4]]),
    ("tf.reverse_sequence([[1, 4], [2, 5], [3, 6]], [2, 3], seq_axis=0, batch_axis=1)", [[2, 6], [1, 5], [3, 4]]),
    ("tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15], [0.0, 5.0], nbins=5)", [2, 1, 1, 0, 2]),
    ("tf.tensor_scatter_nd_max([1, 2, 3], [[0], [2], [0]], [5, 1, 4])", [5, 2, 3]),
    ("tf.tensor_scatter_nd_min([[1, 2], [3, 4]], [[1]], [[0, 9]])", [[1, 2], [0, 4]]),
    ("tf.nn.bias_add(tf.zeros([1, 2, 2]), [1, 2], data_format='NCW')", [[[1, 1], [2, 2]]]),
    ("tf.nn.batch_normalization(tf.constant([3.0]), 1.0, 3.0, 0.5, 2.0, 1.0)", [2.5]),
    ("tf.nn.crelu([-1.0, 2.0])", [0, 2, 1, 0]),
    ("tf.nn.weighted_cross_entropy_with_logits([1.0, 0.0], [0.0, 0.0], 3.0)/tf.math.log(2.0)", [3, 1]),
    ("tf.nn.weighted_moments(tf.constant([1.0, 3.0]), [0], [3.0, 1.0])", (1.5, 0.75)),
    ("tf.nn.space_to_depth(tf.reshape(tf.range(4), [1, 2, 2, 1]), 2)", [[[[0, 1, 2, 3]]]]),
    ("tf.reshape(tf.nn.depth_to_space(tf.reshape(tf.range(4), [1, 1, 1, 4]), 2), [4])", [0, 1, 2, 3]),
    ("d = tf.nn.dropout(tf.ones([1000]), 0.5, seed=1)\ntf.unique(tf.sort(d))[0]", [0.0, 2.0]),
    ("tf.nest.flatten({'b': [1, (2, 3)], 'a': 0})", [0, 1, 2, 3]),
    ("tf.nest.pack_sequence_as({'b': [0, (0,)], 'a': 0}, [1, 2, 3])", {"b": [2, (3,)], "a": 1}),
    ("tf.zeros_initializer()([2])", [0, 0]),
    ("x = tf.ones([2, 3])\n[x.shape.rank, x.shape.num_elements(), tf.TensorShape([2, 3]) == x.shape]", [2, 6, True]),
    ("v = tf.Variable([1, 2, 3])\n[v.sparse_read([2, 0]), v.gather_nd([[1]])]", [[3, 1], [2]]),
    ("with tf.GradientTape() as t:\n    t.watch(x)\n    y = tf.grad_pass_through(tf.round)(x) * 2\nt.gradient(y, x)", 2),
    ("@tf.function\ndef f(a, b):\n    return a**b\nf.get_concrete_function(tf.TensorSpec(None, tf.float32), b=2)(10.0)", 100),
    ("tf.debugging.assert_type(tf.constant(1.0), tf.float32)", None),
    # Random numbers: the same for the same seed, inside their bounds.
    ("tf.random.stateless_uniform([9], [1, 2], 5, 8, tf.int32) // 8", [0] * 9),
    ("tf.reduce_all(tf.random.stateless_normal([3], [1, 2]) == tf.random.stateless_normal([3], [1, 2]))", True),
    ("[1.0 < np.Inf, -np.Inf]", [True, -float("inf")]),
    ("tf.random.categorical([[0.0, -1e9], [-1e9, 0.0]], 3, seed=1)", [[0, 0, 0], [1, 1, 1]]),
    ("g = tf.random.Generator.from_seed(1)\na = g.normal([])\nb = g.normal([])\ng.reset_from_seed(1)\n[a == b, a == g.normal([])]", [False, True]),
    ("[len({int(k): 0 for k in tf.reshape(tf.random.split([1, 2], 3), [-1])}), len(tf.random.get_global_generator().split(3))]", [6, 3]),
]  # fmt: skip
REFUSED = [
    ("tf.gradients(x**2, x)", "E0412", "not supported when eager"),
    ("tf.ensure_shape([1, 2], [3])", "E0412", "not compatible with expected shape"),
    ("tf.nest.assert_same_structure([1, [2]], [1, 2])", "E0412", "same nested structure"),
    ("tf.random.uniform([2], dtype=tf.int32)", "E0305", "maxval"),
    ("jax.random.normal(1, (3,))", "E0412", "a key is what jax.random.key"),
    ("tf.float32.bits", "E0414", "bits"),
    ("tf.debugging.assert_type(tf.constant(1), tf.float32)", "E0406", "the dtype is int32, and not float32"),
    ("import random\nrandom.choices([1, 2], [1, 2], k=2)", "E0412", "choices takes no weights"),
    ("import datetime\ndatetime.datetime.fromtimestamp(1e30).isoformat()", "E0304", "no date is 1e+30 seconds from 1970"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), FUNCTIONS)
def test_function(run: Runner, text: str, expected: object) -> None:
    assert run(text, {"x": 2.4}) == expected


@pytest.mark.parametrize(("text", "code", "words"), REFUSED)
def test_refused(run: Runner, text: str, code: str, words: str) -> None:
    error = run.refused(text, {"x": 2.4})
    assert error.code == code
    assert words in error.message
