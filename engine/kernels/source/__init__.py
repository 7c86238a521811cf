"""IR as Python source, as one would write it by hand for a compiler of numbers.

emit         kernels
primitives   the text of each scalar row
over_rows    a kernel in a loop over the rows of a table
"""
