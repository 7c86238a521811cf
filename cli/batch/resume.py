"""`--resume`: the whole records that an interrupted run of a batch has left, and the line after which it goes on."""

from __future__ import annotations

import os

from ...parser.errors import AdiffError
from .. import errors
from ..commands.batch import lines
from ..files import open_file
from ..formats.json import SCHEMA, dumps
from ..formats.records import Record

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
    asking = records_asked_for(batch, answering)
    answered = failed = line = size = 0
    for number, found, end in whole_records(path):
        asked = next(asking, None)
        if asked is None or found["line"] != asked.line or found.get("command", asked.command) != asked.command:
            message = f"the record of line {found['line']} is not of {batch}"
            hint = "--resume needs the file of lines of the interrupted run; -o FILE begins anew"
            raise errors.unusable(f"{path}:{number}", message, hint)
        if found.get("crc32", asked.crc32) != asked.crc32:
            message = f"line {asked.line} of {batch} has been edited since this record was written"
            raise errors.unusable(f"{path}:{number}", message, "-o FILE begins anew")
        answered += did(found)
        failed += not did(found)
        line, size = asked.line, end
    answering.output.resume(size)
    answering.records.begun = True
    return answered, failed, line


def whole_records(path: str) -> Iterator[tuple[int, dict[str, Any], int]]:
    """The records of a file, each with its number and the bytes up to its end. A last one that was cut is left out."""
    end = 0
    with open_file(path) as file:
        for number, raw in enumerate(iter(file.readline, b""), 1):
            record = whole(raw)
            if record is None:
                # What does not begin as a record does is somebody's text, and stays.
                if (raw.startswith(HEAD) or HEAD.startswith(raw)) and not file.read(1):
                    return
                raise errors.unusable(f"{path}:{number}", "is no record of a batch", "-o FILE begins anew")
            end += len(raw)
            yield number, record, end


def whole(raw: bytes) -> dict[str, Any] | None:
    """The record that a line holds, None where it holds none or a part of one."""
    import json

    try:
        found = json.loads(raw) if raw.endswith(b"\n") and raw.startswith(HEAD) else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def did(found: dict[str, Any]) -> bool:
    """Whether the line of a record did what it asked for."""
    check = found.get("check", {"ok": True})
    failed = any("error" in row for row in found.get("rows", ()))
    return "error" not in found and not failed and check["ok"] is True and found.get("converged", True) is True


def records_asked_for(batch: str, answering: Answering) -> Iterator[Record]:
    """The records that the lines of a batch ask for, with line and command and without an answer."""
    open_file(batch).close()  # a pipe is refused, which cannot be read again
    for number, raw in lines(batch, answering.environment):
        record = answering.record(number, raw)
        try:
            if answering.request(record, raw) is None:
                continue
        except AdiffError:
            pass  # its record is of an error
        yield record
