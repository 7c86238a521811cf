"""The core program to IR: run on symbols, specialised to the kinds and shapes of its inputs.

specialise                    the entry: a program and what its inputs are
statements, assigning         statements; what assignments change
expressions, calls, applying  expressions; calls; rows applied to symbols, and to what is known
items, static                 values of several parts; functions of the language on what is known
functional                    functions that run functions: cond, while_loop, scan, maps and folds
control, loops, carried, heap branches and loops: what they change, merged and carried
written_out                   loops iteration by iteration
recursion, hoist              recursion as a loop over frames; calls in statements of their own
sequences, choosing           lists, dicts and what can be gone through; choices among items by data
grids, records                lists of lists that a comprehension makes; lists of lists and tuples that loops append to
selected, sliced, structures  parts of tensors whose length data decides; results that are lists, tuples and dicts
sizes                         sizes that data decides and that must be known: kernels for each
of_parts, stitching           rows of such parts; rows put to places that data decides
variables, printing           what programs assign in place, and what they print
nested; tapes, asked; customs derivatives inside programs: of functions; of blocks; rules of the program's own
differentiated, second        blocks of a kernel with their derivatives, put where they stand; those of gradients
"""
