"""One program over the rows of a table: values and derivatives of every row, on whole columns or in a compiled loop.

request     what is asked: columns, constants, sources
by_columns  the tape tier: whole columns, rows divided by branch
single      what does not go together: rows one by one
by_kernel   the kernel tier: a loop over rows, on every core (workers); lists and dicts put together (structured)
results     what rows give, as it comes
outcome     what came of it, row by row and as columns
run         which of the two, by what the first rows took
"""
