"""Functions of float64 written in LLVM's terms: arithmetic and choices without branches, which LLVM puts on vectors."""

from __future__ import annotations

from .llvm_writer import float_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Arithmetic:
    """Writes one function, `double symbol(double %x, ...)`. Values are texts: names, or literals of float64 from numbers."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def value(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def of(self, operator: str, a: str | float, b: str | float) -> str:
        """An operator of two floats."""
        return self.value(f"{operator} double {text_of(a)}, {text_of(b)}")

    def add(self, a: str | float, b: str | float) -> str:
        return self.of("fadd", a, b)

    def subtract(self, a: str | float, b: str | float) -> str:
        return self.of("fsub", a, b)

    def multiply(self, a: str | float, b: str | float) -> str:
        return self.of("fmul", a, b)

    def divide(self, a: str | float, b: str | float) -> str:
        return self.of("fdiv", a, b)

    def multiply_add(self, a: str | float, b: str | float, c: str | float) -> str:
        """a*b + c, rounded once where that is one instruction."""
        return self.value(
            f"call double @llvm.fmuladd.f64(double {text_of(a)}, double {text_of(b)}, double {text_of(c)})"
        )

    def fused(self, a: str | float, b: str | float, c: str | float) -> str:
        """a*b + c, rounded once."""
        return self.value(f"call double @llvm.fma.f64(double {text_of(a)}, double {text_of(b)}, double {text_of(c)})")

    def size(self, a: str) -> str:
        return self.value(f"call double @llvm.fabs.f64(double {a})")

    def root(self, a: str) -> str:
        return self.value(f"call double @llvm.sqrt.f64(double {a})")

    def with_sign(self, a: str | float, sign: str) -> str:
        return self.value(f"call double @llvm.copysign.f64(double {text_of(a)}, double {sign})")

    def negative(self, a: str) -> str:
        return self.value(f"fneg double {a}")

    def whole(self, operator: str, a: str, b: int | str) -> str:
        """An operator of two integers."""
        return self.value(f"{operator} i64 {a}, {b}")

    def bits(self, a: str) -> str:
        return self.value(f"bitcast double {a} to i64")

    def float_of_bits(self, a: str) -> str:
        return self.value(f"bitcast i64 {a} to double")

    def float_of_integer(self, a: str) -> str:
        return self.value(f"sitofp i64 {a} to double")

    def bit(self, a: str, place: int) -> str:
        """Whether a bit of an integer is 1."""
        return self.value(f"icmp ne i64 {self.whole('and', a, 1 << place)}, 0")

    def holds(self, how: str, a: str, b: str | float) -> str:
        """A comparison of floats: `olt`, `oeq`, ..."""
        return self.value(f"fcmp {how} double {a}, {text_of(b)}")

    def choose(self, condition: str, a: str | float, b: str | float) -> str:
        return self.value(f"select i1 {condition}, double {text_of(a)}, double {text_of(b)}")

    def polynomial(self, x: str, coefficients: Sequence[float]) -> str:
        """A polynomial of its coefficients from the constant on; even and odd powers apart, so that they need not wait for
        each other."""
        square = self.multiply(x, x)
        sides = [self.in_steps(square, coefficients[start::2]) for start in (0, 1)]
        return self.multiply_add(sides[1], x, sides[0])

    def in_steps(self, x: str, coefficients: Sequence[float]) -> str:
        """The same by Horner's rule."""
        *others, last = coefficients
        found: str | float = last
        for c in reversed(others):
            found = self.multiply_add(found, x, c)
        return text_of(found)

    def both(self, a: str, b: str) -> str:
        return self.value(f"and i1 {a}, {b}")

    def rounded(self, how: str, a: str) -> str:
        """The integer beside a float: `trunc`, `floor`, ..."""
        return self.value(f"call double @llvm.{how}.f64(double {a})")

    def called(self, symbol: str, a: str) -> str:
        """Another such function, of one operand."""
        return self.value(f"call double @{symbol}(double {a})")


def text_of(x: str | float) -> str:
    return x if x.__class__ is str else float_text(float(x))


def function(symbol: str, body: Callable[..., str], operands: Sequence[str] = ("%x",)) -> str:
    """A function in LLVM's intermediate representation; `body` gives its result for the operands."""
    made = Arithmetic()
    result = body(made, *operands)
    lines = "\n".join(made.lines)
    listed = ", ".join(f"double {x}" for x in operands)
    return f"define internal double @{symbol}({listed}) nounwind alwaysinline {{\n{lines}\n  ret double {result}\n}}"
