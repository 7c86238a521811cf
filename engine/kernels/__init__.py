"""The kernel tier: the core program compiled, with its derivatives, to machine code.

core program --lowering--> IR --passes, differentiation--> IR --passes--> IR --source--> Python --compilation--> code

symbols           what programs are run on here: numbers and arrays that record what is done to them
operations        rows on arrays and on complex numbers, as loops of that IR
lowering          the core program run on symbols: its expressions, control flow, lists and derivative operators
differentiation   adjoints and tangents of IR, by source transformation
passes            IR to better IR, each pass by itself
construction      whole kernels: the passes one after the other, and the kernels of every command
source            IR as Python source, as one would write it by hand for a compiler of numbers
compilation       source to object code, by LLVM alone or by Numba
machine           object code loaded, called, interrupted; what it shares with its host

ir, inputs        the IR; what a kernel is specialised to
built, emitted    what is known of a kernel beside its code; a kernel in source form
running            one kernel: compiled or loaded, called, its results and notices
collection,        the kernels of a program, kept by what they are made for; what is learnt of it for them, and how an
  learning,        evaluation is tried again with that; what the engine asks of them
  runtime
answers, sparse    kernels of the commands; sparse Hessians
readings          a kernel's results as values
store             kernels kept between runs
work, outline,    whether a kernel repays its compilation: the calibration, what there is to do in it, and what tells
  outlook         so before it is looked into,
survey,           by a walk over the program on shapes and known numbers: statements,
  survey_expressions,
  survey_calls,   expressions, calls, and what is known of values
  survey_values
budget            how long a kernel may be in the making before the tape would have been the sooner way

Each folder's `__init__.py` says what its files do. What this tier does not take, or cannot answer as the tape would, is
`Unsupported`, with the reason: the tape runs it.
"""
