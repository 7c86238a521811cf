"""Custom derivative rules: `custom_gradient`, and how one call of such a rule is recorded."""

from __future__ import annotations

from ..core.errors import failure, plural
from ..core.following import follows
from ..core.operands import as_operand, tensor
from ..core.state import RECORDERS, STATE, Site
from ..core.tensor import Tensor
from ..kinds.functions import Derived, callable_of, invoke
from ..ops.operation import Operation
from .structure import flatten, rebuild

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def custom_gradient(f: Any) -> Derived:
    """A function with a derivative of its own: `f` returns (value, function from cotangent to cotangents).

    If that function has a parameter `variables`, it gets the Variables that `f` has read, and returns (cotangents of the
    arguments, cotangents of the Variables).
    The rule is honoured in both modes and at any order: forward mode uses the transpose of the rule.
    """
    callable_of(f, "custom_gradient")

    def run(args: list[Any], keywords: dict[str, Any]) -> Any:
        before = {recorder: len(recorder.log) for recorder in RECORDERS if recorder.log is not None}
        pair = invoke(f, args, keywords)
        if pair.__class__ not in (tuple, list) or len(pair) != 2:
            raise failure("E0509", "a custom_gradient function returns (value, gradient function)")
        value, rule = pair
        callable_of(rule, "custom_gradient")
        outputs = [as_operand(v) for v in flatten(value)]
        variables: dict[Any, Any] = variables_of(before) if takes_variables(rule) else {}
        operands = (*map(as_operand, flatten(args)), *variables.values())
        tell_captured(before, operands)

        def vjp_rule(g: Any, y: Any, *xs: Any) -> tuple[Any, ...]:
            cotangents = list(g) if len(outputs) > 1 else [g]
            found = invoke(rule, cotangents, {"variables": list(variables)} if variables else {})
            flat = flatten(found) if found.__class__ in (list, tuple, dict) else [found]
            if len(flat) != len(operands):
                given, wanted = plural(len(flat), "cotangent"), plural(len(operands), "argument")
                raise failure("E0509", f"the gradient function returned {given} for {wanted}")
            if any(c is None for c in flat):
                STATE.notify(
                    "N0502", "the gradient function of a custom_gradient returns None: no derivative passes to that argument",
                )  # fmt: skip
            return tuple(None if c is None else as_operand(c) for c in flat)

        row = Operation(getattr(f, "name", "custom_gradient"), "x", "rule", vjp=vjp_rule)
        results = apply_custom(row, operands, outputs)
        return rebuild(value, results)

    return Derived(getattr(f, "name", "custom_gradient"), run)


def takes_variables(rule: Any) -> bool:
    code = getattr(rule, "code", None)
    return code is not None and ("variables" in code.parameters or code.named is not None)


def variables_of(before: dict[Any, int]) -> dict[Any, Tensor]:
    """The Variables that tapes follow and have recorded since, each with the tensor that it was (`before`: see below)."""
    found: dict[Any, Tensor] = {}
    for recorder, start in before.items():
        taken = {id(x) for part in recorder.log[start:] for x in (part if part.__class__ is tuple else (part,))}
        for variable, snapshots in getattr(recorder, "variables", {}).items():
            found.update([(variable, x) for x in snapshots if id(x) in taken])
    return found


def tell_captured(before: dict[Any, int], operands: tuple[Any, ...]) -> None:
    """Say so if a custom_gradient function used followed values besides its arguments: its rule leaves them out.

    `before` holds the length of each tape's log when the function was called; a log is (site, input, input, result)
    after (site, input, input, result), or in its general form (site, inputs, attributes, result).
    """
    for recorder, start in before.items():
        own = {id(x) for x in operands}
        captured = []
        log = recorder.log
        for i in range(start, len(log), 4):
            for part in (log[i + 1], log[i + 2]):
                for x in part if part.__class__ is tuple else (part,):
                    if id(x) not in own and follows(x, recorder.token):
                        captured.append(x)
            results = log[i + 3]
            own.update(map(id, results if results.__class__ is tuple else (results,)))
        if captured:
            recorder.broken(STATE.site, captured, "a custom_gradient function that takes it from outside")
            STATE.notify(
                "N0506", "the custom_gradient function uses a value from outside: its rule is for the arguments alone, "
                "so no derivative passes to that value; make it an argument",
            )  # fmt: skip


def apply_custom(row: Operation, operands: tuple[Any, ...], outputs: list[Any]) -> list[Any]:
    """Record one call of a custom rule: fresh results, linked to the inputs by the rule alone."""
    fresh = [Tensor(x.value, x.dtype) if x.__class__ is Tensor else tensor(x) for x in outputs]
    out: Any = tuple(fresh) if len(fresh) > 1 else fresh[0]
    site = STATE.site
    STATE.site = Site(row, site.source, site.start, site.end)
    for recorder in tuple(RECORDERS):
        if any(follows(x, recorder.token) for x in operands):
            out = recorder.record(row, operands, {}, out)
    STATE.site = site
    return list(out) if out.__class__ is tuple else [out]
