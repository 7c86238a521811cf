"""The library that is written in the language (program/library.py), as programs use it."""

from __future__ import annotations

from ..core.errors import span_of
from ..core.operands import bare
from ..core.state import NOWHERE, STATE, Site
from ..program.library import core_of
from .values import UNSET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...parser.errors import AdiffError
    from ..program import core as c
    from .compile import Compiler

    Run = Callable[[list[Any]], Any]


def library_name(compiler: Compiler, node: c.LibraryName) -> Run:
    file, slot = node.file, node.slot

    def run(f: list[Any]) -> Any:
        frame = compiler.libraries.get(file)
        return (frame or load(compiler, file))[slot]

    return run


def load(compiler: Compiler, file: str) -> list[Any]:
    """The frame of a file of the library, which is run once for a program."""
    core = core_of(file)
    frame: list[Any] = [UNSET] * core.size
    frame[0] = None
    for slot, node in core.optional.values():
        frame[slot] = bare(compiler.expression(node)(frame))
    compiler.libraries[file] = frame
    site, STATE.site = STATE.site, NOWHERE
    compiler.block(core.body)(frame)
    STATE.site = site
    return frame


def point_outside(error: AdiffError, site: Site) -> None:
    """Let an error inside the library point at the program's call of it, which is at `site`."""
    if error.span is not None and error.span.source.library and not (site.source is None or site.source.library):
        error.span = span_of(site)
