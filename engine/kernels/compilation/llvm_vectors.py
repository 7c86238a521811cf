"""Loops that may become loops on vectors although they call functions: which they are, and which of them can be run again.

The functions of many numbers (llvm_many.py) are part of such a loop. Those of angles are for angles up to some size: where
one was beyond it the loop is run again, with calls of the C library, if its iterations can be.
"""

from __future__ import annotations

import ast

from ..source.helpers import helper_source, helper_text
from .llvm_many import FUSED, MANY, TURNING

# What a loop on vectors may call beside them: instructions, and what memory of a row's own needs.
INSTRUCTIONS = frozenset(
    "math.sqrt math.fabs math.copysign np.floor np.ceil np.trunc np.rint abs float max min bool clear few_ints few_floats "
    "few_doubles _single _double _square_rest".split()
)
# Shorter loops are not worth more code.
LEAST_TRIPS = 16
PLAIN = (ast.Assign, ast.AugAssign)
BRANCHING = (*PLAIN, ast.AnnAssign, ast.If, ast.Return, ast.Expr, ast.Pass)


# The functions of many numbers that this machine has instructions for, once that is known.
AT_HAND: list[frozenset[str]] = []


def at_hand() -> frozenset[str]:
    """The functions of many numbers, without those that need a product and a sum rounded once where that is no instruction."""
    if not AT_HAND:
        from llvmlite import binding

        x86 = binding.get_default_triple().startswith(("x86", "i"))
        fused = binding.get_host_cpu_features().get("fma", False) or not x86
        AT_HAND.append(frozenset(MANY) if fused else frozenset(MANY) - FUSED)
    return AT_HAND[0]


class OnVectors:
    """What is to be known of a loop on vectors: whether angles are turned to sines and the like in it, and the variables
    that an iteration has from the one before, as they were before the loop if that is run again."""

    __slots__ = ("carried", "turns")

    def __init__(self, turns: bool, carried: list[str]) -> None:
        self.turns = turns
        self.carried = carried


def on_vectors(over: ast.expr, body: list[ast.stmt]) -> OnVectors | None:
    """A loop over a range, or over blocks of it, that is long and whose body is arithmetic with functions of many numbers,
    without other loops; None of another loop. One over the rows of a table may branch."""
    rows = over_rows(body)
    match over:
        case ast.Call(args=[ast.Constant(value=int(trips))]) if trips >= LEAST_TRIPS:
            allowed: tuple[type, ...] = PLAIN
        case ast.Call(args=[ast.Name(), ast.Name()]) if rows:
            allowed = BRANCHING
        case _:
            return None
    called = calls_in(body, allowed)
    if called is None or MANY.keys().isdisjoint(called):
        return None
    following = Following()
    repeatable = following.of(body)
    if not rows and not all(is_sum(body, name) for name in following.carried):
        return None
    if TURNING.isdisjoint(called):
        return OnVectors(False, [])
    return OnVectors(True, [*following.carried]) if repeatable else None


def over_rows(body: list[ast.stmt]) -> bool:
    """Whether a loop is one over rows: it begins by noting which row it is at (source/over_rows.py)."""
    match body[0]:
        case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=0))], value=ast.Name()):
            return True
    return False


def is_sum(body: list[ast.stmt], name: str) -> bool:
    """Whether a variable is nothing in a loop but added to: others wait for the iteration before, on no vectors."""
    reads = sum(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for s in body for n in ast.walk(s)
    )
    for s in body:
        match s:
            case ast.AugAssign(target=ast.Name(id=target), op=ast.Add() | ast.Sub()) if target == name:
                return not reads
            case ast.Assign(value=ast.BinOp(left=ast.Name(id=target), op=ast.Add() | ast.Sub())) if target == name:
                return reads == 1
    return False


def calls_in(body: list[ast.stmt], allowed: tuple[type, ...], inside: bool = False) -> set[str] | None:
    """What statements call, and what is called there; None where a statement or a call is none for vectors."""
    found: set[str] = set()
    for node in (inner for s in body for inner in ast.walk(s)):
        if isinstance(node, ast.stmt) and not isinstance(node, allowed):
            return None
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        if name in INSTRUCTIONS or (name in at_hand() and not (inside and name in TURNING)):
            found.add(name)
        elif isinstance(node.func, ast.Name) and helper_text(name) is not None:
            called = calls_in(helper_source(name).body, BRANCHING, True)
            if called is None:
                return None
            found |= called
        else:
            return None
    return found


class Following:
    """What an iteration has from the one before."""

    def __init__(self) -> None:
        self.carried: dict[str, None] = {}
        self.read: set[str] = set()
        self.written: set[str] = set()

    def of(self, body: list[ast.stmt]) -> bool:
        """Find the variables that are changed, and read before; whether there is no memory of which that is true."""
        changed = {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        own = self.block(body, changed, set())
        return not self.read & self.written - own

    def block(self, body: list[ast.stmt], changed: set[str], known: set[str]) -> set[str]:
        """The names that have been given a value at the end, if `known` have at the start."""
        known = set(known)
        for s in body:
            if isinstance(s, ast.If):
                self.reads(s.test, changed, known)
                known = self.block(s.body, changed, known) & self.block(s.orelse, changed, known)
                continue
            self.reads(s, changed, known)
            known.update(n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        return known

    def reads(self, node: ast.AST, changed: set[str], known: set[str]) -> None:
        """Note what is read, and which memory is written, by a statement or in an expression."""
        for inner in ast.walk(node):
            target = inner.target if isinstance(inner, ast.AugAssign) else None
            if isinstance(inner, ast.Name) and (isinstance(inner.ctx, ast.Load) or inner is target):
                self.note(inner.id, changed, known)
            elif isinstance(target, ast.Name):
                self.note(target.id, changed, known)
            elif isinstance(inner, ast.Subscript) and isinstance(inner.value, ast.Name):
                if isinstance(inner.ctx, ast.Store):
                    self.written.add(inner.value.id)
                else:
                    self.read.add(inner.value.id)
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                self.read.add(target.value.id)

    def note(self, name: str, changed: set[str], known: set[str]) -> None:
        if name in changed and name not in known:
            self.carried[name] = None
