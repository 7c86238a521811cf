"""What programs are run on while they are compiled: numbers and arrays that record what is done to them.

symbol      a number and an array of the program, which record what is done to them
build       the builder: rows applied to symbols. It is made of
  blocks    ... statements as they are written, shared, and what is noted of their variables
  scalars   ... rows on numbers, integers among them
  memory    ... arrays in memory, and the loops that go through them
foreseen    what is known of a result before it is computed
arrays      lazy arrays: functions from index to element, views, indexing
values      what is known beside them: frames, functions, ranges, what is not assigned
pairs       complex numbers, as pairs of real symbols
strength    integers with a dtype of their own, which meet no floats
whole       results that are integers on some paths
operands    what was evaluated before something changed in place
regions     rows that compute in statements of their own, with their rule for the adjoint
following   which inputs a tape would say that a value depends on
watch       the singular points that derivatives inside a program meet
samples     whether a row takes operands of some kinds and shapes at all
"""
