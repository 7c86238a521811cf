"""Whatever the command line holds, adiff answers or says what is wrong in the user's words: texts are drawn from the grammar,
programs are mutated, and every function is called with arguments of every kind."""

import io
import os
import random
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from adiff.cli.environment import Environment
from adiff.cli.main import run
from adiff.engine.kinds import names as kinds
from adiff.engine.ops.registry import METHODS, NAMES
from adiff.engine.program import library, vocabulary
from grammar import Forms, Pick, text_of

HERE = Path(__file__).parent
EXAMPLES = 100_000 if os.environ.get("ADIFF_LONG_TESTS") else 600

LIMITS = ["--max-steps", "3000", "--max-memory", "300M", "--json", "--debug"]
COMMANDS = ["value", "grad", "grad", "grad", "jacobian", "hessian", "jvp", "vjp", "hvp", "derivative", "tape", "check"]
OPTIONS = [
    *[[]] * 6, ["--dtype", "float32"], ["--kinks", "tensorflow"], ["--kinks", "error"], ["--engine", "kernel"], ["--wrt", "x"],
    ["--format", "table"], ["--format", "csv"], ["--format", "plain"], ["--checkpoint", "10M"],
]  # fmt: skip
POINT = {
    "x": ["2", "0", "-1.5", "[1,2]", "[[1,2],[3,4]]", "[0.5,0,0]", "1+2j", "[]", "nan", "[[2,0.5],[0.5,1]]", "float32([1,2])", "zeros((2,0))"],
    "y": ["0.5", "3", "[1,-1]", "[[1,0],[0,1]]", "0.0"], "n": ["3", "0", "-1", "2.5"], "i": ["2", "[0,1]", "[1,0,1]", "[[0],[1]]", "-1"],
    "s": ["'a'", "['a','b']"], "v": ["0.2", "[1,2,3]", "[[1,2],[3,4]]"], "b": ["True", "[True,False]", "1"],
}  # fmt: skip
VALUES = [
    "0", "1", "2", "-1", "0.5", "1e308", "1j", "10**20", "nan", "inf", "None", "True", "'a'", "[]", "()", "[1.0, 2.0]", "[[1, 2], [3, 4]]",
    "{'a': 1}", "ones((2, 3))", "constant(['a', 'b'])", "x", "x", "x", "y", "i", "n", "v", "b", "s", "(lambda v: v)", "(lambda a, b: a*b)",
    "constant([1, 2])", "Variable([1.0])", "range(3)", "float32", "sin", "zeros((0, 2))", "cast(2.0, float32)", "cast([1, 2], int32)",
    "GradientTape()", "zip([1], [2])", "f'{x}'", "1 + 2j", "[None]", "[x, 'a']", "constant(True)", "...", "x > 0.5", "cast(x, int64)",
    "[0, 1]", "int64", "'sum'", "(2, 3)", "[[0], [1]]", "sort(i)", "[x, y]", "(x, y)", "tf.constant(x)", "tf.ragged.constant([[1], [2, 3]])",
    "tf.sparse.from_dense([[0.0, 1.0]])", "slice(1, 2)", "tf.Variable(x)", "{'x': x}", "x[0]", "x.shape", "-x", "np.array([1.5])", "set([1])",
]  # fmt: skip
TOKEN = re.compile(r"\s+|\w+|\*\*|//|==|[<>=!]=|.", re.DOTALL)
CORPUS = [
    *[path.read_text(encoding="utf-8") for path in sorted((HERE.parents[1] / "samples").glob("*.adiff"))],
    *[text for name in ("python_programs", "python_failures")
      for text in (HERE / f"{name}.txt").read_text(encoding="utf-8").split("\n===\n")],
]  # fmt: skip
WORDS = sorted({token for text in CORPUS for token in TOKEN.findall(text) if not token.isspace()})
OPERATORS = "+ - * / // % ** @ < == != >= & | << >> and or in is".split()
FUNCTIONS = "sum sin log sqrt stack grad(f) f g range len where matmul float print max zeros".split()
NAME = ["x", "y", "v", "z", "a", "t", "f", "g", "xs"]
FORMS = {  # the first quarter of the forms of each is what ends a text that is deep enough
    "<lines>": ["<e>", "<s>\n<e>", "<s>\n<s>\n<e>", "<s>\n<lines>", "<s>\n<lines>"],
    "<block>": ["\n<simple>", "\n<simple>", "\n<s>\n<s>", "\n<s>\n<s>\n<simple>"],
    "<simple>": ["<name> = <e>", "<name> <assign> <e>", "<name>[<index>] = <e>", "<name>[<e>] <assign> <e>", "<name>, <name> = <e>", "return <e>",
                 "del <name>", "print(<e>)", "break", "raise ValueError(<e>)", "assert <e>", "<name>, *<name> = <e>", "<name>.<member>(<e>)",
                 "<name>: float32 = <e>", "<e>", "global <name>", "pass"],
    "<s>": ["<name> = <e>", "<simple>", "<simple>", "<simple>", "f = lambda <name>: <e>", "if <e>:<block>", "if <e>:<block>\nelse:<block>",
            "for <name> in <e>:<block>", "for <name>, <name> in <e>:<block>", "while <e>:<block>", "def f(<name>):<block>\n    return <e>",
            "def f(<name>, <name>=<e>, *xs):<block>\n    return <e>", "with GradientTape() as t:<block>\ng = t.gradient(<e>, <e>)",
            "with GradientTape(persistent=True) as t:\n    t.watch(<e>)<block>\ng = t.jacobian(<e>, <e>)", "try:<block>\nexcept <e>:<block>",
            "try:<block>\nexcept Exception as <name>:<block>\nfinally:<block>", "class f:\n    def __init__(self, a):\n        self.a = <e>\n    def __call__(self, <name>):<block>\n        return <e>"],
    "<e>": [*["<value>"] * 3, "<name>", "<e> <op> <e>", "<e> <op> <e>", "<function>(<e>)", "<function>(<e>)", "<function>(<e>, <e>)", "-<e>", "(<e>)",
            "(<e>)[<index>]", "(<e>)[<e>]", "(<e>).<member>", "(<e>).<member>(<e>)", "[<e> for <name> in <e>]", "[<e>, <e>]", "(<e> if <e> else <e>)",
            "f'{<name>:<spec>}'", "<function>(<e>, <name>=<e>)", "'%d %s' % (<e>, <e>)", "(lambda <name>: <e>)(<e>)", "{<value>: <e>}", "(not <e>)"],
    "<index>": ["0", "-1", ":", "1:", "::-1", "..., 0", "newaxis", ":, 0", "<e>:<e>", "<e>, <e>", "x > 0", "[0, 1]", "None"],
    "<spec>": [".3f", "d", ">8", "e", "%", "s", "x", "08.2f", "<member>"],
    "<assign>": ["+=", "-=", "*=", "/=", "**=", "//=", "%=", "@=", "&="],
    "<member>": ["shape", "dtype", "T", "size", "sum", "mean", "reshape", "numpy", "append", "items", "assign", "gradient", "watch", "at", "a", "pop",
                 "astype", "max", "copy", "format", "join", "split", "read_value", "index", "sort", "argmax", "real", "get", "upper", "count"],
    "<name>": NAME, "<value>": [value for value in VALUES if "<" not in value], "<op>": OPERATORS,
}  # fmt: skip
# What only Python's own errors say.
PYTHON = re.compile(
    r"(?<!the class )NoneType|'\w+' object|object of type|ufunc|ndarray|<class|<function \S+ at|<adiff|0x[0-9a-f]{6}|dtype\(|positional arg"
    r"|unexpected keyword|unsupported operand|invalid literal|has no len\(\)|internal\."
)


@cache
def functions() -> list[str]:
    """Every function of the language, as a program calls it."""
    of_kinds = [
        name
        for file in kinds.PYTHON.values()
        for name in import_module(f"{kinds.__package__}.{file}").FUNCTIONS
        if not name.startswith("internal.")
    ]
    files = [path.relative_to(library.FOLDER).with_suffix("") for path in Path(library.FOLDER).rglob("*.adiff")]
    of_library = [
        (file.as_posix().replace("/", ".") + f".{name}").removeprefix("tensorflow.").removeprefix("kinds.")
        for file in files for name in library.public(file.as_posix())
    ]  # fmt: skip
    methods = [f"({value}).{name}" for name in sorted(METHODS) for value in ("x", "Variable(x)", "tf.constant(y)")]
    dotted = [f"tf.{name}" for name in of_kinds + of_library if not name.startswith("jax")]
    return sorted({*vocabulary.function_names(), *dotted, *methods})


@cache
def forms() -> Forms:
    return {**FORMS, "<function>": [*FUNCTIONS * (len(functions()) // 2), *functions()]}


def mutant(pick: Pick) -> str:
    """A program of the corpus of which some tokens are others."""
    tokens = TOKEN.findall(pick(CORPUS))[:400] or ["x"]
    for _ in range(pick((1, 2, 3, 4))):
        at = pick(range(len(tokens)))
        kind = next((group for group in (OPERATORS, NAMES, VALUES[:9]) if tokens[at] in group), VALUES)
        tokens[at : at + 1] = pick(([], [pick(WORDS)], [pick(WORDS), tokens[at]], *[[pick([*kind])]] * 6))
        tokens = tokens or ["x"]
    return "".join(tokens)


def call(pick: Pick, depth: int = 2) -> str:
    """A call of any function with arguments of any kind."""
    name = pick(functions())
    row = NAMES.get(name.rpartition(".")[2])
    values = [
        call(pick, depth - 1) if depth and pick(range(8)) == 0 else pick(VALUES)
        for _ in range(pick((0, 1, 1, 2, 2, 3, 3, 4)))
    ]
    keywords = ["axis", "dtype", "n", "shape", "name", *([] if row is None else [p.name for p in row.parameters] * 3)]
    values += [f"{key}={pick(VALUES)}" for key in {pick(keywords) for _ in range(pick((0, 0, 1, 2)))}]
    text = f"{name}({', '.join(values)})"
    return pick(
        (
            text,
            text,
            text,
            f"sum({text})",
            f"{text}[{pick(VALUES)}]",
            f"{text} {pick(OPERATORS)} {pick(VALUES)}",
            f"{text} * x",
        )
    )


def grown(pick: Pick) -> str:
    """A text from the grammar, whose functions there are."""
    return "f = lambda q, *r: q*x\ng = lambda q, *r: sum(q)*v\nz = a = t = xs = y\n" + text_of(
        forms(), pick, "<lines>", pick((4, 6, 8))
    )


def fault(pick: Pick) -> str | None:
    """A command line that shows a fault of adiff's own, or Python's words, and what it shows; None where it answers well."""
    text = pick((call, call, call, mutant, grown))(pick)
    command = pick(COMMANDS)
    at = [f"{name}={pick(values)}" for name, values in POINT.items() if re.search(rf"\b{name}\b", text) or name == "x"]
    names = {"jvp": ["--tangent", "x=1"], "hvp": ["--vector", "x=1"], "derivative": ["--wrt", "x", "--order", "2"]}
    tokens = [
        command,
        text,
        *[token for binding in at for token in ("--at", binding)],
        *names.get(command, []),
        *LIMITS,
    ]
    options = pick(OPTIONS)
    if options[:1] == ["--format"]:
        tokens.remove("--json")
    out, error = io.StringIO(), io.StringIO()
    status = run([*tokens, *options], Environment(io.StringIO(), out, error, {}))
    said = error.getvalue()
    message = (
        re.sub(r'.*"message": |"span":.*?, "hint"', "", said)
        if said.startswith("{")
        else "".join(line for line in said.split("\n") if "error[" in line)
    )
    if (
        status not in (0, 1, 2, 3, 4)
        or (status and not said and command != "check")
        or "N0911" in out.getvalue() + said
    ):
        return f"{[*tokens, *options]}\n{status} {said} {out.getvalue()[:300]}"
    if status and (found := PYTHON.search(message)) and found.group().rstrip("(") not in text:
        return f"{[*tokens, *options]}\n{found.group()}: {said}"
    return None


@pytest.mark.parametrize("part", range(20))
def test_texts(part: int) -> None:
    for number in range(part * EXAMPLES // 20, (part + 1) * EXAMPLES // 20):
        found = fault(random.Random(number).choice)
        assert found is None, f"random.Random({number}): {found}"
