"""What a command answers, before any format: a JSON document, name-value lines, columns, and tables of rows."""

from __future__ import annotations

from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from ..engine.api import Notice, Outcome
    from ..parser.source import Span


class Result:
    """An answer.

    document: the JSON object's content, in the order of its keys.
    lines: what plain prints; one line is printed bare.
    columns: what csv and tsv write as one record.
    header, rows: an answer that is a list of records; csv writes them, and so does plain where there are no lines.
    subject: what the table format draws from, for the commands that have a drawing of their own.
    """

    __slots__ = (
        "columns",
        "document",
        "engine",
        "header",
        "lines",
        "loaded",
        "mode",
        "notices",
        "ok",
        "reason",
        "reason_span",
        "rows",
        "subject",
        "timings",
    )

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.lines: list[tuple[str, Any]] = []
        self.columns: list[tuple[str, Any]] = []
        self.header: tuple[str, ...] = ()
        self.rows: Any = []
        self.subject: Any = None
        self.notices: list[Notice] = []
        self.ok = True
        self.engine: str | None = None
        self.loaded = False  # a kernel that was kept, and not compiled
        self.mode: str | None = None
        self.reason: str | None = None
        self.reason_span: Span | None = None
        self.timings: dict[str, float] = {}

    def note(self, notice: Notice) -> None:
        """One notice more, for people and in the document."""
        from .diagnostics import notice_document

        self.notices.append(notice)
        self.document.setdefault("notices", []).append(notice_document(notice))


class Evaluated:
    """What the tables of an evaluation are drawn from. `outcome` is an Outcome whose attributes the command has set."""

    __slots__ = ("inputs", "outcome", "text")

    def __init__(self, text: str, inputs: dict[str, Any], outcome: Any) -> None:
        self.text = text
        self.inputs = inputs
        self.outcome = outcome

    def input(self, name: str) -> Any:
        """The value that a name is bound to."""
        from .bindings import plain_value

        return plain_value(self.inputs[name])


# Entries that are made at a time.
AT_ONCE = 4_096


class SparseEntries:
    """Row, column and value of every entry of a sparse Hessian, by the inputs' names: `x[0]`, `x[1]`, 2.0.

    They are made as they are asked for, some at a time: there may be millions.
    """

    def __init__(self, hessian: dict[str, dict[str, Any]]) -> None:
        self.blocks: list[tuple[str, str, int, Any]] = []
        for row, line in hessian.items():
            own = [len(block.shape) // 2 for name, block in line.items() if name == row and block is not None]
            self.blocks += [(row, column, own[0], block) for column, block in line.items() if block is not None]

    def __len__(self) -> int:
        return sum(len(block.values) for *_, block in self.blocks)

    def __getitem__(self, which: slice) -> list[Sequence[Any]]:
        return list(islice(self, *which.indices(len(self))))

    def __iter__(self) -> Iterator[Sequence[Any]]:
        for row, column, own, block in self.blocks:
            rank = len(block.shape)
            for start in range(0, len(block.values), AT_ONCE):
                places, values = block.indices[start : start + AT_ONCE], block.values[start : start + AT_ONCE].tolist()
                names = entry_names(row, places[:, :own]), entry_names(column, places[:, own:rank])
                yield from zip(*names, values, strict=True)


def from_outcome(command: str, text: str, inputs: dict[str, Any], outcome: Outcome) -> Result:
    """The answer of an evaluating command."""
    result = Result({})
    FILL[command](result, outcome)
    result.document["types"] = {
        name: {"dtype": dtype, "shape": list(shape)} for name, (dtype, shape) in (outcome.types or {}).items()
    }
    attach(result, outcome)
    result.subject = Evaluated(text, inputs, outcome)
    return result


def attach(result: Result, outcome: Outcome) -> None:
    """What every evaluation leaves beside its values."""
    from .diagnostics import notice_document

    result.notices = list(outcome.notices or ())
    result.document["notices"] = [notice_document(notice) for notice in result.notices]
    result.engine, result.reason, result.mode = outcome.engine, outcome.reason, outcome.mode
    result.reason_span = outcome.reason_span
    result.loaded = outcome.kernel is not None and outcome.kernel.loaded
    result.timings = outcome.timings


# Each of these reads what its command has set; the other attributes of an Outcome are None.


def fill_value(result: Result, outcome: Any) -> None:
    result.document = {"value": outcome.value}
    result.lines = result.columns = [("value", outcome.value)]


def by_source(field: str, prefix: str) -> Callable[[Result, Any], None]:
    """What fills in the answer of a command that finds one thing for each source."""

    def fill(result: Result, outcome: Any) -> None:
        found = getattr(outcome, field)
        result.document = {"value": outcome.value, field: found}
        result.lines = list(found.items())
        result.columns = [("value", outcome.value), *named(prefix, found)]

    return fill


def fill_hessian(result: Result, outcome: Any) -> None:
    result.document = {"value": outcome.value, "gradients": outcome.gradients, "hessian": outcome.hessian}
    if any(hasattr(block, "indices") for line in outcome.hessian.values() for block in line.values()):
        result.header = ("row", "column", "value")
        result.rows = SparseEntries(outcome.hessian)
        return
    blocks = [(f"H.{row}.{column}", block) for row, line in outcome.hessian.items() for column, block in line.items()]
    result.lines = blocks
    result.columns = [("value", outcome.value), *named("d_", outcome.gradients), *blocks]


def entry_names(name: str, places: Any) -> list[str]:
    """`x`, `x[3]` or `A[0,1]` for each row of indices of an array."""
    if places.shape[1] == 1:  # mostly
        return [f"{name}[{index}]" for index in places[:, 0].tolist()]
    return [f"{name}[{','.join(map(str, place))}]" if place else name for place in places.tolist()]


def fill_tangent(result: Result, outcome: Any) -> None:
    result.document = {"value": outcome.value, "tangent": outcome.tangent}
    result.lines = [("tangent", outcome.tangent)]
    result.columns = [("value", outcome.value), ("tangent", outcome.tangent)]


def fill_derivatives(result: Result, outcome: Any) -> None:
    result.document = {"value": outcome.value, "derivatives": outcome.derivatives}
    result.header = ("order", "value")
    result.rows = [(0, outcome.value), *enumerate(outcome.derivatives, 1)]
    result.lines = [(str(order), value) for order, value in result.rows]


def fill_tape(result: Result, outcome: Any) -> None:
    from .diagnostics import span_document

    if outcome.tape is None:
        result.document = {"kernel": outcome.emitted}
        result.columns = [("kernel", outcome.emitted)]
        return
    result.document = {
        "value": outcome.value,
        "tape": [
            {
                "step": row.step,
                "operation": row.operation,
                "inputs": list(row.inputs),
                "name": row.name,
                "value": row.value,
                "partials": row.partials,
                "adjoint": row.adjoint,
                "source": row.span.text if row.span else None,
                "span": span_document(row.span),
            }
            for row in outcome.tape
        ],
    }
    result.header = ("step", "operation", "inputs", "name", "value", "partials", "adjoint", "line", "column", "source")
    for row in outcome.tape:
        place = (row.span.line, row.span.column, row.span.text) if row.span else (None, None, None)
        inputs = " ".join(str(label) for label in row.inputs)
        result.rows.append((row.step, row.operation, inputs, row.name, row.value, row.partials, row.adjoint, *place))


def fill_check(result: Result, outcome: Any) -> None:
    check = outcome.check
    result.ok = bool(check.ok)
    result.document = {
        "value": outcome.value,
        "check": {"ok": check.ok, "max_error": check.max_error, "method": check.method, "sources": check.sources},
    }
    result.lines = [("ok", check.ok), ("max_error", check.max_error), ("method", check.method)]
    result.lines += [(f"error.{name}", source["error"]) for name, source in check.sources.items()]
    result.columns = result.lines


def named(prefix: str, values: dict[str, Any]) -> list[tuple[str, Any]]:
    """Columns named after the sources."""
    return [(prefix + name, value) for name, value in values.items()]


FILL = {
    "value": fill_value,
    "grad": by_source("gradients", "d_"),
    "jacobian": by_source("jacobian", "d_"),
    "hessian": fill_hessian,
    "jvp": fill_tangent,
    "vjp": by_source("cotangents", "d_"),
    "hvp": by_source("product", "Hv."),
    "derivative": fill_derivatives,
    "tape": fill_tape,
    "check": fill_check,
    "run": fill_value,
}
