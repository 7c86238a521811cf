"""The core program to IR, by partial evaluation: run on symbols, specialised to the kinds and shapes of its inputs.

specialise                    the entry: a program and what its inputs are
statements, assigning         statements; what assignments change
expressions, calls, applying  expressions; calls, inlined; rows applied to symbols, and to what is known
items, static                 values of several parts; functions of the language on what is known
functional                    higher-order functions: cond, while_loop, scan, maps and folds
control, heap                 branches and how their sides merge; what a program can change
loops, carried, unrolling     loops; what they carry; loops that are unrolled
recursion, a_normal_form      recursion as a loop over frames; calls in statements of their own
steps                         what is counted where there is a limit
lengthening                   lists that an assignment replaces by longer ones, lengthened in place
sequences, choosing           lists, dicts and what can be gone through; choices among items by data
grids, records                nested lists flattened; lists of lists and tuples as structures of arrays
selected, sliced              masked arrays: parts of tensors whose length data decides; dynamic slices
of_parts, stitching           rows of masked arrays; scatter to places that data decides
sizes                         guarded specialisation to sizes that data decides
structures                    results that are lists, tuples and dicts, flattened
variables, printing           what programs assign in place, and what they print
derivative_operators          derivatives inside programs: grad, hessian and their kin, of functions
tapes, tape_derivatives       ... of GradientTape blocks; one that such a tape is asked for
custom_rules                  ... by rules of the program's own
differentiated, second_order  blocks of a kernel with their derivatives, put where they stand; those of gradients
"""
