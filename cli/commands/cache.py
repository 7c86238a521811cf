"""`cache`: what adiff keeps on disk between runs, and its removal."""

from __future__ import annotations

from ...engine.command import COMPUTING, UNDERSTAND, Command, Option
from ...parser import cache
from ..errors import unwritable
from ..result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..output import Output
    from ..request import Request


def answer(request: Request, output: Output) -> Result:
    """The folder with the number and size of its files by kind, once they are removed where that is asked for."""
    from ...engine.core.errors import plural
    from ...engine.core.limits import size_text
    from ...engine.kernels.compile import store
    from ...parser import table

    clear = request.flag("clear")
    folder, problem = cache.folder(), cache.problem()
    files: dict[str, dict[str, int]] = {}
    # By the form of their names: others in the folder are not ours.
    for kind, form in (("kernels", store.FORM), ("grammar", table.ENTRY_FORM)):
        found = cache.files(form)
        files[kind] = {"files": len(found), "bytes": sum(file.size for file in found)}
        if clear:
            for file in found:
                cache.remove(file.path)
            if left := cache.files(form):
                raise unwritable(folder, f"{left[0].name} cannot be removed")
    result = Result({"folder": folder, "problem": problem, "removed" if clear else "kept": files})
    result.columns = [("folder", folder), ("problem", problem or "")]
    result.lines = [("folder", folder), *([("problem", problem)] if problem else [])]
    for kind, sizes in files.items():
        result.columns += [(f"{kind}.{key}", size) for key, size in sizes.items()]
        removed = ", removed" if clear and sizes["files"] else ""
        result.lines.append((kind, f"{plural(sizes['files'], 'file')}, {size_text(sizes['bytes'])}{removed}"))
    return result


COMMAND = Command(
    "cache", UNDERSTAND,
    "What is kept between runs so that they start sooner: compiled kernels and the grammar's table.",
    ("adiff cache", "adiff cache --json", "adiff cache --clear"),
    (Option("--clear", "flag", "", COMPUTING, "Remove what is kept."),),
    (), answer=answer, draw=lambda drawing, result: drawing.canvas.listing(result.lines),
)  # fmt: skip
