"""Rows that are computed on whole arrays by functions of their own (helpers.py): scans, sorting, systems of equations."""

from __future__ import annotations

from ..ir import Unsupported, Var
from .memory import Ref, size_of
from .nest import Nest
from .scalars import kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..ir import Apply
    from .fusion import Fusion


def result(code: Fusion, x: Var) -> str:
    ref = code.refs[x] = Ref(code.buffer(x), x.shape)
    code.close_touching(ref.buffer)
    return ref.buffer.name


def status(code: Fusion, call: str, depth: int = 0) -> None:
    code.lines.add(f"if {call} != 0:", depth)
    code.lines.add("return 1", depth + 1)


def along(shape: tuple[int, ...], axis: int) -> str:
    """The numbers of elements before, along and after an axis, as arguments."""
    return f"{size_of(shape[:axis])}, {shape[axis]}, {size_of(shape[axis + 1 :])}"


def scan(name: str) -> Callable[[Fusion, Any], None]:
    def write(code: Fusion, stmt: Any) -> None:
        x, out, axis = stmt.inputs[0], stmt.outs[0], stmt.attributes["axis"]
        given = code.row_major(x, out.kind)
        made = result(code, out)
        if out.size:
            check = out.kind == "i" and name == "running_product"
            status(code, f"{name}({made}, {given}, {along(x.shape, axis)}, {check})")

    return write


def cumsum(code: Fusion, stmt: Any) -> None:
    x, out = stmt.inputs[0], stmt.outs[0]
    attributes = stmt.attributes
    given = code.row_major(x, out.kind)
    made = result(code, out)
    zero, check = ("0", True) if out.kind == "i" else ("0.0", False)
    if out.size:
        flags = f"{bool(attributes['exclusive'])}, {bool(attributes['reverse'])}, {zero}, {check}"
        status(code, f"running_sum({made}, {given}, {along(x.shape, attributes['axis'])}, {flags})")


def recurrence(code: Fusion, stmt: Any) -> None:
    out = stmt.outs[0]
    if out.kind != "f":
        raise Unsupported("a recurrence of integers", stmt.site)
    a, b = (code.row_major(x) for x in stmt.inputs)
    made = result(code, out)
    flags = f"{bool(stmt.attributes.get('reverse'))}, {bool(stmt.attributes.get('strong'))}"
    if out.size:
        code.lines.add(f"linear_states({made}, {a}, {b}, {out.shape[0]}, {size_of(out.shape[1:])}, {flags})")


def argsort(code: Fusion, stmt: Any) -> None:
    places(code, stmt, stmt.outs[0])


def places(code: Fusion, stmt: Any, out: Var) -> str:
    """The order of the elements along an axis, in the memory of `out`."""
    x, axis = stmt.inputs[0], stmt.attributes["axis"]
    given = code.row_major(x, x.kind)
    made = result(code, out)
    spare = code.buffer(Var("i", (2 * x.shape[axis],), "a")).name
    if out.size:
        code.lines.add(
            f"sorted_places({made}, {spare}, {given}, {along(x.shape, axis)}, {bool(stmt.attributes['descending'])})"
        )
    return given


def sort(code: Fusion, stmt: Any) -> None:
    x, out, axis = stmt.inputs[0], stmt.outs[0], stmt.attributes["axis"]
    order = Var("i", x.shape, "places")
    given = places(code, stmt, order)
    made = Ref(code.buffer(out), out.shape)
    code.refs[out] = made
    code.close_touching(made.buffer)
    nest = Nest(code, x.shape)
    place = nest.gathered(order, nest.index, x.shape[axis])
    source = Ref(made.buffer, x.shape).at((*nest.index[:axis], place, *nest.index[axis + 1 :]))
    nest.store(made, (f"{given}[{source}]", len(x.shape)))
    nest.emit()


def searchsorted(code: Fusion, stmt: Any) -> None:
    a, v = stmt.inputs
    out = stmt.outs[0]
    right = bool(stmt.attributes.get("right")) or stmt.attributes.get("side") == "right"
    given = code.row_major(a, kind_of(a))
    if v.__class__ is Var and v.shape:
        code.row_major(v, v.kind)
    nest = Nest(code, out.shape)
    text, _ = nest.element(v)
    start = Ref(code.refs[a].buffer, a.shape).at((*nest.index[: len(a.shape) - 1],)) if len(a.shape) > 1 else "0"
    call = f"search_place({given}, {start}, {a.shape[-1]}, {text}, {right})"
    if out.shape:
        made = Ref(code.buffer(out), out.shape)
        code.refs[out] = made
        code.close_touching(made.buffer)
        nest.store(made, (call, len(out.shape)))
    else:
        nest.lines[0].append(f"{code.name(out)} = {call}")
    nest.emit()


def on_matrices(code: Fusion, stmt: Any, write: Callable[[Any], str]) -> None:
    """Call a function for each matrix of a batch: `write` gives the call, from the place of each operand's matrix and the result's."""
    out = stmt.outs[0]
    ranks = 0 if stmt.row.name in ("det", "slogdet") else 2
    batch = out.shape[: len(out.shape) - ranks]
    nest = Nest(code, batch)
    starts = []
    for x in stmt.inputs:
        own = x.shape[:-2]
        at = nest.fitted(own, nest.index) if own else ()
        starts.append(str(Ref(None, x.shape).at(at)))  # type: ignore[arg-type]
    starts.append(str(Ref(None, out.shape).at(nest.index)))  # type: ignore[arg-type]
    nest.stores[-1] += [f"if {write(starts)} != 0:", "    return 1"]
    nest.emit()


def matrix_row(name: str) -> Callable[[Fusion, Any], None]:
    def write(code: Fusion, stmt: Any) -> None:
        given = [code.row_major(x) for x in stmt.inputs]
        n = stmt.inputs[0].shape[-1]
        numbers = [x for x in stmt.outs if not x.shape]
        kept = {x: Var(x.kind, (1,), "a") for x in numbers}
        made = [result(code, kept.get(x, x)) for x in stmt.outs]
        spare = (
            "" if name in ("triangular_solution", "cholesky_factor") else code.buffer(Var("f", (n * n,), "table")).name
        )

        def call(at: list[str]) -> str:
            operands = ", ".join(f"{memory}, {place}" for memory, place in zip(given, at))
            outs = f"{', '.join(made)}, {at[-1]}"
            if name == "linear_solution":
                unit = len(given) == 1
                m = n if unit else stmt.inputs[1].shape[-1]
                more = f"{given[0]}, 0, " if unit else ""
                return f"{name}({outs}, {operands}, {more}{spare}, {n}, {m}, {unit})"
            if name == "triangular_solution":
                m = stmt.inputs[1].shape[-1]
                flags = f"{bool(stmt.attributes['lower'])}, {bool(stmt.attributes['adjoint'])}"
                return f"{name}({outs}, {operands}, {n}, {m}, {flags})"
            return f"{name}({outs}, {operands}, {spare + ', ' if spare else ''}{n})"

        if all(x.size for x in stmt.inputs):
            on_matrices(code, stmt, call)
        for x, one in kept.items():
            code.lines.add(f"{code.name(x)} = {code.refs[one].buffer.name}[0]")

    return write


ROUTINES: dict[str, Callable[[Fusion, Apply], None]] = {
    "cumsum_along": cumsum,
    "cumprod_along": scan("running_product"),
    "cummax_along": scan("running_maximum"),
    "cummin_along": scan("running_minimum"),
    "cumlogsumexp_along": scan("running_logaddexp"),
    "linear_recurrence": recurrence,
    "argsort_along": argsort,
    "sort_along": sort,
    "searchsorted": searchsorted,
    "triangular_system": matrix_row("triangular_solution"),
    "cholesky": matrix_row("cholesky_factor"),
    "solve": matrix_row("linear_solution"),
    "inv": matrix_row("linear_solution"),
    "det": matrix_row("determinant"),
    "slogdet": matrix_row("log_determinant"),
}
