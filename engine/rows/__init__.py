"""One program over the rows of a table: the values and derivatives of every row.

request      what is asked: columns, constants, sources
tape         the tape on a table: whole columns where that is possible, else row by row
run          which tier evaluates the rows, and the one place that calls the kernel tier
results      the results of rows, gathered into columns: what the caller gets
"""
