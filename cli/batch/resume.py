"""`--resume`: the whole records that an interrupted run of a batch has left, and the line after which it goes on."""

from __future__ import annotations

import os

from .. import errors
from ..files import open_file
from ..formats.json import SCHEMA, dumps
from .incoming import Incoming

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .line import Answering

HEAD = dumps({"schema": SCHEMA, "line": 0})[:-2].encode()  # how every record begins


def resume(batch: str, answering: Answering) -> tuple[int, int, int]:
    """How many of the lines were answered and how many failed, and the number of the last one; the output goes on after its
    record. Raises AdiffError where it holds anything but records of this batch."""
    path, style = answering.output.path, answering.style
    if style.format != "ndjson":
        raise errors.usage(
            f"--resume goes on with ndjson, and this is to be {style.format}",
            "--format ndjson, or a name that ends in .ndjson",
        )
    if batch == "-":
        raise errors.usage("--resume needs a file of lines: standard input cannot be read again")
    if path is None or not os.path.isfile(path):
        return 0, 0, 0
    open_file(batch).close()  # a pipe is refused, which cannot be read again
    asking = iter(Incoming(batch, answering.environment))
    answered = failed = line = size = 0
    for number, found, end in whole_records(path):
        line = found["line"]
        raw = next((raw for n, raw in asking if n == line), None)
        if raw is None or found.get("crc32") != answering.record(line, raw).crc32:
            message = f"line {line} of {batch} is not the one of this record: another file, or edited since"
            hint = "--resume needs what -o FILE wrote, and the file of lines as it was; -o FILE begins anew"
            raise errors.unusable(f"{path}:{number}", message, hint)
        answered += did(found)
        failed += not did(found)
        size = end
    answering.output.resume(size)
    return answered, failed, line


def whole_records(path: str) -> Iterator[tuple[int, dict[str, Any], int]]:
    """The records of a file, each with its number and the bytes up to its end. A last one that was cut is left out."""
    import json

    end = 0
    with open_file(path) as file:
        for number, raw in enumerate(iter(file.readline, b""), 1):
            try:
                record = json.loads(raw) if raw.endswith(b"\n") and raw.startswith(HEAD) else None
            except (ValueError, RecursionError):
                record = None
            if record is None:
                # What does not begin as a record does is somebody's text, and stays.
                if (raw.startswith(HEAD) or HEAD.startswith(raw)) and not file.read(1):
                    return
                raise errors.unusable(f"{path}:{number}", "is no record of a batch", "-o FILE begins anew")
            end += len(raw)
            yield number, record, end


def did(found: dict[str, Any]) -> bool:
    """Whether the line of a record did what it asked for."""
    check = found.get("check", {"ok": True})
    failed = any("error" in row for row in found.get("rows", ()))
    return "error" not in found and not failed and check["ok"] is True and found.get("converged", True) is True
