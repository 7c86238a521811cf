"""tf.strings: functions of string tensors. A string is text; bytes that are no UTF-8 are kept as surrogate escapes.

None of the results carries a tangent: a path that reaches a string ends there.
"""

from __future__ import annotations

from ..core.dtypes import BOOL, INT32, INT64, STRING
from ..core.errors import failure
from ..core.following import path_ends
from ..core.operands import as_operand, describe, operand_dtype, shown, wrap
from ..core.state import STATE
from ..core.tensor import OPERATORS, Tensor
from ..ops.structure import as_dtype
from ..ops.support import axes_of, axis_of, kept
from .kind import whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from re import Pattern
    from typing import Any

ENCODINGS = {"UTF-8": "utf-8", "UTF8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
UNITS = ("BYTE", "UTF8_CHAR")
BYTES_ERRORS = "surrogateescape"


def octets(text: str) -> bytes:
    """The bytes of a string; half a pair of UTF-16 is no character, and a question mark."""
    try:
        return text.encode("utf-8", BYTES_ERRORS)
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def string(data: bytes) -> str:
    """Bytes as a string."""
    return data.decode("utf-8", BYTES_ERRORS)


def texts(name: str, x: Any) -> Any:
    """The array of an operand that must be strings."""
    import numpy as np

    x = as_operand(x)
    if operand_dtype(x) is not STRING:
        if not (x.__class__ is Tensor and 0 in x.shape):
            raise failure("E0301", f"{name} needs strings, and got {describe(x)}", "strings.as_string(x) makes them")
        return np.empty(x.shape, dtype=object)
    return np.asarray(x.value if x.__class__ is Tensor else x, dtype=object)


def mapped(name: str, dtype: Any, function: Callable[..., Any], *arrays: Any) -> Any:
    """`function` of each element of arrays that broadcast, as a tensor of `dtype`."""
    import numpy as np

    try:
        np.broadcast_shapes(*[array.shape for array in arrays])
    except ValueError:
        shapes = " and ".join(str(list(array.shape)) for array in arrays)
        raise failure("E0302", f"{name}: shapes {shapes} do not fit", "equal shapes, or scalars") from None
    found = np.frompyfunc(function, len(arrays), 1)(*arrays)
    return wrap(np.asarray(found, dtype=object if dtype is STRING else dtype.name), dtype)


def one_of(name: str, what: str, x: Any, known: Any) -> Any:
    if x.__class__ is not str or x not in known:
        raise failure("E0401", f"{name}: {what} must be {' or '.join(map(repr, known))}, not {shown(x)}")
    return x


def rows(name: str, values: Any, parts: Callable[[str], list[Any]], dtype: Any = STRING) -> Any:
    """The parts of each string: a vector for a scalar, else a RaggedTensor with one dimension more."""
    import numpy as np

    strings = texts(name, values)
    lists = [parts(text) for text in strings.ravel()]
    flat = np.array([part for items in lists for part in items], dtype=object if dtype is STRING else dtype.name)
    if not strings.ndim:
        return Tensor(flat, dtype)
    from .ragged import RaggedTensor, splits_of

    found = RaggedTensor(Tensor(flat, dtype), splits_of([len(items) for items in lists]))
    for axis in range(strings.ndim - 1, 0, -1):
        count = int(np.prod(strings.shape[:axis]))
        found = RaggedTensor(found, np.arange(count + 1) * strings.shape[axis])
    return found


# --- lengths and parts ----------------------------------------------------------------------------------------------


def length(input: Any, unit: Any = "BYTE") -> Any:
    one_of("strings.length", "unit", unit, UNITS)
    return mapped("strings.length", INT32, lambda s: units(s, unit), texts("strings.length", input))


def units(text: str, unit: str) -> int:
    """How many bytes, or characters of UTF-8, there are: all bytes but those that continue a character."""
    return sum(unit == "BYTE" or byte & 0xC0 != 0x80 for byte in octets(text))


def substr(input: Any, pos: Any, len: Any, unit: Any = "BYTE") -> Any:
    from ..ops.support import integers

    name = "strings.substr"
    one_of(name, "unit", unit, UNITS)

    def part(text: str, start: int, count: int) -> str:
        whole_text: Any = octets(text) if unit == "BYTE" else text
        size = units(text, unit)
        if not -size <= start <= size:
            raise failure("E0405", f"{name}: pos {start} is out of range for {text!r} of length {size}")
        start += size if start < 0 else 0
        found = whole_text[start : start + max(count, 0)]
        return string(found) if unit == "BYTE" else found

    return mapped(name, STRING, part, texts(name, input), integers(name, "pos", pos), integers(name, "len", len))


def split(input: Any, sep: Any = None, maxsplit: Any = -1) -> Any:
    most = whole("strings.split", "maxsplit", maxsplit)
    return rows("strings.split", input, lambda s: s.split(sep or None, most))


def bytes_split(input: Any) -> Any:
    return rows("strings.bytes_split", input, lambda s: [string(bytes([byte])) for byte in octets(s)])


def ngrams(data: Any, ngram_width: Any, separator: Any = " ") -> Any:
    """The runs of `ngram_width` neighbours in a vector of strings; of several widths those of each, in turn."""
    import numpy as np

    words = texts("strings.ngrams", data)
    if words.ndim != 1:
        raise failure("E0302", f"strings.ngrams takes a vector of strings, not {list(words.shape)}")
    widths = ngram_width if ngram_width.__class__ in (list, tuple) else [ngram_width]
    found = [separator.join(words[i : i + n]) for n in widths for i in range(len(words) - n + 1)]
    return Tensor(np.array(found, dtype=object), STRING)


# --- joining --------------------------------------------------------------------------------------------------------


def join(inputs: Any, separator: Any = "") -> Any:
    if inputs.__class__ not in (list, tuple):
        raise failure("E0304", f"strings.join needs a list of string tensors, and got {describe(inputs)}")
    arrays = [texts("strings.join", x) for x in inputs]
    return mapped("strings.join", STRING, lambda *parts: separator.join(parts), *arrays) if arrays else ""


def reduce_join(inputs: Any, axis: Any = None, keepdims: Any = False, separator: Any = "") -> Any:
    import numpy as np

    values = texts("strings.reduce_join", inputs)
    axes = axes_of("strings.reduce_join", axis, values.ndim)
    rest = [i for i in range(values.ndim) if i not in axes]
    table = values.transpose(*rest, *axes).reshape(*[values.shape[i] for i in rest], -1)
    found = np.empty(table.shape[:-1], dtype=object)
    for place in np.ndindex(found.shape):
        found[place] = separator.join(table[place])
    return wrap(found.reshape(kept(values.shape, axes)) if keepdims else found, STRING)


# --- letters --------------------------------------------------------------------------------------------------------


def cased(name: str, change: str) -> Callable[..., Any]:
    def run(input: Any, encoding: Any = "") -> Any:
        """Without an encoding only the letters of ASCII change, as in TensorFlow."""
        if one_of(name, "encoding", encoding, ("", "utf-8")):
            return mapped(name, STRING, getattr(str, change), texts(name, input))
        return mapped(name, STRING, lambda s: string(getattr(octets(s), change)()), texts(name, input))

    return run


def strip(input: Any) -> Any:
    return mapped("strings.strip", STRING, lambda s: string(octets(s).strip()), texts("strings.strip", input))


def pattern_of(name: str, pattern: Any) -> Pattern[str]:
    import re

    try:
        return re.compile(pattern)
    except (re.error, TypeError, OverflowError, RecursionError) as fault:
        raise failure("E0401", f"{name}: {shown(pattern)} is no regular expression: {fault}") from None


def regex_replace(input: Any, pattern: Any, rewrite: Any, replace_global: Any = True) -> Any:
    import re

    name = "strings.regex_replace"
    compiled = pattern_of(name, pattern)
    rewrite = rewrite.replace("\\0", "\\g<0>")
    try:
        return mapped(name, STRING, lambda s: compiled.sub(rewrite, s, 0 if replace_global else 1), texts(name, input))
    except (re.error, IndexError) as fault:
        raise failure("E0401", f"{name}: {rewrite!r} does not fit the pattern: {fault}") from None


def regex_full_match(input: Any, pattern: Any) -> Any:
    name = "strings.regex_full_match"
    compiled = pattern_of(name, pattern)
    return mapped(name, BOOL, lambda s: compiled.fullmatch(s) is not None, texts(name, input))


# --- numbers --------------------------------------------------------------------------------------------------------


def to_number(input: Any, out_type: Any = None) -> Any:
    dtype = STATE.tensorflow_float if out_type is None else as_dtype(out_type)
    if dtype.kind not in "if":
        raise failure("E0306", f"strings.to_number has no numbers of dtype {dtype.name}")

    def number(text: str) -> Any:
        try:
            if "_" not in text:
                value = float(text) if dtype.kind == "f" else int(text)
                if dtype.kind == "f" or -(2 ** (dtype.bits - 1)) <= value < 2 ** (dtype.bits - 1):
                    return value
        except ValueError:
            pass
        raise failure("E0401", f"strings.to_number could not convert {text[:40]!r} to {dtype.name}")

    return mapped("strings.to_number", dtype, number, texts("strings.to_number", input))


def as_string(
    input: Any,
    precision: Any = -1,
    scientific: Any = False,
    shortest: Any = False,
    width: Any = -1,
    fill: Any = "",
) -> Any:
    """Numbers as strings, in the formats of C: six digits after the point where no precision is given."""
    import numpy as np

    name = "strings.as_string"
    x = as_operand(input)
    dtype = operand_dtype(x)
    path_ends((x,), name)
    digits, columns = whole(name, "precision", precision), whole(name, "width", width)
    if max(digits, columns) > 10_000:
        raise failure("E0604", "a width or precision above 10000 is refused")
    one_of(name, "fill", fill, ("", "0", "+", "-", " "))
    if dtype.kind in "ib" and (digits >= 0 or scientific or shortest):
        raise failure("E0301", f"{name}: precision, scientific and shortest are for floats, not {dtype.name}")
    letter = {"i": "d", "s": "s", "b": "s"}.get(dtype.kind, "e" if scientific else "g" if shortest else "f")
    point = f".{digits}" if digits >= 0 and dtype.kind != "s" else ""
    form = "%" + fill + (str(columns) if columns >= 0 else "") + point + letter

    def written(value: Any) -> str:
        if dtype is BOOL:
            value = "true" if value else "false"
        return f"({form % value.real},{form % value.imag})" if dtype.kind == "c" else form % value

    return mapped(name, STRING, written, np.asarray(x.value if x.__class__ is Tensor else x))


# --- Unicode and base64 ---------------------------------------------------------------------------------------------


def decoder(name: str, encoding: Any, errors: Any) -> Callable[[str], str]:
    codec = ENCODINGS[one_of(name, "input_encoding", encoding, ENCODINGS)]
    one_of(name, "errors", errors, ("replace", "strict", "ignore"))

    def decode(text: str) -> str:
        try:
            return octets(text).decode(codec, errors)
        except UnicodeDecodeError:
            raise failure("E0401", f"{name}: {text[:40]!r} is no {encoding}") from None

    return decode


def encoder(name: str, encoding: Any) -> Callable[[str], str]:
    codec = ENCODINGS[one_of(name, "output_encoding", encoding, ENCODINGS)]
    return lambda text: string(text.encode(codec, "replace"))


def unicode_decode(input: Any, input_encoding: Any = "UTF-8", errors: Any = "replace") -> Any:
    decode = decoder("strings.unicode_decode", input_encoding, errors)
    return rows("strings.unicode_decode", input, lambda s: [ord(c) for c in decode(s)], INT32)


def unicode_decode_with_offsets(input: Any, input_encoding: Any = "UTF-8", errors: Any = "replace") -> Any:
    """The code points, and at which byte each begins."""
    name = "strings.unicode_decode_with_offsets"
    decode, encode = decoder(name, input_encoding, errors), encoder(name, input_encoding)

    def starts(text: str) -> list[int]:
        sizes = [len(octets(encode(character))) for character in decode(text)]
        return [sum(sizes[:i]) for i in range(len(sizes))]

    return unicode_decode(input, input_encoding, errors), rows(name, input, starts, INT64)


def unicode_split(input: Any, input_encoding: Any = "UTF-8", errors: Any = "replace") -> Any:
    decode = decoder("strings.unicode_split", input_encoding, errors)
    encode = encoder("strings.unicode_split", input_encoding)
    return rows("strings.unicode_split", input, lambda s: [encode(c) for c in decode(s)])


def unicode_transcode(input: Any, input_encoding: Any, output_encoding: Any, errors: Any = "replace") -> Any:
    name = "strings.unicode_transcode"
    decode, encode = decoder(name, input_encoding, errors), encoder(name, output_encoding)
    return mapped(name, STRING, lambda s: encode(decode(s)), texts(name, input))


def unicode_encode(input: Any, output_encoding: Any = "UTF-8", errors: Any = "replace") -> Any:
    """Code points to strings: the last axis, or the rows of a RaggedTensor, become one string each."""
    import numpy as np

    from ..ops.support import integers

    name = "strings.unicode_encode"
    encode = encoder(name, output_encoding)

    def encoded(codes: Any) -> str:
        valid = [0 <= code < 0x110000 and not 0xD800 <= code < 0xE000 for code in codes]
        if errors == "strict" and not all(valid):
            raise failure("E0401", f"{name}: {int(codes[valid.index(False)])} is no code point")
        replaced = "" if errors == "ignore" else "\ufffd"
        return encode("".join(chr(code) if good else replaced for code, good in zip(codes, valid)))

    if hasattr(input, "iterate"):
        items = [unicode_encode(row, output_encoding, errors) for row in input.iterate()]
        return OPERATORS.stack(items) if items else Tensor(np.empty(0, dtype=object), STRING)
    codes = integers(name, "the code points", input)
    axis_of(name, -1, codes.ndim)
    found = np.empty(codes.shape[:-1], dtype=object)
    for place in np.ndindex(found.shape):
        found[place] = encoded(codes[place])
    return wrap(found, STRING)


def decode_raw(input_bytes: Any, out_type: Any) -> Any:
    """The numbers whose bytes, the lowest first, are the strings: a dimension more."""
    import numpy as np

    dtype = as_dtype(out_type)
    strings = texts("io.decode_raw", input_bytes)
    try:
        found = [np.frombuffer(octets(text), np.dtype(dtype.name).newbyteorder("<")) for text in strings.ravel()]
        return Tensor(np.array(found, dtype=dtype.name).reshape(*strings.shape, -1), dtype)
    except (ValueError, TypeError):
        raise failure(
            "E0302", f"io.decode_raw: the strings have {[len(octets(s)) for s in strings.ravel()[:8]]} bytes, which are not "
            f"equally many {dtype.name}",
        ) from None  # fmt: skip


def encode_base64(input: Any, pad: Any = False) -> Any:
    """Base64 in the alphabet that is safe in URLs, without padding."""
    from base64 import urlsafe_b64encode

    def encoded(text: str) -> str:
        found = urlsafe_b64encode(octets(text)).decode()
        return found if pad else found.rstrip("=")

    return mapped("io.encode_base64", STRING, encoded, texts("io.encode_base64", input))


def decode_base64(input: Any) -> Any:
    from base64 import b64decode

    def decoded(text: str) -> str:
        bare = text.rstrip("=")
        try:
            if "+" in text or "/" in text:
                raise ValueError
            return string(b64decode(bare + "=" * (-len(bare) % 4), altchars=b"-_", validate=True))
        except ValueError:
            raise failure("E0401", f"io.decode_base64: {text[:40]!r} is no base64 in the alphabet of URLs") from None

    return mapped("io.decode_base64", STRING, decoded, texts("io.decode_base64", input))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "strings.length": length, "strings.substr": substr, "strings.split": split, "strings.bytes_split": bytes_split,
    "strings.ngrams": ngrams, "strings.join": join, "strings.reduce_join": reduce_join,
    "strings.lower": cased("strings.lower", "lower"), "strings.upper": cased("strings.upper", "upper"),
    "strings.strip": strip, "strings.regex_replace": regex_replace, "strings.regex_full_match": regex_full_match,
    "strings.to_number": to_number, "strings.as_string": as_string, "as_string": as_string,
    "strings.unicode_decode": unicode_decode, "strings.unicode_encode": unicode_encode,
    "strings.unicode_decode_with_offsets": unicode_decode_with_offsets,
    "strings.unicode_split": unicode_split, "strings.unicode_transcode": unicode_transcode,
    "io.encode_base64": encode_base64, "io.decode_base64": decode_base64,
    "io.decode_raw": decode_raw,
}  # fmt: skip
