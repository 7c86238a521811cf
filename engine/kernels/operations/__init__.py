"""Rows as loops over lazy arrays, and rows on complex numbers.

array_rows, array_loops     element-wise rows and index maps; the loops that all others are made of
rearranging, multiplying    broadcasting, gathering, padding; products, contractions, convolutions
reducing, scanning, sorting along axes: extrema, sums, moments; running sums; stable order
solving, rotating, routines linear algebra in loops; Jacobi's rotations; what a library decides, such as LAPACK's signs
data_shaped                 results whose shape data decides: nonzero, unique and their kin
complex_rows,               rows on pairs of real symbols; their formulas; products and matrices of pairs
  complex_formulas, complex_arrays
composites                  rows that look at their operands' values
vocabulary                  what `kernel=lambda k, x: k.flip(x)` in the table calls `k`
"""
