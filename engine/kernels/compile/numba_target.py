"""The parts of Numba that kernels use: type inference and lowering, without the types that kernels do not have.

Numba loads all that it knows before it compiles for the first time: arrays, strings, lists, random numbers, SciPy's BLAS and
a runtime. These contexts know scalars, pointers, ranges and tuples.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import codegen, imputils, utils
from numba.core import types as numba_types
from numba.core.callconv import CPUCallConv, create_error_model
from numba.core.cpu import CPUContext
from numba.core.datamodel import models
from numba.core.typing import templates
from numba.core.typing.context import BaseContext
from numba.extending import register_model

from .load import FAILED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Numba says nothing of the types of what this module holds.
types: Any = numba_types


class Function(numba_types.Callable, numba_types.Dummy):  # type: ignore[misc,unused-ignore]
    """The type of one function that emitted source may call. `define` gives, for types of arguments, the signature and what
    generates the call; calls with arguments of the same types share it."""

    def __init__(self, define: Callable[..., tuple[Any, Any]]) -> None:
        super().__init__(f"{define.__name__}, {id(self)}")
        self.define = define
        self.made: dict[Any, Any] = {}

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        sig, generate = self.define(*args, **kws)
        self.made[sig.args] = generate
        return sig

    def get_call_signatures(self) -> Any:
        return [], True

    def get_impl_key(self, sig: Any) -> Any:
        return self.made[sig.args]


register_model(Function)(models.OpaqueModel)


class Callee:
    """A function as emitted source finds it: Numba reads its type."""

    def __init__(self, define: Callable[..., tuple[Any, Any]]) -> None:
        self._numba_type_ = Function(define)


class Convention(CPUCallConv):  # type: ignore[misc]
    """Numba's calling convention; an exception is a status, and nothing else is known of it."""

    def return_user_exc(self, builder: Any, *what: Any, **more: Any) -> None:
        builder.ret(ir.IntType(32)(FAILED))


class Typing(BaseContext):  # type: ignore[misc]
    def _load_builtins(self) -> None:
        from numba.core.typing import builtins

        from .numba_types import ITEMS

        known, chosen = templates.builtin_registry, templates.Registry()
        chosen.functions = [x for x in known.functions if x.__module__ == builtins.__name__]
        chosen.globals = [x for x in known.globals if x[0] not in ITEMS]
        chosen.attributes = [x for x in known.attributes if x.key is types.Module]
        self.install_registry(chosen)
        for function, define in ITEMS.items():
            self.insert_global(function, Function(define))

    def resolve_value_type(self, val: Any) -> Any:
        # Numba looks at classes (`range`, `int`) only after it has imported its typed lists and dictionaries.
        return self._lookup_global(val) or super().resolve_value_type(val)


class Target(CPUContext):  # type: ignore[misc]
    def init(self) -> None:
        self.is32bit = utils.MACHINE_BITS == 32
        self._internal_codegen = codegen.JITCPUCodegen("adiff.exec")
        self.error_model = create_error_model("numpy", self)

    @property
    def call_conv(self) -> Any:
        return Convention(self)

    def refresh(self) -> None:
        """Nothing is added to what `target` loads."""

    def get_function(self, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        if isinstance(fn, Function):
            generate = fn.made.get(sig.args)
            if generate is None:  # lowering asks for a variant on static operands first
                raise NotImplementedError
            return lambda builder, args, loc=None: generate(self, builder, sig, args)
        return super().get_function(fn, sig, _firstcall)

    def post_lowering(self, module: Any, library: Any) -> None:
        """Numba would link its runtime here."""


CONTEXTS: list[Target] = []


def target() -> Target:
    """The process's context."""
    if not CONTEXTS:
        from numba.cpython import builtins, numbers, rangeobj, tupleobj  # noqa: F401

        typing = Typing()
        made = Target(typing, "cpu")
        made.install_registry(imputils.builtin_registry)
        typing.refresh()
        CONTEXTS.append(made)
    return CONTEXTS[0]
