"""The one table of commands and options: decoder, Typer application, help, completion and batch lines read it."""

from __future__ import annotations

COMPLETION = "_ADIFF_COMPLETE"  # the variable by which a shell's completion script calls
FORMATS = ("table", "plain", "json", "ndjson", "csv", "tsv")
EVALUATIONS = "value grad jacobian hessian jvp vjp hvp derivative tape check minimize"
METHODS = (
    "l-bfgs-b", "bfgs", "newton-cg", "trust-ncg", "tnc", "slsqp", "gradient-descent", "momentum", "adam",
)  # fmt: skip
COMPUTATIONS = EVALUATIONS + " run partition stitch batch"
EVERYWHERE = COMPUTATIONS + " ops cache"


class Option:
    """One option: its names, the kind of its value (see values.py) and the commands that have it."""

    __slots__ = ("choices", "commands", "default", "group", "help", "key", "kind", "long", "metavar", "repeat", "short")

    def __init__(
        self,
        long: str,
        short: str | None,
        kind: str,
        metavar: str,
        commands: str,
        group: str,
        help: str,
        choices: tuple[str, ...] = (),
        repeat: bool = False,
        default: object = None,
    ) -> None:
        self.long = long
        self.short = short
        self.key = long[2:].replace("-", "_")
        self.kind = kind
        self.metavar = metavar
        self.commands = frozenset(commands.split())
        self.group = group
        self.help = help
        self.choices = choices
        self.repeat = repeat
        self.default = default


class Argument:
    """One positional argument."""

    __slots__ = ("help", "key", "metavar", "required")

    def __init__(self, key: str, metavar: str, help: str, required: bool = True) -> None:
        self.key = key
        self.metavar = metavar
        self.help = help
        self.required = required


class Command:
    """One command: what it takes, what it says of itself, and examples that run as they stand."""

    __slots__ = ("alias", "arguments", "examples", "group", "help", "name", "options")

    def __init__(
        self,
        name: str,
        group: str,
        arguments: tuple[Argument, ...],
        help: str,
        examples: tuple[str, ...],
        alias: str = "",
    ) -> None:
        self.name = name
        self.alias = alias
        self.group = group
        self.arguments = arguments
        self.help = help
        self.examples = examples
        self.options = tuple(option for option in OPTIONS if name in option.commands)

    def option(self, key: str) -> Option | None:
        """The option of this command with that key, if it has one."""
        return next((option for option in self.options if option.key == key), None)


INPUTS, DERIVATIVE, COMPUTING, LIMITS, OUTPUT = "Inputs", "Derivative", "Computing", "Limits", "Output"

OPTIONS = (
    Option("--file", "-f", "text", "FILE", EVALUATIONS, INPUTS, "Read the program from FILE ('-' is standard input)."),
    Option(
        "--at", None, "text", "NAME=VALUE", EVALUATIONS + " run", INPUTS,
        "Bind inputs: x=2, x=pi/4,y=3, A=[[1,2],[3,4]], A=@matrix.npy, A=@data.npz:key, A=@table.csv, @point.json.",
        repeat=True,
    ),
    Option(
        "--wrt", None, "names", "NAMES", "grad jacobian hessian vjp hvp derivative tape check", INPUTS,
        "Differentiate with respect to these inputs, as in x,y (default: every input).", repeat=True,
    ),
    Option(
        "--start", None, "text", "NAME=VALUE", "minimize", INPUTS,
        "Minimize over these inputs, from here on; those of --at stay as they are.", repeat=True,
    ),
    Option(
        "--bounds", None, "text", "NAME=LOW:HIGH", "minimize", INPUTS,
        "Keep an input between two values, one of which may be left out: x=0:1, x=0:, v=[0,1]:2.", repeat=True,
    ),
    Option(
        "--subject-to", None, "text", "COMPARISON", "minimize", INPUTS,
        'Keep to a constraint by <=, >= or ==: "x + y <= 1".', repeat=True,
    ),
    Option(
        "--method", None, "choice", "METHOD", "minimize", COMPUTING,
        "How to minimize (default l-bfgs-b and then Newton's method; with constraints slsqp).", choices=METHODS,
    ),
    Option("--learning-rate", None, "positive", "RATE", "minimize", COMPUTING, "Of the last three methods (default 0.01)."),
    Option("--max-iterations", None, "count", "N", "minimize", COMPUTING, "Stop after N iterations (default 10000)."),
    Option(
        "--tolerance", None, "positive", "SIZE", "minimize", COMPUTING,
        "How small the gradient's largest entry is to be (default 1e-8).",
    ),
    Option(
        "--trace", None, "flag", "", "minimize", OUTPUT,
        "Write each iteration as it comes: a table on a terminal, otherwise ndjson.",
    ),
    Option("--tangent", None, "text", "NAME=VALUE", "jvp", DERIVATIVE, "Direction the inputs move in.", repeat=True),
    Option("--cotangent", None, "text", "VALUE", "vjp", DERIVATIVE, "Weights of the result's entries (default: ones)."),
    Option("--vector", None, "text", "NAME=VALUE", "hvp", DERIVATIVE, "Vector the Hessian is applied to.", repeat=True),
    Option("--order", None, "count", "N", "derivative", DERIVATIVE, "How many derivatives (default 1).", default=1),
    Option(
        "--mode", None, "choice", "MODE", "jacobian", DERIVATIVE,
        "Forward (a pass per input entry), reverse (a pass per result entry), or the cheaper of the two.",
        choices=("auto", "forward", "reverse"),
    ),
    Option(
        "--sparse", None, "flag", "", "hessian", DERIVATIVE,
        "Only the entries that may differ from zero: found by themselves, with one product for each colour.",
    ),
    Option(
        "--kinks", None, "choice", "POLICY", EVALUATIONS + " run batch", DERIVATIVE,
        "What a derivative is at a point where there is none ('adiff ops NAME' lists the choices).",
        choices=("adiff", "tensorflow", "jax", "torch", "error"),
    ),
    Option("--grad", None, "flag", "", "partition stitch", DERIVATIVE, "Add the gradient of the sum of squares."),
    Option(
        "--graph", None, "choice", "LANGUAGE", "tape run", OUTPUT, "Write the tape as a graph instead of rows.",
        choices=("dot", "mermaid"),
    ),
    Option("--tape", None, "flag", "", "run", OUTPUT, "Show the tape that was last asked for a gradient."),
    Option(
        "--emit", None, "flag", "", "tape", OUTPUT, "Write the source of the compiled kernel for value and gradient instead.",
    ),
    Option("--clear", None, "flag", "", "cache", COMPUTING, "Remove what is kept."),
    Option("--fail-fast", None, "flag", "", "batch", COMPUTING, "Stop at the first line that fails."),
    Option("--jobs", None, "processes", "N", "batch", COMPUTING, "Answer lines in N processes (default 1)."),
    Option(
        "--dtype", None, "choice", "DTYPE", COMPUTATIONS, COMPUTING, "Type of bare numbers (default float64).",
        choices=("float64", "float32"),
    ),
    Option(
        "--engine", None, "choice", "ENGINE", EVALUATIONS + " run batch", COMPUTING,
        "Interpreted tape, compiled kernel, or the better of the two.", choices=("auto", "tape", "kernel"),
    ),
    Option("--max-steps", None, "count", "N", COMPUTATIONS, LIMITS, "Stop with an error after N iterations and calls."),
    Option(
        "--max-memory", None, "size", "SIZE", COMPUTATIONS, LIMITS,
        "Most memory to use, as in 500M or 2GiB (default: most of what is free).",
    ),
    Option(
        "--checkpoint", None, "size", "SIZE", "grad jacobian hessian vjp hvp check minimize batch", LIMITS,
        "Most memory for the states of a long loop, as in 500M: what does not fit is computed again.",
    ),
    Option("--timeout", None, "seconds", "SECONDS", COMPUTATIONS, LIMITS, "Stop with an error after SECONDS."),
    Option(
        "--format", None, "choice", "FORMAT", EVERYWHERE, OUTPUT,
        "table, plain, json, ndjson, csv or tsv (default: table on a terminal, otherwise plain, of a batch ndjson).", choices=FORMATS,
    ),
    Option("--json", None, "flag", "", EVERYWHERE, OUTPUT, "Short for --format json."),
    Option("--csv", None, "flag", "", EVERYWHERE, OUTPUT, "Short for --format csv."),
    Option("--output", "-o", "text", "FILE", EVERYWHERE, OUTPUT, "Write the result to FILE, whole or not at all."),
    Option("--precision", None, "digits", "N", EVERYWHERE, OUTPUT, "Significant digits in table and plain (1 to 17)."),
    Option(
        "--color", None, "choice", "WHEN", EVERYWHERE, OUTPUT, "Colour: auto, always or never.",
        choices=("auto", "always", "never"),
    ),
    Option("--quiet", "-q", "flag", "", EVERYWHERE, OUTPUT, "No notices."),
    Option("--verbose", "-v", "flag", "", EVERYWHERE, OUTPUT, "Say which engine ran, why, and how long it took."),
    Option("--debug", None, "flag", "", EVERYWHERE, OUTPUT, "Show the trace of a fault of adiff's own."),
)  # fmt: skip

EXPRESSION = Argument("expression", "EXPR", "An expression; '-' reads it from standard input; or give -f FILE.", False)

COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        Command(
            "value", "Evaluate", (EXPRESSION,), "The value of an expression.",
            (
                'adiff value "2+2"',
                'adiff value "sin(x)**2" --at x=pi/4',
                "adiff value -f rosenbrock.adiff --at @start.json",
            ),
            alias="eval",
        ),
        Command(
            "grad", "Differentiate", (EXPRESSION,),
            "Value and gradient. A result that is not a scalar is summed, and a notice says so.",
            (
                'adiff grad "x**2" --at x=2',
                'adiff grad "-x**2 * y" --at x=-1,y=3 --wrt x',
                'adiff grad "sum(A @ v)" --at A=@matrix.npy --at v=[1,2] --json',
            ),
        ),
        Command(
            "jacobian", "Differentiate", (EXPRESSION,),
            "Every derivative of a result that is a tensor: shape result.shape + source.shape.",
            (
                'adiff jacobian "x**2" --at x=[1,2,3]',
                'adiff jacobian "A @ v" --at A=@matrix.npy --at v=[1,2] --mode forward',
            ),
        ),
        Command(
            "hessian", "Differentiate", (EXPRESSION,), "Value, gradients and every block of the Hessian.",
            (
                'adiff hessian "x**2*y + sin(y)" --at x=1,y=2',
                'adiff hessian "sum(x**3)" --at x=[1,2] --csv',
                'adiff hessian "sum((x[1:] - x[:-1]**2)**2)" --at "x=linspace(0,1,6)" --sparse',
            ),
        ),
        Command(
            "jvp", "Differentiate", (EXPRESSION,), "The derivative along a direction: Jacobian times tangent.",
            ('adiff jvp "x*y" --at x=2,y=3 --tangent x=1,y=0',),
        ),
        Command(
            "vjp", "Differentiate", (EXPRESSION,), "Cotangent times Jacobian: one reverse pass.",
            ('adiff vjp "x**2" --at x=[1,2,3] --cotangent [1,0,1]',),
        ),
        Command(
            "hvp", "Differentiate", (EXPRESSION,), "Hessian times vector, without forming the Hessian.",
            ('adiff hvp "x**2*y" --at x=1,y=2 --vector x=1,y=0',),
        ),
        Command(
            "derivative", "Differentiate", (EXPRESSION,), "Value and the first N derivatives of a scalar function.",
            ('adiff derivative "sin(x)" --at x=0 --order 4',),
        ),
        Command(
            "tape", "Understand", (EXPRESSION,),
            "The recorded tape: operation, inputs, value, local partials and adjoint of every step.",
            (
                'adiff tape "sin(x) * y" --at x=1,y=2',
                'adiff tape "sin(x) * y" --at x=1,y=2 --graph mermaid',
                'adiff tape "sin(x) * y" --at x=1,y=2 --emit',
            ),
        ),
        Command(
            "check", "Understand", (EXPRESSION,),
            "The gradient against an independent check (complex step or differences); exit 1 when they disagree.",
            ('adiff check "exp(-x**2)" --at x=0.5',),
        ),
        Command(
            "minimize", "Evaluate", (EXPRESSION,),
            "The inputs at which a program's value is least; exit 1 where the method does not converge.",
            (
                'adiff minimize "(1 - x)**2 + 100*(y - x**2)**2" --start x=-1.2,y=1',
                'adiff minimize "x**2 + y**2" --start x=1,y=1 --subject-to "x + y >= 1"',
                'adiff minimize "sum((v - a)**2)" --start v=[0,0] --at a=[1,2] --bounds v=0:1 --trace',
            ),
        ),
        Command(
            "partition", "Partition and stitch",
            (
                Argument("data", "DATA", "What to divide: a constant expression or @file."),
                Argument("partitions", "PARTITIONS", "The part each element goes to: integers from 0 to N-1."),
                Argument("n", "N", "How many parts."),
            ),
            "Divide data into N parts (dynamic_partition).",
            ('adiff partition "[10,20,30]" "[0,1,0]" 2', 'adiff partition @table.csv "[1,0]" 2 --grad --json'),
        ),
        Command(
            "stitch", "Partition and stitch",
            (
                Argument("indices", "INDICES", "A list: the rows each part of the data goes to."),
                Argument("data", "DATA", "A list of parts: a constant expression or @file."),
            ),
            "Put parts together again (dynamic_stitch): the last one to write a row wins.",
            ('adiff stitch "[[0,2],[1]]" "[[10,30],[20]]"', 'adiff stitch "[[0,1],[1]]" "[[1,2],[3]]" --grad'),
        ),
        Command(
            "run", "Evaluate", (Argument("file", "FILE", "A program file ('-' is standard input)."),),
            "Run a program file: what it prints, then its result.",
            ("adiff run rosenbrock.adiff --at @start.json",),
        ),
        Command(
            "batch", "Evaluate", (Argument("file", "FILE", "A file of command lines ('-' is standard input)."),),
            "Answer a file of command lines, one record a line, in order.",
            ("adiff batch lines.txt", "adiff batch lines.txt --fail-fast --format csv", "adiff batch lines.txt --jobs 2"),
        ),
        Command(
            "ops", "Understand", (Argument("name", "NAME", "One operation in detail.", False),),
            "The operations: signature, dtypes, derivative, singular points, example.",
            ("adiff ops", "adiff ops sin", "adiff ops --json"),
        ),
        Command(
            "cache", "Understand", (),
            "What is kept between runs so that they start sooner: compiled kernels and the grammar's table.",
            ("adiff cache", "adiff cache --json", "adiff cache --clear"),
        ),
    )
}  # fmt: skip

NAMES: dict[str, Command] = {**COMMANDS, **{command.alias: command for command in COMMANDS.values() if command.alias}}
