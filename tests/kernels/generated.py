"""Programs of the numeric core, written by drawing: bounded operations, so that rounding stays small."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Pick = Callable[[Sequence[Any]], Any]

NUMBERS = ("0.5", "-1.25", "2.0", "0.3", "1", "-2", "3")
UNARY = (
    "sin({})",
    "cos({})",
    "tanh({})",
    "sigmoid({})",
    "exp(-abs({}))",
    "sqrt(1 + ({}) ** 2)",
    "log(2 + ({}) ** 2)",
    "-({})",
    "abs({})",
    "relu({})",
    "atan({})",
)
BINARY = (
    "({} + {})",
    "({} - {})",
    "{} * {}",
    "({} / (2 + abs({})))",
    "max({}, {})",
    "min({}, {})",
    "tanh({}) * {}",
    "hypot({}, 1 + abs({}))",
)
REDUCTIONS = (
    "sum({})",
    "sum({}[1:] ** 2)",
    "sum(x * {}[::-1][:2])",
    "mean({})",
    "max({})",
    "min({})",
    "prod(tanh({}))",
    "logsumexp({})",
    "sum({} ** 2)",
)
ELEMENTWISE = (
    "sin({})",
    "tanh({})",
    "{}[::-1]",
    "abs({})",
    "cumsum({}) * 0.3",
    "softmax({})",
    "roll({}, 1)",
    "relu({})",
    "exp(-abs({}))",
)
COMPARISONS = ("<", ">", "<=", ">=")


class Writer:
    """Writes a program. `pick` chooses one of some things; names are given out in order, by what they hold."""

    def __init__(self, pick: Pick) -> None:
        self.pick = pick
        self.lines: list[str] = []
        self.size: int = pick((3, 4, 5))
        self.floats = ["x", "y"]
        self.integers = ["n"]
        self.arrays = ["v", "w"]
        self.functions: list[str] = []
        self.fixed: set[str] = set()  # loop variables and inputs, which are not assigned
        self.count = 0

    # --- expressions --------------------------------------------------------------------------------------------------

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def number(self, depth: int = 2) -> str:
        """A number, a float as a rule."""
        if depth <= 0:
            return str(self.pick((self.pick(self.floats), self.pick(self.floats), self.pick(NUMBERS), self.element())))
        kind = self.pick("uubbbrcif")
        deeper = depth - 1
        if kind == "u":
            return str(self.pick(UNARY)).format(self.number(deeper))
        if kind == "b":
            return str(self.pick(BINARY)).format(self.number(deeper), self.number(deeper))
        if kind == "r":
            return str(self.pick(REDUCTIONS)).format(self.array(deeper))
        if kind == "c":
            return f"({self.number(deeper)} if {self.condition()} else {self.number(deeper)})"
        if kind == "i":
            return f"{self.number(0)} * ({self.integer()})"
        if self.functions:
            return f"{self.pick(self.functions)}({self.number(deeper)}, {self.number(0)})"
        return f"sum([{self.number(0)} * t for t in {self.pick(self.arrays)}])"

    def bounded(self, depth: int = 2) -> str:
        return str(self.pick(("tanh({})", "0.5 * sin({})", "({}) / (1 + abs({}))", "atan({})"))).replace(
            "{}", self.number(depth)
        )

    def integer(self) -> str:
        i, j = self.pick(self.integers), self.pick(self.integers)
        return str(self.pick((i, f"{i} + 1", f"{i} - {j}", f"{i} * 2", f"{i} % 3", f"({i} + {j}) // 2", "2")))

    def place(self) -> str:
        return str(self.pick(("0", "-1", "1", f"({self.integer()}) % {self.size}")))

    def element(self) -> str:
        return f"{self.pick(self.arrays)}[{self.place()}]"

    def array(self, depth: int = 1) -> str:
        name = self.pick(self.arrays)
        if depth <= 0:
            return str(name)
        kind = self.pick("neebwmsp")
        if kind == "e":
            return str(self.pick(ELEMENTWISE)).format(name)
        if kind == "b":
            return f"({name} * {self.number(0)} + {self.pick(self.arrays)})"
        if kind == "w":
            return f"where({name} > {self.pick(NUMBERS)}, {self.pick(self.arrays)}, {name} * 0.5)"
        if kind == "m":
            return f"tanh(({name}[:, newaxis] * {self.pick(self.arrays)}) @ {self.pick(self.arrays)})"
        if kind == "s":
            return f"concat([{name}[1:], {self.pick(self.arrays)}[:1]])"
        if kind == "p":
            return f"{name}[constant([{', '.join(str(self.pick((0, 1, -1))) for _ in range(self.size))}])]"
        return str(name)

    def condition(self) -> str:
        kind = self.pick("fffia")
        if kind == "i":
            return f"{self.integer()} {self.pick((*COMPARISONS, '==', '!='))} {self.integer()}"
        first = f"{self.number(1)} {self.pick(COMPARISONS)} {self.number(0)}"
        return (
            first if kind == "f" else f"{first} {self.pick(('and', 'or'))} not {self.number(0)} > {self.pick(NUMBERS)}"
        )

    # --- statements ---------------------------------------------------------------------------------------------------

    def line(self, level: int, text: str) -> None:
        self.lines.append("    " * level + text)

    def block(self, level: int, depth: int, inside: str, most: int = 2) -> None:
        """Statements in a block, whose own names end with it."""
        before = [list(names) for names in (self.floats, self.integers, self.arrays)]
        for _ in range(self.pick(range(1, most + 1))):
            self.statement(level, depth, inside)
        self.floats, self.integers, self.arrays = before

    def target(self, names: list[str], stem: str) -> str:
        """A variable to assign: one that there is, or a new one."""
        free = [name for name in names if name not in self.fixed and name not in "xynvw"]
        if free and self.pick((True, True, False)):
            return str(self.pick(free))
        return self.fresh(stem)

    def statement(self, level: int, depth: int, inside: str) -> None:
        kind = self.pick("ffasewlliitk" if depth > 0 else "ffasewtk")
        if kind == "f":
            name, value = self.target(self.floats, "a"), self.bounded()
            operator = self.pick(("=", "=", "+=", "-=", "*=")) if name in self.floats else "="
            self.line(level, f"{name} {operator} {value}")
            self.floats += [] if name in self.floats else [name]
        elif kind == "a":
            name, value = self.target(self.arrays, "u"), self.array()
            self.line(level, f"{name} = {value}" + ("" if value not in self.arrays else " * 1.0"))
            self.arrays += [] if name in self.arrays else [name]
        elif kind in "se":
            self.write(level, kind)
        elif kind == "w":
            first, second = self.fresh("a"), self.fresh("a")
            self.line(level, f"{first}, {second} = {self.bounded(1)}, {self.bounded(1)}")
            self.floats += [first, second]
        elif kind == "t":
            floats = [name for name in self.floats if name not in "xy" and name not in self.fixed]
            if len(floats) > 1:
                self.line(level, f"{floats[0]}, {floats[-1]} = {floats[-1]}, {floats[0]} * 0.5 + {self.bounded(0)}")
            else:
                self.line(level, "pass")
        elif kind == "k":
            name, value = self.target(self.integers, "k"), self.integer()
            self.line(level, f"{name} = ({value}) % 5")
            self.integers += [] if name in self.integers else [name]
        elif kind == "i":
            self.branch(level, depth, inside)
        else:
            self.pick((self.loop, self.loop, self.repeat))(level, depth, inside)

    def write(self, level: int, kind: str) -> None:
        """An element or a slice of an array written."""
        free = [name for name in self.arrays if name not in "vw" and name not in self.fixed]
        if not free:
            name = self.fresh("u")
            self.line(level, f"{name} = {self.pick((f'zeros({self.size})', 'v * 1.0', 'w * x'))}")
            self.arrays.append(name)
            free = [name]
        name = self.pick(free)
        if kind == "e":
            self.line(level, f"{name}[{self.place()}] {self.pick(('=', '+=', '*='))} {self.bounded(1)}")
        else:
            part, value = self.pick(((":2", "[:2]"), ("1:", "[1:]"), ("::2", "[::2]"), ("-2:", "[:2]"), ("::-1", "")))
            self.line(
                level, f"{name}[{part}] = {self.pick((f'tanh({self.pick(self.arrays)}){value}', self.number(0)))}"
            )

    def branch(self, level: int, depth: int, inside: str) -> None:
        self.line(level, f"if {self.condition()}:")
        self.block(level + 1, depth - 1, inside)
        if self.pick((True, False)):
            self.line(level, f"elif {self.condition()}:")
            self.block(level + 1, depth - 1, inside)
        if self.pick((True, False)):
            self.line(level, "else:")
            self.block(level + 1, depth - 1, inside)

    def body(self, level: int, depth: int, name: str) -> None:
        """The body of a loop, which changes at least one float from outside of it."""
        self.block(level, depth - 1, "loop", 3)
        if self.pick((True, False, False)):
            self.line(level, f"if {self.condition()}:")
            self.line(level + 1, self.pick(("break", "continue")))
        self.line(level, f"{name} = {name} * 0.5 + {self.bounded(1)}")

    def loop(self, level: int, depth: int, inside: str) -> None:
        """A counted loop, or one over an array or two."""
        name = self.fresh("a")
        self.line(level, f"{name} = {self.pick(('0.0', 'x', self.bounded(0)))}")
        i, t = self.fresh("i"), self.fresh("t")
        before = [list(names) for names in (self.floats, self.integers)]
        self.floats.append(name)
        header, integers, floats = self.pick((
            (f"{i} in range({self.pick(('n', '2', '3', self.size))})", [i], []), (f"{i} in range(n, 0, -1)", [i], []),
            (f"{i} in range(1, {self.size}, 2)", [i], []), (f"{t} in {self.pick(self.arrays)}", [], [t]),
            (f"{i}, {t} in enumerate({self.pick(self.arrays)})", [i], [t]),
        ))  # fmt: skip
        self.line(level, f"for {header}:")
        self.integers += integers
        self.floats += floats
        self.fixed.update((i, t))
        self.body(level + 1, depth, name)
        self.floats, self.integers = [*before[0], name], before[1]

    def repeat(self, level: int, depth: int, inside: str) -> None:
        """A `while` loop, which ends after a few iterations."""
        name, k = self.fresh("a"), self.fresh("k")
        self.line(level, f"{name}, {k} = {self.bounded(0)}, 0")
        self.line(level, f"while {k} < {self.pick(('3', 'n', '4'))} and ({self.condition()}):")
        self.fixed.add(k)
        before = [list(names) for names in (self.floats, self.integers)]
        self.floats.append(name)
        self.integers.append(k)
        self.line(level + 1, f"{k} += 1")
        self.body(level + 1, depth, name)
        self.floats, self.integers = [*before[0], name], before[1]

    def function(self) -> None:
        """A function of two numbers, perhaps one that leaves a branch or a loop, or takes a derivative."""
        name = self.fresh("f")
        self.line(0, f"def {name}(p, q):")
        outer = self.floats
        self.floats = ["p", "q", *outer[:1]]
        kind = self.pick("eblg")
        if kind == "b":
            self.line(1, f"if {self.condition()}:")
            self.line(2, f"return {self.bounded()}")
        elif kind == "l":
            self.line(1, f"for i in range({self.pick(('3', 'n'))}):")
            self.line(2, f"p = p * 0.5 + {self.bounded(1)}")
            self.line(2, f"if p > {self.pick(NUMBERS)}:")
            self.line(3, "return p * q")
        elif kind == "g":
            self.line(1, f"q = tanh(grad(lambda p: {self.bounded(1)})(p))")
        self.line(1, f"return {self.bounded()}")
        self.floats = outer
        self.functions.append(name)

    def program(self) -> str:
        if self.pick((True, False)):
            self.function()
        for _ in range(self.pick((2, 3, 4))):
            self.statement(0, 2, "")
        ends = [*self.floats[2:][-3:], self.bounded(2), *[f"sum(tanh({name}))" for name in self.arrays[2:][-2:]]]
        return "\n".join([*self.lines, " + ".join(ends)])


def point(pick: Pick, size: int) -> dict[str, Any]:
    values = (0.7, -1.3, 1.9, 0.2, -0.4, 0.0, 1.0, 1.1, -2.3)
    arrays = {name: np.array([pick(values) for _ in range(size)]) for name in "vw"}
    return {"x": pick(values), "y": pick(values), "n": pick((0, 1, 2, 3, 4)), **arrays}


__all__ = ["Writer", "point"]
