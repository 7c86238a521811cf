"""`cache`: what adiff keeps on disk between runs, and its removal."""

from __future__ import annotations

from ...engine.command import COMPUTING, UNDERSTAND, Command, Option
from ...parser import cache
from ..errors import unwritable
from ..result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..environment import Environment
    from ..formats import Style
    from ..output import Output
    from ..request import Request


def answer(request: Request, environment: Environment, output: Output, style: Style) -> Result:
    """The folder with the number and size of its files by kind, once they are removed where that is asked for."""
    from ...engine.kernels.compile import store
    from ...parser import table

    clear = request.flag("clear")
    found: dict[str, list[int]] = {}
    # By the form of their names: others in the folder are not ours.
    for kind, form in (("kernels", store.FORM), ("grammar", table.ENTRY_FORM)):
        files = cache.files(form)
        found[kind] = [len(files), sum(file.size for file in files)]
        if clear:
            for file in files:
                cache.remove(file.path)
            left = cache.files(form)
            if left:
                raise unwritable(cache.folder(), f"{left[0].name} cannot be removed")
    return listing(cache.folder(), cache.problem(), found, clear)


def listing(folder: str, problem: str | None, found: dict[str, list[int]], cleared: bool) -> Result:
    """The result for files by kind: how many there are (or were), and their bytes; `problem` is why none is used."""
    files = {kind: {"files": count, "bytes": size} for kind, (count, size) in found.items()}
    result = Result({"folder": folder, "problem": problem, "removed" if cleared else "kept": files})
    result.columns = [("folder", folder), ("problem", problem or "")]
    for kind, (count, size) in found.items():
        result.columns += [(f"{kind}.files", count), (f"{kind}.bytes", size)]
    said = [
        f"{count} {'file' if count == 1 else 'files'}, {size_text(size)}{', removed' if cleared and count else ''}"
        for count, size in found.values()
    ]
    result.lines = [("folder", folder), *([("problem", problem)] if problem else []), *zip(found, said)]
    return result


def size_text(size: int) -> str:
    """A number of bytes for people."""
    from ...engine.core.limits import size_text

    return size_text(size)


COMMAND = Command(
    "cache", UNDERSTAND,
    "What is kept between runs so that they start sooner: compiled kernels and the grammar's table.",
    ("adiff cache", "adiff cache --json", "adiff cache --clear"),
    (Option("--clear", "flag", "", COMPUTING, "Remove what is kept."),),
    (), answer=answer, draw=lambda drawing, result: drawing.canvas.listing(result.lines),
)  # fmt: skip
