"""Doors: kernels called by machine code. What they take and what not, what they hold, and who may be inside."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import threading
import weakref
from typing import Any

import adiff
import numpy as np
import pytest
from adiff.engine import direct
from adiff.engine.kernels.ir import Unsupported
from adiff.engine.kernels.machine import door, door_code, usual, written

LOOP = "y = 0.0\nfor v in x:\n    y += v**3 * b\nfor i in range(n):\n    y = y / 2\ny + x[k[1]]"
POINT: dict[str, Any] = {"x": np.array([1.0, -2.0, 3.0]), "b": 2.0, "n": 1, "k": np.array([1, 2])}


@pytest.fixture
def way(monkeypatch: pytest.MonkeyPatch) -> direct.Direct:
    """How the kernel of a gradient is called, with its door open."""
    return opened(LOOP, POINT, ["x", "b"], monkeypatch)


def opened(text: str, at: dict[str, Any], wrt: list[str] | None, monkeypatch: pytest.MonkeyPatch) -> direct.Direct:
    monkeypatch.setattr(direct, "DOOR_CALLS", 1)
    repeated = adiff.program(text).repeated("grad", at, wrt, engine="kernel")
    for _ in range(2):
        repeated(at)
    assert repeated.direct is not None
    assert repeated.direct.door is not None
    return repeated.direct


def test_results_are_in_their_shapes_and_each_callers_own(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(6.0).reshape(2, 3) - 2.0
    way = opened("sum(x**2) * b + sum(0.0 * z)", {"x": x, "b": 2.0, "z": x[0]}, None, monkeypatch)
    held = [(b, way.door({"x": x, "b": b, "z": -x[0]}, None)) for b in (1.0, 2.0, -0.5)]
    for b, (value, gx, gb, gz) in held:
        assert (value, gb) == (b * 19.0, 19.0)
        np.testing.assert_array_equal(gx, 2 * b * x)
        assert gx.shape == (2, 3)
        assert gx.flags.owndata
        assert gx.flags.writeable
        assert not np.signbit(gx[gx == 0]).any()  # derivatives have no zeros with a sign
        assert not np.signbit(gz).any()


class Float(float):
    pass


class Array(np.ndarray):
    pass


REFUSED: dict[str, dict[str, Any]] = {
    "an integer of another loop": {"n": 2},
    "a truth value for an integer": {"n": True},
    "a float for an integer": {"n": 1.0},
    "an integer that no machine has": {"n": 2**70},
    "a float of a class of its own": {"b": Float(2.0)},
    "a string": {"b": "2"},
    "a number that is too large": {"b": 2**53 + 1},
    "a larger one": {"b": -(2**80)},
    "another shape": {"x": np.ones(4)},
    "more dimensions": {"x": np.ones((3, 1))},
    "another dtype": {"x": np.ones(3, np.float32)},
    "another order of bytes": {"x": np.ones(3, ">f8")},
    "an array with gaps": {"x": np.ones(6)[::2]},
    "an array of a class of its own": {"x": np.ones(3).view(Array)},
    "a list": {"x": [1.0, 2.0, 3.0]},
    "integers that floats do not hold": {"k": np.array([1, 2**53 + 1])},
    "negative ones": {"k": np.array([-(2**53) - 1, 0])},
    "None": {"k": None},
    "one more": {"other": 1.0},
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_taken(way: direct.Direct, name: str) -> None:
    """Other points are not the door's; it takes its own as ever afterwards."""
    assert way.door({**POINT, **REFUSED[name]}, None) is None
    assert way.door(POINT, None)[0] == 23.0


def test_what_else_is_not_taken(way: direct.Direct) -> None:
    less = {name: x for name, x in POINT.items() if name != "b"}
    for point in (less, {**less, "c": 2.0}, {**less, 3: 2.0}, None, [1.0], type("Dict", (dict,), {})(POINT)):
        assert way.door(point, None) is None
    assert way.door() is None
    assert way.door(POINT) is None
    assert way.door(POINT, None)[0] == 23.0


@pytest.mark.parametrize("b", [np.inf, np.nan, 1e308])
def test_results_that_are_not_as_usual(way: direct.Direct, b: float) -> None:
    assert way.door({**POINT, "b": b}, None) is False
    assert way.door(POINT, None)[0] == 23.0


def test_integers_are_taken_as_floats_where_they_are_differentiated(way: direct.Direct) -> None:
    found = way.door({**POINT, "b": 4}, None)
    assert found[0] == 43.0
    assert found[0].__class__ is float


def test_the_way_through_python_says_which_integers_to_expect(way: direct.Direct) -> None:
    other = {**POINT, "n": 3}
    assert way.door(other, None) is None
    outcome = way(other, {})
    assert outcome is not None
    assert way.door(other, None)[0] == outcome.value == 8.0
    assert way.door(POINT, None) is None


def test_no_loop_that_may_not_run_is_taken_for_one_that_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the loop does not run, the value is not connected, and the gradient no zero but None."""
    program = adiff.program("y = 1.0\nfor i in range(n):\n    y = y * x\ny")
    monkeypatch.setattr(direct, "DOOR_CALLS", 1)
    repeated = program.repeated("grad", {"x": 3.0, "n": 2}, ["x"], engine="kernel")
    for _ in range(3):
        for n, gradient in ((2, 6.0), (0, None), (1, 1.0)):
            assert repeated({"x": 3.0, "n": n}).gradients == {"x": gradient}
    assert repeated.direct is not None
    assert repeated.direct.door is not None


def test_a_derivative_that_may_not_be_connected_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    way = opened("y = 1.0\nif x > 1:\n    y = x * x\ny", {"x": 3.0}, ["x"], monkeypatch)
    found = way({"x": 2.0}, {})
    assert found is not None
    assert found.gradients == {"x": 4.0}
    assert way({"x": 0.5}, {}) is None  # 0.0 or None: an evaluation as a whole is to say


def test_an_error_shuts_the_door_until_the_kernel_has_a_new_record(monkeypatch: pytest.MonkeyPatch) -> None:
    program = adiff.program("z = x[int(b)]\nz ** 2 * b")
    at = {"x": np.arange(3.0), "b": 2.0}
    monkeypatch.setattr(direct, "DOOR_CALLS", 1)
    repeated = program.repeated("grad", at, ["x"], engine="kernel")
    for _ in range(2):
        repeated(at)
    way = repeated.direct
    assert way is not None
    for _ in range(3):
        with pytest.raises(adiff.AdiffError) as caught:
            repeated({**at, "b": 7.0})
        with pytest.raises(adiff.AdiffError) as expected:
            adiff.program(program.source.text).evaluate("grad", {**at, "b": 7.0}, ["x"], engine="tape")
        assert (caught.value.code, caught.value.message) == (expected.value.code, expected.value.message)
        assert not way.entrance.shut
        assert way.door(at, None)[0] == 8.0


def test_a_kernel_that_takes_much_memory_is_called_another_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits with a door is little; where a call takes more, the door stays shut, and answers are right."""
    text = "y = x\nfor i in range(n):\n    y = sin(y) * x\ny"
    way = opened(text, {"x": 0.5, "n": 10}, ["x"], monkeypatch)
    large = {"x": 0.5, "n": 20_000}
    expected = adiff.program(text).evaluate("grad", large, ["x"], engine="tape", checkpoint=10**9)
    for _ in range(4):
        found = way(large, {})
        if found is not None:
            assert found.gradients["x"] == expected.gradients["x"]
    assert way.door is None
    assert way.entrance is not None
    assert way.entrance.frame.size <= 1 << 16


def test_references_are_neither_lost_nor_kept(way: direct.Direct) -> None:
    x, b = POINT["x"], POINT["b"]
    points = [POINT, {**POINT, "n": 2}, {**POINT, "b": np.inf}, {**POINT, "k": np.array([2**60, 0])}, {"x": x}]
    before = [sys.getrefcount(y) for y in (x, b, None, False, POINT)]
    blocks = sys.getallocatedblocks()
    for _ in range(1000):
        for point in points:
            way.door(point, None)
    assert sys.getallocatedblocks() - blocks < 50
    after = [sys.getrefcount(y) for y in (x, b, None, False, POINT)]
    for had, has in zip(before, after, strict=True):
        assert abs(had - has) < 50
    gc.collect()
    found = way.door(POINT, None)
    assert sys.getrefcount(found) == 2
    gradient = found[1]
    del found
    assert sys.getrefcount(gradient) == 2


WATCHED = """
import gc, sys, threading
import adiff, numpy as np
from adiff.engine import direct

direct.DOOR_CALLS = 1
at = {"a": 0.3, "n": 2000, "x": np.ones(3)}
text = "y = 0.0\\nfor i in range(n):\\n    y = y + sin(y + a) * 0.5\\ny + sum(x) * a"
repeated = adiff.program(text).repeated("grad", at, ["a", "x"], engine="kernel")
expected = [repeated(at) for _ in range(2)][-1]
door = repeated.direct.door
assert door is not None
sys.setswitchinterval(1e-5)
stop = []

def look():
    while not stop:
        for x in gc.get_objects():
            if x.__class__ is tuple and len(x) == 3:
                repr(x[0])

thread = threading.Thread(target=look)
thread.start()
through = 0
try:
    for _ in range(100):
        found = door(at, None)
        if found is not None:
            through += 1
            assert found[0] == expected.value
            assert found[1] == expected.gradients["a"]
            assert (found[2] == expected.gradients["x"]).all()
finally:
    stop.append(True)
    thread.join()
print(through)
"""


def in_a_process(text: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, env={**os.environ, **environment}, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_others_may_look_at_every_object_while_a_kernel_runs() -> None:
    """What the collector shows to other threads is whole, and that they hold it disturbs nobody."""
    assert in_a_process(WATCHED) == "100"


LEFT_ALONE = """
import gc, weakref
import adiff, numpy as np
from adiff.engine import direct

direct.DOOR_CALLS = 1
at = {"a": 0.5, "x": np.ones(3)}
repeated = adiff.program("a * sum(x)").repeated("grad", at, ["a", "x"], engine="kernel")
for _ in range(2):
    repeated(at)
door = repeated.direct.door
gone = []
entrance = weakref.ref(repeated.direct.entrance, gone.append)
del repeated
gc.collect()
waste = [bytearray(size) for size in range(16, 1024, 8) for _ in range(20)]
assert door(at, None)[0] == 1.5, door(at, None)
kept = weakref.ref(door.__self__[1])
del door
print(len(gone), entrance() is None, kept() is None)
"""


def test_a_function_may_be_kept_longer_than_its_door() -> None:
    assert in_a_process(LEFT_ALONE, PYTHONMALLOC="debug") == "1 True True"


def test_all_doors_are_called_alike_and_each_goes_with_its_function(
    way: direct.Direct, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "y = x\nfor i in range(n):\n    y = sin(y) * x\ny"
    other = opened(text, {"x": 0.5, "n": 10}, ["x"], monkeypatch)
    assert other.door({"x": 0.5, "n": 10}, None)
    words = [ctypes.c_int64.from_address(id(x.door) + object.__basicsize__).value for x in (way, other)]
    assert words == [ctypes.addressof(door.FUNCTION[0][0])] * 2
    kept, frame = weakref.ref(other.door.__self__[1]), other.entrance.frame
    assert any(frame.run[place] for place in frame.taken)
    other.entrance = None
    assert kept() is not None
    assert any(frame.run[place] for place in frame.taken)
    other.door = None
    assert kept() is None
    assert not any(frame.run[place] for place in frame.taken)


# Functions of which every second call fails, with what that raises.
FAILING = {
    "PyFloat_FromDouble": MemoryError,
    "PyTuple_New": MemoryError,
    "PyTuple_SetItem": SystemError,
    "PyArray_New": MemoryError,
}
PYARRAY_NEW = "ptr (ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)"


def failing(name: str, original: int) -> tuple[int, Any]:
    """A function like another, every second call of which fails as the other does."""
    result, kinds = door_code.CALLED.get(name, PYARRAY_NEW)[:-1].split(" (")
    arguments = ", ".join(f"{kind} %a{k}" for k, kind in enumerate(kinds.split(", ")))
    fails = "  call ptr @PyErr_NoMemory()\n  ret ptr null"
    if name == "PyTuple_SetItem":  # it fails where somebody else holds the tuple
        fails = f"""  call void @Py_IncRef(ptr %a0)
  %status = call i32 @original({arguments})
  call void @Py_DecRef(ptr %a0)
  ret i32 %status"""
    text = f"""declare {result} @original({kinds})
declare ptr @PyErr_NoMemory()
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
@count = internal global i64 0
define {result} @failing_{name}({arguments}) {{
  %count = load i64, ptr @count
  %more = add i64 %count, 1
  store i64 %more, ptr @count
  %odd = trunc i64 %count to i1
  br i1 %odd, label %fails, label %works
works:
  %found = call {result} @original({arguments})
  ret {result} %found
fails:
{fails}
}}
"""
    used = ("PyErr_NoMemory", "Py_IncRef", "Py_DecRef")
    symbols = {x: door.code_of(getattr(ctypes.pythonapi, x)) for x in used}
    return written.function(f"failing_{name}", text, {**symbols, "original": original})


@pytest.mark.parametrize("name", FAILING)
def test_nothing_is_lost_where_results_cannot_be_made(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original = door.array_maker() if name == "PyArray_New" else door.code_of(getattr(ctypes.pythonapi, name))
    place, code = failing(name, original)
    load = written.function

    def function(symbol: str, text: str, symbols: dict[str, int] | None = None) -> tuple[int, Any]:
        given = dict(symbols or {})
        return load(symbol, text, {**given, name: place} if name in given else given)

    monkeypatch.setattr(written, "function", function)
    monkeypatch.setattr(door, "FUNCTION", [])
    if name == "PyArray_New":
        monkeypatch.setattr(door, "array_maker", lambda: place)
    at = {"x": np.array([1.0, -2.0]), "b": 3.0, "z": np.array([0.5, 1.5])}
    monkeypatch.setattr(direct, "DOOR_CALLS", 1)
    repeated = adiff.program("sum(x**2) * b + sum(z**3)").repeated("grad", at, engine="kernel")
    while repeated.direct is None or repeated.direct.door is None:
        repeated(at)
    way = repeated.direct
    outcomes: dict[Any, int] = {}

    def again(times: int) -> None:
        for _ in range(times):
            try:
                found = way.door(at, None)[0]
            except (MemoryError, SystemError) as fault:
                found = fault.__class__
            outcomes[found] = outcomes.get(found, 0) + 1

    again(20)
    before = sys.getallocatedblocks(), sys.getrefcount(at["x"]), sys.getrefcount(at["z"])
    again(400)
    after = sys.getallocatedblocks(), sys.getrefcount(at["x"]), sys.getrefcount(at["z"])
    assert after[0] - before[0] < 50
    assert after[1:] == before[1:]
    assert outcomes[FAILING[name]] >= 200
    assert set(outcomes) <= {FAILING[name], 18.5}
    assert code is not None


@pytest.mark.parametrize(
    ("integer", "holds"),
    [(2**63 - 1, True), (-(2**63), True), (2**63, False), (-(2**63) - 1, False), (2**64 + 1, False)],
)
def test_integers_that_are_part_of_a_kernel_are_words(way: direct.Direct, integer: int, holds: bool) -> None:
    """Another integer is not taken for one with which it agrees in its last 64 bits."""
    kinds = {direct.ARRAY: door.ARRAY, direct.WHOLES: door.WHOLES, direct.NUMBER: door.NUMBER, direct.WHOLE: door.WHOLE}
    asked = [door.Asked(name, kinds[kind], detail) for name, kind, detail in way.inputs]
    asked.append(door.Asked("m", door.WHOLE, integer, passed=False))
    shapes = [None] * len(way.usual.given)
    if not holds:
        with pytest.raises(Unsupported):
            door.Door(way.usual, asked, shapes)
        return
    found = door.Door(way.usual, asked, shapes)
    found.expect([POINT["n"]])
    assert found.function({**POINT, "m": integer}, None)[0] == 23.0
    assert found.function({**POINT, "m": integer ^ 1}, None) is None


class Key:
    """A name that is compared by Python, which comes back through the door, and takes the array away."""

    def __init__(self, way: direct.Direct, name: str) -> None:
        self.way = way
        self.name = name
        self.point: dict[Any, Any] = {}
        self.inside: list[Any] = []

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        if self.point and other == self.name:
            self.inside.append(self.way.door(POINT, None))
            self.point.pop("x", None)
            gc.collect()
        return other == self.name


def test_python_that_runs_while_somebody_is_inside(way: direct.Direct) -> None:
    key = Key(way, "b")
    point = {"x": np.array([1.0, -2.0, 3.0]), key: 2.0, "n": 1, "k": np.array([1, 2])}
    key.point = point
    way.door(point, None)
    assert key.inside == [None]
    assert way.door(POINT, None)[0] == 23.0


class Bad(Key):
    __hash__ = Key.__hash__

    def __eq__(self, other: object) -> bool:
        raise KeyError("no name")


def test_what_a_name_raises_is_raised(way: direct.Direct) -> None:
    point = {"x": POINT["x"], Bad(way, "b"): 2.0, "n": 1, "k": POINT["k"]}
    with pytest.raises(KeyError, match="no name"):
        way.door(point, None)
    assert way.door(POINT, None)[0] == 23.0


def test_threads_go_through_one_at_a_time_and_others_another_way(way: direct.Direct) -> None:
    wrong: list[Any] = []

    def work(b: float) -> None:
        for _ in range(3000):
            found = way({**POINT, "b": b}, {})
            if found is None or found.value != 3.0 + 10.0 * b or found.gradients["b"] != 10.0:
                wrong.append(found)

    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_what_is_compiled_is_kept(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from adiff.engine.kernels.compilation import native

    monkeypatch.setenv("ADIFF_CACHE_DIR", str(tmp_path))
    made: list[str] = []
    original = native.object_code
    monkeypatch.setattr(native, "object_code", lambda text, *more: made.append(text) or original(text, *more))
    functions, calls = list(door.FUNCTION), dict(door.CALLS)
    for _ in range(2):
        door.FUNCTION.clear()
        door.CALLS.clear()
        opened("x * y * 0.75", {"x": 1.0, "y": 2.0}, None, monkeypatch)
    assert sum(door_code.DOOR in text for text in made) == 1
    assert sum(door_code.CALL in text for text in made) == 1
    door.FUNCTION[:] = functions or door.FUNCTION
    door.CALLS.update(calls)


def test_no_door_where_there_can_be_none(way: direct.Direct, monkeypatch: pytest.MonkeyPatch) -> None:
    assert door.possible(way.usual)
    monkeypatch.setattr(way.usual.entry, "routines", True)
    assert not door.possible(way.usual)
    monkeypatch.undo()
    monkeypatch.setattr(sys.implementation, "name", "another")
    assert not door.possible(way.usual)
    monkeypatch.undo()
    monkeypatch.setattr(way.usual, "large", [(1, 0)])
    assert not door.possible(way.usual)


def test_large_results_are_written_again_where_nobody_holds_them() -> None:
    """Such kernels have no door: their memory waits for the next call (spare.py)."""
    program = adiff.program("sum(x**2)")
    at = {"x": np.ones(20_000)}
    run = program.repeated("grad", at, engine="kernel")
    run(at)
    assert run.direct is not None
    assert run.direct.usual.large
    assert usual.Usual is run.direct.usual.__class__
    assert not door.possible(run.direct.usual)
