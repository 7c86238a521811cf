"""Functions of libraries that kernels call as machine code: what they are called, what they take, and where they are.

A kernel that calls one names it among the `externals` of its code, which is then loaded with the addresses that are
found here, and with the library that they come from: kernels that need none import none. The tape calls the same
functions, so that both tiers give the same digits.
"""

from __future__ import annotations

import ctypes

from .ir import Unsupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SPECIAL = "scipy.special.cython_special"
# Cython exports a function of several types under a name for each of them.
VARIANTS = ("", "__pyx_fuse_0", "__pyx_fuse_1")


class External:
    """`double name(double, ..., int)`, of `arguments` doubles and the integer that Cython's functions take at the end."""

    __slots__ = ("arguments", "library", "name")

    def __init__(self, library: str, name: str, arguments: int) -> None:
        self.library = library
        self.name = name
        self.arguments = arguments

    @property
    def signature(self) -> bytes:
        """What the library says of the function."""
        return b"double (%bint __pyx_skip_dispatch)" % (b"double, " * self.arguments)


def _special(names: str, arguments: int) -> dict[str, External]:
    return {f"scipy_{name}": External(SPECIAL, name, arguments) for name in names.split()}


EXTERNALS: dict[str, External] = {
    **_special("j0 j1 y0 y1 i0 i1 k0 k1 i0e i1e k0e k1e", 1),
    **_special("jv yv iv kv gammainc gammaincc", 2),
    **_special("betainc", 3),
}


def address(name: str) -> int:
    """The address of a function of the table. Raises Unsupported where the installed library has none of its kind."""
    from importlib import import_module

    external = EXTERNALS[name]
    capsules = import_module(external.library).__pyx_capi__
    for variant in VARIANTS:
        capsule = capsules.get(variant + external.name)
        if capsule is not None and capsule_name(capsule) == external.signature:
            return capsule_address(capsule, external.signature)
    raise Unsupported(f"a function that {external.library} lacks: {external.name}")


def capsule_name(capsule: Any) -> bytes | None:
    function = ctypes.pythonapi.PyCapsule_GetName
    function.restype, function.argtypes = ctypes.c_char_p, [ctypes.py_object]
    found: bytes | None = function(capsule)
    return found


def capsule_address(capsule: Any, name: bytes) -> int:
    function = ctypes.pythonapi.PyCapsule_GetPointer
    function.restype, function.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return function(capsule, name) or 0


def call(builder: Any, name: str, operands: list[Any]) -> Any:
    """The call of a function of the table, in LLVM's terms, for doubles as operands."""
    from llvmlite import ir

    double, flag = ir.DoubleType(), ir.IntType(32)
    function = builder.module.globals.get(name)
    if function is None:
        function = ir.Function(builder.module, ir.FunctionType(double, [double] * len(operands) + [flag]), name)
    return builder.call(function, [*operands, flag(0)])


__all__ = ["EXTERNALS", "External", "address", "call"]
