"""adiff as a tool of GradBench: one JSON request a line on standard input, one answer a line on standard output.

The protocol is described in CONTRIBUTING.md of github.com/gradbench/gradbench. The objectives are the programs in
samples/gradbench; every derivative is adiff's. Run it where the suite runs its tools:

    gradbench run --eval "./gradbench repo eval gmm" --tool "python bench/gradbench_tool.py"

The first call of a function that has a kernel, which it compiles, is timed as "prepare"; others as "evaluate". Which engine ran is
told in the answer's field "engine", which the suite does not read. Requests come with repetitions, so kernels are asked
for, and adiff takes the tape where it has none; with `--engine auto` each request begins on the tape.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import adiff
import numpy as np

PROGRAMS = Path(__file__).parent.parent / "samples" / "gradbench"

Point = dict[str, Any]
Answer = Any


def array(x: Any) -> Any:
    return np.asarray(x, dtype=np.float64)


class Engine:
    """Runs programs by the engine asked for, and notes which one answered.

    The runs of one request are one command at one point, which `Program.repeated` is for.
    """

    def __init__(self, choice: str) -> None:
        self.choice = choice
        self.used: dict[str, str] = {}
        self.repeated: dict[Any, Any] = {}

    def new_request(self) -> None:
        self.used.clear()
        self.repeated.clear()

    def evaluate(self, command: str, program: adiff.Program, point: Point, *wrt: str, **options: Any) -> adiff.Outcome:
        key = (command, program, wrt)
        repeated = self.repeated.get(key)
        if repeated is None:
            repeated = program.repeated(command, point, wrt or None, engine=self.choice, **options)
            self.repeated[key] = repeated
        outcome: adiff.Outcome = repeated(point)
        self.used[command] = outcome.engine
        return outcome

    def value(self, program: adiff.Program, point: Point) -> Any:
        return self.evaluate("value", program, point).value

    def gradients(self, program: adiff.Program, point: Point, *wrt: str) -> dict[str, Any]:
        found = self.evaluate("grad", program, point, *wrt).gradients
        assert found is not None
        return found


class Module:
    """One module of the suite: `prepare` makes a point of a request's input, the named methods answer."""

    def __init__(self, name: str, engine: Engine) -> None:
        self.name = name
        self.engine = engine
        self.program = self.load()

    def load(self, more: str = "", before: str = "", until: str = "") -> adiff.Program:
        """The module's program, or the program with other lines after or before it; `until` a line, if one is named."""
        text = (PROGRAMS / f"{self.name}.adiff").read_text(encoding="utf-8")
        if until:
            text = text[: text.index(f"\n{until}") + 1]
        return adiff.program(before + text + more, self.name)

    def prepare(self, given: Any) -> Any:
        return {"x": array(given["x"])}

    def primal(self, point: Point) -> Answer:
        return self.engine.value(self.program, point)

    def gradient(self, point: Point) -> Answer:
        return self.engine.gradients(self.program, point, "x")["x"]


class Hello(Module):
    def prepare(self, given: Any) -> Point:
        return {"x": float(given)}

    square = Module.primal
    double = Module.gradient


class LogSumExp(Module):
    pass


class LeastSquares(Module):
    def prepare(self, given: Any) -> Point:
        return {"x": array(given["x"]), "n": int(given["n"])}


class DifferentialEquation(Module):
    def __init__(self, name: str, engine: Engine) -> None:
        super().__init__(name, engine)
        self.last = self.load("y[-1]\n")

    def prepare(self, given: Any) -> Point:
        return {"x": array(given["x"]), "s": int(given["s"])}

    def gradient(self, point: Point) -> Answer:
        return self.engine.gradients(self.last, point, "x")["x"]


class Determinant(Module):
    def prepare(self, given: Any) -> Point:
        size = given["ell"]
        return {"a": array(given["A"]).reshape(size, size)}

    def gradient(self, point: Point) -> Answer:
        return self.engine.gradients(self.program, point, "a")["a"].reshape(-1)


class Clusters(Module):
    def prepare(self, given: Any) -> Point:
        return {"points": array(given["points"]), "centroids": array(given["centroids"])}

    cost = Module.primal

    def dir(self, point: Point) -> Answer:
        ones = np.ones_like(point["centroids"])
        found = self.engine.evaluate("hvp", self.program, point, "centroids", vector={"centroids": ones})
        assert found.gradients is not None
        assert found.product is not None
        return found.gradients["centroids"] / found.product["centroids"]


class Mixture(Module):
    def prepare(self, given: Any) -> Point:
        arrays = {name: array(given[name]) for name in ("x", "alpha", "mu", "q", "l")}
        return {**arrays, "gamma": float(given["gamma"]), "m": int(given["m"])}

    objective = Module.primal

    def jacobian(self, point: Point) -> Answer:
        return self.engine.gradients(self.program, point, "alpha", "mu", "q", "l")


class Network(Module):
    def prepare(self, given: Any) -> Point:
        names = {"main": "main_params", "extra": "extra_params", "state": "state", "sequence": "sequence"}
        return {name: array(given[field]) for name, field in names.items()}

    objective = Module.primal

    def jacobian(self, point: Point) -> Answer:
        found = self.engine.gradients(self.program, point, "main", "extra")
        return np.concatenate([found["main"].reshape(-1), found["extra"].reshape(-1)])


# The rows of bundle adjustment's Jacobian: the two errors in the image by the camera, the point and the weight, for each
# observation; then the third error of each, which has its weight alone.
JACOBIAN_OF_BUNDLE = """
p = len(observations)
values = zeros(31 * p)
for i in range(p):
    numbers = numbers_of(i)
    first = grad(lambda numbers: errors(numbers, features[i])[0])(numbers)
    second = grad(lambda numbers: errors(numbers, features[i])[1])(numbers)
    for k in range(15):
        values[30 * i + k] = first[k]
        values[30 * i + 15 + k] = second[k]
for i in range(p):
    values[30 * p + i] = grad(lambda weight: 1 - weight**2)(weights[i])
values
"""

# So many observations at a time, whose columns stay in the processor's cache until they are written.
BLOCK = 2048


class Bundle(Module):
    """The Jacobian is sparse: an observation's errors depend on its camera, its point and its weight only."""

    def __init__(self, name: str, engine: Engine) -> None:
        super().__init__(name, engine)
        self.rows = self.load(JACOBIAN_OF_BUNDLE, until="found =")

    def prepare(self, given: Any) -> Point:
        n, m, p = given["n"], given["m"], given["p"]
        places = np.arange(p)
        return {
            "cameras": np.tile(array(given["cam"]), (n, 1)), "points": np.tile(array(given["x"]), (m, 1)),
            "weights": np.full(p, float(given["w"])), "features": np.tile(array(given["feat"]), (p, 1)),
            "observations": np.stack([places % n, places % m], axis=1),
        }  # fmt: skip

    def objective(self, point: Point) -> Answer:
        errors = self.engine.value(self.program, point)
        first, p = errors[0], len(errors)
        return {
            "reproj_error": {"elements": first[:2].tolist(), "repeated": p},
            "w_err": {"element": float(first[2]), "repeated": p},
        }

    def jacobian(self, point: Point) -> Answer:
        """In compressed rows: two rows for each observation, then one for each weight."""
        values = self.engine.value(self.rows, point)
        observations = point["observations"]
        n, m, p = len(point["cameras"]), len(point["points"]), len(observations)
        rows = np.empty(3 * p + 1, dtype=np.int32)
        rows[: 2 * p + 1] = np.arange(0, 30 * p + 1, 15, dtype=np.int32)
        rows[2 * p + 1 :] = np.arange(30 * p + 1, 31 * p + 1, dtype=np.int32)
        columns = np.empty(31 * p, dtype=np.int32)
        places = columns[: 30 * p].reshape(p, 2, 15)
        weights = np.arange(11 * n + 3 * m, 11 * n + 3 * m + p, dtype=np.int32)
        own = np.arange(11, dtype=np.int32)
        for start in range(0, p, BLOCK):
            block = slice(start, start + BLOCK)
            to, pairs = places[block], observations[block].astype(np.int32)
            to[:, 0, :11] = 11 * pairs[:, :1] + own
            to[:, 0, 11:14] = 11 * n + 3 * pairs[:, 1:] + own[:3]
            to[:, 0, 14] = weights[block]
            to[:, 1] = to[:, 0]
        columns[30 * p :] = weights
        return {"rows": rows, "cols": columns, "vals": values}

    @staticmethod
    def excerpt(found: dict[str, Any]) -> dict[str, Any]:
        """What the suite looks at: the first thirty elements and the last."""
        return {name: [*x[:30].tolist(), x[-1].item()] for name, x in found.items()}


class Hand(Module):
    """The rows of `us` stand for one point each: moving them all by the same moves each point as its own row does."""

    def __init__(self, name: str, engine: Engine) -> None:
        super().__init__(name, engine)
        self.moved = self.load(before="us = given_us + move\n")

    def prepare(self, given: Any) -> Point:
        model = given["data"]["model"]
        return {
            "theta": array(given["theta"]), "us": array(given["us"]).reshape(-1, 2),
            "points": array(given["data"]["points"]), "correspondences": np.asarray(given["data"]["correspondences"]),
            "parents": np.asarray(model["parents"]), "base_relatives": array(model["base_relatives"]),
            "inverse_base_absolutes": array(model["inverse_base_absolutes"]),
            "base_positions": array(model["base_positions"]), "weights": array(model["weights"]),
            "triangles": np.asarray(model["triangles"]), "mirrored": bool(model["is_mirrored"]),
        }  # fmt: skip

    def objective(self, point: Point) -> Answer:
        return self.engine.value(self.program, point).reshape(-1)

    def jacobian(self, point: Point) -> Answer:
        """The columns of `us`, then those of theta."""
        if not len(point["us"]):
            found = self.engine.evaluate("jacobian", self.program, point, "theta").jacobian
            assert found is not None
            return found["theta"].reshape(-1, len(point["theta"]))
        moved = {name: value for name, value in point.items() if name != "us"}
        moved |= {"given_us": point["us"], "move": np.zeros(2)}
        found = self.engine.evaluate("jacobian", self.moved, moved, "move", "theta").jacobian
        assert found is not None
        return np.concatenate([found["move"].reshape(-1, 2), found["theta"].reshape(-1, len(point["theta"]))], axis=1)


class Nested(Module):
    """Descents in which derivatives are differentiated; the two letters say by which modes, the outer one first."""

    field = "start"

    def descend(self, point: Point, outer: str, inner: str) -> Answer:
        modes = {"outer_reverse": outer == "r", "inner_reverse": inner == "r"}
        return self.engine.value(self.program, {**point, **modes})

    def rr(self, point: Point) -> Answer:
        return self.descend(point, "r", "r")

    def rf(self, point: Point) -> Answer:
        return self.descend(point, "r", "f")

    def fr(self, point: Point) -> Answer:
        return self.descend(point, "f", "r")

    def ff(self, point: Point) -> Answer:
        return self.descend(point, "f", "f")


class Particle(Nested):
    def prepare(self, given: Any) -> Point:
        return {"start": float(given["w"])}


class Saddle(Nested):
    def prepare(self, given: Any) -> Point:
        return {"start": array(given["start"])}


MODULES: dict[str, type[Module]] = {
    "ba": Bundle, "det": Determinant, "gmm": Mixture, "hello": Hello, "ht": Hand, "kmeans": Clusters,
    "llsq": LeastSquares, "lse": LogSumExp, "lstm": Network, "ode": DifferentialEquation, "particle": Particle,
    "saddle": Saddle,
}  # fmt: skip


class Tool:
    """Answers requests; see CONTRIBUTING.md of the suite for their kinds."""

    def __init__(self, engine: str) -> None:
        self.engine = Engine(engine)
        self.modules: dict[str, Module] = {}

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        kind = message["kind"]
        try:
            if kind == "start":
                return {"tool": "adiff", "config": {"engine": self.engine.choice, "version": adiff.__version__}}
            if kind == "define":
                return self.define(message["module"])
            if kind == "evaluate":
                return self.evaluate(message)
        except Exception as error:
            return {"success": False, "error": "".join(traceback.format_exception(error))}
        return {}

    def define(self, name: str) -> dict[str, Any]:
        if name not in MODULES:
            return {"success": False, "error": f"there is no program for {name}"}
        start = time.perf_counter_ns()
        self.modules[name] = MODULES[name](name, self.engine)
        return {"success": True, "timings": [timing("parse", start)]}

    def evaluate(self, message: dict[str, Any]) -> dict[str, Any]:
        module = self.modules[message["module"]]
        function: Callable[[Any], Answer] = getattr(module, message["function"])
        given = message["input"]
        runs = given if isinstance(given, dict) else {}
        point = module.prepare(given)
        self.engine.new_request()
        timings: list[dict[str, Any]] = []
        elapsed, done, least, seconds = 0, 0, runs.get("min_runs", 1), runs.get("min_seconds", 0)
        while done < least or elapsed < seconds * 1e9:
            found = None  # what nobody holds, the next run may write in
            start = time.perf_counter_ns()
            found = function(point)
            compiled = not timings and "kernel" in self.engine.used.values()
            timings.append(timing("prepare" if compiled else "evaluate", start))
            if not compiled:
                done += 1
                elapsed += timings[-1]["nanoseconds"]
        if message["module"] == "ba" and message["function"] == "jacobian":
            found = Bundle.excerpt(found)
        return {"success": True, "output": plain(found), "timings": timings, "engine": dict(self.engine.used)}


def timing(name: str, start: int) -> dict[str, Any]:
    return {"name": name, "nanoseconds": time.perf_counter_ns() - start}


def plain(x: Any) -> Any:
    """An answer in JSON's types."""
    if isinstance(x, dict):
        return {key: plain(value) for key, value in x.items()}
    return x.tolist() if hasattr(x, "tolist") else x


def main() -> None:
    parser = argparse.ArgumentParser(description="adiff as a tool of GradBench")
    parser.add_argument("--engine", choices=("auto", "tape", "kernel"), default="kernel")
    tool = Tool(parser.parse_args().engine)
    for line in sys.stdin:
        message = json.loads(line)
        print(json.dumps({"id": message["id"], **tool.answer(message)}), flush=True)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        pass
