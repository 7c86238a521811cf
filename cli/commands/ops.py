"""`ops`: the operations that programs may use, all of them or one in detail."""

from __future__ import annotations

from ... import operations
from ...parser.errors import AdiffError
from ..request import nearest
from ..result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..request import Request

# What is told of an operation, in this order.
DETAILS = ("name", "aliases", "family", "signature", "dtypes", "derivative", "singular_points", "doc", "example")


def answer(request: Request) -> Result:
    """The table of operations, or one row of it."""
    rows = operations()
    name = request.arguments.get("name")
    if name is None:
        return listing([details(row) for row in rows])
    plain = name.split(".")[-1] if not any(name in (row.name, *row.aliases) for row in rows) else name
    for row in rows:
        if plain == row.name or plain in row.aliases:
            return detail(details(row))
    known = [known for row in rows for known in (row.name, *row.aliases)]
    raise AdiffError("E0203", f"unknown operation {name!r}", hint=nearest(name, known))


def details(row: Any) -> dict[str, Any]:
    """One row of the table as plain values."""
    found = {key: getattr(row, key) for key in DETAILS}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in found.items()}


def listing(rows: list[dict[str, Any]]) -> Result:
    """All operations by family."""
    result = Result({"operations": rows})
    result.header = ("name", "family", "signature", "doc")
    result.rows = [tuple(row[key] for key in result.header) for row in rows]
    return result


def detail(row: dict[str, Any]) -> Result:
    """One operation: a line for each thing there is to say."""
    result = Result({"operation": row})
    result.lines = [(key.replace("_", " "), text_of(value)) for key, value in row.items() if value]
    result.columns = [(key, text_of(value)) for key, value in row.items()]
    return result


def text_of(value: Any) -> str:
    """What is said, on one line."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
