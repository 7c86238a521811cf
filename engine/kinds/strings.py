"""What the functions of strings in engine/library/kinds/ call: bytes, encodings and patterns, and loops over string tensors.

A string is text; bytes that are no UTF-8 are kept as surrogate escapes. None of the results carries a tangent.
"""

from __future__ import annotations

from ..core.dtypes import STRING
from ..core.errors import failure
from ..core.operands import as_operand, describe, operand_dtype, plain, shown
from ..core.tensor import Tensor
from ..ops.structure import as_dtype

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

BYTES_ERRORS = "surrogateescape"


def octets(text: str) -> bytes:
    """The bytes of a string; half a pair of UTF-16 is no character, and a question mark."""
    try:
        return text.encode("utf-8", BYTES_ERRORS)
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def size(text: str, unit: str) -> int:
    """How many bytes, or characters of UTF-8, there are: all bytes but those that continue a character."""
    data = octets(text)
    return len(data) if unit == "BYTE" else sum(byte & 0xC0 != 0x80 for byte in data)


def string(data: Any) -> str:
    """Bytes as a string."""
    return bytes(data).decode("utf-8", BYTES_ERRORS)


def array_of(dtype: Any, items: Any) -> Any:
    import numpy as np

    return np.array(items, dtype=object if dtype is STRING else dtype.name)


def texts(name: str, x: Any) -> Any:
    """An operand that must be strings, as a tensor."""
    x = as_operand(x)
    if operand_dtype(x) is STRING:
        return x
    if not (x.__class__ is Tensor and 0 in x.shape):
        raise failure("E0301", f"{name} needs strings, and got {describe(x)}", "strings.as_string(x) makes them")
    return Tensor(array_of(STRING, plain(x)), STRING)


def pattern(name: str, run: Callable[[Any], Any], given: Any) -> Any:
    """What `run` makes of a compiled regular expression."""
    import re

    try:
        compiled = re.compile(given)
    except (re.error, TypeError, OverflowError, RecursionError) as fault:
        raise failure("E0401", f"{name}: {shown(given)} is no regular expression: {fault}") from None
    try:
        return run(compiled)
    except (re.error, IndexError) as fault:
        raise failure("E0401", f"{name}: what replaces a match does not fit the pattern: {fault}") from None


def replaced(text: str, given: Any, rewrite: str, count: int) -> Any:
    return pattern("strings.regex_replace", lambda compiled: compiled.sub(rewrite, text, count), given)


def matches(text: str, given: Any) -> Any:
    return pattern("strings.regex_full_match", lambda compiled: compiled.fullmatch(text) is not None, given)


def decoded(name: str, text: str, encoding: str, errors: str) -> str:
    try:
        return octets(text).decode(encoding, errors)
    except UnicodeDecodeError:
        raise failure("E0401", f"{name}: {text[:40]!r} is no {encoding}") from None


def decode_raw(input_bytes: Any, out_type: Any) -> Any:
    """The numbers whose bytes, the lowest first, are the strings: a dimension more."""
    import numpy as np

    dtype = as_dtype(out_type)
    strings = np.asarray(plain(texts("io.decode_raw", input_bytes)), dtype=object)
    try:
        found = [np.frombuffer(octets(text), np.dtype(dtype.name).newbyteorder("<")) for text in strings.ravel()]
        return Tensor(np.array(found, dtype=dtype.name).reshape(*strings.shape, -1), dtype)
    except (ValueError, TypeError):
        raise failure(
            "E0302", f"io.decode_raw: the strings have {[len(octets(s)) for s in strings.ravel()[:8]]} bytes, which are not "
            f"equally many {dtype.name}",
        ) from None  # fmt: skip


def base64_of(text: str) -> str:
    """Base64 in the alphabet that is safe in URLs."""
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(octets(text)).decode()


def of_base64(text: str) -> str:
    from base64 import b64decode

    bare = text.rstrip("=")
    try:
        if "+" in text or "/" in text:
            raise ValueError
        return string(b64decode(bare + "=" * (-len(bare) % 4), altchars=b"-_", validate=True))
    except ValueError:
        raise failure("E0401", f"io.decode_base64: {text[:40]!r} is no base64 in the alphabet of URLs") from None


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "internal.strings.octets": lambda text: list(octets(text)),
    "internal.strings.string": string,
    "internal.strings.encoded": lambda text, encoding: string(text.encode(encoding, "replace")),
    **{
        f"internal.strings.{function.__name__}": function
        for function in (size, texts, replaced, matches, decoded, decode_raw, base64_of, of_base64)
    },
}
