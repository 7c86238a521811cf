"""Write what the pages take from the program: `python docs/generate.py` after any change that a user can see.

docs/operations.md, docs/errors.md and the tables of docs/commands.md are made anew; in all other pages the output of the
examples is replaced by what adiff answers now. Read the difference before you commit it: it is what the change means to a reader.
"""

from __future__ import annotations

import re
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from examples import PAGES, ROOT, Session, refreshed, tidy

DOCS = ROOT / "docs"
MADE = {"operations.md", "errors.md"}
POLICIES = ("adiff", "tensorflow", "jax", "torch")
FAMILIES = {
    "arithmetic": "Arithmetic, powers, comparisons and logic",
    "exponential": "Exponentials, logarithms and roots",
    "trigonometric": "Trigonometric and hyperbolic functions",
    "rounding": "Rounding, signs, absolute values and extremes",
    "special": "Special functions",
    "activations": "Activations",
    "complex": "Complex numbers",
    "reductions": "Reductions",
    "scans": "Running sums and differences",
    "sorting": "Sorting and searching",
    "structure": "Indexing, dtypes and structure",
    "shapes": "Shapes",
    "creation": "Making tensors",
    "gathering": "Gathering and scattering",
    "sequences": "Sequences and signals",
    "samples": "Samples and fits",
    "losses": "Losses and clipping",
    "random": "Random numbers",
    "products": "Products of tensors",
    "decompositions": "Matrix decompositions",
    "linalg": "Linear algebra",
    "partition": "Partition, stitch and segments",
}
CODE = re.compile(r"""["'](?P<code>[EN]0\d{3})["']""")
ERROR_FAMILIES = {
    "E01": ("Syntax", "syntax", 3),
    "E02": ("Names", "name", 3),
    "E03": ("Dtypes, kinds and shapes", "type", 1),
    "E04": ("Evaluation", "evaluation", 1),
    "E05": ("Tapes and derivatives", "derivative", 1),
    "E06": ("Limits", "limit", 1),
    "E07": ("Files", "file", 4),
    "E08": ("Usage and bindings", "usage", 2),
    "E09": ("Faults of adiff's own", "internal", 70),
    "N": ("Notices", "", 0),
}


def title(family: str) -> str:
    return FAMILIES.get(family, family.replace("_", " ").capitalize())


def anchor(heading: str) -> str:
    """The fragment under which GitHub files a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def cell(text: str) -> str:
    """Text that stands in a cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ")


def operations_page() -> str:
    """docs/operations.md: every row of the operation table, by family."""
    from adiff import operations
    from adiff.cli.formats.numbers import value_text

    families: dict[str, list[object]] = {}
    for row in operations():
        families.setdefault(row.family, []).append(row)
    count = sum(map(len, families.values()))
    lines = [
        "# Operations",
        "",
        "<!-- Made by docs/generate.py from the table of operations. Change the rows, not this page. -->",
        "",
        f"The {count} operations that a program may call, by family. `adiff ops NAME` shows one of them, "
        "`adiff ops --json` all of them for a script. The built-in functions of the language, tapes and Variables "
        "are in the [language reference](language.md).",
        "",
        "An operation has one canonical name and its aliases. Prefixes of other vocabularies (`np.`, `jnp.`, `tf.`, "
        "`tf.math.`, `math.`, ...) change nothing unless an alias with a prefix is listed. *Derivative* says what "
        "kind of derivative the operation has:",
        "",
        "| kind | meaning |",
        "|---|---|",
        "| element-wise: one partial per input | each element of the result depends on one element of each input |",
        "| linear | the derivative of the operation is the operation itself |",
        "| linear in each input | a product: linear in each input while the others stay fixed |",
        "| a rule of its own | a rule for the reverse sweep; forward mode uses its transpose |",
        "| follows from its parts | the operation is written in terms of others |",
        "| zero wherever it exists | piecewise constant, like `floor` |",
        "| carries no derivative | the result is an index, a bool, an integer or a string |",
        "| not available | a derivative exists and adiff does not have it; the reason is given |",
        "",
        "*Singular points* are the points where the derivative does not exist or is infinite, with what each `--kinks` "
        "policy takes there (see [semantics](semantics.md#singular-points)).",
        "",
        *(f"- [{title(f)}](#{anchor(title(f))}) ({len(rows)})" for f, rows in families.items()),
    ]
    for family, rows in families.items():
        lines += ["", f"## {title(family)}"]
        for row in rows:
            lines += ["", f"### {row.name}", "", f"`{row.signature}` — {row.doc}", ""]
            if row.example:
                shown = "" if row.example_value is None else f" gives `{value_text(row.example_value)}`"
                lines.append(f"- Example: `{row.example}`{shown}")
            if row.aliases:
                lines.append("- Also called " + ", ".join(f"`{alias}`" for alias in row.aliases))
            lines.append("- Takes " + ", ".join(row.dtypes))
            reason = f" ({row.reason})" if row.reason else ""
            lines.append(f"- Derivative: {row.derivative}{reason}")
            if row.singular:
                lines += [
                    "",
                    "| singular point | of | " + " | ".join(POLICIES) + " |",
                    "|---|---|" + "---|" * len(POLICIES),
                ]
                seen = set()
                for choice in row.singular:
                    record = (
                        f"| {cell(choice.message)} | {cell(choice.subgradients) or '–'} | "
                        + " | ".join(cell(getattr(choice, policy)) for policy in POLICIES)
                        + " |"
                    )
                    if record not in seen:
                        seen.add(record)
                        lines.append(record)
    return "\n".join(lines) + "\n"


def commands_parts() -> dict[str, str]:
    """What docs/commands.md takes from the commands: their list, the table of options, the keys of their JSON."""
    from adiff.cli.commands import COMMANDS
    from adiff.engine.command import DTYPE, EXPRESSION, PANELS, SHOWN

    commands = list(COMMANDS.values())
    groups = {
        "every command": commands,
        "all that compute": [c for c in commands if DTYPE in c.options],
        "all that take EXPR": [c for c in commands if EXPRESSION in c.arguments],
    }

    def named(those: list[Any]) -> str:
        whole = next((name for name, group in groups.items() if set(group) <= set(those)), "")
        return ", ".join([whole] * bool(whole) + [c.name for c in those if c not in groups.get(whole, ())])

    shown = {option.long: option for option in SHOWN}
    options = list(dict.fromkeys(o for c in commands for o in c.options if o.long not in shown))
    options.sort(key=lambda option: PANELS.index(option.panel))
    rows = ["| option | commands | meaning |", "|---|---|---|"]
    for option in [*options, *SHOWN]:
        value = " " + ("|".join(option.choices) or option.metavar) if option.kind != "flag" else ""
        names = ", ".join(f"`{cell(name + value)}`" for name in option.names)
        more = (["may be repeated"] if option.repeat else []) + ([option.page] if option.page else [])
        meaning = option.help[:-1] + (f" ({'; '.join(more)})." if more else ".")
        rows.append(
            f"| {names} | {named([c for c in commands if option in [shown.get(o.long, o) for o in c.options]])} | {meaning} |"
        )
    rows.append("| `-h`, `--help` | every command | The options, with examples that run. |")
    keys: dict[str, tuple[str, list[str]]] = {"value": ("the value", ["all that take EXPR, run"])}
    for command in commands:
        for key, meaning in command.keys.items():
            keys.setdefault(key, (meaning, []))[1].append(command.name)
    keys["printed"] = ("the lines that the program printed, where it did", ["all that take EXPR, run"])
    keys["types"] = ("`dtype` and `shape` of each input and of the value", ["all that take EXPR, run"])
    keys["notices"] = ("`code`, `message` and `span` of each notice", ["all that compute"])
    table = [f"| `{key}` | {', '.join(names)} | {meaning} |" for key, (meaning, names) in keys.items()]
    return {
        "commands": " · ".join(f"[{c.name}](#{c.name})" for c in commands),
        "options": "\n".join(rows),
        "keys": "\n".join(["| key | from | holds |", "|---|---|---|", *table]),
    }


def with_parts(text: str, parts: dict[str, str]) -> str:
    """A page with what stands between `<!-- made: NAME -->` and `<!-- end -->` made anew."""

    def made(match: re.Match[str]) -> str:
        return f"<!-- made: {match[1]} -->\n\n{parts[match[1]]}\n\n<!-- end -->"

    return re.sub(r"<!-- made: (\w+) -->\n.*?<!-- end -->", made, text, flags=re.S)


def codes_of_source() -> set[str]:
    """Every code of an error or a notice that the source can raise."""
    found = set()
    for package in ("parser", "engine", "cli"):
        for path in (*(ROOT / package).rglob("*.py"), *(ROOT / package).rglob("*.adiff")):
            found.update(match["code"] for match in CODE.finditer(path.read_text(encoding="utf-8")))
    return found


def code_descriptions() -> dict[str, dict[str, str]]:
    """docs/errors.toml: code → meaning, and `run`, `program` or `why`."""
    return tomllib.loads((DOCS / "errors.toml").read_text(encoding="utf-8"))


def error_example(entry: dict[str, str], folder: Path) -> tuple[list[str], str]:
    """The lines of a code's example, and what its command showed."""
    session = Session(folder)
    (folder / "broken.json").write_text("[[1, 2], [3,", encoding="utf-8")
    if "why" in entry:
        return [f"No example: {entry['why'][:1].lower()}{entry['why'][1:]}"], ""
    lines = []
    run = entry.get("run", "run example.adiff")
    if "program" in entry:
        program = entry["program"].strip("\n") + "\n"
        (folder / "example.adiff").write_text(program, encoding="utf-8")
        lines += ["```python example.adiff", program.rstrip("\n"), "```", ""]
    shown = tidy(session.command("adiff " + run))
    return [*lines, "```console", f"$ adiff {run}", shown.rstrip("\n"), "```"], shown


def errors_page(folder: Path) -> str:
    """docs/errors.md: every code with its meaning and what it looks like."""
    lines = [
        "# Errors and notices",
        "",
        "<!-- Made by docs/generate.py from docs/errors.toml. -->",
        "",
        "Every diagnostic has a code. An **error** (`E....`) ends the command: nothing is written to standard output, "
        "and the exit status tells the family. A **notice** (`N....`) stands beside a result that is right and says "
        "something worth knowing about it; `-q` silences notices. Both go to standard error; with `--format json` the "
        "error is a JSON object there, and notices are part of the result (see [commands](commands.md#diagnostics)).",
        "",
        "| codes | family | `kind` in JSON | exit status |",
        "|---|---|---|---|",
    ]
    for prefix, (name, kind, status) in ERROR_FAMILIES.items():
        lines.append(
            f"| {prefix}{'xx' if prefix != 'N' else '....'} | [{name}](#{anchor(name)}) | {kind or '–'} | {status} |"
        )
    descriptions = code_descriptions()
    for prefix, (name, _, _) in ERROR_FAMILIES.items():
        lines += ["", f"## {name}"]
        for code, entry in descriptions.items():
            if code.startswith(prefix):
                example, _ = error_example(entry, folder)
                lines += ["", f"### {code}", "", entry["meaning"], "", *example]
    return "\n".join(lines) + "\n"


def write(page: Path, text: str) -> None:
    """Replace a page, unless its examples show a fault of adiff's own, which nobody wants to read as documentation."""
    if "error[E09" in text:
        sys.exit(f"{page.name}: an example shows a fault of adiff's own; nothing is written")
    page.write_text(text, encoding="utf-8")


def main() -> None:
    """Write the pages that are made and refresh the others."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("operations.md", operations_page()), ("errors.md", errors_page(Path(folder)))):
            write(DOCS / name, text)
    for page in PAGES:
        if page.name not in MADE:
            with tempfile.TemporaryDirectory() as folder:
                write(page, refreshed(page, Path(folder)))
    page = DOCS / "commands.md"
    write(page, with_parts(page.read_text(encoding="utf-8"), commands_parts()))


if __name__ == "__main__":
    main()
