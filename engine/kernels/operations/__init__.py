"""What kernels know of the rows of the table: shapes, forms that need no statement, and the rows that code is generated for."""

from __future__ import annotations

from .expand import dead_code, expand, result_shapes
from .indexing import interval, within
from .simplify import simplified

__all__ = ["dead_code", "expand", "interval", "result_shapes", "simplified", "within"]
